package gpu

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTypesHaveNamesAndRowSizes(t *testing.T) {
	for _, c := range []struct {
		typ         Type
		name        string
		cols, bytes int
	}{
		{F32, "F32", 3, 12}, {F16, "F16", 3, 6}, {BF16, "BF16", 3, 6}, {Q8_0, "Q8_0", 64, 68}, {Q4_0, "Q4_0", 64, 36},
		{12, "Q4_K", 512, 288}, {14, "Q6_K", 256, 210}, {20, "IQ4_NL", 32, 18}, {39, "MXFP4", 32, 17},
	} {
		if got := c.typ.String(); got != c.name {
			t.Errorf("type %d is named %s, not %s", uint32(c.typ), got, c.name)
		}
		if got, err := c.typ.RowBytes(c.cols); got != c.bytes || err != nil {
			t.Errorf("%d elements of %v: %d bytes and error %v, want %d bytes", c.cols, c.typ, got, err, c.bytes)
		}
	}
	for _, c := range []struct {
		typ  Type
		cols int
		want string
	}{{Q8_0, 33, "multiple of 32"}, {12, 32, "multiple of 256"}, {4, 32, "type 4"}, {F32, -1, "-1"}} {
		if _, err := c.typ.RowBytes(c.cols); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d elements of %v: error %v does not say %q", c.cols, c.typ, err, c.want)
		}
	}
}

// Heads of keys and values follow one another without gap or overlap and fill the page.
func TestLayoutFillsThePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := KVLayout{
			Layers:   rapid.IntRange(1, 4).Draw(t, "layers"),
			KVHeads:  rapid.IntRange(1, 4).Draw(t, "heads"),
			HeadDim:  rapid.IntRange(1, 40).Draw(t, "dim"),
			PageSize: rapid.SampledFrom([]int{16, 32, 64, 128}).Draw(t, "slots"),
			Type:     rapid.SampledFrom([]Type{F16, F32}).Draw(t, "type"),
		}
		at := 0
		for layer := range l.Layers {
			for _, v := range []bool{false, true} {
				for head := range l.KVHeads {
					if got := l.Offset(layer, v, head); got != at {
						t.Fatalf("layer %d, values %v, head %d begins at %d, want %d", layer, v, head, got, at)
					}
					at += l.PageSize * l.HeadDim * l.ElemBytes()
				}
			}
		}
		if l.PageBytes() != at || l.TokenBytes()*l.PageSize != at {
			t.Fatalf("a page has %d bytes, a token %d; want %d in all", l.PageBytes(), l.TokenBytes(), at)
		}
	})
}

package host

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// After ZeroTail the slots behind the border hold zeros, and nothing else has changed, in this page or another.
func TestZeroTail(t *testing.T) {
	d, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rapid.Check(t, func(t *rapid.T) {
		l := gpu.KVLayout{
			Layers: rapid.IntRange(1, 3).Draw(t, "layers"), KVHeads: rapid.IntRange(1, 3).Draw(t, "heads"), HeadDim: 2 * rapid.IntRange(1, 4).Draw(t, "dim"),
			PageSize: 16 << rapid.IntRange(0, 3).Draw(t, "page size"), Type: rapid.SampledFrom([]gpu.Type{gpu.F16, gpu.F32}).Draw(t, "type"),
		}
		s, err := d.NewSlab(l, 3)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Data.Free()
		defer s.Headers.Free()
		data := bytesOf(s.Data)
		for i := range data {
			data[i] = byte(i) | 1
		}
		h := page.Header{Generation: 3, Writer: 4, Fill: 5}
		d.WriteHeader(s, 1, h)
		from := rapid.IntRange(0, l.PageSize).Draw(t, "from")
		want := bytes.Clone(data)
		for layer := range l.Layers {
			for _, v := range []bool{false, true} {
				for head := range l.KVHeads {
					for slot := from; slot < l.PageSize; slot++ {
						at := l.PageBytes() + l.Offset(layer, v, head) + slot*l.HeadDim*l.ElemBytes()
						clear(want[at : at+l.HeadDim*l.ElemBytes()])
					}
				}
			}
		}
		d.ZeroTail(s, 1, from)
		if !bytes.Equal(data, want) {
			t.Errorf("%v: from slot %d on, not exactly the tail is zero", l, from)
		}
		if got := d.ReadHeader(s, 1); got != h {
			t.Errorf("the header became %+v", got)
		}
	})
}

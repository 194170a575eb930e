package tokenizer

import (
	"runtime"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// Whatever a vocabulary is made of, reading it takes memory in proportion to the file.
func TestMemoryIsASmallMultipleOfTheFile(t *testing.T) {
	const most = 40 // allocated in all, a byte of the file; what stays is less
	list := func(n int, text func(i int) string) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = text(i)
		}
		return all
	}
	few := []string{"a", "b"}
	kinds := func(n int, k kind) []uint8 { return []uint8(strings.Repeat(string(rune(k)), n)) }
	distinct := func(i int) string {
		return string([]byte{byte('0' + i&63), byte('0' + i>>6&63), byte('0' + i>>12&63), byte('0' + i>>18&63)})
	}
	for _, c := range []struct {
		name   string
		tokens []string
		kinds  []uint8
		merges []string
	}{
		{"one long control token", []string{strings.Repeat("x", 4<<20), "a"}, kinds(2, kindControl), nil},
		{"many control tokens", list(4000, func(i int) string { return distinct(i) + strings.Repeat("x", 1000) }), kinds(4000, kindControl), nil},
		{"many short control tokens", list(100_000, distinct), kinds(100_000, kindControl), nil},
		{"many empty tokens", make([]string, 100_000), kinds(100_000, kindNormal), nil},
		{"many kinds for few tokens", few, kinds(1<<20, kindNormal), nil},
		{"merges that make no tokens", few, nil, list(100_000, func(i int) string { return distinct(i) + " " + distinct(i+1<<20) })},
		{"merges that make as many other symbols as tokens", list(100_000, distinct), nil, list(33_000, func(i int) string { return distinct(i+1<<19) + " " + distinct(i+1<<20) })},
		{"one long merge", few, nil, []string{strings.Repeat("x", 1<<20) + " " + strings.Repeat("y", 1<<20)}},
		{"merges that are none", few, nil, make([]string, 100_000)},
	} {
		f := &gguftest.File{}
		f.Key("tokenizer.ggml.model", "gpt2").Key("tokenizer.ggml.tokens", c.tokens).Key("tokenizer.ggml.merges", c.merges)
		if c.kinds != nil {
			f.Key("tokenizer.ggml.token_type", c.kinds)
		}
		b := f.Bytes()
		file, err := gguf.Parse("hostile", b)
		if err != nil {
			t.Fatal(err)
		}
		allocated := allocatedBy(func() { New(file) })
		t.Logf("%s: %.1f", c.name, float64(allocated)/float64(len(b)))
		if bound := most*len(b) + 1<<20; allocated > bound {
			t.Errorf("%s: %d bytes for a file of %d, want at most %d", c.name, allocated, len(b), bound)
		}
	}
}

// allocatedBy is how many bytes f asks for, if nobody else does meanwhile.
func allocatedBy(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

package kvpool

import (
	"crypto/sha256"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestChainEncoding writes the encoding out by hand.
func TestChainEncoding(t *testing.T) {
	key, layout := Key{0: 1, 31: 2}, [32]byte{0: 3, 31: 4}
	c := NewChain(key, "bob", layout)
	c.Add([]int32{1, -2})
	b := []byte("kvasir chain 1\n")
	b = append(b, key[:]...)
	b = append(b, 3, 0, 0, 0, 0, 0, 0, 0, 'b', 'o', 'b')
	b = append(b, layout[:]...)
	b = append(b, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff)
	sum := sha256.Sum256(b)
	if got := c.Sum(); got != page.Hash(sum[:16]) {
		t.Fatalf("chain is %v, want %x", got, sum[:16])
	}
}

// TestChainGoesOn: neither Sum nor the way tokens are cut into calls of Add changes what comes after.
func TestChainGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32(), 0, 200), 0, 5).Draw(t, "pieces")
		c := NewChain(Key{1}, "d", [32]byte{2})
		for _, p := range pieces {
			c.Add(p)
			c.Sum()
		}
		all := slices.Concat(pieces...)
		whole := NewChain(Key{1}, "d", [32]byte{2})
		whole.Add(all)
		if c.Sum() != whole.Sum() || c.Len() != len(all) {
			t.Fatalf("in pieces %v (%d tokens), at once %v", c.Sum(), c.Len(), whole.Sum())
		}
	})
}

// TestPageHashes: the hash of page i is that of the first i+1 pages' tokens; a last page with room has none.
func TestPageHashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "page size")
		tokens := rapid.SliceOfN(rapid.Int32(), 0, 100).Draw(t, "tokens")
		got := PageHashes(Key{1}, "d", [32]byte{2}, tokens, size)
		if len(got) != len(tokens)/size {
			t.Fatalf("%d hashes of %d tokens in pages of %d", len(got), len(tokens), size)
		}
		for i, h := range got {
			c := NewChain(Key{1}, "d", [32]byte{2})
			c.Add(tokens[:(i+1)*size])
			if h != c.Sum() {
				t.Fatalf("page %d: %v, want %v", i, h, c.Sum())
			}
		}
	})
}

// TestChainsDiffer: everything that goes in counts, and nothing can pass for something else.
func TestChainsDiffer(t *testing.T) {
	long := func(n int) (ts []int32) { return make([]int32, n) }
	seen := map[page.Hash]string{}
	for name, h := range map[string]page.Hash{
		"plain":          chainOf(Key{}, "a", [32]byte{}, []int32{1, 2}),
		"other key":      chainOf(Key{1}, "a", [32]byte{}, []int32{1, 2}),
		"other domain":   chainOf(Key{}, "b", [32]byte{}, []int32{1, 2}),
		"longer domain":  chainOf(Key{}, "a\x00", [32]byte{}, []int32{1, 2}),
		"no domain":      chainOf(Key{}, "", [32]byte{}, []int32{1, 2}),
		"other layout":   chainOf(Key{}, "a", [32]byte{31: 1}, []int32{1, 2}),
		"other order":    chainOf(Key{}, "a", [32]byte{}, []int32{2, 1}),
		"prefix":         chainOf(Key{}, "a", [32]byte{}, []int32{1}),
		"nothing":        chainOf(Key{}, "a", [32]byte{}, nil),
		"a zero token":   chainOf(Key{}, "a", [32]byte{}, long(1)),
		"64 zero tokens": chainOf(Key{}, "a", [32]byte{}, long(64)),
		"65 zero tokens": chainOf(Key{}, "a", [32]byte{}, long(65)),
	} {
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", name, other)
		}
		seen[h] = name
	}
}

func chainOf(key Key, domain string, layout [32]byte, tokens []int32) page.Hash {
	c := NewChain(key, domain, layout)
	c.Add(tokens)
	return c.Sum()
}

func TestDomainOf(t *testing.T) {
	a := DomainOf(Key{}, "alice")
	if a != DomainOf(Key{}, "alice") {
		t.Error("one name has two domains")
	}
	if a == DomainOf(Key{}, "bob") || a == DomainOf(Key{1}, "alice") || a == DomainOf(Key{}, "") {
		t.Error("name or key does not count")
	}
}

// TestExpect follows a sequence of 10 tokens through pages of 4.
func TestExpect(t *testing.T) {
	tokens := []int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
	ends := PageHashes(Key{}, "d", [32]byte{}, tokens, 4)
	x := Expect{Seq: 5, Domain: 77, PageSize: 4, Chain: append([]page.Hash{chainOf(Key{}, "d", [32]byte{}, nil)}, ends...)}
	for _, c := range []struct {
		page, computed int
		want           page.Header
	}{
		{0, 1, page.Header{Generation: 3, Writer: 5, Chain: x.Chain[0], Fill: 1}},
		{0, 3, page.Header{Generation: 3, Writer: 5, Chain: x.Chain[0], Fill: 3}},
		{0, 4, page.Header{Generation: 3, Domain: 77, Chain: ends[0], Fill: 4, Sealed: true}},
		{0, 10, page.Header{Generation: 3, Domain: 77, Chain: ends[0], Fill: 4, Sealed: true}},
		{1, 7, page.Header{Generation: 3, Writer: 5, Chain: ends[0], Fill: 3}},
		{1, 8, page.Header{Generation: 3, Domain: 77, Chain: ends[1], Fill: 4, Sealed: true}},
		{2, 10, page.Header{Generation: 3, Writer: 5, Chain: ends[1], Fill: 2}},
	} {
		if got := x.Header(c.page, 3, c.computed); got != c.want {
			t.Errorf("page %d of %d tokens: %+v, want %+v", c.page, c.computed, got, c.want)
		}
	}
	if got := HeaderSealed(3, 77, ends[0], 4, 0xc0de); got.Checksum != 0xc0de {
		t.Errorf("checksum %x", got.Checksum)
	}
}

package kvpool

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestNamesAgainstMap: the tables that find owners by name do what a map does, whatever the numbers.
func TestNamesAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, twin := newNames(), map[Owner]int32{}
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			o := Owner{OwnerKind(rapid.IntRange(1, ownerKinds-1).Draw(t, "kind")), rapid.Uint64Range(1, 40).Draw(t, "number")}
			if o.Kind != Sequence && o.Kind != Export && o.Kind != Import {
				o.Kind = Read                                                        // one number is one job's
				o.Number *= rapid.SampledFrom([]uint64{1, 16, 64}).Draw(t, "stride") // many with one place
			}
			r, known := twin[o]
			if got := n.get(o); known != (got != none) || known && got != r {
				t.Fatalf("%v is %d, want %d (%v)", o, got, r, known)
			}
			if known {
				n.remove(o)
				delete(twin, o)
			} else {
				n.put(o, int32(i))
				twin[o] = int32(i)
			}
			for o, r := range twin {
				if n.get(o) != r {
					t.Fatalf("%v is %d, want %d", o, n.get(o), r)
				}
			}
			if n.size != len(twin) {
				t.Fatalf("size %d, want %d", n.size, len(twin))
			}
		}
	})
}

// TestIndexAgainstMap: likewise the prefix index, where many hashes have one tag, or places side by side.
func TestIndexAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "pages")
		x, pages, twin := newPrefixIndex(Config{Pages: n, PrefixCache: true}), make([]slot, n), map[copyKey]int32{}
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			i := rapid.IntRange(0, n-1).Draw(t, "page")
			s := &pages[i]
			if s.indexed {
				x.remove(pages, page.Index(i))
				delete(twin, copyKey{s.domain, s.chain})
				continue
			}
			s.domain = page.Domain(rapid.IntRange(0, 1).Draw(t, "domain"))
			s.chain = page.Hash{0: rapid.ByteRange(0, 63).Draw(t, "tag"), 9: rapid.ByteRange(0, 3).Draw(t, "rest")}
			k := copyKey{s.domain, s.chain}
			want, known := twin[k]
			if got := x.find(pages, 0, k.domain, &k.chain); known != (got != none) || known && got != want {
				t.Fatalf("found %d, want %d (%v)", got, want, known)
			}
			if !known {
				x.insert(pages, page.Index(i))
				twin[k] = int32(i)
			}
			for k, want := range twin {
				if got := x.find(pages, 0, k.domain, &k.chain); got != want {
					t.Fatalf("found %d, want %d", got, want)
				}
			}
			if x.size != len(twin) {
				t.Fatalf("size %d, want %d", x.size, len(twin))
			}
		}
	})
}

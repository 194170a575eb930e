package page

import (
	"testing"

	"pgregory.net/rapid"
)

// A header is what it was encoded as, and what differs from it in one field is not.
func TestHeaderIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{
			Generation: Generation(rapid.Uint64().Draw(t, "generation")),
			Writer:     Seq(rapid.Uint64().Draw(t, "writer")), Domain: Domain(rapid.Uint64().Draw(t, "domain")),
			Chain: Hash(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "chain")),
			Fill:  rapid.Uint32().Draw(t, "fill"), Checksum: rapid.Uint32().Draw(t, "checksum"), Sealed: rapid.Bool().Draw(t, "sealed"),
		}
		var b [HeaderSize]byte
		h.Encode(b[:])
		b[rapid.IntRange(49, HeaderSize-1).Draw(t, "unused")] = 7
		other, where := h, rapid.IntRange(0, 6).Draw(t, "field")
		switch where {
		case 0:
			other.Generation++
		case 1:
			other.Writer++
		case 2:
			other.Domain++
		case 3:
			other.Chain[rapid.IntRange(0, 15).Draw(t, "byte")]++
		case 4:
			other.Fill++
		case 5:
			other.Sealed = !other.Sealed
		case 6:
			other.Checksum++
		}
		for _, x := range []Header{h, other} {
			for _, anyChecksum := range []bool{false, true} {
				var have Header
				have.Decode(b[:])
				if anyChecksum {
					have.Checksum = x.Checksum
				}
				if got, want := x.Is(b[:], anyChecksum), have == x; got != want {
					t.Errorf("field %d, any checksum %v: %v, want %v", where, anyChecksum, got, want)
				}
			}
		}
	})
}

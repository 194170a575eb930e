package tokenizer

import "unicode/utf8"

// Byte-level vocabularies spell each byte as one printable rune, so that tokens are text (GPT-2's bytes_to_unicode):
// a byte that is printable in Latin-1 is itself, the 68 others are U+0100 and on, in ascending order. " the" is spelt "Ġthe".

// spelling maps bytes to their runes and back.
type spelling struct {
	runes [256]rune
	bytes [maxSpelling]int16 // -1 where the rune stands for no byte
}

const maxSpelling = 0x100 + 68

func newSpelling() *spelling {
	s := &spelling{}
	for r := range s.bytes {
		s.bytes[r] = -1
	}
	next := rune(0x100)
	for b := range s.runes {
		r := rune(b)
		if !('!' <= r && r <= '~' || 0xa1 <= r && r <= 0xac || 0xae <= r && r <= 0xff) {
			r = next
			next++
		}
		s.runes[b] = r
		s.bytes[r] = int16(b)
	}
	return s
}

// spell appends the spelling of raw bytes to dst.
func (s *spelling) spell(dst []byte, raw string) []byte {
	for i := range len(raw) {
		dst = utf8.AppendRune(dst, s.runes[raw[i]])
	}
	return dst
}

// raw appends the bytes that a spelt token stands for to dst. A rune that stands for no byte is kept as it is.
func (s *spelling) raw(dst []byte, token string) []byte {
	for i, r := range token {
		if r < maxSpelling && s.bytes[r] >= 0 {
			dst = append(dst, byte(s.bytes[r]))
			continue
		}
		_, n := utf8.DecodeRuneInString(token[i:])
		dst = append(dst, token[i:i+n]...)
	}
	return dst
}

package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Decode is the text of tokens. Special tokens are left out, and bytes that are not UTF-8 become U+FFFD, as with Decoder.
func (t *Tokenizer) Decode(ids []int32) string {
	var text strings.Builder
	d := NewDecoder(t)
	for _, id := range ids {
		text.WriteString(d.Push(id))
	}
	text.WriteString(d.Flush())
	return text.String()
}

// Decoder turns a stream of tokens into text, whole characters at a time: a character's bytes may be spread over several tokens.
//
// Bytes that are not UTF-8 come out as U+FFFD, one for each longest start of a character that leads nowhere (Unicode's "maximal subpart",
// which Python's errors="replace" and browsers follow), whatever the borders between tokens.
type Decoder struct {
	tokenizer *Tokenizer
	pending   []byte // an unfinished character, at most 3 bytes
}

// NewDecoder makes a decoder for one stream.
func NewDecoder(t *Tokenizer) *Decoder { return &Decoder{tokenizer: t} }

// Push adds a token and returns the text that it completes, which may be empty. Special tokens add nothing.
func (d *Decoder) Push(id int32) string {
	if d.tokenizer.IsSpecial(id) {
		return ""
	}
	d.pending = append(d.pending, d.tokenizer.Bytes(id)...)
	text, n := wholeText(d.pending)
	d.pending = append(d.pending[:0], d.pending[n:]...)
	return text
}

// Flush ends the stream: bytes of an unfinished character come out as U+FFFD.
func (d *Decoder) Flush() string {
	if len(d.pending) == 0 {
		return ""
	}
	d.pending = d.pending[:0]
	return string(utf8.RuneError)
}

// wholeText decodes b as far as its characters are whole, and returns the number of bytes decoded.
func wholeText(b []byte) (text string, n int) {
	var out strings.Builder
	for n < len(b) && utf8.FullRune(b[n:]) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			size = subpart(b[n:])
		}
		out.WriteRune(r)
		n += size
	}
	return out.String(), n
}

// subpart is the length of the maximal subpart at the start of b, which does not begin with a character.
func subpart(b []byte) int {
	n := 1
	for n+1 < len(b) && !utf8.FullRune(b[:n+1]) {
		n++
	}
	return n
}

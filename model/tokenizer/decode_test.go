package tokenizer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

func TestAStreamOfPartsOfCharacters(t *testing.T) {
	tokenizer := vocabulary{pre: "gpt-2", merges: []string{"\u00e4 \u00bd"}, others: []extraToken{{"<|end|>", kindControl}}}.tokenizer(t)
	for _, c := range []struct {
		tokens, want string // between bars: tokens by their bytes, and what each gives
	}{
		{"a|b", "a|b|"},
		{"\xe4\xbd|\xa0|!", "|\u4f60|!|"},
		{"\xe4|\xbd|\xa0", "||\u4f60|"},
		{"\xf0|\x9f|\x99|\x82", "|||\U0001f642|"},
		{"\xe4\xbd|<|end|>|\xa0", "||\u4f60|"}, // a special token is not there
		{"\xe4\xbd|a", "|\ufffda|"},            // one start of a character that leads nowhere
		{"\xf0|\x9f|\x99", "|||\ufffd"},
		{"\x80|\x80", "\ufffd|\ufffd|"},
		{"\xc0|\xaf", "\ufffd|\ufffd|"},             // never a start
		{"\xed|\xa0|\x80", "|\ufffd\ufffd|\ufffd|"}, // half a surrogate pair
	} {
		decoder := NewDecoder(tokenizer)
		var got []string
		for _, raw := range strings.Split(strings.ReplaceAll(c.tokens, "<|end|>", "END"), "|") {
			spelling := string(tokenizer.spelling.spell(nil, raw))
			if raw == "END" {
				spelling = "<|end|>"
			}
			id, ok := tokenizer.Lookup(spelling)
			if !ok {
				t.Fatalf("no token %q", raw)
			}
			got = append(got, decoder.Push(id))
		}
		got = append(got, decoder.Flush())
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q: %q, want %q", c.tokens, s, c.want)
		}
	}
}

// However a text is cut into tokens, the stream gives what decoding the whole gives, and only whole characters at a time.
func TestStreamsAgreeWithTheWhole(t *testing.T) {
	tokenizer := open(t, "../testdata/golden/llama.gguf")
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(
			rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte("a \x80\xbf\xc0\xc3\xa9\xe4\xbd\xa0\xed\xef\xf0\x9f\x99\x82\xf4\x90\xff")), 0, 20), func(b []byte) string { return string(b) }),
			rapid.String(),
		).Draw(t, "bytes")
		whole, err := unicode.UTF8.NewDecoder().String(raw)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int32
		for rest := raw; rest != ""; { // tokens of any length, cut anywhere
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			ids = append(ids, tokenizer.Encode(rest[:n], false, false)...)
			rest = rest[n:]
		}
		decoder := NewDecoder(tokenizer)
		var stream strings.Builder
		for _, id := range ids {
			part := decoder.Push(id)
			if !utf8.ValidString(part) {
				t.Fatalf("token %d gives %q", id, part)
			}
			stream.WriteString(part)
		}
		stream.WriteString(decoder.Flush())
		if stream.String() != whole {
			t.Fatalf("%q streams as %q, want %q", raw, stream.String(), whole)
		}
		if got := tokenizer.Decode(ids); got != whole {
			t.Fatalf("%q decodes to %q, want %q", raw, got, whole)
		}
		if again := decoder.Flush(); again != "" {
			t.Fatalf("a second Flush gives %q", again)
		}
	})
}

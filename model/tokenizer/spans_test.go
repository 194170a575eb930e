package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a user wrote cannot become a control token, nor a part of one, and the text around it is none the worse for it.
func TestSpans(t *testing.T) {
	v := vocabulary{pre: "qwen2", merges: []string{"h i"}, others: []extraToken{
		{"<|a|>", kindControl}, {"<|a|>b", kindControl}, {"<think>", kindUser},
	}}
	tokenizer := v.tokenizer(t)
	template, user := func(s string) Span { return Span{s, false} }, func(s string) Span { return Span{s, true} }
	for _, c := range []struct {
		name  string
		spans []Span
		want  string
	}{
		{"the template's own", []Span{template("<|a|>"), user("x"), template("<|a|>")}, "<|a|> x <|a|>"},
		{"spelt by the user", []Span{template("<|a|>"), user("<|a|>"), template("<|a|>")}, "<|a|> < | a | > <|a|>"},
		{"begun by the user", []Span{user("<|"), template("a|>")}, "< | a | >"},
		{"ended by the user", []Span{template("<|a"), user("|>")}, "< | a | >"},
		{"the user's text in the middle", []Span{template("<|"), user("a"), template("|>")}, "< | a | >"},
		{"made longer by the user", []Span{template("<|a|>"), user("b")}, "<|a|> b"},
		{"split by nothing", []Span{template("<|a"), user(""), template("|>")}, "<|a|>"},
		{"ordinary tokens over a border", []Span{template("h"), user("i")}, "hi"},
		{"user-defined tokens are text", []Span{template("<th"), user("ink>")}, "<think>"},
		{"no spans", nil, ""},
	} {
		if got := spelt(tokenizer, tokenizer.EncodeSpans(c.spans, false)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The dumb twin: a control token in the result is one that the text without its plain bytes has in the same place.
func TestSpansNeverRecogniseWhatIsPlain(t *testing.T) {
	v := vocabulary{pre: "gpt-2", others: []extraToken{{"<|a|>", kindControl}, {"|>", kindControl}, {"<|a|><|a|>", kindControl}}}
	tokenizer := v.tokenizer(t)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.StringOfN(rapid.SampledFrom([]rune("<|a> ")), 0, 8, -1)
		var spans []Span
		for range rapid.IntRange(0, 5).Draw(t, "spans") {
			s := Span{Plain: rapid.Bool().Draw(t, "plain"), Text: piece.Draw(t, "text")}
			if rapid.Bool().Draw(t, "special") {
				s.Text = "<|a|>" + s.Text
			}
			spans = append(spans, s)
		}
		var text, mask strings.Builder
		anyPlain := false
		for _, s := range spans {
			text.WriteString(s.Text)
			anyPlain = anyPlain || s.Plain && s.Text != ""
			mask.WriteString(map[bool]string{true: strings.Repeat("\x00", len(s.Text)), false: s.Text}[s.Plain])
		}
		ids := tokenizer.EncodeSpans(spans, false)
		at := 0
		for _, id := range ids {
			b := string(tokenizer.Bytes(id))
			if !strings.HasPrefix(text.String()[at:], b) {
				t.Fatalf("the tokens %s do not spell %q", spelt(tokenizer, ids), text.String())
			}
			if tokenizer.IsSpecial(id) && mask.String()[at:at+len(b)] != b {
				t.Fatalf("%q at %d of %q is plain, and was taken for a control token", b, at, text.String())
			}
			at += len(b)
		}
		if at != text.Len() {
			t.Fatalf("%d of %d bytes", at, text.Len())
		}
		if !anyPlain && !slices.Equal(ids, tokenizer.Encode(text.String(), true, false)) {
			t.Fatal("without plain spans it is the whole text")
		}
	})
}

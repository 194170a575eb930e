package tokenizer

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces are the pieces into which a pre-tokenizer cuts text.
func pieces(name, text string) []string {
	p, _ := preTokenizer(name)
	list := []string{}
	split(p.rules, text, func(piece string) { list = append(list, piece) })
	return list
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		pre, text, want string // pieces between bars
	}{
		{"gpt-2", "I'll go, don't WAIT'S", "I|'ll| go|,| don|'t| WAIT|'|S"},
		{"gpt-2", "a  b   ", "a| | b|   "},
		{"gpt-2", "x\t\n y 12345", "x|\t\n| y| 12345"},
		{"gpt-2", "\tif", "\t|if"},
		{"gpt-2", "né你好🙂!", "né你好|🙂!"},
		{"smollm", "in 2024, 7", "in| |2|0|2|4|,| |7"},
		{"llama-bpe", "I'LL go, don't", "I|'LL| go|,| don|'t"},
		{"llama-bpe", "in 12345678", "in| |123|456|78"},
		{"llama-bpe", "a\tb(c)-d", "a|\tb|(c|)-|d"},
		{"llama-bpe", "end.\n\n\n  next", "end|.\n\n\n| | next"},
		{"llama-bpe", "a  \n \n  b", "a|  \n \n| | b"},
		{"llama-bpe", "a   ", "a|   "},
		{"llama-bpe", "\u00a0x\u3000\u3000y", "\u00a0x|\u3000|\u3000y"},
		{"qwen2", "in 123 'RE", "in| |1|2|3| '|RE"},
		{"qwen2", "x'RE", "x|'RE"},
		{"qwen2", "e\u0301a", "e|\u0301a"},
		{"qwen35", "e\u0301a", "e\u0301a"},
		{"deepseek-llm", "Hi there\n\nwo 你好 12!  ", "Hi| there|\n|\n|wo| |你好| |12|!|  "},
		{"deepseek-llm", "a   b", "a|  | b"},
		{"deepseek-coder", "if x1:\n", "if| x|1|:|\n"},
		{"deepseek-v3", "(abc) 12345こんにちは", "(abc|)| |123|45|こんにちは"},
		{"deepseek-v3", "e\u0301 + x\n", "e\u0301| +| x|\n"},
		{"gpt-4o", "HelloWorld isn't/\n", "Hello|World| isn't|/\n"},
		{"gpt-4o", "HTTPServer 1234 XY", "HTTPServer| |123|4| XY"},
		{"gpt-4o", "AB你", "AB你"},
		{"tekken", "isn't 12", "isn|'t| |1|2"},
		{"default", "a+b=3.14159!", "a|+|b|=|3|.|141|59|!"},
		{"glm4", "1234", "123|4"},
	} {
		want := strings.Split(c.want, "|")
		if diff := cmp.Diff(want, pieces(c.pre, c.text)); diff != "" {
			t.Errorf("%s %q: -want +got\n%s", c.pre, c.text, diff)
		}
	}
}

// published are the expressions of the models' tokenizer.json (and llama.cpp's "default"), in the syntax of package regexp. That has no look-ahead:
// a capturing group stands for \s+(?!\S)|\s+. Its \s is ASCII, so "\s" is written W here.
func published(name string) []string {
	const (
		contractions = `'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]`
		gpt2         = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^W\p{L}\p{N}]+|([W]+)`
		upper        = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
		lower        = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
		blanks       = `|[W]*[\r\n]+|([W]+)`
		symbols      = `| ?[^W\p{L}\p{N}]+[\r\n]*`
	)
	cased := func(after, digits string) string {
		return `[^\r\n\p{L}\p{N}]?` + upper + `*` + lower + `+` + after + `|[^\r\n\p{L}\p{N}]?` + upper + `+` + lower + `*` + after + digits +
			`| ?[^W\p{L}\p{N}]+[\r\n/]*` + blanks
	}
	switch name {
	case "gpt-2":
		return []string{gpt2}
	case "smollm":
		return []string{`\p{N}`, gpt2}
	case "llama-bpe":
		return []string{contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}` + symbols + blanks}
	case "qwen2":
		return []string{contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}` + symbols + blanks}
	case "qwen35":
		return []string{contractions + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^W\p{L}\p{M}\p{N}]+[\r\n]*` + blanks}
	case "deepseek-llm":
		return []string{`[\r\n]`, `[W]?[` + rangesOf(deepseekLetters) + `]+`, `[W]?[!-/:-~！-／：-～‘-‟　-。]+`, `[W]+$`,
			`[一-龥ࠀ-一가-\x{d7ff}]+`, `\p{N}+`}
	case "deepseek-coder":
		return []string{`[\r\n]`, `[W]?\p{L}+`, `[W]?\p{P}+`, `[一-龥ࠀ-一가-\x{d7ff}]+`, `\p{N}`}
	case "deepseek-v3":
		return []string{`\p{N}{1,3}`, `[一-龥\x{3040}-ゟ゠-ヿ]+`,
			"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" + `|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*` + blanks}
	case "gpt-4o":
		return []string{cased(`(?:`+contractions+`)?`, `|\p{N}{1,3}`)}
	case "tekken":
		return []string{cased(``, `|\p{N}`)}
	case "default":
		return []string{`[\p{P}$+<=>^~|]+`, gpt2, `\p{N}+`, `[0-9][0-9][0-9]`}
	}
	panic("no expression for " + name)
}

// The list of deepseek-llm is of cased letters: all of Latin, Greek and Cyrillic, not all of what Unicode has added since.
func TestDeepSeekLettersAreCased(t *testing.T) {
	listed := in(deepseekLetters)
	for r := range rune(0x20000) {
		cased := unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt)
		if listed(r) && !cased || cased && !listed(r) && r < 0x530 {
			t.Errorf("%U: listed %v, cased %v", r, listed(r), cased)
		}
	}
	bounds := []rune(deepseekLetters)
	for i := range len(bounds) - 1 {
		if bounds[i] > bounds[i+1] || i%2 == 1 && bounds[i] == bounds[i+1] {
			t.Errorf("%U and %U are out of order", bounds[i], bounds[i+1])
		}
	}
}

// rangesOf writes pairs of runes as ranges of a character class.
func rangesOf(pairs string) string {
	var b strings.Builder
	runes := []rune(pairs)
	for i := 0; i < len(runes); i += 2 {
		b.WriteString(string(runes[i]) + "-" + string(runes[i+1]))
	}
	return b.String()
}

// twin splits by regular expressions: obvious and slow.
func twin(expressions []*regexp.Regexp, s string) []string {
	if len(expressions) == 0 {
		return []string{s}
	}
	var list []string
	for s != "" {
		m := expressions[0].FindStringSubmatchIndex(s)
		if m == nil {
			return append(list, twin(expressions[1:], s)...)
		}
		start, end := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 && end < len(s) { // \s+(?!\S)|\s+ gives its last rune back, but not its only one
			if _, last := utf8.DecodeLastRuneInString(s[:end]); end-last > start {
				end -= last
			}
		}
		if start > 0 {
			list = append(list, twin(expressions[1:], s[:start])...)
		}
		list = append(list, twin(expressions[1:], s[start:end])...)
		s = s[end:]
	}
	return list
}

func TestScannersAgreeWithTheirExpressions(t *testing.T) {
	for _, name := range []string{"gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35", "deepseek-llm", "deepseek-coder", "deepseek-v3", "gpt-4o", "tekken", "default"} {
		t.Run(name, func(t *testing.T) {
			var expressions []*regexp.Regexp
			for _, e := range published(name) {
				expressions = append(expressions, regexp.MustCompile(strings.ReplaceAll(e, "W", `\t-\r \x{85}\p{Z}`)))
			}
			rapid.Check(t, func(t *rapid.T) {
				text := trickyText().Draw(t, "text")
				want := twin(expressions, text)
				if got := pieces(name, text); !slices.Equal(got, want) {
					t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
				}
			})
		})
	}
}

// trickyText is text made of what the expressions tell apart, and of any runes.
func trickyText() *rapid.Generator[string] {
	fragment := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u0085", "'s", "'S", "'ll", "'Re", "'", "1", "23", "4567", "٣", "Ⅷ", "½",
			"a", "Word", "HTTP", "ǅ", "ʰ", "é", "e\u0301", "\u0301", "你好", "こんにちは", "한국", "ა", "ƻ", "Ω", "🙂", "+", "<=", ".", "...", "/", "$", "_", "。",
			"\x00", "\u200b", "\ue000", "\ufffd",
		}),
		rapid.StringN(1, 3, -1),
	)
	return rapid.Map(rapid.SliceOfN(fragment, 0, 12), func(parts []string) string { return strings.Join(parts, "") })
}

func TestAnUnknownPreTokenizerIsNotKnown(t *testing.T) {
	if _, known := preTokenizer("something-new"); known {
		t.Error("something-new is known")
	}
	if got := pieces("something-new", "don't 12"); !slices.Equal(got, []string{"don", "'t", " 12"}) {
		t.Errorf("not cut as GPT-2 does: %q", got)
	}
}

package tokenizer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// findTwin is the rule of find: the leftmost place, there the longest token, of equal ones the first.
func findTwin(list []special, text string, from int, control func(from, to int) bool) (at, length int, id int32) {
	for at := from; at < len(text); at++ {
		length, id := 0, int32(-1)
		seen := map[string]bool{}
		for _, s := range list {
			if seen[s.text] {
				continue
			}
			seen[s.text] = true
			if strings.HasPrefix(text[at:], s.text) && len(s.text) > length && (s.always || control(at, at+len(s.text))) {
				length, id = len(s.text), s.id
			}
		}
		if length > 0 {
			return at, length, id
		}
	}
	return len(text), 0, -1
}

func TestSpecialsAreFoundAsTheTwinFindsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("ab<\u00ff")), 1, 5, -1)
		var list []special
		for i, text := range rapid.SliceOfN(word, 0, 12).Draw(t, "tokens") {
			list = append(list, special{text, int32(i), rapid.Bool().Draw(t, "always")})
		}
		text := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "text"), "")
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		plain := rapid.IntRange(0, len(text)).Draw(t, "plain")
		control := func(from, to int) bool { return to <= plain || from > plain }
		wantAt, wantLength, wantID := findTwin(list, text, from, control)
		at, length, id := newSpecials(list).find(text, from, control)
		if at != wantAt || length != wantLength || id != wantID {
			t.Errorf("found %d of %d bytes at %d, want %d of %d at %d", id, length, at, wantID, wantLength, wantAt)
		}
	})
}

func TestLongSpecialsAreIgnoredWithAWarning(t *testing.T) {
	within, over := strings.Repeat("x", maxSpecialBytes), strings.Repeat("y", maxSpecialBytes+1)
	tokenizer := vocabulary{pre: "qwen2", others: []extraToken{{within, kindControl}, {over, kindControl}}}.tokenizer(t)
	if got := tokenizer.Encode(within, true, false); len(got) != 1 {
		t.Errorf("a special token of %d bytes became %d tokens", len(within), len(got))
	}
	got := tokenizer.Encode(over, true, false)
	if len(got) != len(over) {
		t.Errorf("one of %d bytes became %d tokens, want one a byte", len(over), len(got))
	}
	for _, id := range got {
		if tokenizer.Token(id) != "y" {
			t.Fatalf("token %q, want y", tokenizer.Token(id))
		}
	}
	if all := strings.Join(tokenizer.Warnings(), "\n"); !strings.Contains(all, "1 of the control") || !strings.Contains(all, "1024 bytes") {
		t.Errorf("warnings %q do not tell of it", all)
	}
}

func TestMergesOfTooManySymbolsThatAreNoTokensAreLeftOut(t *testing.T) {
	v := vocabulary{pre: "qwen2", merges: []string{"a b"}}
	whole := v.tokenizer(t)
	if all := strings.Join(whole.Warnings(), "\n"); strings.Contains(all, "no tokens") {
		t.Errorf("warnings %q of a sound vocabulary", all)
	}
	few := &Tokenizer{spelling: newSpelling(), tokens: []string{"a", "b"}, kinds: []kind{kindNormal, kindNormal}, ids: map[string]int32{"a": 0, "b": 1}}
	few.readMerges([]string{"a b", "b a", "a bb", "b aa"}) // 254 bytes are no tokens: 4 more may be
	if len(few.merges) != 3 || len(few.extra) != 258 {
		t.Errorf("%d merges and %d other symbols, want 3 and 258", len(few.merges), len(few.extra))
	}
	if all := strings.Join(few.Warnings(), "\n"); !strings.Contains(all, "1 of the merges are left out") || !strings.Contains(all, "258 symbols") {
		t.Errorf("warnings %q do not tell of it", all)
	}
}

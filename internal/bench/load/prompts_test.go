package load

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSyntheticPrompts(t *testing.T) {
	a := Synthetic(20, 8, 3, 1)
	if diff := cmp.Diff(a, Synthetic(20, 8, 3, 1)); diff != "" {
		t.Errorf("the same seed gives others:\n%s", diff)
	}
	seen := map[string]bool{}
	for _, p := range append(a, Synthetic(20, 8, 3, 2)...) {
		if len(strings.Fields(p.Text)) != 8 || p.MaxTokens != 3 || seen[p.Text] {
			t.Errorf("%+v", p)
		}
		seen[p.Text] = true
	}
}

func TestReadDataset(t *testing.T) {
	got, err := ReadDataset(strings.NewReader(`{"prompt": "a", "other": [1]}

{"messages": [{"role": "user", "content": "b"}], "max_tokens": 9}`), 5)
	want := []Prompt{{Text: "a", MaxTokens: 5}, {Messages: []Message{{"user", "b"}}, MaxTokens: 9}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}

func TestErrorsOfDatasetsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "no prompt",
		"{\"prompt\": \"a\"}\nb": "line 2: must be a JSON object",
		"{}":                     "line 1: must have either prompt",
		`{"prompt": 5}`:          "line 1",
		`{"prompt": "a", "messages": [{"role": "user", "content": "b"}]}`: "line 1: must have either",
		`{"prompt": "a", "max_tokens": -1}`:                               "line 1: max_tokens is -1",
		`{"prompt": "` + strings.Repeat("a", maxLineBytes):                "after 0 prompts",
	} {
		if _, err := ReadDataset(strings.NewReader(text), 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

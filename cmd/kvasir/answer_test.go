package main

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir"
)

func TestControlCharactersAreEscaped(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"plain\n\ttext", "plain\n\ttext"},
		{"žluťoučký 狐 🦊", "žluťoučký 狐 🦊"},
		{"\x1b[31mred\x1b]0;title\x07", `\x1b[31mred\x1b]0;title\x07`},
		{"over\rwrite\b\x00\x7f", `over\rwrite\x08\x00\x7f`},
		{"C1: \u009b31m\u0085", `C1: \x9b31m\x85`},
		{"not UTF-8: \xff\xc3.", "not UTF-8: \ufffd\ufffd."},
	}
	for _, tt := range tests {
		if got := escapeControls(tt.text); got != tt.want {
			t.Errorf("%q is shown as %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Whatever a model says, a terminal gets no control character but newline and tab, and text without control characters arrives unchanged.
func TestEscapedTextIsHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := escapeControls(text)
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q is shown as %q, which has the control character %q", text, got, r)
			}
		}
		if again := escapeControls(got); again != got {
			t.Fatalf("%q is shown as %q, and that as %q", text, got, again)
		}
	})
}

func TestAnswersEndTheirLine(t *testing.T) {
	tests := []struct {
		tokens []string
		want   string
	}{
		{[]string{"a", "b"}, "ab\n"},
		{[]string{"a\n"}, "a\n"},
		{[]string{"a\n", ""}, "a\n"},
		{[]string{"", ""}, ""},
		{nil, ""},
	}
	for _, tt := range tests {
		var out strings.Builder
		p := &printer{w: &out}
		if _, err := p.stream(says(tt.tokens...)(t.Context(), kvasir.Request{})); err != nil {
			t.Fatal(err)
		}
		if out.String() != tt.want {
			t.Errorf("the tokens %q are printed as %q, want %q", tt.tokens, out.String(), tt.want)
		}
	}
}

func TestOnlyTerminalsGetEscapes(t *testing.T) {
	for _, escape := range []bool{false, true} {
		var out strings.Builder
		p := &printer{w: &out, escape: escape}
		p.stream(says("\x1b[2J")(t.Context(), kvasir.Request{}))
		want := "\x1b[2J\n"
		if escape {
			want = `\x1b[2J` + "\n"
		}
		if out.String() != want {
			t.Errorf("escape %v: got %q, want %q", escape, out.String(), want)
		}
	}
}

type fullDisk struct{}

var errFullDisk = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFullDisk }

func TestAnAnswerThatCannotBeWrittenFails(t *testing.T) {
	p := &printer{w: fullDisk{}}
	if _, err := p.stream(says("a")(t.Context(), kvasir.Request{})); !errors.Is(err, errFullDisk) {
		t.Errorf("got %v, want %v", err, errFullDisk)
	}
}

func TestStatsLine(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	tests := []struct {
		o    outcome
		want string
	}{
		{outcome{asked: at(0), first: at(250), last: at(1250), tokens: 11, usage: kvasir.Usage{PromptTokens: 30, CachedTokens: 16}},
			"prompt: 30 tokens (16 cached); answer: 11 tokens, the first after 0.250 s, then 10.0 tokens/s"},
		{outcome{asked: at(0), first: at(250), last: at(250), tokens: 1, usage: kvasir.Usage{PromptTokens: 30}},
			"prompt: 30 tokens (0 cached); answer: 1 tokens, the first after 0.250 s"},
		{outcome{}, "answer: 0 tokens"},
	}
	for _, tt := range tests {
		if got := tt.o.String(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestTheLastTokenIsNotCountedTwice(t *testing.T) {
	var o outcome
	o.count(kvasir.Token{ID: 5, Text: "a"}, time.UnixMilli(1))
	o.count(kvasir.Token{ID: -1, Finish: kvasir.FinishLength, Usage: &kvasir.Usage{PromptTokens: 60, CompletionTokens: 40}}, time.UnixMilli(2))
	if o.tokens != 1 || o.finish != kvasir.FinishLength {
		t.Errorf("got %+v, want 1 token and the finish reason length", o)
	}
	if !o.full(100) || o.full(101) {
		t.Errorf("60 and 40 tokens fill a context of 100 and no longer one")
	}
}

package main

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kvasir-engine/kvasir"
)

// talkTo runs a chat in which these lines are typed.
func talkTo(t *testing.T, eng *fakeEngine, system string, lines ...string) (out string, err error) {
	t.Helper()
	var b output
	s := &chat{eng: eng, lines: &typed{lines: lines}, out: &b, answer: printer{w: &b, escape: true}, system: system}
	err = s.run(t.Context())
	return b.String(), err
}

func TestChatKeepsTheConversation(t *testing.T) {
	eng := &fakeEngine{answer: says("yes")}
	out, err := talkTo(t, eng, "Be brief.", "first", "", `second \`, "line", "/clear", "third", "/system Be long.", "fourth", `"""`, "/bye", `"""`, "/etc/hosts is a file", "/bye", "not reached")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"system: Be brief. | user: first",
		"system: Be brief. | user: first | user: second \nline",
		"system: Be brief. | user: third",
		"system: Be long. | user: fourth",
		"system: Be long. | user: fourth | user: /bye",
		"system: Be long. | user: fourth | user: /bye | user: /etc/hosts is a file",
	}
	if diff := cmp.Diff(want, eng.questions()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	if n := strings.Count(out, "yes\n"); n != len(want) {
		t.Errorf("%d answers are shown, want %d:\n%s", n, len(want), out)
	}
}

func TestChatCommands(t *testing.T) {
	tests := []struct {
		lines []string
		want  []string
	}{
		{nil, []string{"fake, a context of 100 tokens", "/help"}},
		{[]string{"/help"}, []string{"/clear", "/system TEXT", "/bye", `"""`}},
		{[]string{"/system"}, []string{"There is no system message."}},
		{[]string{"/system x\x1b[2J", "/system"}, []string{`System message: x\x1b[2J`}},
		{[]string{"/clear"}, []string{"forgotten"}},
		{[]string{"/fly to"}, []string{"There is no /fly", "/help"}},
	}
	for _, tt := range tests {
		eng := &fakeEngine{answer: says("yes")}
		out, err := talkTo(t, eng, "", tt.lines...)
		if err != nil {
			t.Errorf("%q: %v", tt.lines, err)
		}
		wants(t, strings.Join(tt.lines, ", "), out, tt.want...)
		if len(eng.asked) > 0 {
			t.Errorf("%q: the engine was asked %q", tt.lines, eng.questions())
		}
	}
}

func TestChatShowsControlCharacters(t *testing.T) {
	out, _ := talkTo(t, &fakeEngine{answer: says("\x1b[31mred", "\x07")}, "", "hi")
	wants(t, "the terminal", out, `\x1b[31mred\x07`)
	if strings.Contains(out, "\x1b") {
		t.Errorf("the terminal got an escape character: %q", out)
	}
}

// inTurn answers the first question with the first of answers, and so on.
func inTurn(answers ...func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error]) func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
	return func(ctx context.Context, req kvasir.Request) iter.Seq2[kvasir.Token, error] {
		answer := answers[0]
		answers = answers[1:]
		return answer(ctx, req)
	}
}

func TestChatGoesOn(t *testing.T) {
	full := &kvasir.Rejection{Limit: "max_model_len", Have: 120, Max: 100, Why: "too long"}
	tests := []struct {
		name  string
		first func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error]
		want  []string
	}{
		{"after a message that does not fit", fails("", full), []string{"does not fit", "120 tokens", "100"}},
		{"after an answer that filled the context", fillsContext, []string{"and so\n", "context of 100 tokens is full", "/clear"}},
		{"after Ctrl-C", interrupts(t, "Once upon"), []string{"Once upon\n"}},
		{"after an error", fails("Half", kvasir.ErrPageCheck), []string{"Half\n", "page check failed"}},
		{"after a full queue", fails("", &kvasir.Rejection{Limit: "max_queue", Why: "Too many wait."}), []string{"Too many wait."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eng := &fakeEngine{answer: inTurn(tt.first, says("the second answer"))}
			out, err := talkTo(t, eng, "", "first", "second")
			if err != nil {
				t.Fatal(err)
			}
			wants(t, "the terminal", out, append(tt.want, "the second answer\n")...)
		})
	}
}

func TestChatTellsHowToGoOnWhenTheContextIsFull(t *testing.T) {
	full := &kvasir.Rejection{Limit: "max_model_len", Have: 120, Max: 100, Why: "too long"}
	eng := &fakeEngine{answer: inTurn(says("yes"), fails("", full), says("fresh"))}
	out, err := talkTo(t, eng, "", "first", "second", "/clear", "third")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the terminal", out, "The context is full", "120 tokens", "/clear forgets", "fresh\n")
	if got := eng.questions(); got[2] != "user: third" {
		t.Errorf("after /clear the engine was asked %q", got[2])
	}
}

// Only what became part of the conversation makes it full.
func TestChatTellsWhetherTheMessageAloneIsTooLong(t *testing.T) {
	full := &kvasir.Rejection{Limit: "max_model_len", Have: 120, Max: 100, Why: "too long"}
	tests := []struct {
		name  string
		first func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error]
		want  string
	}{
		{"after Ctrl-C before the first token", interrupts(t, ""), "This message does not fit"},
		{"after Ctrl-C within an answer", interrupts(t, "Once"), "The context is full"},
		{"after an error before the first token", fails("", kvasir.ErrPageCheck), "This message does not fit"},
		{"after an error within an answer", fails("Half", kvasir.ErrPageCheck), "The context is full"},
		{"after an answer", says("yes"), "The context is full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := talkTo(t, &fakeEngine{answer: inTurn(tt.first, fails("", full))}, "", "first", "second")
			if err != nil {
				t.Fatal(err)
			}
			wants(t, "the terminal", out, tt.want)
		})
	}
}

func TestChatEndsWithTheEngine(t *testing.T) {
	for _, cause := range []error{kvasir.ErrEngineFailed, kvasir.ErrClosed} {
		eng := &fakeEngine{answer: inTurn(fails("Half", cause))}
		out, err := talkTo(t, eng, "", "first", "second")
		if !errors.Is(err, cause) {
			t.Errorf("the chat ended with %v, want %v:\n%s", err, cause, out)
		}
	}
}

func TestChatNeedsATerminal(t *testing.T) {
	tests := []struct {
		args []string
		out  bool
		want string
	}{
		{[]string{"run"}, false, "a chat needs a terminal"},
		{[]string{"run", "--raw"}, true, "--raw needs PROMPT"},
	}
	for _, tt := range tests {
		b := newBench(&fakeEngine{answer: says("ok")}, "")
		b.inTerminal, b.outTerminal = true, tt.out
		if status := b.run(tt.args); status != statusUsage {
			t.Errorf("%q: exit status %d, want %d", tt.args, status, statusUsage)
		}
		wants(t, "standard error", b.stderr.String(), tt.want)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir"
)

func TestRunAnswers(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		stdin  string
		asked  string
		answer []string
		out    string
	}{
		{"arguments", []string{"What", "is this?"}, "not read", "user: What is this?", []string{"It ", "is."}, "It is.\n"},
		{"system", []string{"hi", "--system", "Be brief."}, "", "system: Be brief. | user: hi", []string{"ok"}, "ok\n"},
		{"raw", []string{"--raw", "Once upon"}, "", "Once upon", []string{" a time"}, " a time\n"},
		{"standard input", nil, "two\nlines\n", "user: two\nlines", []string{"ok"}, "ok\n"},
		{"standard input by name", []string{"-"}, "text\r\n", "user: text", []string{"ok"}, "ok\n"},
		{"raw standard input", []string{"--raw"}, "text\n", "text\n", []string{"ok"}, "ok\n"},
		{"prompt like a flag", []string{"--", "--what?"}, "", "user: --what?", []string{"ok"}, "ok\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eng := &fakeEngine{answer: says(tt.answer...)}
			b := newBench(eng, tt.stdin)
			if status := b.run(append([]string{"run"}, tt.args...)); status != 0 {
				t.Fatalf("exit status %d: %s", status, b.stderr.String())
			}
			if got := eng.questions(); len(got) != 1 || got[0] != tt.asked {
				t.Errorf("the engine was asked %q, want %q", got, tt.asked)
			}
			if b.stdout.String() != tt.out || b.stderr.String() != "" {
				t.Errorf("printed %q and on standard error %q; want %q and nothing", b.stdout.String(), b.stderr.String(), tt.out)
			}
			if !eng.closed {
				t.Error("the engine was not closed")
			}
		})
	}
}

func TestRunRefusesPrompts(t *testing.T) {
	tests := []struct{ name, stdin, want string }{
		{"empty", "", "the prompt is empty"},
		{"only a newline", "\n", "the prompt is empty"},
		{"not text", "\xff\xfe", "not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eng := &fakeEngine{answer: says("ok")}
			b := newBench(eng, tt.stdin)
			if status := b.run([]string{"run"}); status != statusUsage {
				t.Errorf("exit status %d, want %d", status, statusUsage)
			}
			wants(t, "standard error", b.stderr.String(), tt.want)
			if len(eng.asked) > 0 {
				t.Error("the engine was asked all the same")
			}
		})
	}
}

func TestErrorsThatNameTheModelsFileNameItsFlag(t *testing.T) {
	tests := []struct{ model, err, want string }{
		{"m.gguf", "gguf: open m.gguf: no such file", "kvasir: --model: gguf: open m.gguf: no such file\n"},
		{"m.gguf", "tokenizer: m.gguf has no merges", "kvasir: --model: tokenizer: m.gguf has no merges\n"},
		{"m", "kvasir: one request needs more memory", "kvasir: one request needs more memory\n"},
		{"", "kvasir: the built-in model: no magic", "kvasir: the built-in model: no magic\n"},
	}
	for _, tt := range tests {
		b := newBench(nil, "")
		b.open = func(context.Context, kvasir.Config) (engine, error) { return nil, errors.New(tt.err) }
		b.run([]string{"run", "x", "--model", tt.model})
		if got := b.stderr.String(); got != tt.want {
			t.Errorf("with --model %q: %q, want %q", tt.model, got, tt.want)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("a"), len(p))), nil }

func TestRunBoundsItsInput(t *testing.T) {
	b := newBench(&fakeEngine{answer: says("ok")}, "")
	b.in = endless{}
	if status := b.run([]string{"run"}); status != statusUsage {
		t.Errorf("exit status %d, want %d", status, statusUsage)
	}
	wants(t, "standard error", b.stderr.String(), "longer than 32 MiB")
}

func TestRunFails(t *testing.T) {
	broken := errors.New("it broke")
	tests := []struct {
		name   string
		answer func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error]
		out    string
	}{
		{"before the answer", fails("", broken), ""},
		{"within the answer", fails("It", broken), "It\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(&fakeEngine{answer: tt.answer}, "")
			if status := b.run([]string{"run", "x"}); status != statusFailed {
				t.Errorf("exit status %d, want %d", status, statusFailed)
			}
			if b.stdout.String() != tt.out || b.stderr.String() != "kvasir: it broke\n" {
				t.Errorf("printed %q and on standard error %q", b.stdout.String(), b.stderr.String())
			}
		})
	}
}

func TestRunWhenTheEngineCannotBeOpened(t *testing.T) {
	b := newBench(nil, "")
	b.open = func(context.Context, kvasir.Config) (engine, error) {
		return nil, errors.New("kvasir: m.gguf: no magic")
	}
	if status := b.run([]string{"run", "x"}); status != statusFailed {
		t.Errorf("exit status %d, want %d", status, statusFailed)
	}
	if got := b.stderr.String(); got != "kvasir: m.gguf: no magic\n" {
		t.Errorf("standard error: %q", got)
	}
}

func TestRunStats(t *testing.T) {
	b := newBench(&fakeEngine{answer: says("a", "b")}, "")
	b.run([]string{"run", "x", "--stats"})
	wants(t, "standard error", b.stderr.String(), "prompt: 7 tokens (4 cached)", "answer: 2 tokens")
	if b.stdout.String() != "ab\n" {
		t.Errorf("standard output: %q", b.stdout.String())
	}
}

func TestRunWarnsOnStandardError(t *testing.T) {
	b := newBench(&fakeEngine{answer: says("a")}, "")
	open := b.open
	b.open = func(ctx context.Context, cfg kvasir.Config) (engine, error) {
		cfg.Logger.Info("all is well")
		cfg.Logger.Warn("the chat template is missing")
		return open(ctx, cfg)
	}
	b.run([]string{"run", "x"})
	if got, want := b.stderr.String(), "kvasir: warning: the chat template is missing\n"; got != want {
		t.Errorf("standard error: %q, want %q", got, want)
	}
}

func TestRunTellsOfAFullContext(t *testing.T) {
	b := newBench(&fakeEngine{answer: fillsContext}, "")
	if status := b.run([]string{"run", "x"}); status != 0 {
		t.Errorf("exit status %d: half an answer is one too", status)
	}
	wants(t, "standard error", b.stderr.String(), "the context of 100 tokens is full")
}

func fillsContext(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
	return func(yield func(kvasir.Token, error) bool) {
		yield(kvasir.Token{ID: 1, Text: "and so", Finish: kvasir.FinishLength, Usage: &kvasir.Usage{PromptTokens: 60, CompletionTokens: 40}}, nil)
	}
}

func TestCtrlCEndsAnAnswer(t *testing.T) {
	eng := &fakeEngine{answer: interrupts(t, "Once")}
	b := newBench(eng, "")
	if status := b.run([]string{"run", "x"}); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
	if b.stdout.String() != "Once\n" || b.stderr.String() != "" {
		t.Errorf("printed %q and on standard error %q", b.stdout.String(), b.stderr.String())
	}
	if !eng.closed {
		t.Error("the engine was not closed")
	}
}

func TestCtrlCEndsLoading(t *testing.T) {
	b := newBench(nil, "")
	never := make(chan struct{})
	defer close(never)
	b.open = func(ctx context.Context, cfg kvasir.Config) (engine, error) {
		for range interrupts(t, "")(ctx, kvasir.Request{}) {
		}
		<-never // loading cannot be stopped
		return nil, nil
	}
	if status := b.run([]string{"run", "x"}); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
}

func TestLoadBar(t *testing.T) {
	tests := []struct {
		name    string
		elapsed time.Duration
		done    int64
		shown   bool
	}{
		{"a small file", patience / 2, 50 << 20, false},
		{"a large file", 2 * patience, 50 << 20, true},
		{"slow, but done", 2 * patience, 100 << 20, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			bar := newLoadBar(&out)
			bar.now = func() time.Time { return bar.begun.Add(tt.elapsed) }
			bar.report(tt.done, 100<<20)
			if shown := out.Len() > 0; shown != tt.shown {
				t.Errorf("shown: %v, want %v: %q", shown, tt.shown, out.String())
			}
			if tt.shown {
				wants(t, "the bar", out.String(), "loading", "50%", "loading 100 MiB")
			}
			bar.finish()
			drawn := out.String()
			bar.report(tt.done+1, 100<<20)
			if out.String() != drawn {
				t.Errorf("drawn after the end: %q", out.String()[len(drawn):])
			}
		})
	}
}

func TestNoLoadBarWithoutATerminal(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		b := newBench(&fakeEngine{answer: says("ok")}, "")
		b.errTerminal = terminal
		b.run([]string{"run", "x"})
		if (b.cfg.Progress != nil) != terminal {
			t.Errorf("terminal %v: progress is asked for: %v", terminal, b.cfg.Progress != nil)
		}
	}
}

func TestVersionNamesTheMachine(t *testing.T) {
	b := newBench(nil, "")
	if status := b.run([]string{"version"}); status != 0 {
		t.Errorf("exit status %d", status)
	}
	wants(t, "version", b.stdout.String(), "kvasir ", "go1.", "CPU kernels: ")
}

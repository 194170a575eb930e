package main

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kvasir-engine/kvasir"
)

// fakeEngine answers as answer says, and remembers what it was asked.
type fakeEngine struct {
	answer  func(ctx context.Context, req kvasir.Request) iter.Seq2[kvasir.Token, error]
	handler http.Handler
	health  error
	failed  chan struct{}
	drain   func(context.Context) error
	onClose func()

	mu     sync.Mutex
	asked  []kvasir.Request
	closed bool
}

func (f *fakeEngine) Generate(ctx context.Context, req kvasir.Request) iter.Seq2[kvasir.Token, error] {
	f.mu.Lock()
	f.asked = append(f.asked, req)
	f.mu.Unlock()
	return f.answer(ctx, req)
}

func (f *fakeEngine) Converse(req kvasir.Request, system string) conversation {
	return &fakeTalk{engine: f, req: req, said: withSystem(system)}
}

// fakeTalk is a conversation that remembers the questions only.
type fakeTalk struct {
	engine *fakeEngine
	req    kvasir.Request
	said   []kvasir.Message
}

func (t *fakeTalk) Say(ctx context.Context, text string) iter.Seq2[kvasir.Token, error] {
	t.said = append(t.said, kvasir.Message{Role: "user", Content: text})
	req := t.req
	req.Messages = append([]kvasir.Message(nil), t.said...)
	return t.engine.Generate(ctx, req)
}

func (f *fakeEngine) Model() kvasir.ModelInfo {
	return kvasir.ModelInfo{Name: "fake", ContextLength: 100, VocabSize: 10}
}
func (f *fakeEngine) Handler(...kvasir.HandlerOption) http.Handler { return f.handler }
func (f *fakeEngine) Health() error                                { return f.health }
func (f *fakeEngine) Failed() <-chan struct{}                      { return f.failed }

func (f *fakeEngine) Drain(ctx context.Context) error {
	if f.drain == nil {
		return nil
	}
	return f.drain(ctx)
}

func (f *fakeEngine) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && f.onClose != nil {
		f.onClose()
	}
	f.closed = true
	return nil
}

func (f *fakeEngine) questions() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, req := range f.asked {
		if req.Prompt != "" {
			all = append(all, req.Prompt)
			continue
		}
		var turns []string
		for _, m := range req.Messages {
			turns = append(turns, m.Role+": "+m.Content)
		}
		all = append(all, strings.Join(turns, " | "))
	}
	return all
}

// says answers with these texts, one a token, and the usual end.
func says(texts ...string) func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
	return func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
		return func(yield func(kvasir.Token, error) bool) {
			for _, text := range texts {
				if !yield(kvasir.Token{ID: 1, Text: text}, nil) {
					return
				}
			}
			yield(kvasir.Token{ID: -1, Finish: kvasir.FinishStop, Usage: &kvasir.Usage{PromptTokens: 7, CompletionTokens: len(texts), CachedTokens: 4}}, nil)
		}
	}
}

// fails answers with text, if there is some, and then err.
func fails(text string, err error) func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
	return func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
		return func(yield func(kvasir.Token, error) bool) {
			if text == "" || yield(kvasir.Token{ID: 1, Text: text}, nil) {
				yield(kvasir.Token{}, err)
			}
		}
	}
}

// interrupts answers with text, if there is some, then has the process interrupted, and goes on until it is told.
func interrupts(t *testing.T, text string) func(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error] {
	return func(ctx context.Context, _ kvasir.Request) iter.Seq2[kvasir.Token, error] {
		return func(yield func(kvasir.Token, error) bool) {
			if text != "" && !yield(kvasir.Token{ID: 1, Text: text}, nil) {
				return
			}
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Signal(os.Interrupt)
			}
			if err != nil {
				t.Errorf("interrupt this process: %v", err)
				return
			}
			<-ctx.Done()
			yield(kvasir.Token{}, ctx.Err())
		}
	}
}

// output collects what is written to it. Many goroutines may write.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// bench is an app whose world is the test.
type bench struct {
	*app
	stdout, stderr output
	cfg            kvasir.Config // what the engine was opened with
}

func newBench(eng engine, stdin string) *bench {
	b := &bench{}
	b.app = &app{
		in: io.Reader(strings.NewReader(stdin)), out: &b.stdout, err: &b.stderr,
		open: func(_ context.Context, cfg kvasir.Config) (engine, error) {
			b.cfg = cfg
			return eng, nil
		},
		notify: func(chan<- os.Signal, ...os.Signal) {},
	}
	return b
}

// wants fails the test if text lacks any of parts.
func wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

func (*fakeEngine) NodeAddr() string { return "" }

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kvasir-engine/kvasir/request"
)

// No test may leave a goroutine behind: a stream whose client is gone ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is an engine that answers by script.
type fake struct {
	script        func(ctx context.Context, r request.Request, yield func(request.Token, error) bool)
	health, ready error

	mu    sync.Mutex
	asked []request.Request
}

func (f *fake) Generate(ctx context.Context, r request.Request) iter.Seq2[request.Token, error] {
	f.mu.Lock()
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	return func(yield func(request.Token, error) bool) { f.script(ctx, r, yield) }
}

func (f *fake) Model() ModelInfo {
	return ModelInfo{Name: "acme/tiny", ContextLength: 128, VocabSize: 1000, Created: time.Unix(1700000000, 0)}
}

func (f *fake) Health() error { return f.health }
func (f *fake) Ready() error  { return f.ready }

func (f *fake) requests() []request.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request.Request(nil), f.asked...)
}

// says is an engine whose every choice is these pieces of text, one a token, token by token over the choices.
func says(pieces ...string) *fake {
	return &fake{script: func(_ context.Context, r request.Request, yield func(request.Token, error) bool) {
		for i, piece := range pieces {
			for choice := range r.N {
				t := request.Token{Choice: choice, ID: int32(i + 1), Text: piece}
				if r.Sampling.Logprobs {
					t.Bytes, t.Logprob = []byte(piece), -0.5
					if r.Sampling.TopLogprobs > 0 {
						t.Top = []request.TopToken{{ID: 9, Bytes: []byte("<&>"), Logprob: -0.25}}
					}
				}
				if i == len(pieces)-1 {
					t.Finish = request.FinishStop
					t.Usage = &request.Usage{PromptTokens: 7, CompletionTokens: len(pieces), CachedTokens: 4 - choice}
				}
				if !yield(t, nil) {
					return
				}
			}
		}
	}}
}

// fails is an engine that says pieces, then fails.
func fails(err error, pieces ...string) *fake {
	return &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) {
		for i, piece := range pieces {
			if !yield(request.Token{ID: int32(i), Text: piece}, nil) {
				return
			}
		}
		yield(request.Token{}, err)
	}}
}

// endless is an engine that talks until it is stopped, and then closes the channel.
func endless(stopped chan<- struct{}) *fake {
	return &fake{script: func(ctx context.Context, _ request.Request, yield func(request.Token, error) bool) {
		defer close(stopped)
		for ctx.Err() == nil {
			if !yield(request.Token{ID: 1, Text: strings.Repeat("blah ", 1000)}, nil) {
				return
			}
		}
		yield(request.Token{}, ctx.Err())
	}}
}

// newServer is New with a fixed clock.
func newServer(e Engine, cfg Config) *server {
	s := New(e, cfg).(*server)
	s.now = func() time.Time { return time.Unix(1800000000, 0) }
	return s
}

// post sends body over no network.
func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	h.ServeHTTP(w, r)
	return w
}

var madeUp = regexp.MustCompile(`(chatcmpl|cmpl)-[a-z2-7]{26}|fp_[0-9a-f]{10}`)

// plain puts fixed words in place of ids.
func plain(body string) string {
	return madeUp.ReplaceAllStringFunc(body, func(s string) string {
		before, _, _ := strings.Cut(s, "-")
		if strings.HasPrefix(s, "fp_") {
			return "FP"
		}
		return strings.ToUpper(before)
	})
}

// sameJSON compares JSON texts, apart from spaces between their parts: also the order of fields.
func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	var a, b bytes.Buffer
	if err := json.Compact(&a, []byte(got)); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, got)
	}
	if err := json.Compact(&b, []byte(want)); err != nil {
		t.Fatalf("the test's own JSON: %v\n%s", err, want)
	}
	if a.String() != b.String() {
		t.Errorf("got  %s\nwant %s", &a, &b)
	}
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// errorOf reads an error body, which must be whole.
func errorOf(t fataler, body []byte) errorDetail {
	t.Helper()
	var e errorBody
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("not an error in OpenAI's shape: %v\n%s", err, body)
	}
	if e.Error.Message == "" || e.Error.Type == "" {
		t.Fatalf("error without message or type: %s", body)
	}
	return e.Error
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// listen serves h on a real socket.
func listen(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const hello = `{"messages":[{"role":"user","content":"hi"}]}`

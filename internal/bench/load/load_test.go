package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

// run drives a fake server in fake time.
func run(t *testing.T, cfg Config, prompts []Prompt, answer func(http.ResponseWriter, *http.Request, body)) (answers []Answer, took time.Duration, s *fakeServer) {
	t.Helper()
	s, cfg.Client = startFake(t, answer)
	cfg.URL = "http://fake/v1/"
	answers, took = Run(t.Context(), cfg, prompts)
	return answers, took, s
}

func some(n int) []Prompt { return Synthetic(n, 5, 7, 1) }

func TestTimesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, took, _ := run(t, Config{}, some(2), paced(100*ms, 20*ms, 5))
		want := Answer{First: 100 * ms, Gaps: []time.Duration{20 * ms, 20 * ms, 20 * ms, 20 * ms}, Whole: 180 * ms, Chunks: 5, PromptTokens: 10, CompletionTokens: 5, CachedTokens: 3}
		if diff := cmp.Diff([]Answer{want, want}, answers); diff != "" || took != 360*ms {
			t.Errorf("took %v, want 360ms; answers (-want +got):\n%s", took, diff)
		}
	})
}

// Tokens whose events come together have no time between them, and an event that comes in pieces counts when it is whole.
func TestTokensCountWhenTheirEventIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, _, _ := run(t, Config{Chat: true}, some(1), func(w http.ResponseWriter, _ *http.Request, _ body) {
			piece := func(text string) {
				io.WriteString(w, text)
				w.(http.Flusher).Flush()
				time.Sleep(10 * ms)
			}
			piece(": a comment\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n")
			piece("event: message\ndata: {\"choices\":[{\"delta\":{\"con")
			piece("tent\":\"a\"}}]}\n")
			piece("\n")
			piece("data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"reasoning_content\":\"c\"}}]}\n\n")
			piece("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
		})
		want := Answer{First: 30 * ms, Gaps: []time.Duration{10 * ms, 0}, Whole: 60 * ms, Chunks: 3}
		if diff := cmp.Diff([]Answer{want}, answers); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

func TestWhatIsAsked(t *testing.T) {
	conversation := []Message{{"system", "be brief"}, {"user", "hello"}}
	for name, c := range map[string]struct {
		cfg    Config
		prompt Prompt
		path   string
		want   body
	}{
		"completions": {Config{Model: "m", IgnoreEOS: true}, Prompt{Text: "hello", MaxTokens: 7}, "/v1/completions",
			body{Model: "m", Prompt: "hello", MaxTokens: 7, IgnoreEOS: true}},
		"chat":                         {Config{Chat: true}, Prompt{Text: "hello", MaxTokens: 7}, "/v1/chat/completions", body{Messages: []Message{{"user", "hello"}}, MaxTokens: 7}},
		"conversation":                 {Config{Chat: true}, Prompt{Messages: conversation, MaxTokens: 7}, "/v1/chat/completions", body{Messages: conversation, MaxTokens: 7}},
		"conversation as a completion": {Config{}, Prompt{Messages: conversation, MaxTokens: 7}, "/v1/completions", body{Prompt: "be brief\n\nhello", MaxTokens: 7}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.cfg.APIKey = "secret"
			_, _, s := run(t, c.cfg, []Prompt{c.prompt}, func(w http.ResponseWriter, r *http.Request, _ body) {
				if r.URL.Path != c.path || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("%s: asked %s with %q", name, r.URL.Path, r.Header.Get("Authorization"))
				}
				end(w, 1, 1)
			})
			c.want.Stream, c.want.StreamOptions.IncludeUsage = true, true
			if diff := cmp.Diff([]body{c.want}, s.asked); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		})
	}
}

// Clients of a closed loop ask again as soon as they have their answer, and never more at once.
func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, took, s := run(t, Config{Concurrency: 4}, some(12), paced(100*ms, 0, 1))
		if s.most() != 4 || took != 300*ms || len(answers) != 12 {
			t.Errorf("%d at once, %d answers in %v; want 4, 12 in 300ms", s.most(), len(answers), took)
		}
	})
}

// Requests of an open loop come when they are due, however slow the answers are.
func TestOpenLoop(t *testing.T) {
	const rate, n = 50.0, 400
	arrivals := func(t *testing.T, seed uint64) (gaps []time.Duration, top int) {
		_, _, s := run(t, Config{Rate: rate, Seed: seed}, some(n), paced(time.Hour, 0, 1))
		slices.SortFunc(s.at, time.Time.Compare)
		for i := range n - 1 {
			gaps = append(gaps, s.at[i+1].Sub(s.at[i]))
		}
		return gaps, s.most()
	}
	synctest.Test(t, func(t *testing.T) {
		gaps, top := arrivals(t, 1)
		if top != n {
			t.Errorf("%d requests at once, want all %d: none is answered before the last is sent", top, n)
		}
		// Of exponential gaps the mean is 1/rate, and so is the deviation.
		mean := sum(gaps).Seconds() / float64(len(gaps))
		var square float64
		for _, g := range gaps {
			square += (g.Seconds() - mean) * (g.Seconds() - mean)
		}
		deviation := math.Sqrt(square / float64(len(gaps)))
		if math.Abs(mean*rate-1) > 0.2 || math.Abs(deviation*rate-1) > 0.25 {
			t.Errorf("gaps of %.4f s on average, deviation %.4f s; want %.4f s of both", mean, deviation, 1/rate)
		}
		again, _ := arrivals(t, 1)
		other, _ := arrivals(t, 2)
		if !slices.Equal(gaps, again) || slices.Equal(gaps, other) {
			t.Error("the times depend on something else than the seed")
		}
	})
}

// A bound makes requests wait, and their wait counts.
func TestOpenLoopWithABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, took, s := run(t, Config{Rate: 1e9, Concurrency: 2}, some(6), paced(100*ms, 0, 1))
		var firsts []time.Duration
		for _, a := range answers {
			firsts = append(firsts, a.First.Round(ms))
		}
		slices.Sort(firsts)
		if want := []time.Duration{100 * ms, 100 * ms, 200 * ms, 200 * ms, 300 * ms, 300 * ms}; s.most() != 2 || !slices.Equal(firsts, want) {
			t.Errorf("%d at once in %v, first tokens after %v, want %v", s.most(), took, firsts, want)
		}
	})
}

func TestErrorsByKind(t *testing.T) {
	for _, c := range []struct {
		kind, err string
		answer    func(w http.ResponseWriter, r *http.Request, _ body)
	}{
		{"HTTP 429", "come later", func(w http.ResponseWriter, _ *http.Request, _ body) {
			w.WriteHeader(429)
			io.WriteString(w, `{"error":{"message":"come later","type":"rate_limit"}}`)
		}},
		{"HTTP 502", "bad gateway", func(w http.ResponseWriter, _ *http.Request, _ body) { http.Error(w, "bad gateway", 502) }},
		{"error in stream", "a page was bad", func(w http.ResponseWriter, _ *http.Request, _ body) {
			token(w, "x")
			event(w, `{"error":{"message":"a page was bad"}}`)
		}},
		{"cut off", "without an end", func(w http.ResponseWriter, _ *http.Request, _ body) { token(w, "x") }},
		{"no text", "no text", func(w http.ResponseWriter, _ *http.Request, _ body) { end(w, 1, 0) }},
		{"not JSON", "hello", func(w http.ResponseWriter, _ *http.Request, _ body) { event(w, "hello") }},
		{"connection lost", "", func(w http.ResponseWriter, _ *http.Request, _ body) {
			token(w, "x")
			panic(http.ErrAbortHandler)
		}},
		{"timeout", "", paced(2*time.Minute, 0, 1)},
	} {
		synctest.Test(t, func(t *testing.T) {
			answers, _, _ := run(t, Config{Timeout: time.Minute}, some(1), c.answer)
			if a := answers[0]; a.Kind != c.kind || a.Err == nil || !strings.Contains(a.Err.Error(), c.err) {
				t.Errorf("%q, %v; want %q with %q", a.Kind, a.Err, c.kind, c.err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	answers, _ := Run(t.Context(), Config{URL: "http://127.0.0.1:1"}, some(1))
	if answers[0].Kind != "connection refused" {
		t.Errorf("%q, %v", answers[0].Kind, answers[0].Err)
	}
}

func TestInterruption(t *testing.T) {
	for _, rate := range []float64{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			s, client := startFake(t, paced(time.Hour, 0, 1))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			ctx, interrupt := context.WithCancel(ctx)
			time.AfterFunc(500*ms, interrupt)
			answers, took := Run(ctx, Config{URL: "http://fake", Client: client, Rate: rate, Concurrency: 3}, some(50))
			r := NewReport(answers, took)
			if took != 500*ms || r.Answered != 0 || r.Errors["interrupted"] < 1 || r.Errors["interrupted"]+r.Errors[Unsent] != 50 || s.most() > 3 {
				t.Errorf("rate %v: %v, %+v", rate, took, r)
			}
		})
	}
}

func TestModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := startFake(t, func(w http.ResponseWriter, r *http.Request, _ body) {
			if r.Header.Get("Authorization") != "Bearer k" {
				w.WriteHeader(401)
				return
			}
			fmt.Fprintf(w, `{"object":"list","data":[{"id":%q},{"id":"b"}]}`, r.URL.Path)
		})
		names, err := Models(t.Context(), Config{URL: "http://fake", APIKey: "k", Client: client})
		if err != nil || !slices.Equal(names, []string{"/v1/models", "b"}) {
			t.Errorf("%q, %v", names, err)
		}
		if _, err := Models(t.Context(), Config{URL: "http://fake", Client: client}); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("%v", err)
		}
	})
}

func TestReport(t *testing.T) {
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	answered := func(tokens int) Answer {
		return Answer{First: second(1), Gaps: []time.Duration{second(2), second(4)}, Whole: second(7), Chunks: 3, PromptTokens: 10, CompletionTokens: tokens, CachedTokens: 4}
	}
	failed := Answer{First: second(100), Whole: second(100), Chunks: 9, Kind: "HTTP 500", Err: errors.New("oh")}
	got := NewReport([]Answer{answered(4), failed, {Kind: Unsent, Err: context.Canceled}, answered(4)}, second(10))
	want := Report{Requests: 4, Answered: 2, Errors: map[string]int{"HTTP 500": 1, Unsent: 1}, Example: "HTTP 500: oh", Seconds: 10,
		RequestsPerSecond: 0.2, OutputTokensPerSecond: 0.8, PromptTokens: 20, CachedTokens: 8, OutputTokens: 8, Counted: CountedByUsage,
		TTFT: Latency{1, 1, 1, 1, 1}, ITL: Latency{3, 3, 4, 4, 4}, TPOT: Latency{2, 2, 2, 2, 2}, E2E: Latency{7, 7, 7, 7, 7}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// One answer that was not counted: all are counted by events.
	got = NewReport([]Answer{answered(4), answered(0)}, second(10))
	if got.Counted != CountedByChunks || got.OutputTokens != 6 {
		t.Errorf("%d tokens by %s, want 6 by chunks", got.OutputTokens, got.Counted)
	}
}

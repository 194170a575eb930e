package sched

import (
	"errors"
	"go/build"
	"math"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

func testAsk(id int, tenant string, prompt, maxTokens int) Ask {
	return Ask{Seqs: []page.Seq{page.Seq(id)}, Tenant: tenant, PromptLen: prompt, MaxTokens: maxTokens}
}

func testConfig() Config {
	return Config{PageSize: 16, TotalPages: 64, MaxModelLen: 1024, MaxNumSeqs: 4, MaxBatchedTokens: 64, MaxQueue: 8}
}

func TestNewNamesTheField(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   []string
	}{
		{func(c *Config) { c.PageSize = 0 }, []string{"PageSize is 0", "at least 1"}},
		{func(c *Config) { c.TotalPages = -1 }, []string{"TotalPages is -1"}},
		{func(c *Config) { c.MaxModelLen = 1 }, []string{"MaxModelLen is 1", "at least 2"}},
		{func(c *Config) { c.MaxNumSeqs = 0 }, []string{"MaxNumSeqs is 0"}},
		{func(c *Config) { c.MaxBatchedTokens = 0 }, []string{"MaxBatchedTokens is 0"}},
		{func(c *Config) { c.MaxPrefillChunk = -1 }, []string{"MaxPrefillChunk is -1", "at least 0"}},
		{func(c *Config) { c.MaxQueue = 0 }, []string{"MaxQueue is 0"}},
		{func(c *Config) { c.TargetStepNanos = -1 }, []string{"TargetStepNanos is -1", "at least 0"}},
		{func(c *Config) { c.TotalPages = 63 }, []string{"TotalPages 63", "1008", "1024", "at least 64"}},
		{func(c *Config) { c.MaxBatchedTokens = 3 }, []string{"MaxBatchedTokens 3", "MaxNumSeqs 4"}},
		{func(c *Config) { c.TotalPages = math.MaxInt }, nil},
		{func(*Config) {}, nil},
	} {
		cfg := testConfig()
		c.change(&cfg)
		_, err := New(cfg)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v", cfg, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
}

func TestAdmit(t *testing.T) {
	small := testConfig()
	small.TotalPages = 4 // New refuses it; Admit decides on its own
	for _, c := range []struct {
		name      string
		cfg       Config
		waiting   int
		ask       Ask
		maxTokens int // 0: rejected
		limit     request.Limit
		field     string
		have, max int
		is        error
	}{
		{name: "as asked", cfg: testConfig(), ask: testAsk(1, "", 10, 20), maxTokens: 20},
		{name: "to the end of the context", cfg: testConfig(), ask: testAsk(1, "", 10, 0), maxTokens: 1014},
		{name: "to the end of the pool", cfg: small, ask: testAsk(1, "", 10, 0), maxTokens: 54},
		{name: "the last token fits", cfg: testConfig(), ask: testAsk(1, "", 1023, 1), maxTokens: 1},
		{name: "prompt fills the context", cfg: testConfig(), ask: testAsk(1, "", 1024, 0),
			limit: request.LimitContext, field: "messages", have: 1025, max: 1024, is: request.ErrContextLength},
		{name: "answer over the context", cfg: testConfig(), ask: testAsk(1, "", 1023, 2),
			limit: request.LimitContext, field: "max_tokens", have: 1025, max: 1024, is: request.ErrContextLength},
		{name: "lengths that overflow", cfg: testConfig(), ask: testAsk(1, "", 1000, math.MaxInt),
			limit: request.LimitContext, field: "max_tokens", have: math.MaxInt, max: 1024, is: request.ErrContextLength},
		{name: "answer over the pool", cfg: small, ask: testAsk(1, "", 60, 5),
			limit: request.LimitPool, field: "max_tokens", have: 65, max: 64, is: request.ErrContextLength},
		{name: "prompt over the pool", cfg: small, ask: testAsk(1, "", 64, 0),
			limit: request.LimitPool, field: "messages", have: 65, max: 64, is: request.ErrContextLength},
		{name: "no prompt", cfg: testConfig(), ask: testAsk(1, "", 0, 1), limit: request.LimitInput, field: "messages", is: request.ErrInvalid},
		{name: "negative answer", cfg: testConfig(), ask: testAsk(1, "", 1, -1), limit: request.LimitInput, field: "max_tokens", is: request.ErrInvalid},
		{name: "the last place", cfg: testConfig(), waiting: 7, ask: testAsk(1, "", 1, 1), maxTokens: 1},
		{name: "no place", cfg: testConfig(), waiting: 8, ask: testAsk(1, "", 1, 1), limit: request.LimitQueue, have: 9, max: 8, is: request.ErrQueueFull},
		{name: "never a place", cfg: testConfig(), ask: Ask{Seqs: make([]page.Seq, 9), PromptLen: 1},
			limit: request.LimitInput, field: "n", have: 9, max: 8, is: request.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, r := Admit(c.cfg, c.waiting, c.ask)
			if a.MaxTokens() != c.maxTokens || (r == nil) != (c.maxTokens > 0) {
				t.Fatalf("admitted %+v, rejection %+v", a, r)
			}
			if r == nil {
				return
			}
			if r.Limit != c.limit || r.Field != c.field || r.Have != c.have || r.Max != c.max || r.Why == "" {
				t.Errorf("rejection %+v", r)
			}
			if !errors.Is(r, request.ErrRejected) || !errors.Is(r, c.is) {
				t.Errorf("%v is not %v", r, c.is)
			}
		})
	}
}

func TestOurBugsPanic(t *testing.T) {
	for name, f := range map[string]func(s *Scheduler){
		"an Admitted that Admit did not make": func(s *Scheduler) { s.enqueue(Admitted{}) },
		"an Ask without sequences":            func(s *Scheduler) { s.Step(Event{Kind: EvSubmit, Ask: Ask{PromptLen: 1}}, nil) },
		"a sequence named twice": func(s *Scheduler) {
			s.Step(Event{Kind: EvSubmit, Ask: Ask{PromptLen: 1, Seqs: []page.Seq{1, 1}}}, nil)
		},
		"nobody's name": func(s *Scheduler) { s.Step(Event{Kind: EvSubmit, Ask: testAsk(0, "", 1, 1)}, nil) },
		"no event":      func(s *Scheduler) { s.Step(Event{}, nil) },
		"a match of the whole prompt": func(s *Scheduler) {
			s.Step(Event{Kind: EvSubmit, Ask: testAsk(1, "", 16, 1)}, nil)
			s.Step(Event{Kind: EvMatched, Seq: 1, Refs: make([]page.Ref, 1)}, nil)
		},
		"adopted with too few pages": func(s *Scheduler) {
			s.Step(Event{Kind: EvAdopt, Ask: testAsk(1, "", 40, 5), Refs: make([]page.Ref, 2), Computed: 39}, nil)
		},
		"adopted with nothing to compute": func(s *Scheduler) {
			s.Step(Event{Kind: EvAdopt, Ask: testAsk(1, "", 32, 5), Refs: make([]page.Ref, 2), Computed: 32}, nil)
		},
		"adopted and never admitted": func(s *Scheduler) {
			s.Step(Event{Kind: EvAdopt, Ask: testAsk(1, "", 33, 1000), Refs: make([]page.Ref, 2), Computed: 32}, nil)
		},
		"adopted under a name in use": func(s *Scheduler) {
			s.Step(Event{Kind: EvSubmit, Ask: testAsk(1, "", 33, 5)}, nil)
			s.Step(Event{Kind: EvAdopt, Ask: testAsk(1, "", 33, 5), Refs: make([]page.Ref, 2), Computed: 32}, nil)
		},
		"results of another batch": func(s *Scheduler) {
			s.Step(Event{Kind: EvSubmit, Ask: testAsk(1, "", 16, 1)}, nil)
			s.Step(Event{Kind: EvMatched, Seq: 1}, nil)
			s.Step(Event{Kind: EvAllotted, Refs: make([]page.Ref, 1)}, nil)
			s.Step(Event{Kind: EvStepDone, Step: 1, Results: []Result{{Seq: 2}}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(testConfig())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(s)
		})
	}
}

// TestUnaskedPagesGoHome: pages that nobody waits for are returned, not lost.
func TestUnaskedPagesGoHome(t *testing.T) {
	s, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	refs := []page.Ref{{Page: 3, Generation: 9}, {Page: 4, Generation: 2}}
	got := map[page.Ref]int{}
	for _, fx := range s.Step(Event{Kind: EvAllotted, Refs: refs}, nil) {
		if fx.Kind != FxReturn {
			t.Errorf("effect %+v", fx)
		}
		for _, ref := range fx.Refs {
			got[ref]++
		}
	}
	if len(got) != 2 || got[refs[0]] != 1 || got[refs[1]] != 1 || s.Counts() != (Counts{}) {
		t.Errorf("returned %v, left %+v", got, s.Counts())
	}
}

// TestStepAppends: effects go behind what the caller's slice holds.
func TestStepAppends(t *testing.T) {
	s, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	dst := s.Step(Event{Kind: EvSubmit, Ask: testAsk(1, "", 1, 1)}, []Effect{{N: 77}})
	if len(dst) != 3 || dst[0].N != 77 || dst[1].Kind != FxAdmitted || dst[2].Kind != FxMatch {
		t.Errorf("effects %+v", dst)
	}
}

// TestPure: the scheduler can do nothing but decide.
func TestPure(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{
		"fmt": true, "math": true, "slices": true,
		"github.com/kvasir-engine/kvasir/request": true, "github.com/kvasir-engine/kvasir/kvpool/page": true,
	}
	for _, path := range pkg.Imports {
		if !allowed[path] {
			t.Errorf("imports %s", path)
		}
	}
}

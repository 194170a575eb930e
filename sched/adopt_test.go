package sched

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// Prompts come from other nodes while others run, more than can run together and as many as the pool takes. However they meet, every answer gets all its tokens.
func TestAdoptedNeverStall(t *testing.T) {
	lost := 0
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		cfg := Config{PageSize: draw("page size", 1, 4), MaxModelLen: draw("model len", 8, 24), MaxNumSeqs: draw("seqs", 1, 3), MaxQueue: 100}
		cfg.TotalPages = cfg.pages(cfg.MaxModelLen) + draw("more pages", 0, 8)
		cfg.MaxBatchedTokens = cfg.MaxNumSeqs + draw("more tokens", 0, 12)
		w, err := newWorld(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		w.pool.scrub = rapid.Bool().Draw(rt, "scrub")
		id, answer := 0, func(Item) Result { return Result{Token: 1} }
		ask := func() Ask {
			id++
			prompt := draw("prompt", 1, cfg.MaxModelLen-2)
			return testAsk(id, "", prompt, draw("answer", 2, cfg.MaxModelLen-prompt))
		}
		for range draw("running", 0, 3) {
			w.submit(ask(), id)
		}
		for range draw("imports", 1, 6) {
			w.expect(ask(), id)
			w.deliver()
			if w.inFlight != nil && rapid.Bool().Draw(rt, "a step") {
				w.done(answer)
			}
		}
		for len(w.imports) > 0 {
			w.adopt(draw("comes", 0, len(w.imports)-1))
			if rapid.Bool().Draw(rt, "delivered") {
				w.deliver()
			}
		}
		w.finish(answer)
		if err := w.err(); err != nil {
			rt.Fatal(err)
		}
		for _, id := range w.ids {
			if c := w.seqs[id]; c.end != EndLength {
				rt.Fatalf("%d: %s after %d tokens", id, ends[c.end], len(c.tokens))
			}
		}
		lost += w.lost
	})
	if lost == 0 {
		t.Error("no adopted sequence ever lost its pages: the pools were too large to show anything")
	}
}

// What is expected counts for the bound of the queue, whoever asks.
func TestAdmissionCountsTheExpected(t *testing.T) {
	cfg := testConfig() // a queue of 8
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s.Step(Event{Kind: EvSubmit, Ask: testAsk(i+1, "", 5, 5)}, nil)
	}
	for _, c := range []struct {
		expected int
		full     bool
	}{{0, false}, {4, false}, {5, true}, {9, true}} {
		before := s.Counts()
		_, r := s.Admit(testAsk(10, "", 5, 5), c.expected)
		if (r != nil) != c.full || r != nil && (!errors.Is(r, request.ErrQueueFull) || r.Have != 4+c.expected || r.Max != 8) {
			t.Errorf("asked with %d expected: %+v", c.expected, r)
		}
		if s.Counts() != before {
			t.Errorf("asking changed %+v to %+v", before, s.Counts())
		}
	}
	if fx := s.Step(Event{Kind: EvSubmit, Ask: testAsk(11, "", 5, 5), Expected: 5}, nil); len(fx) != 1 || fx[0].Kind != FxRejected || fx[0].Rejection.Have != 9 {
		t.Errorf("submitted with 5 expected: %+v", fx)
	}
	if fx := s.Step(Event{Kind: EvSubmit, Ask: testAsk(11, "", 5, 5), Expected: 4}, nil); fx[0].Kind != FxAdmitted {
		t.Errorf("submitted with 4 expected: %+v", fx)
	}
}

// A page that comes with a prompt is ours like any other: spent or returned, once.
func TestSpareJoinsTheAllotment(t *testing.T) {
	spare := page.Ref{Page: 7, Generation: 3}
	adopt := func(ask Ask) (*Scheduler, []Effect) {
		s, err := New(testConfig())
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Step(Event{Kind: EvAdopt, Ask: ask, Refs: make([]page.Ref, 2), Computed: 32, Spare: spare}, nil)
	}
	s, fx := adopt(testAsk(1, "", 33, 9))
	i := slices.IndexFunc(fx, func(fx Effect) bool { return fx.Kind == FxRun })
	if i < 0 || !slices.Equal(fx[i].Batch.Spends, []page.Spend{{Ref: spare, Seq: 1}}) {
		t.Fatalf("effects %+v; want a batch that spends the spare page", fx)
	}
	if c := s.Counts(); c.PagesInHand != 0 || c.PagesInTables != 3 {
		t.Errorf("after that: %+v", c)
	}

	s, fx = adopt(testAsk(1, "", 1024, 0)) // (of which 32 are computed) the context is full
	want := []EffectKind{FxRelease, FxEnd, FxReturn}
	if len(fx) != len(want) || fx[0].Kind != want[0] || fx[1].Kind != want[1] || fx[1].End != EndLength || fx[2].Kind != want[2] || fx[2].Refs[0] != spare {
		t.Errorf("effects %+v", fx)
	}
	if s.Counts() != (Counts{}) {
		t.Errorf("left over: %+v", s.Counts())
	}
}

// A tenant pays for what was computed here, once, also if it must be computed again.
func TestAdoptedTenantsPay(t *testing.T) {
	s, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	s.Step(Event{Kind: EvAdopt, Ask: testAsk(1, "a", 40, 5), Refs: make([]page.Ref, 2), Computed: 30}, nil)
	if c := s.tenants.byName["a"].counter; c != 10*promptWeight {
		t.Errorf("charged %d for 10 tokens", c)
	}
}

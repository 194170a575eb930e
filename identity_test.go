package kvasir

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool"
)

// situation is one way in which the same request may come to be computed.
type situation struct {
	state    string // see below
	chunk    int    // --max-prefill-chunk; 0: whole
	pageSize int
	threads  int
}

const (
	alone         = "alone"
	aloneHit      = "alone, prefix hit"
	among16       = "among 16 others"
	among16Hit    = "among 16 others, prefix hit"
	afterPreempt  = "after preemption"
	subjectPrompt = 140
	subjectAnswer = 120
)

var (
	states    = []string{alone, aloneHit, among16, among16Hit, afterPreempt}
	chunks    = []int{1, 7, 64, 0}
	pageSizes = []int{16, 32, 64}
	threads   = []int{1, 2}
)

func (s situation) String() string {
	return fmt.Sprintf("%s/chunk=%d/page=%d/threads=%d", s.state, s.chunk, s.pageSize, s.threads)
}

// values of each dimension as numbers, to find a set of situations in which all pairs of values meet.
func (s situation) values() [4]int {
	return [4]int{slices.Index(states, s.state), slices.Index(chunks, s.chunk), slices.Index(pageSizes, s.pageSize), slices.Index(threads, s.threads)}
}

// situations are all combinations, or with pairs enough of them that each two values of different dimensions occur together.
func situations(pairs bool) []situation {
	var all []situation
	for _, st := range states {
		for _, c := range chunks {
			for _, p := range pageSizes {
				for _, th := range threads {
					all = append(all, situation{st, c, p, th})
				}
			}
		}
	}
	if !pairs {
		return all
	}
	type pair struct{ d1, v1, d2, v2 int }
	seen := map[pair]bool{}
	fresh := func(s situation, mark bool) (n int) {
		v := s.values()
		for a := range v {
			for b := a + 1; b < len(v); b++ {
				if p := (pair{a, v[a], b, v[b]}); !seen[p] {
					n++
					seen[p] = mark
				}
			}
		}
		return n
	}
	var some []situation
	for {
		best, gain := situation{}, 0
		for _, s := range all {
			if n := fresh(s, false); n > gain {
				best, gain = s, n
			}
		}
		if gain == 0 {
			return some
		}
		fresh(best, true)
		some = append(some, best)
	}
}

// tokenIDs is a prompt of n tokens of the built-in vocabulary that differs with seed.
func tokenIDs(seed, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((seed*197 + i*i*13 + i*5) % 700)
	}
	return ids
}

// answer is what a request got: ids, and the bits of log-probabilities of each chosen token and its five best rivals. Equal bits of these mean equal logits.
type answer struct {
	ids    []int32
	bits   []uint32
	cached int
}

func ask(t *testing.T, e *Engine, req Request) answer {
	var a answer
	for tok, err := range e.Generate(t.Context(), req) {
		if err != nil {
			t.Error(err)
			return a
		}
		if tok.ID >= 0 {
			a.ids = append(a.ids, tok.ID)
			a.bits = append(a.bits, math.Float32bits(tok.Logprob))
			for _, r := range tok.Top {
				a.bits = append(a.bits, uint32(r.ID), math.Float32bits(r.Logprob))
			}
		}
		if tok.Usage != nil {
			a.cached = tok.Usage.CachedTokens
		}
	}
	return a
}

func open(t *testing.T, cfg Config) *Engine {
	t.Helper()
	e, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// checkHome waits until all pages are free or in the prefix index alone, and asks the ledger whether every invariant holds.
func checkHome(t *testing.T, e *Engine) {
	t.Helper()
	if stats := home(t, e); stats.Bad != 0 || stats.StaleTotal() != 0 {
		t.Errorf("%d pages were bad and %d messages stale, with no fault about", stats.Bad, stats.StaleTotal())
	}
}

// home waits until all pages are free or in the prefix index alone, asks the ledger whether every invariant holds, and returns what it has counted.
func home(t *testing.T, e *Engine) kvpool.Stats {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		pool, q, err := e.node.Report(ctx, true)
		if err != nil {
			t.Fatalf("pages did not come home: %+v %+v: %v", pool.Counts, q, err)
		}
		if pool.Broken != nil {
			t.Fatal(pool.Broken)
		}
		if c := pool.Counts; c.Allotted+c.Filling+c.Read+c.Quarantined == 0 && q.Running+q.Waiting == 0 {
			return pool.Stats
		}
		time.Sleep(time.Millisecond)
	}
}

// counter reads a metric without variable labels.
func counter(t *testing.T, e *Engine, name string) float64 {
	t.Helper()
	all, err := e.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if i < 0 {
		t.Fatalf("no metric %s", name)
	}
	return all[i].GetMetric()[0].GetCounter().GetValue()
}

// Greedy output, and every logit behind it, is the same to the last bit whatever the request is batched with, however its prompt is cut into chunks, whether its
// beginning came from the prefix cache, whether it lost its pages on the way, however large the pages are, and whatever the number of threads.
func TestGreedyOutputIsBitIdentical(t *testing.T) {
	testIdentity(t, situations(raceEnabled))
}

// The same holds for the kernels in plain Go, which are what runs where there is no assembly for the processor.
func TestGreedyOutputIsBitIdenticalInPlainGo(t *testing.T) {
	if raceEnabled {
		t.Skip("plain Go kernels under the race detector take minutes, and their rows and threads are tested in gpu/host")
	}
	t.Setenv(host.KernelsVariable, "generic")
	testIdentity(t, situations(true))
}

func testIdentity(t *testing.T, table []situation) {
	subject := Request{Tokens: tokenIDs(1, subjectPrompt), MaxTokens: subjectAnswer, IgnoreEOS: true, Sampling: Sampling{Logprobs: true, TopLogprobs: 5}}
	want := ask(t, open(t, Config{Threads: 1, DisablePrefixCache: true}), subject)
	if len(want.ids) != subjectAnswer {
		t.Fatalf("the reference has %d tokens", len(want.ids))
	}
	for _, s := range table {
		t.Run(s.String(), func(t *testing.T) {
			cfg := Config{Threads: s.threads, PageSize: s.pageSize, MaxPrefillChunk: s.chunk}
			var got answer
			if s.state == afterPreempt {
				got = askPreempted(t, cfg, subject)
			} else {
				e := open(t, cfg)
				hit := s.state == aloneHit || s.state == among16Hit
				if hit {
					ask(t, e, Request{Tokens: append(tokenIDs(1, subjectPrompt-9), 7, 7), MaxTokens: 1})
				}
				if s.state == among16 || s.state == among16Hit {
					got = askAmong(t, e, subject, 16)
				} else {
					got = ask(t, e, subject)
				}
				if want := (subjectPrompt - 9) / s.pageSize * s.pageSize; hit && got.cached != want {
					t.Errorf("%d tokens from the prefix cache, want %d", got.cached, want)
				}
				checkHome(t, e)
			}
			if !slices.Equal(got.ids, want.ids) {
				t.Errorf("other tokens\n got %v\nwant %v", got.ids, want.ids)
			} else if !slices.Equal(got.bits, want.bits) {
				t.Error("the same tokens, but other logits behind them")
			}
		})
	}
}

// askAmong asks while n other requests of all lengths and settings run, some ahead of it and some behind.
func askAmong(t *testing.T, e *Engine, subject Request, n int) (got answer) {
	var wg sync.WaitGroup
	for i := range n {
		other := Request{Tenant: fmt.Sprint("tenant ", i%3), Tokens: tokenIDs(10+i, 5+7*i), MaxTokens: 40, IgnoreEOS: true}
		if i%2 == 1 {
			other.Sampling = Sampling{Temperature: 1.2, TopK: 20, RepetitionPenalty: 1.1}
		}
		wg.Go(func() { ask(t, e, other) })
		if i == n/2 {
			wg.Go(func() { got = ask(t, e, subject) })
		}
	}
	wg.Wait()
	return got
}

// askPreempted asks beside an older request in a pool that cannot hold both to their ends, so that the younger one loses its pages. How far the older one is
// when the younger arrives is up to the machine; where it was too far for the two to meet, they meet again.
func askPreempted(t *testing.T, cfg Config, subject Request) (got answer) {
	cfg.MaxModelLen, cfg.MaxTotalTokens = 320, 320
	older := Request{Tokens: tokenIDs(2, 20), MaxTokens: 290, IgnoreEOS: true}
	for range 20 {
		e := open(t, cfg)
		var wg sync.WaitGroup
		began := make(chan struct{})
		wg.Go(func() {
			n := 0
			for _, err := range e.Generate(t.Context(), older) {
				if err != nil {
					t.Error(err)
				}
				if n++; n == 1 {
					close(began)
				}
			}
		})
		<-began
		got = ask(t, e, subject)
		wg.Wait()
		checkHome(t, e)
		if t.Failed() || counter(t, e, "kvasir_num_preemptions_total") > 0 {
			return got
		}
	}
	t.Error("nothing was preempted: the test shows nothing")
	return got
}

// The pairs that run under the race detector do cover every two values of different dimensions.
func TestPairsCoverAllPairs(t *testing.T) {
	some := situations(true)
	for _, a := range situations(false) {
		for i := range 4 {
			for j := range i {
				if !slices.ContainsFunc(some, func(s situation) bool {
					return s.values()[i] == a.values()[i] && s.values()[j] == a.values()[j]
				}) {
					t.Errorf("dimensions %d and %d of %v never meet", i, j, a)
				}
			}
		}
	}
}

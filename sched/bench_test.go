package sched

import (
	"fmt"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// steady is a scheduler in which 64 sequences decode and so many more of 100 tenants wait, with the answer to its next step.
type steady struct {
	s       *Scheduler
	effects []Effect
	results []Result
	pages   int
}

func newSteady(tb testing.TB, waiting int) *steady {
	const running, length = 64, 1 << 24
	s, err := New(Config{
		PageSize: 64, TotalPages: 1 << 20, MaxModelLen: length, MaxNumSeqs: running, MaxBatchedTokens: 512, MaxQueue: running + waiting,
	})
	if err != nil {
		tb.Fatal(err)
	}
	b := &steady{s: s}
	for i := range running + waiting {
		b.answer(s.Step(Event{Kind: EvSubmit, Ask: testAsk(i+1, fmt.Sprint(i%100), 5, length-5)}, nil))
	}
	for s.Counts().InFlight < running {
		b.step()
	}
	return b
}

// answer plays the pool; it leaves the batch alone.
func (b *steady) answer(effects []Effect) {
	for i := 0; i < len(effects); i++ {
		ev := Event{Seq: effects[i].Seq}
		switch effects[i].Kind {
		case FxMatch:
			ev.Kind = EvMatched
		case FxAllot:
			ev.Kind = EvAllotted
			for range effects[i].N {
				b.pages++
				ev.Refs = append(ev.Refs, page.Ref{Page: page.Index(b.pages), Generation: 1})
			}
		default:
			continue
		}
		effects = b.s.Step(ev, effects)
	}
	b.effects = effects[:0]
}

func (b *steady) step() {
	b.results = b.results[:0]
	for _, it := range b.s.flight.batch.Items {
		b.results = append(b.results, Result{Seq: it.Seq, Token: 1})
	}
	b.answer(b.s.Step(Event{Kind: EvStepDone, Step: b.s.step, Results: b.results}, b.effects))
}

// BenchmarkStep is one step of 64 sequences that decode, by how many wait.
func BenchmarkStep(b *testing.B) {
	for _, waiting := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			w := newSteady(b, waiting)
			b.ReportAllocs()
			for b.Loop() {
				w.step()
			}
		})
	}
}

// BenchmarkSubmitCancel is one request that comes and goes, by how many wait.
func BenchmarkSubmitCancel(b *testing.B) {
	for _, waiting := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			w := newSteady(b, waiting-1)
			b.ReportAllocs()
			for i := 1 << 20; b.Loop(); i++ {
				w.effects = w.s.Step(Event{Kind: EvSubmit, Ask: testAsk(i, "0", 5, 5)}, w.effects[:0])
				w.effects = w.s.Step(Event{Kind: EvCancel, Seq: page.Seq(i)}, w.effects[:0])
			}
		})
	}
}

// TestStepAllocates: a step between two page borders allocates nothing, however many wait.
func TestStepAllocates(t *testing.T) {
	w := newSteady(t, 1_000)
	for range 256 { // the buffers have grown
		w.step()
	}
	border := false
	for !border { // just behind the border of all 64 sequences, which started together
		w.step()
		border = len(w.s.flight.batch.Spends) > 0
	}
	for range 8 {
		w.step()
	}
	if n := testing.AllocsPerRun(20, w.step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

package kvpool

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// pair steps a ledger and its twin with the same events and fails where they differ, where the ledger breaks an invariant, or where the effects as seen from
// outside contradict one another. It also keeps what the world outside the ledger knows: what it owes an answer and what it may spend.
type pair struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	ledger *Ledger
	again  *Ledger // gets the same events: the same must come of it
	twin   *twin

	given    map[page.Ref]bool  // every ref that was ever allotted
	jobs     map[uint64]int     // checks to be answered, with their number of pages
	copies   map[uint64][]Check // copies that run, out of these pages or into them
	restores map[uint64]bool    // those of them that copy in
	scrubs   []page.Ref         // scrubs to be answered
	waiting  map[page.Seq]bool  // sequences that matched and have had no answer
	told     map[page.Seq]bool  // sequences told to fail, until released
}

func newPair(t *testing.T, cfg Config) *pair {
	t.Helper()
	p := &pair{t: t, twin: newTwin(cfg), given: map[page.Ref]bool{}, jobs: map[uint64]int{}, copies: map[uint64][]Check{}, restores: map[uint64]bool{}, waiting: map[page.Seq]bool{}, told: map[page.Seq]bool{}}
	for _, l := range []**Ledger{&p.ledger, &p.again} {
		var err error
		if *l, err = New(cfg); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return p
}

// step performs one event on all three.
func (p *pair) step(ev Event) []Effect {
	p.t.Helper()
	owned := len(p.twin.owned[ev.Seq]) > 0
	want := p.twin.step(clone(ev))
	got := p.ledger.Step(ev, nil)
	if again := p.again.Step(clone(ev), nil); !same(got, again) {
		p.t.Fatalf("two ledgers differ after %+v:\n%+v\n%+v", ev, got, again)
	}
	got = cloneEffects(got)
	scribble(ev) // the ledger keeps no slice of an event
	if !same(got, want) {
		p.t.Fatalf("effects of %+v:\n got %+v\nwant %+v", ev, got, want)
	}
	if err := p.ledger.Check(); err != nil {
		p.t.Fatalf("after %+v: %v", ev, err)
	}
	if got, want := p.ledger.Counts(), p.twin.counts(); got != want {
		p.t.Fatalf("counts after %+v:\n got %+v\nwant %+v", ev, got, want)
	}
	if stats := p.ledger.Stats(); stats.StaleTotal() != p.twin.staleRefs {
		p.t.Fatalf("after %+v: %d stale, want %d", ev, stats.StaleTotal(), p.twin.staleRefs)
	}
	p.note(ev, owned)
	for _, fx := range got {
		p.see(fx)
	}
	return got
}

// note keeps what an event means to the world outside.
func (p *pair) note(ev Event, owned bool) {
	switch ev.Kind {
	case EvVerified:
		delete(p.jobs, ev.Job)
	case EvCopied, EvRestored:
		if _, out := p.copies[ev.Job]; out && (ev.Kind == EvRestored) == p.restores[ev.Job] {
			delete(p.copies, ev.Job)
		}
	case EvScrubbed:
		p.scrubs = slices.DeleteFunc(p.scrubs, func(r page.Ref) bool { return r == ev.Ref })
	case EvMatch:
		p.waiting[ev.Seq] = ev.Seq != 0 && (!owned || p.waiting[ev.Seq])
	case EvRestore:
		p.waiting[ev.Seq] = p.waiting[ev.Seq] || ev.Seq != 0 && len(ev.Checks) > 0
	case EvRelease:
		delete(p.waiting, ev.Seq)
		delete(p.told, ev.Seq)
	}
}

// see judges an effect as the world outside does.
func (p *pair) see(fx Effect) {
	p.t.Helper()
	switch fx.Kind {
	case FxAllotted:
		for _, r := range fx.Refs {
			if p.given[r] {
				p.t.Fatalf("I6: %v was allotted twice", r)
			}
			p.given[r] = true
			for job, checks := range p.copies {
				if slices.ContainsFunc(checks, func(c Check) bool { return c.Ref.Page == r.Page }) {
					p.t.Fatalf("F1: page %d is allotted while copy %d runs", r.Page, job)
				}
			}
		}
	case FxVerify:
		p.jobs[fx.Job] = len(fx.Checks)
	case FxScrub:
		if slices.Contains(p.scrubs, fx.Ref) {
			p.t.Fatalf("%v is to be scrubbed twice", fx.Ref)
		}
		p.scrubs = append(p.scrubs, fx.Ref)
	case FxCopyOut, FxRestore:
		p.copies[fx.Job], p.restores[fx.Job] = fx.Checks, fx.Kind == FxRestore
	case FxMatched, FxRestored:
		if !p.waiting[fx.Seq] || p.told[fx.Seq] {
			p.t.Fatalf("seq %d is told of a match it does not wait for", fx.Seq)
		}
		delete(p.waiting, fx.Seq)
	case FxFailed:
		if p.told[fx.Seq] {
			p.t.Fatalf("seq %d is told twice to fail", fx.Seq)
		}
		p.told[fx.Seq] = true
	}
}

// drain ends everything and then wants the whole pool: I11.
func (p *pair) drain() {
	p.t.Helper()
	seqs := make([]page.Seq, 0, len(p.twin.owned))
	for s := range p.twin.owned {
		seqs = append(seqs, s)
	}
	slices.Sort(seqs)
	for _, s := range seqs {
		p.step(Event{Kind: EvRelease, Seq: s})
	}
	for job := range p.ledger.jobs {
		if _, ok := p.jobs[job+1]; ok {
			p.step(Event{Kind: EvVerified, Job: job + 1})
		}
		if _, ok := p.copies[job+1]; ok && p.restores[job+1] {
			p.step(Event{Kind: EvRestored, Job: job + 1, Failed: true})
		} else if ok {
			p.step(Event{Kind: EvCopied, Job: job + 1})
		}
	}
	var allotted []page.Ref
	for i, x := range p.twin.pages {
		if x.state == Allotted {
			allotted = append(allotted, p.twin.ref(page.Index(i)))
		}
	}
	p.step(Event{Kind: EvReturn, Refs: allotted})
	p.scrubAll()
	n := p.ledger.cfg.Pages
	have := p.allot(n) // with Config.Scrub what is evicted comes later
	p.scrubAll()
	if have += p.allot(n - have); have != n {
		p.t.Fatalf("I11: of %d pages %d came home: %+v", n, have, p.ledger.Counts())
	}
}

func (p *pair) allot(n int) int {
	p.t.Helper()
	fx := p.step(Event{Kind: EvAllot, N: n})
	return fx[len(fx)-1].N
}

func (p *pair) scrubAll() {
	for len(p.scrubs) > 0 {
		p.step(Event{Kind: EvScrubbed, Ref: p.scrubs[0]})
	}
}

// same compares effects; an empty slice is nil.
func same(a, b []Effect) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func clone(ev Event) Event {
	ev.Refs, ev.Hashes, ev.Spends = slices.Clone(ev.Refs), slices.Clone(ev.Hashes), slices.Clone(ev.Spends)
	ev.Seals, ev.Bad = slices.Clone(ev.Seals), slices.Clone(ev.Bad)
	ev.Checks = slices.Clone(ev.Checks)
	return ev
}

func cloneEffects(fx []Effect) []Effect {
	fx = slices.Clone(fx)
	for i := range fx {
		fx[i].Refs, fx[i].Checks = slices.Clone(fx[i].Refs), slices.Clone(fx[i].Checks)
	}
	return fx
}

// scribble overwrites the slices of an event.
func scribble(ev Event) {
	v := reflect.ValueOf(ev)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			f.Clear()
		}
	}
}

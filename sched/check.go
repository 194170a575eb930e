package sched

import "fmt"

// Counts is what metrics and readiness want to know.
type Counts struct {
	Running       int // sequences
	Waiting       int // sequences asked for that do not run
	Imported      int // of those waiting: have the pages that EvAdopt brought and wait for their turn
	PagesInHand   int // allotted, neither spent nor returned
	PagesReserved int // of those in hand: set aside for known tokens
	PagesInTables int // entries of all page tables; a page that several sequences read counts for each
	InFlight      int // items of the batch in flight
}

// Counts tells the present numbers.
func (s *Scheduler) Counts() Counts {
	c := Counts{
		Running: s.running.len, Waiting: s.waiting(), Imported: len(s.imports),
		PagesInHand: len(s.pool.hand), PagesReserved: s.pool.reserved, PagesInTables: s.pool.inTables,
	}
	if s.flight != nil {
		c.InFlight = len(s.flight.batch.Items)
	}
	return c
}

// Check looks for a broken invariant. It walks over everything and is meant for tests.
func (s *Scheduler) Check() error {
	live, queued, imported, reserved, inTables := 0, 0, 0, 0, 0
	for _, q := range s.seqs {
		if err := s.checkSequence(q); err != nil {
			return fmt.Errorf("sched: sequence %d (%v): %w", q.id, q.phase, err)
		}
		if q.phase != ended {
			live++
		}
		if q.phase == waiting {
			queued++
			if q.imported {
				imported++
			}
		}
		reserved += q.reserved
		inTables += len(q.table)
	}
	for _, t := range s.tenants.byName {
		queued -= t.queue.len
	}
	switch p := &s.pool; {
	case live != s.tenants.live:
		return fmt.Errorf("sched: %d sequences live, counted %d", live, s.tenants.live)
	case imported != len(s.imports):
		return fmt.Errorf("sched: %d imported sequences wait, %d are known", imported, len(s.imports))
	case queued != 0:
		return fmt.Errorf("sched: %d sequences wait outside the queues", queued)
	case reserved != p.reserved || reserved > len(p.hand):
		return fmt.Errorf("sched: %d pages reserved, counted %d, in hand %d", reserved, p.reserved, len(p.hand))
	case inTables != p.inTables:
		return fmt.Errorf("sched: %d pages in tables, counted %d", inTables, p.inTables)
	case s.pace.bound < s.pace.least || s.pace.bound > s.pace.most:
		return fmt.Errorf("sched: a step may have %d prompt tokens, must be %d to %d", s.pace.bound, s.pace.least, s.pace.most)
	case s.running.len > s.cfg.MaxNumSeqs:
		return fmt.Errorf("sched: %d sequences run, at most %d may", s.running.len, s.cfg.MaxNumSeqs)
	}
	return s.tenants.check()
}

// checkSequence looks at one sequence alone.
func (s *Scheduler) checkSequence(q *sequence) error {
	want := map[phase]*queue{waiting: &q.tenant.queue, running: &s.running}[q.phase]
	if q.phase == gated {
		want = &q.lead.choices
	}
	switch isCandidate := q.phase == matching || q.phase == matched; {
	case q.in != want:
		return fmt.Errorf("in the wrong queue")
	case isCandidate != (s.candidate == q):
		return fmt.Errorf("the candidate is another")
	case q.phase == ended && q.inFlight == 0:
		return fmt.Errorf("kept without need")
	case q.inFlight > 0 && s.flight == nil:
		return fmt.Errorf("%d tokens in flight without a batch", q.inFlight)
	case q.reserved > 0 && q.phase != running:
		return fmt.Errorf("%d pages reserved", q.reserved)
	case q.imported && (q.phase != waiting && q.phase != matched || len(q.table) != s.cfg.pages(q.computed)):
		return fmt.Errorf("imported, with %d pages for %d of %d tokens", len(q.table), q.computed, q.prompt)
	case len(q.table) > 0 && q.phase <= matching && !q.imported:
		return fmt.Errorf("%d pages in its table", len(q.table))
	case len(q.table) < s.cfg.pages(q.computed+q.inFlight):
		return fmt.Errorf("%d pages for %d+%d tokens", len(q.table), q.computed, q.inFlight)
	case q.phase != ended && q.computed >= q.known:
		return fmt.Errorf("%d of %d tokens computed", q.computed, q.known)
	case q.known > s.cfg.MaxModelLen || q.answer() >= q.maxTokens:
		return fmt.Errorf("%d tokens known, %d of the answer", q.known, q.answer())
	case q.choices.len > 0 && q.computed >= q.prompt:
		return fmt.Errorf("%d choices gated by a computed prompt", q.choices.len)
	}
	return nil
}

// check looks at the heaps and at the order within the queues.
func (ts *tenants) check() error {
	for _, h := range []*tenantHeap{&ts.waiting, &ts.idle} {
		for i, t := range h.items {
			if t.at[h.which] != i+1 || ts.byName[t.name] != t {
				return fmt.Errorf("sched: tenant %q is lost in its heap", t.name)
			}
			if i > 0 && t.before(h.items[(i-1)/2]) {
				return fmt.Errorf("sched: tenant %q is out of order in its heap", t.name)
			}
		}
	}
	for _, t := range ts.byName {
		switch {
		case (t.queue.len > 0) != (t.at[ts.waiting.which] > 0):
			return fmt.Errorf("sched: tenant %q has %d waiting and the wrong place", t.name, t.queue.len)
		case (t.live == 0) != (t.at[ts.idle.which] > 0):
			return fmt.Errorf("sched: tenant %q has %d live and the wrong place", t.name, t.live)
		}
		for q := t.queue.head; q != nil && q.next != nil; q = q.next {
			if q.arrival >= q.next.arrival {
				return fmt.Errorf("sched: sequence %d of tenant %q is out of order", q.id, t.name)
			}
		}
	}
	return nil
}

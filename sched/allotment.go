package sched

import "github.com/kvasir-engine/kvasir/kvpool/page"

// slackSteps is for how many steps of growth the allotment is kept ahead of the running sequences.
const slackSteps = 4

// allotment is the pages that the pool gave us in bulk, and what is known of the pool.
type allotment struct {
	hand     []page.Ref // neither spent nor returned; the last is spent first
	reserved int        // of hand: set aside for the known tokens of running sequences
	inTables int        // entries of all page tables

	asked int // of the FxAllot that is out; 0 if none is
	// dry: the last answer was short and nothing came home since. freshly: something came home since the last FxAllot, which
	// its answer may not know of yet.
	dry, freshly bool
}

// free is the number of pages that nothing is planned for.
func (a *allotment) free() int { return len(a.hand) - a.reserved }

// mayAnswer: an answer is on its way, or there is sense in asking.
func (a *allotment) mayAnswer() bool { return a.asked > 0 || !a.dry }

// freed notes that the pool has more pages than when it was last asked.
func (a *allotment) freed() { a.dry, a.freshly = false, true }

// allotted takes refs into the hand, asked for or not: no page is ever dropped.
func (a *allotment) allotted(refs []page.Ref) {
	for i := len(refs) - 1; i >= 0; i-- { // spent in the order in which they came
		a.hand = append(a.hand, refs[i])
	}
	if a.asked > 0 {
		a.dry = len(refs) < a.asked && !a.freshly
		a.asked = 0
	}
}

// spend takes a page from the hand for q's table, out of its reserve if it has one.
func (a *allotment) spend(q *sequence) page.Ref {
	if q.reserved > 0 {
		q.reserved--
		a.reserved--
	} else if a.free() == 0 {
		panic("sched: a page is spent that another sequence has reserved")
	}
	end := len(a.hand) - 1
	ref := a.hand[end]
	a.hand = a.hand[:end]
	a.inTables++
	return ref
}

// slack is how many pages are kept ahead of the running sequences' growth.
func (s *Scheduler) slack() int { return s.cfg.pages(s.running.len * slackSteps) }

// settle ends a Step: pages beyond any plan go home, and pages that a plan lacks are asked for.
func (s *Scheduler) settle() {
	f := s.forecast()
	least, most := f.growth, f.growth+2*s.slack() // ask below least; give back above most
	if q := s.candidate; q != nil && q.phase == matched {
		least = s.startPages(f)
		most = least + s.slack()
	} else if q != nil {
		most += s.cfg.pages(q.known) // it is about to need them
	}
	free := s.pool.free()
	switch {
	case free > most:
		s.giveBack(free - most)
	case free < least && s.pool.asked == 0 && !s.pool.dry:
		want := max(least, f.growth+s.slack()) - free
		s.pool.asked, s.pool.freshly = want, false
		s.emit(Effect{Kind: FxAllot, N: want})
	}
}

// giveBack returns n free pages to the pool.
func (s *Scheduler) giveBack(n int) {
	rest := len(s.pool.hand) - n
	refs := append([]page.Ref(nil), s.pool.hand[rest:]...)
	s.pool.hand = s.pool.hand[:rest]
	s.emit(Effect{Kind: FxReturn, Refs: refs})
	s.pool.freed()
}

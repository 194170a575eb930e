package sched

import "github.com/kvasir-engine/kvasir/kvpool/page"

// forecast is what the running sequences want of the next batch.
type forecast struct {
	answers int // that lack one token
	tokens  int // of all, as far as one batch may have them
	growth  int // pages beyond what is reserved
}

// forecast looks past the batch in flight. It costs a walk over the running sequences.
func (s *Scheduler) forecast() (f forecast) {
	for q := s.running.head; q != nil; q = q.next {
		computed, known := q.outlook()
		if known-computed == 1 {
			f.answers++
		}
		f.tokens += min(known-computed, s.chunk())
		f.growth += max(0, s.cfg.pages(known)-len(q.table)-q.reserved)
	}
	return f
}

// chunk is the most tokens of one sequence in a batch.
func (s *Scheduler) chunk() int {
	if s.cfg.MaxPrefillChunk == 0 {
		return s.cfg.MaxBatchedTokens
	}
	return min(s.cfg.MaxPrefillChunk, s.cfg.MaxBatchedTokens)
}

// start lets waiting sequences run while there are places, tokens in the next batch, and pages for all that is known of them.
//
// One sequence at a time is between its match and its start, so what is pinned by sequences that cannot start is one prefix. Those that the next batch
// has no tokens for are better matched later, when more may be cached.
func (s *Scheduler) start() {
	for {
		f := s.forecast()
		switch {
		case s.candidate == nil:
			q := s.tenants.next()
			if q == nil || !s.hasRoom(f) {
				return
			}
			s.leaveQueue(q)
			s.candidate, q.phase = q, matched
			if q.imported {
				continue // it has its prefix
			}
			q.phase = matching
			s.emit(Effect{Kind: FxMatch, Seq: q.id, Known: q.known})
			return
		case s.candidate.phase == matching || s.pool.free() < s.startPages(f):
			return
		}
		q := s.candidate
		q.reserved = s.lacking(q)
		s.pool.reserved += q.reserved
		s.charge(q)
		s.candidate, q.phase, q.imported = nil, running, false
		s.running.push(q)
	}
}

// hasRoom is false while another sequence could not start, or would have nothing to do in the next batch.
func (s *Scheduler) hasRoom(f forecast) bool {
	if s.running.len == 0 {
		return true
	}
	return s.running.len < s.cfg.MaxNumSeqs && f.tokens < s.pace.budget(f.answers) && f.growth <= s.pool.free() && !s.pool.dry
}

// lacking is the number of pages that a matched sequence needs to compute all its known tokens.
func (s *Scheduler) lacking(q *sequence) int { return s.cfg.pages(q.known) - len(q.table) }

// startPages is what must be free in hand before the matched candidate starts. What runs keeps its growth and some slack, lest the newcomer is preempted at
// once; where nothing runs, the candidate's own pages are enough.
func (s *Scheduler) startPages(f forecast) int {
	return s.lacking(s.candidate) + f.growth + s.slack()
}

// charge lets q's tenant pay for the prompt, less what was cached. It pays at the start and not as chunks are computed, so that
// several starts within one step take turns; and once, since losing its pages is not q's doing.
func (s *Scheduler) charge(q *sequence) {
	if !q.charged {
		q.charged = true
		s.tenants.charge(q.tenant, promptWeight*max(0, q.prompt-q.computed))
	}
}

// secureGrowth sees to it that each running sequence has the pages for its next token, or that what lacks is on its way: then it returns false.
//
// When the pool is dry, imported sequences that wait for their turn give way first, then the candidate, then the running sequence that started last. The one that started
// first never does: it fits the pool alone, so it ends, and then the next is the first.
//
// Preconditions:
//   - no batch is in flight
func (s *Scheduler) secureGrowth() bool {
	for s.isStuck() {
		switch {
		case s.pool.mayAnswer():
			return false // asked, or asked for at the end of this Step
		case len(s.imports) > 0:
			s.dropImport()
		case s.candidate != nil && s.candidate.phase == matching:
			return false // to drop it now would make its answer ambiguous
		case s.candidate != nil && s.running.len > 0:
			s.dropCandidate()
		case s.running.len > 1:
			s.preempt(s.running.tail)
		default:
			return false // alone, and its pages are being cleaned: EvPagesFreed will come
		}
	}
	return true
}

// isStuck: pages lack for the growth of what runs, or, where nothing runs, for the candidate's start.
func (s *Scheduler) isStuck() bool {
	f := s.forecast()
	if s.running.len == 0 {
		return s.candidate != nil && s.candidate.phase == matched && s.startPages(f) > s.pool.free()
	}
	return f.growth > s.pool.free()
}

// dropImport takes the pages from that one of the imported sequences in the queues which asked last. It keeps its turn.
//
// Preconditions:
//   - there is one
func (s *Scheduler) dropImport() {
	last := s.imports[0]
	for _, q := range s.imports[1:] {
		if q.arrival > last.arrival {
			last = q
		}
	}
	s.forgetImport(last)
	s.emit(Effect{Kind: FxPreempted, Seq: last.id})
	s.release(last)
}

// dropCandidate takes the candidate's pages, a prefix or an imported prompt, and puts it back into its queue.
func (s *Scheduler) dropCandidate() {
	q := s.candidate
	s.candidate = nil
	if q.imported {
		s.emit(Effect{Kind: FxPreempted, Seq: q.id})
	}
	s.release(q)
	s.wait(q)
}

// preempt takes all pages from a running sequence. It waits again with its answer so far as if that were prompt; its sealed pages may still be found.
func (s *Scheduler) preempt(q *sequence) {
	s.running.remove(q)
	s.unreserve(q)
	s.emit(Effect{Kind: FxPreempted, Seq: q.id})
	s.release(q)
	s.wait(q)
}

func (s *Scheduler) unreserve(q *sequence) {
	s.pool.reserved -= q.reserved
	q.reserved = 0
}

// run sends the next batch: sequences that lack one token, then longer pieces in order of start, while the budget lasts.
//
// Preconditions:
//   - no batch is in flight
//   - each running sequence's growth is in hand
func (s *Scheduler) run() {
	if s.running.len == 0 {
		return
	}
	s.step++
	f := &s.flights[s.step%2]
	f.batch = Batch{Step: s.step, Items: f.batch.Items[:0]} // Spends go to the pool too, so they are new each time
	f.seqs, f.answers, f.prompt = f.seqs[:0], 0, 0
	for q := s.running.head; q != nil; q = q.next {
		if q.known-q.computed == 1 {
			f.answers += s.add(f, q, 1)
		}
	}
	budget := s.pace.budget(f.answers) - f.answers
	for q := s.running.head; q != nil && budget > 0; q = q.next {
		if lacks := q.known - q.computed; lacks > 1 {
			n := s.add(f, q, min(lacks, s.chunk(), budget))
			f.prompt, budget = f.prompt+n, budget-n
		}
	}
	s.flight = f
	s.emit(Effect{Kind: FxRun, Batch: &f.batch})
}

// add puts the next count tokens of q into the batch, spends the pages they need, and returns count.
func (s *Scheduler) add(f *flight, q *sequence, count int) int {
	end := q.computed + count
	for len(q.table) < s.cfg.pages(end) {
		ref := s.pool.spend(q)
		q.table = append(q.table, ref)
		f.batch.Spends = append(f.batch.Spends, page.Spend{Ref: ref, Seq: q.id})
	}
	q.inFlight = count
	pages := s.cfg.pages(end)
	f.seqs = append(f.seqs, q)
	f.batch.Items = append(f.batch.Items, Item{
		Seq: q.id, Start: q.computed, Count: count, Pages: q.table[:pages:pages], Sample: end == q.known,
	})
	return count
}

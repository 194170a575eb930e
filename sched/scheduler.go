package sched

import (
	"fmt"
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// Scheduler decides what the next step of the runner computes. It is a value without goroutines, clocks or I/O: [Scheduler.Step] is all that changes it.
// It is not safe for concurrent use.
type Scheduler struct {
	cfg Config

	seqs      map[page.Seq]*sequence // that have not ended, or are in the batch in flight
	tenants   tenants
	candidate *sequence   // between its turn and its start: nil or the only one
	imports   []*sequence // that wait for their turn with the pages that EvAdopt brought; in no order that matters
	running   queue       // in order of start
	arrivals  uint64

	pool    allotment
	pace    pace
	step    uint64    // number of the last batch
	flight  *flight   // the batch in flight, or nil
	flights [2]flight // used in turn

	out []Effect // of the Step under way
}

// flight is a batch and the sequences of its items.
type flight struct {
	batch           Batch
	seqs            []*sequence
	answers, prompt int // items that lacked one token; tokens of the others
}

// New makes a scheduler that has no pages yet. An error names the field of cfg at fault and what would be right.
func New(cfg Config) (*Scheduler, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Scheduler{cfg: cfg, seqs: map[page.Seq]*sequence{}, tenants: newTenants(), pace: newPace(cfg)}, nil
}

// Step takes one event and appends to dst what must be done, in order. It is the only function that changes the scheduler.
//
// Ownership: the pages of EvAllotted and the Spare of EvAdopt are the scheduler's until it spends or returns them; those of EvMatched, and the others of EvAdopt, are their
// sequence's until its FxRelease.
// Of the effects, FxReturn's Refs and FxRun's Spends are the caller's to keep. The rest of a Batch is the caller's until EvStepDone for it; then it is used again.
//
// What is late or repeated changes nothing: a step that is not in flight, a match that nobody waits for, a sequence that has ended or was never asked for.
func (s *Scheduler) Step(ev Event, dst []Effect) []Effect {
	s.out = dst
	switch ev.Kind {
	case EvSubmit:
		s.submit(ev.Ask, ev.Expected)
	case EvAdopt:
		s.adopt(ev.Ask, ev.Refs, ev.Computed)
		if ev.Spare != (page.Ref{}) {
			s.pool.hand = append(s.pool.hand, ev.Spare)
		}
	case EvCancel:
		s.endIfLive(ev.Seq, EndCancelled)
	case EvMatched:
		s.matched(ev.Seq, ev.Refs)
	case EvAllotted:
		s.pool.allotted(ev.Refs)
	case EvStepDone:
		s.stepDone(ev.Step, ev.Nanos, ev.Results)
	case EvFailed:
		s.endIfLive(ev.Seq, EndFailed)
	case EvPagesFreed:
		s.pool.freed()
	default:
		panic(fmt.Sprintf("sched: unknown event kind %d", ev.Kind))
	}
	s.start()
	if s.flight == nil && s.secureGrowth() {
		s.run()
		s.start() // the next batch may have room for more
	}
	s.settle()
	dst, s.out = s.out, nil
	return dst
}

func (s *Scheduler) emit(fx Effect) { s.out = append(s.out, fx) }

// waiting counts the sequences that have been asked for and do not run.
func (s *Scheduler) waiting() int { return s.tenants.live - s.running.len }

// Admit decides as EvSubmit would, where so many sequences beside those that the scheduler knows have been admitted and will be adopted. It changes nothing. A node asks it before
// anything is reserved for a request whose prompt is to come from another node, counts the request as expected from then on, and tells EvAdopt when the prompt is there: so what
// waits and what is on its way never are more than the queue may hold.
func (s *Scheduler) Admit(ask Ask, expected int) (Admitted, *request.Rejection) {
	return Admit(s.cfg, s.waiting()+expected, ask)
}

func (s *Scheduler) submit(ask Ask, expected int) {
	admitted, rejection := s.Admit(ask, expected)
	if rejection != nil {
		s.emit(Effect{Kind: FxRejected, Seq: ask.Seqs[0], Rejection: rejection})
		return
	}
	s.emit(Effect{Kind: FxAdmitted, Seq: ask.Seqs[0], Admitted: admitted})
	s.enqueue(admitted)
}

// enqueue makes the sequences of a: the first waits for its turn, the others for the first.
func (s *Scheduler) enqueue(a Admitted) {
	if a.maxTokens == 0 {
		panic("sched: an Admitted that Admit did not make")
	}
	var lead *sequence
	for _, id := range a.ask.Seqs {
		q := s.newSequence(a.ask, id, a.maxTokens)
		if lead == nil {
			lead = q
			s.wait(q)
			continue
		}
		q.phase, q.lead = gated, lead
		lead.choices.push(q)
	}
}

// adopt makes the sequence of ask, which has its first computed tokens in refs, and lets it wait for its turn. Its tenant is not charged for what this node did not compute.
func (s *Scheduler) adopt(ask Ask, refs []page.Ref, computed int) {
	if len(ask.Seqs) != 1 || computed < 1 || computed >= ask.PromptLen || len(refs) != s.cfg.pages(computed) {
		panic(fmt.Sprintf("sched: %d sequences of %d tokens are adopted with %d pages for %d tokens", len(ask.Seqs), ask.PromptLen, len(refs), computed))
	}
	room := min(s.cfg.MaxModelLen, s.cfg.poolTokens()) - ask.PromptLen
	maxTokens := ask.MaxTokens
	if maxTokens == 0 {
		maxTokens = room
	}
	if maxTokens > room || room < 0 {
		panic(fmt.Sprintf("sched: sequence %d is adopted with %d tokens and %d to come, and was never admitted", ask.Seqs[0], ask.PromptLen, maxTokens))
	}
	q := s.newSequence(ask, ask.Seqs[0], maxTokens)
	q.table = append(make([]page.Ref, 0, len(refs)+1), refs...)
	q.computed, q.imported = computed, true
	s.pool.inTables += len(refs)
	s.charge(q)
	s.wait(q)
	if q.maxTokens == 0 {
		s.end(q, EndLength)
	}
}

// newSequence makes a sequence that is in no queue yet.
func (s *Scheduler) newSequence(ask Ask, id page.Seq, maxTokens int) *sequence {
	if id == 0 || s.seqs[id] != nil {
		panic(fmt.Sprintf("sched: sequence %d is nobody's name, or used twice", id))
	}
	s.arrivals++
	q := &sequence{
		id: id, tenant: s.tenants.ask(ask.Tenant), arrival: s.arrivals,
		prompt: ask.PromptLen, known: ask.PromptLen, maxTokens: maxTokens, stopTokens: ask.StopTokens,
	}
	s.seqs[id] = q
	return q
}

// wait puts q into its tenant's queue.
func (s *Scheduler) wait(q *sequence) {
	q.phase = waiting
	s.tenants.wait(q)
	if q.imported {
		s.imports = append(s.imports, q)
	}
}

// leaveQueue takes q out of its tenant's queue.
func (s *Scheduler) leaveQueue(q *sequence) {
	s.tenants.remove(q)
	if q.imported {
		s.forgetImport(q)
	}
}

// forgetImport takes q off the list of imported sequences in the queues.
func (s *Scheduler) forgetImport(q *sequence) {
	i := slices.Index(s.imports, q)
	s.imports = slices.Delete(s.imports, i, i+1)
}

// openGate lets the other choices of q's request wait for their turn: the pages of the prompt are there to be found, or never will be.
func (s *Scheduler) openGate(q *sequence) {
	for c := q.choices.tail; c != nil; c = q.choices.tail { // backwards, so that none has to look past the others for its place
		q.choices.remove(c)
		c.lead = nil
		s.wait(c)
	}
}

// matched notes the prefix pages that the candidate reads.
func (s *Scheduler) matched(id page.Seq, refs []page.Ref) {
	q := s.candidate
	if q == nil || q.id != id || q.phase != matching {
		return // cancelled since; its FxRelease frees them
	}
	if tokens := len(refs) * s.cfg.PageSize; tokens > q.known-1 {
		panic(fmt.Sprintf("sched: %d tokens of sequence %d matched, which has %d and must compute one", tokens, id, q.known))
	}
	q.phase = matched
	q.table = append(make([]page.Ref, 0, s.cfg.pages(q.known)+1), refs...)
	q.computed = len(refs) * s.cfg.PageSize
	s.pool.inTables += len(refs)
}

// stepDone takes the results of the batch in flight.
func (s *Scheduler) stepDone(step uint64, nanos int64, results []Result) {
	f := s.flight
	if f == nil || f.batch.Step != step {
		return // late or repeated
	}
	if len(results) != len(f.batch.Items) {
		panic(fmt.Sprintf("sched: step %d has %d results for %d items", step, len(results), len(f.batch.Items)))
	}
	s.flight = nil
	s.pace.observe(f.answers, f.prompt, nanos)
	for i, q := range f.seqs {
		if results[i].Seq != q.id {
			panic(fmt.Sprintf("sched: result %d of step %d is of sequence %d, its item of %d", i, step, results[i].Seq, q.id))
		}
		q.inFlight = 0
		switch {
		case q.phase == ended: // first terminal outcome wins; its token is dropped
			s.release(q)
			delete(s.seqs, q.id)
		case results[i].Failed:
			s.end(q, EndFailed)
		default:
			s.itemDone(q, f.batch.Items[i], results[i].Token)
		}
	}
	clear(f.seqs) // keep nothing alive
}

// itemDone notes that q's item was computed, and the token it gave if it asked for one.
func (s *Scheduler) itemDone(q *sequence, item Item, token int32) {
	q.computed += item.Count
	if q.computed >= q.prompt {
		s.openGate(q)
	}
	if !item.Sample {
		return
	}
	q.known++
	s.tenants.charge(q.tenant, answerWeight)
	s.emit(Effect{Kind: FxToken, Seq: q.id, Token: token})
	switch {
	case slices.Contains(q.stopTokens, token):
		s.end(q, EndStop)
	case q.answer() == q.maxTokens: // admission saw to it that the context is not full before
		s.end(q, EndLength)
	}
}

func (s *Scheduler) endIfLive(id page.Seq, why End) {
	if q := s.seqs[id]; q != nil && q.phase != ended {
		s.end(q, why)
	}
}

// end gives q its one end. What it owns is released at once, or after the batch in flight if that names it.
func (s *Scheduler) end(q *sequence, why End) {
	switch q.phase {
	case gated:
		q.lead.choices.remove(q)
		q.lead = nil
	case waiting:
		s.leaveQueue(q)
	case matching, matched:
		s.candidate = nil
	case running:
		s.running.remove(q)
		s.unreserve(q)
	default:
		panic(fmt.Sprintf("sched: sequence %d ends in phase %v", q.id, q.phase))
	}
	q.phase = ended
	s.openGate(q)
	s.tenants.leave(q.tenant)
	if q.inFlight == 0 {
		s.release(q)
		delete(s.seqs, q.id)
	}
	s.emit(Effect{Kind: FxEnd, Seq: q.id, End: why})
}

// release takes all pages from q. The ledger frees those that nobody else reads, so asking for pages is sensible again.
//
// Preconditions:
//   - the batch in flight does not name q
func (s *Scheduler) release(q *sequence) {
	if q.inFlight != 0 {
		panic(fmt.Sprintf("sched: sequence %d released in flight", q.id))
	}
	s.pool.inTables -= len(q.table)
	q.table, q.computed, q.imported = nil, 0, false
	s.emit(Effect{Kind: FxRelease, Seq: q.id})
	s.pool.freed()
}

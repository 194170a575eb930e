package actors

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/sched"
)

// schedulerActor is the shell of sched.Scheduler: requests, queues, page tables and the allotment are the scheduler's; the shell adds what the core
// does not need to know, the stream and the token-chain hashes of each sequence.
type schedulerActor struct {
	node  *Node
	core  *sched.Scheduler
	seqs  map[page.Seq]*schedSeq
	fx    []sched.Effect
	batch *stepDone // while the effects of an EvStepDone are performed: its results
	next  int       // where in batch the next FxToken is
	run   run       // the runner's until it has answered

	attempts *attempts // nil unless the node works with others
	busy     bool      // an event of one of the two cores is under way
	later    []func()  // events that it gave rise to
}

type schedSeq struct {
	stream  *Stream // nil: an attempt's
	details bool    // of an attempt: its tokens come with log-probabilities
	choice  int
	trail   *trail
	domain  page.Domain
	matched bool // once: what a preempted sequence finds again are its own pages
}

func (a *schedulerActor) Receive(ctx actor.Context) {
	defer rethrow("scheduler")
	switch m := ctx.Message().(type) {
	case *submit:
		a.submit(m)
	case *adopt:
		a.adopt(m)
	case cancel:
		a.step(sched.Event{Kind: sched.EvCancel, Seq: m.seq})
	case *matched:
		if q, ok := a.seqs[m.seq]; ok && !q.matched && q.stream != nil {
			q.matched = true
			q.stream.setCached(q.choice, len(m.refs)*a.node.layout.PageSize)
		}
		a.step(sched.Event{Kind: sched.EvMatched, Seq: m.seq, Refs: m.refs})
	case *allotted:
		a.step(sched.Event{Kind: sched.EvAllotted, Refs: m.refs})
	case seqFailed:
		a.step(sched.Event{Kind: sched.EvFailed, Seq: m.seq})
	case pagesFreed:
		a.step(sched.Event{Kind: sched.EvPagesFreed})
	case *stepDone:
		a.batch, a.next = m, 0
		for i, r := range m.results {
			if q, ok := a.seqs[r.Seq]; ok && m.tokens[i].ID != sample.None {
				q.trail.add(r.Token)
			}
		}
		if a.attempts != nil {
			a.attempts.sealed(m)
		}
		a.step(sched.Event{Kind: sched.EvStepDone, Step: m.step, Nanos: m.took.Nanoseconds(), Results: m.results})
		a.batch = nil
	case schedReport:
		m.reply <- a.core.Counts()
	default:
		if a.attempts != nil {
			a.attempts.hear(m)
		}
	}
}

// do has one event of a core performed to its end before the next begins, also where the effects of one are events of the other.
func (a *schedulerActor) do(event func()) {
	if a.busy {
		a.later = append(a.later, event)
		return
	}
	a.busy = true
	event()
	for len(a.later) > 0 {
		next := a.later[0]
		a.later = a.later[1:]
		next()
	}
	a.busy, a.later = false, nil
}

// submit hands a request to the core. Whatever costs time in proportion to the prompt is done only for one that was admitted.
func (a *schedulerActor) submit(m *submit) { a.do(func() { a.submitNow(m) }) }

func (a *schedulerActor) submitNow(m *submit) {
	expected := m.expected
	if a.attempts != nil {
		expected += a.attempts.core.Stats().Imports
	}
	a.fx = a.core.Step(sched.Event{Kind: sched.EvSubmit, Ask: m.spec.ask(m.stream.seqs), Expected: expected}, a.fx[:0])
	for _, fx := range a.fx {
		switch fx.Kind {
		case sched.FxAdmitted:
			a.node.metrics.prompt.Add(float64(len(m.spec.Prompt)))
			a.know(&begin{seqs: m.stream.seqs, spec: m.spec, export: m.export}, m.stream)
		case sched.FxRejected:
			a.node.metrics.rejected(m.spec.Choices)
			a.node.endStream(m.stream, fx.Rejection) // no page, no message to the runner (I12)
		default:
			a.perform(fx)
		}
	}
}

// adopt hands a sequence with its prompt to the core.
func (a *schedulerActor) adopt(m *adopt) {
	seqs := m.seqs()
	if m.spec.MaxTokens == 1 {
		panic(fmt.Sprintf("actors: sequence %d is adopted and its answer is over", seqs[0]))
	}
	a.know(&begin{seqs: seqs, spec: m.spec, choice: m.choice, imported: m}, m.stream)
	ask := m.spec.ask(seqs)
	ask.PromptLen++ // with the first token of the answer
	ask.MaxTokens = max(0, ask.MaxTokens-1)
	a.step(sched.Event{Kind: sched.EvAdopt, Ask: ask, Refs: m.refs, Computed: len(m.spec.Prompt), Spare: m.spare})
}

// know makes an admitted request's sequences known here and to the runner.
func (a *schedulerActor) know(m *begin, stream *Stream) {
	n := a.node
	t := m.trail(n)
	for i, q := range m.seqs {
		if i > 0 {
			t = t.clone()
		}
		a.seqs[q] = &schedSeq{stream: stream, choice: i, details: m.spec.Sampling.Logprobs, trail: t, domain: n.domain(m.spec.Tenant)}
	}
	n.tell(n.runner, m)
}

func (a *schedulerActor) step(ev sched.Event) {
	if a.busy {
		later := ev // a copy, so that only this one goes to the heap
		a.do(func() { a.stepNow(later) })
		return
	}
	a.busy = true
	a.stepNow(ev)
	a.busy = false
	if len(a.later) > 0 {
		a.do(func() {})
	}
}

func (a *schedulerActor) stepNow(ev sched.Event) {
	a.fx = a.core.Step(ev, a.fx[:0])
	for _, fx := range a.fx {
		a.perform(fx)
	}
}

func (a *schedulerActor) perform(fx sched.Effect) {
	n := a.node
	switch fx.Kind {
	case sched.FxMatch:
		q := a.seqs[fx.Seq]
		n.tellPool(kvpool.Event{Kind: kvpool.EvMatch, Seq: fx.Seq, Domain: q.domain, Hashes: q.trail.prefix(fx.Known)})
	case sched.FxAllot:
		n.tellPool(kvpool.Event{Kind: kvpool.EvAllot, N: fx.N})
	case sched.FxReturn:
		n.tellPool(kvpool.Event{Kind: kvpool.EvReturn, Refs: fx.Refs})
	case sched.FxRun:
		if len(fx.Batch.Spends) > 0 {
			n.tellPool(kvpool.Event{Kind: kvpool.EvSpend, Spends: fx.Batch.Spends})
		}
		a.run.batch = fx.Batch
		n.tell(n.runner, &a.run)
	case sched.FxRelease:
		n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: fx.Seq})
	case sched.FxToken:
		a.token(fx.Seq)
	case sched.FxEnd:
		a.end(fx.Seq, fx.End)
	case sched.FxPreempted:
		n.metrics.preemptions.Inc()
		if a.attempts != nil && a.seqs[fx.Seq].stream == nil {
			a.attempts.tell(handoff.NodeEvent{Kind: handoff.EvPreempted, Seq: fx.Seq})
		}
	}
}

// token passes on what the runner sampled for seq in the step whose effects are performed. Tokens come in the order of the batch's items.
func (a *schedulerActor) token(seq page.Seq) {
	for a.batch.results[a.next].Seq != seq {
		a.next++
	}
	q := a.seqs[seq]
	if q.stream == nil {
		a.attempts.token(seq, &a.batch.tokens[a.next])
		return
	}
	q.stream.token(q.choice, a.batch.tokens[a.next], a.node.metrics)
}

func (a *schedulerActor) end(seq page.Seq, end sched.End) {
	q := a.seqs[seq]
	delete(a.seqs, seq)
	var err error
	if end == sched.EndFailed {
		err = a.batch.cause(seq)
	}
	a.node.tell(a.node.runner, forget{seq})
	if q.stream == nil {
		a.attempts.ended(seq, end, err)
		return
	}
	q.stream.finish(q.choice, end, err, a.node.metrics)
	a.node.registry.done(seq)
}

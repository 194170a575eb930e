package actors

import (
	"time"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// Messages to the pool are the ledger's events themselves, *kvpool.Event.

// To the scheduler.

// submit asks for a request to be served; its stream hears the rest. expected is how many sequences beside those of the scheduler have been admitted and will be adopted.
//
// With export its pages are to be offered to another node: its answer is one token (MaxTokens is 1), the last page of its prompt is sealed also if it is not full, and each
// stepDone tells what can be offered.
type submit struct {
	node     *Node
	spec     Spec
	stream   *Stream
	expected int
	export   bool
}

// adopt hands over a request whose prompt another node has computed. Its one sequence owns refs, the pages of its prompt, and spare, unless zero, is allotted to the scheduler: so says
// the ledger's FxStart. The answer begins with first, which the asker knows, and goes on. Admission was before.
type adopt struct {
	spec   Spec // of the whole answer: MaxTokens is not 1
	stream *Stream
	seq    page.Seq // where stream is nil: the sequence is an attempt's
	choice int
	first  int32
	refs   []page.Ref
	spare  page.Ref
}

func (m *adopt) seqs() []page.Seq {
	if m.stream != nil {
		return m.stream.seqs
	}
	return []page.Seq{m.seq}
}

// refuse answers a submit that found the scheduler's mailbox full.
func (m *submit) refuse() {
	m.node.metrics.rejected(m.spec.Choices)
	m.node.endStream(m.stream, &request.Rejection{Limit: request.LimitQueue, Have: mailboxLimit + 1, Max: mailboxLimit,
		Why: "The server is busy: too many requests arrive at once. Try again later."})
}

// cancel says that a sequence is not wanted any more.
type cancel struct{ seq page.Seq }

// matched, allotted and seqFailed are the pool's answers and news, with slices of their own.
type (
	matched struct {
		seq  page.Seq
		refs []page.Ref
	}
	allotted struct {
		refs []page.Ref
	}
	seqFailed  struct{ seq page.Seq }
	pagesFreed struct{}
)

// stepDone is the runner's answer to a batch: for each item, in its order, a result, a token, and where the result is Failed why. For each item of a sequence with export that
// did not fail also what can be offered. The slices are used again by the next step.
type stepDone struct {
	step     uint64
	took     time.Duration // from the batch's arrival at the runner
	results  []sched.Result
	tokens   []sample.Result
	causes   []error
	prefixes []prefix
}

// prefix is how much of a prompt can be offered to another node: the pool has been told that its pages are sealed. The scheduler will release them as soon as it hears of the step
// that sampled the first token, so they must be offered before.
type prefix struct {
	seq page.Seq
	// pages are those of the prompt that are sealed, from the first on. They are the scheduler's page table, which only grows while a sequence runs: the slice may be kept, not changed.
	pages  []page.Ref
	tokens int           // of the prompt that lie in pages
	last   bool          // that is all of it
	first  sample.Result // where last is set: the answer begins so
}

// cause is why a sequence failed in this step. Outside a step (s is nil) the only cause there is is a page that turned out bad.
func (s *stepDone) cause(seq page.Seq) error {
	if s != nil {
		for i, r := range s.results {
			if r.Seq == seq && r.Failed {
				return s.causes[i]
			}
		}
	}
	return request.ErrPageCheck
}

// To the runner.

// begin makes the sequences of an admitted request known before the first batch that names one of them.
type begin struct {
	seqs     []page.Seq
	spec     Spec
	choice   int // of the first of seqs
	export   bool
	imported *adopt // nil unless the prompt came from another node
}

// stamp writes the headers of pages that came from another node: what the ledger holds of them, which is what the gateway's tokens say.
type stamp struct{ pages []kvpool.Check }

// forget ends what begin began, for one sequence.
type forget struct{ seq page.Seq }

// run is a batch; the runner owns it until it has answered with stepDone.
type run struct{ batch *sched.Batch }

// verify asks for the bytes of pages to be hashed; answered to the pool by an EvVerified of the same job. The runner takes it in pieces between steps: done of the checks
// have been made, bad are those that failed.
type verify struct {
	job    uint64
	checks []kvpool.Check
	done   int
	bad    []int
}

// scrub asks for a page to be zeroed; answered by an EvScrubbed.
type scrub struct{ ref page.Ref }

// To the pool, beside events.
type (
	// poolFreed is answered to the scheduler by pagesFreed: what came home before it came home.
	poolFreed struct{}
	// poolLoad is answered to the scheduler by handoffTick.
	poolLoad struct{}
)

// To any of the three.

// report asks for a snapshot; answered exactly once on a channel with room for it.
type (
	poolReport struct {
		reply chan<- PoolReport
		check bool
	}
	schedReport struct{ reply chan<- sched.Counts }
)

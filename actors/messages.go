package actors

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// Messages to the pool are the ledger's events themselves, *kvpool.Event.

// To the scheduler.

// submit asks for a request to be served; its stream hears the rest.
type submit struct {
	spec   Spec
	stream *Stream
}

// refuse answers a submit that found the scheduler's mailbox full.
func (m *submit) refuse() {
	m.stream.node.metrics.rejected(m.spec.Choices)
	m.stream.node.endStream(m.stream, &request.Rejection{Limit: request.LimitQueue, Have: mailboxLimit + 1, Max: mailboxLimit,
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

// stepDone is the runner's answer to a batch: for each item, in its order, a result, a token, and where the result is Failed why.
type stepDone struct {
	step    uint64
	results []sched.Result
	tokens  []sample.Result
	causes  []error
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
	seqs []page.Seq
	spec Spec
}

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

// To any of the three.

// report asks for a snapshot; answered exactly once on a channel with room for it.
type (
	poolReport struct {
		reply chan<- PoolReport
		check bool
	}
	schedReport struct{ reply chan<- sched.Counts }
)

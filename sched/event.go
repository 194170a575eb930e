package sched

import (
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// Config bounds a scheduler. All fields are required unless said otherwise.
type Config struct {
	PageSize         int // slots of a page
	TotalPages       int // pages the pool can ever hold
	MaxModelLen      int // tokens of prompt + answer
	MaxNumSeqs       int // sequences that run together
	MaxBatchedTokens int // token budget of a step
	MaxPrefillChunk  int // most prompt tokens of one sequence in a step; 0: the whole budget
	MaxQueue         int // sequences that may wait
	// TargetStepNanos is how long a step in which answers grow should take at most, in nanoseconds: fewer prompt tokens are computed in it, but never less than a page of them in steps that have
	// some. 0: as long as it takes.
	TargetStepNanos int64
}

// Ask is what admission needs to know of a request.
type Ask struct {
	Seqs       []page.Seq // one a choice, never used before
	Tenant     string
	PromptLen  int     // at least 1
	MaxTokens  int     // 0: until the context is full
	StopTokens []int32 // end an answer; already without the end-of-turn tokens if those are to be ignored
}

// EventKind says what happened.
type EventKind uint8

const (
	// EvSubmit: Ask wants to be served, and Expected more have been admitted and will be adopted. Answered by FxAdmitted or FxRejected at once.
	EvSubmit EventKind = iota + 1
	// EvCancel: Seq is not wanted any more (client gone, stop string met). FxEnd with EndCancelled follows at once unless Seq has ended.
	EvCancel
	// EvMatched: the pool's answer to FxMatch: Seq reads Refs, pages 0.. of its table, full and verified. Maybe none.
	EvMatched
	// EvAllotted: the pool's answer to FxAllot: Refs are ours to spend; fewer than asked if there are no more.
	EvAllotted
	// EvStepDone: the runner's answer to FxRun.
	EvStepDone
	// EvFailed: a page that Seq reads is bad: Seq ends with an error.
	EvFailed
	// EvPagesFreed: the pool has pages again; who waits for some may ask.
	EvPagesFreed
	// EvAdopt: the one sequence of Ask begins with pages that another node computed. It owns Refs, pages 0.. of its table, in which its first Computed tokens lie; the last is its own to
	// fill on if it has room, the others are only read. PromptLen counts every token that is known, also those of the answer that came along; MaxTokens bounds what is still to come. Spare,
	// unless zero, is allotted to us. It is never rejected: admission ([Scheduler.Admit]) was before its pages were fetched. If the context is full, its FxEnd follows at once.
	EvAdopt
)

// Result is what a step did for one item of its batch.
type Result struct {
	Seq page.Seq
	// Failed: the item could not be computed (a page check failed, or the model gave no usable logits); Seq ends with an error.
	Failed bool
	// Token was sampled, where the item asked for one and did not fail.
	Token int32
}

// Event is what Scheduler.Step takes. The scheduler keeps no slice of an event after Step returns, except Ask.Seqs and Ask.StopTokens.
type Event struct {
	Kind     EventKind
	Ask      Ask
	Expected int
	Seq      page.Seq
	Refs     []page.Ref
	Computed int
	Spare    page.Ref
	Step     uint64
	Nanos    int64    // that the step took; 0: not measured
	Results  []Result // one for each item of the batch, in its order
}

// EffectKind says what must be done.
type EffectKind uint8

const (
	// FxAdmitted: the Ask was accepted; Admitted says so.
	FxAdmitted EffectKind = iota + 1
	// FxRejected: the Ask was refused; Rejection says why. Nothing else will ever be said of its sequences.
	FxRejected
	// FxMatch: ask the pool for the longest cached prefix of Seq's first Known tokens (at most Known-1 of them, rounded down to a page).
	FxMatch
	// FxAllot: ask the pool for N pages. At most one is outstanding.
	FxAllot
	// FxReturn: give Refs back to the pool.
	FxReturn
	// FxRun: tell the pool that Batch.Spends are spent, then run Batch. At most one is in flight.
	FxRun
	// FxRelease: tell the pool that Seq owns nothing any more (it may own nothing already). Never while a batch in flight names Seq.
	FxRelease
	// FxToken: Token is the next of Seq's answer.
	FxToken
	// FxEnd: the one end of Seq, for the reason End. Its last FxRelease has come before, or comes when the batch in flight is done.
	FxEnd
	// FxPreempted: Seq, which ran or was adopted, loses its pages (FxRelease is next) and will be computed again. What was offered of them to other nodes must be revoked.
	FxPreempted
)

// End is the reason of a sequence's end.
type End uint8

const (
	EndStop      End = iota + 1 // a stop token
	EndLength                   // MaxTokens, or the context is full
	EndCancelled                // EvCancel
	EndFailed                   // Result.Failed, or EvFailed
)

// Item is one sequence's part of a batch: its tokens [Start, Start+Count) are computed.
type Item struct {
	Seq   page.Seq
	Start int
	Count int
	// Pages is the sequence's page table, covering [0, Start+Count). It is not changed while the batch is in flight.
	Pages []page.Ref
	// Sample: draw the token that follows Start+Count-1.
	Sample bool
}

// Batch is one step of the runner. It belongs to the runner until EvStepDone; then the scheduler uses it again, all but Spends, which is new each time.
type Batch struct {
	Step   uint64
	Items  []Item
	Spends []page.Spend
}

// Effect is what Scheduler.Step gives back, to be performed in order.
type Effect struct {
	Kind      EffectKind
	Seq       page.Seq
	N         int
	Known     int
	Refs      []page.Ref
	Batch     *Batch
	Token     int32
	End       End
	Admitted  Admitted
	Rejection *request.Rejection
}

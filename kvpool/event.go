package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// EventKind says what happened.
type EventKind uint8

const (
	// EvAllot: the scheduler asks for N pages. Answered by FxAllotted with as many as there are (maybe none), at once.
	EvAllot EventKind = iota + 1
	// EvReturn: the scheduler gives Refs of its allotment back.
	EvReturn
	// EvSpend: the scheduler spends allotted pages: Spends[i].Ref is filled by Spends[i].Seq from now on. One event a step.
	EvSpend
	// EvSeal: the runner has filled pages and stamped their headers: Seals become Resident, read by their sequence, and enter the prefix
	// index if they are full (Seal.Full) and their chain hash is not there yet.
	EvSeal
	// EvMatch: Seq wants the longest cached prefix of Hashes (chain hashes to the end of page 0, 1, ...) in Domain. Seq becomes a reader of each page found. Answered
	// by FxVerify first (where pages were found), in the end by FxMatched.
	EvMatch
	// EvVerified: the bytes of job Job were hashed; Bad are the indexes of its pages whose header or checksum differed.
	EvVerified
	// EvRelease: Seq ends, or starts anew: it owns nothing afterwards.
	EvRelease
	// EvBadPage: the runner found that Ref, in the table of Seq, does not hold what it must.
	EvBadPage
	// EvScrubbed: the bytes and header of Ref are zeroed.
	EvScrubbed
	// EvPatrol: check up to N pages that nobody but the prefix index reads (slow patrol). Answered by FxVerify if there are any.
	EvPatrol
)

// Seal tells that a page is filled and will not be written again.
type Seal struct {
	Ref      page.Ref
	Seq      page.Seq
	Domain   page.Domain
	Chain    page.Hash
	Checksum uint32
	Full     bool
}

// Event is what Ledger.Step takes. Which fields count is said at each kind. The ledger keeps no slice of an event after Step returns.
type Event struct {
	Kind   EventKind
	N      int
	Seq    page.Seq
	Job    uint64
	Domain page.Domain
	Ref    page.Ref
	Refs   []page.Ref
	Hashes []page.Hash
	Spends []page.Spend
	Seals  []Seal
	Bad    []int
}

// EffectKind says what must be done.
type EffectKind uint8

const (
	// FxAllotted: Refs (newly allotted, fewer than the N asked for if there are no more) are the scheduler's to spend or return.
	FxAllotted EffectKind = iota + 1
	// FxMatched: Seq reads Refs, pages 0.. of its table, all verified. Maybe none.
	FxMatched
	// FxVerify: hash the bytes of Checks and compare header and checksum; answer with EvVerified for Job. The pages stay pinned until then.
	FxVerify
	// FxScrub: zero the bytes and header of Ref; answer with EvScrubbed.
	FxScrub
	// FxFailed: Seq has read, or was about to read, a page whose bytes are bad (Ref). It must end with an error.
	FxFailed
	// FxFreed: N pages may be allotted again that could not be before, without the scheduler's doing (scrubbed, or a check that pinned them is over); a
	// scheduler that waits for pages may ask again.
	FxFreed
)

// Effect is what Ledger.Step gives back, to be performed in order.
//
// Slices in an effect are valid until the next Step; whoever keeps them copies them.
type Effect struct {
	Kind   EffectKind
	N      int
	Seq    page.Seq
	Job    uint64
	Ref    page.Ref
	Refs   []page.Ref
	Checks []Check
}

// Check says what a page must hold to be read.
type Check struct {
	Ref      page.Ref
	Domain   page.Domain
	Chain    page.Hash
	Checksum uint32
}

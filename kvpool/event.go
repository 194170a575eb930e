package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// EventKind says what happened.
type EventKind uint8

const (
	// EvAllot: the scheduler asks for N pages of Group. Answered by FxAllotted with as many as there are (maybe none), at once.
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
	// EvRelease: Seq ends, or starts anew: it owns nothing afterwards. An attempt whose seal it has not offered is revoked.
	EvRelease
	// EvBadPage: the runner found that Ref, in the table of Seq, does not hold what it must.
	EvBadPage
	// EvScrubbed: the bytes and header of Ref are zeroed.
	EvScrubbed
	// EvPatrol: check up to N pages of Group that nobody but the prefix index reads (slow patrol). Answered by FxVerify if there are any.
	EvPatrol

	// The hand-off between nodes follows. A node is the prefill node (P) of some attempts and the decode node (D) of others.

	// EvConnected: the hello of Link is done. A new Incarnation of its peer proves that the peer has restarted; a new Epoch that the connection before is over. Hellos of
	// one peer are told in their order.
	EvConnected
	// EvLost: Link is suspected to be dead, or at its end. Frees nothing. Answered by FxFence, once.
	EvLost
	// EvFenced: the local fence of Link is complete: its peer can read nothing here any more, and no read from it that this node issued over Link will land.
	EvFenced
	// EvMessage: Message came from the peer of Link.
	EvMessage
	// EvCancel: the gateway ends Attempt. Remembered where it comes first.
	EvCancel
	// EvTick, at P: send again what has had no answer.
	EvTick

	// EvReserve, at P: admission promises N pages of Seq to Attempt, over Link. Accepted in silence, or answered by FxRefused; a repetition for an attempt that is alive is
	// stale. Whatever is accepted ends with FxExported.
	EvReserve
	// EvOffer, at P: Refs are the next pages of Attempt's prompt, Resident and read by its Seq; they become one group. All but the prompt's last page are full. Last: they (maybe
	// none) end the prompt of Tokens tokens, and the answer begins with First. All or nothing.
	EvOffer
	// EvRevoke, at P: it gives up on Attempt.
	EvRevoke

	// EvExpect, at D: the gateway's Submit for the life To of this node: over Link the prefill node will offer the prompt of Tokens tokens whose pages end in the chain hashes
	// Hashes (of a last page that is not full too), for Seq in Domain. No page is taken yet. Accepted in silence, and then it ends with either FxStart or FxImportEnded; or answered
	// by FxRefused; a repetition for an attempt that is alive is stale.
	EvExpect
	// EvRead, at D: the read of job Job is over: its bytes have landed and hash to Checksum, or (Failed) not all have landed and no more ever will. A timeout or
	// an error is not enough to say so.
	EvRead

	// Copies of cached pages that lie outside the pool, in the host's memory or on a disk, follow. Who keeps them is no matter of the ledger's; it sees to it that
	// nothing is copied from pages that have become another's, and nothing restored that is not what it should be.

	// EvCopyOut: Refs, full and Resident, are to be copied out of the pool. Answered by FxCopyOut at once, for those that can be; by nothing if none can.
	EvCopyOut
	// EvCopied: the copy of job Job is over: nothing reads its pages for it any more. Failed: not all has been copied. Answered by FxCopied.
	EvCopied
	// EvRestore: Seq, which may have matched pages, wants the next pages of its table in Group from copies that are kept: Checks say what each must hold (without Ref), all of them full
	// pages. N is that of the last FxDistrust which the asker has heard (0: of none). Answered by FxRestore, or by FxRestored with no page (no room, or another N); a
	// sequence that waits for a match or a restore, or must end, is stale.
	EvRestore
	// EvRestored: the copy of job Job into pages is over: no more will land. Checks say, for its pages in their order, what lies there now: Domain and Chain as in the header
	// that is kept with the copy, Checksum as the bytes hash to. Failed: it is not known. A timeout or an error alone is not an end.
	EvRestored

	// EvSlide: Refs are pages of Seq, in a group with a window, that have slid out of it: Seq will not read them any more. It keeps one page at least.
	EvSlide
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
	Group  int // cache group
	Seq    page.Seq
	Job    uint64
	Domain page.Domain
	Ref    page.Ref
	Refs   []page.Ref
	Hashes []page.Hash
	Spends []page.Spend
	Seals  []Seal
	Bad    []int
	Checks []Check

	Link     Link
	Attempt  Attempt
	Message  Message
	To       page.Incarnation
	Tokens   int
	First    int32
	Last     bool
	Failed   bool
	Checksum uint32
}

// EffectKind says what must be done.
type EffectKind uint8

const (
	// FxAllotted: Refs (newly allotted, fewer than the N asked for if there are no more) are the scheduler's to spend or return.
	FxAllotted EffectKind = iota + 1
	// FxMatched: Seq reads Refs, pages 0.. of its table, all verified. Maybe none. Over several groups, or one with a window: N pages of the prompt are there, and Refs are, of each
	// group in turn, those that it needs of them: all, or the last Window.
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

	// FxSend: send Message over Link.
	FxSend
	// FxFence: fence the peer of Link, then tell EvFenced.
	FxFence
	// FxRefused: the EvReserve or EvExpect of this step, for Attempt and Seq, was not accepted. Status: Refused (Have pages are needed, Max may be promised), Cancelled (the
	// attempt is closed, or for another life), Lost (Link is not up). It stays refused, however often it is asked for again.
	FxRefused
	// FxExported, at P: Attempt has ended, with the Status of its Release (or Lost), and owns no page any more. Once for each EvReserve accepted.
	FxExported
	// FxRead, at D: read the page Src of the peer of Link, for Attempt, into this node's page Dst; hash what has landed and tell EvRead for Job. The offer says Checksum.
	FxRead
	// FxStart, at D: Seq starts. Refs are the pages of its prompt; the last is Seq's to fill if it has room, the others are Resident. If it has none, Spare is one page, Allotted, for
	// the answer (else Spare is zero). The answer begins with First. The first Have pages were this node's own already, and their headers stand.
	FxStart
	// FxImportEnded, at D: Attempt has ended before Seq could start. Status says why: Refused with Have and Max, Mismatch with Page, Cancelled, Lost.
	FxImportEnded

	// FxCopyOut: copy the pages of Checks, with what these say, to where copies are kept; tell EvCopied for Job. The pages stay as they are until then, and nothing may be
	// restored from the copies before FxCopied. To be cancelled, the copy is stopped and EvCopied (Failed) told.
	FxCopyOut
	// FxCopied: the copies of Job that may be kept are those of Checks, maybe none; all others are to be dropped.
	FxCopied
	// FxRestore: copy what the Checks name into their pages (Ref); stamp their headers; tell EvRestored for Job.
	FxRestore
	// FxRestored: Seq reads Refs behind the pages that it had, all verified; maybe none. A copy behind these that did not fail is not what it should be, and is to be dropped.
	FxRestored
	// FxDistrust: copies that were kept of pages of Domain, in this life, may have been computed from bad bytes, and are to be dropped. It is the Nth.
	FxDistrust
)

// Effect is what Ledger.Step gives back, to be performed in order.
//
// Slices in an effect are valid until the next Step; whoever keeps them copies them.
type Effect struct {
	Kind   EffectKind
	N      int
	Seq    page.Seq
	Job    uint64
	Domain page.Domain
	Ref    page.Ref
	Refs   []page.Ref
	Checks []Check

	Link      Link
	Attempt   Attempt
	Message   Message
	Src, Dst  page.Ref
	Checksum  uint32
	Spare     page.Ref
	First     int32
	Status    Status
	Page      int
	Have, Max int
}

// Check says what a page must hold to be read.
type Check struct {
	Ref      page.Ref
	Domain   page.Domain
	Chain    page.Hash
	Checksum uint32
}

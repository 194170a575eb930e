package handoff

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// NodeEventKind says what happened at a node.
type NodeEventKind uint8

const (
	// EvGatewayUp: the gateway Gateway said hello in its life GatewayLife. A new life proves that the one before has ended: its attempts are cancelled.
	EvGatewayUp NodeEventKind = iota + 1
	// EvGatewayLost: the connection with GatewayLife is over. It may come back; its attempts go on meanwhile, and are cancelled when it does not for NodeConfig.GatewayGrace.
	EvGatewayLost
	// EvTold: Message came from the gateway whose life is GatewayLife, which is up. If it is a Submit, Seq is a name of a sequence that was never used before; it is used if the attempt
	// begins by this message.
	EvTold

	// EvLinkUp: the hello of Link, to another node, is done, and the pool was told EvConnected before. A peer has one link at most; a later one takes the place of the one before.
	EvLinkUp
	// EvLinkLost: Link is over. Tell it when the pool asks for its fence.
	EvLinkLost

	// EvAdmitted answers FxAdmit and FxAsk: Seq may be served, with an answer of MaxTokens at most (as admission made it of what was asked).
	EvAdmitted
	// EvRejected answers FxAdmit and FxAsk: Seq is refused, for Rejection. The scheduler knows nothing of it.
	EvRejected
	// EvSealed: a batch is computed, and the pool was told of its seals (EvSeal) before. Of Seq, which FxAsk named with Export, Pages are the pages of the prompt that are sealed so far, from
	// the prompt's first on; Computed tokens of the prompt lie in them. Last: the prompt is whole (its last page is sealed though it may not be full, with its tail zeroed) and Token, with
	// Detail, is the first of the answer. It must be told before the scheduler hears of the batch (EvStepDone), else the pages may be gone before they are offered.
	EvSealed
	// EvToken: the scheduler has given Seq the next token of its answer. Not told of sequences with Export.
	EvToken
	// EvPreempted: Seq lost its pages and will be computed again.
	EvPreempted
	// EvEnded: the scheduler's end of Seq, for Reason.
	EvEnded

	// EvPool: the pool says Pool: FxRefused, FxExported, FxStart or FxImportEnded. All of these, in their order.
	EvPool

	// EvDrain: take nothing new.
	EvDrain
	// EvNodeTick: time has passed, and Load is the present load. A few times in the shortest of the config's times, whatever else happens.
	EvNodeTick
)

// NodeEvent is what Node.Step takes. Which fields count is said at each kind; Now counts always. The node keeps no slice of an event after Step returns, but it
// keeps Message.Spec and the bytes of Detail, which must not be changed afterwards.
type NodeEvent struct {
	Kind NodeEventKind
	Now  int64 // nanoseconds of a clock that does not go back

	Gateway     page.Node // the place where a gateway is started again and again
	GatewayLife uint64    // page.Attempt.Gateway of what it asks for
	Message     *Message
	Link        kvpool.Link

	Seq       page.Seq
	MaxTokens int
	Rejection *request.Rejection
	Pages     []page.Ref
	Computed  int
	Last      bool
	Token     int32
	Detail    []byte // of Token; only where Spec.Details
	Reason    Reason // of EvEnded: ReasonStop, Length, Cancelled, PageCheck, Model, Fault
	Why       string // of EvEnded; maybe nothing

	Pool *kvpool.Effect
	Load Load
}

// NodeEffectKind says what must be done at a node.
type NodeEffectKind uint8

const (
	// FxReport: send Message to the gateway whose life is GatewayLife, if it is up.
	FxReport NodeEffectKind = iota + 1
	// FxPool: tell the pool Pool: EvReserve, EvOffer, EvRevoke, EvExpect, EvCancel, EvRelease, EvReturn or EvTick.
	FxPool
	// FxAdmit, at a decode node: hold Seq, with the prompt and MaxTokens of Spec, against what the scheduler can ever serve and against its queue, while Waiting
	// more are expected from other nodes. Nothing is kept. Answer at once with EvAdmitted or EvRejected.
	FxAdmit
	// FxAsk: ask the scheduler to serve Seq, with the prompt of Spec and MaxTokens, while Waiting more are expected from other nodes, and answer with EvAdmitted or EvRejected at once. Export: stop tokens are of no meaning; seal the prompt's last page when it is
	// computed, though it is not full, and tell EvSealed; its one token is nobody's but the seal's.
	FxAsk
	// FxAdopt, at a decode node: Refs hold the prompt of Spec, and the answer begins with Token, which has been reported, so that MaxTokens more may come. The scheduler takes Seq over with them (it was
	// admitted before, by FxAdmit). If the prompt's last page has room it is Seq's to fill; otherwise Spare is a page that is allotted to the scheduler for it. The shell stamps the header of a last
	// page that has room now; those of the full pages it has stamped when the pool said FxStart, since they are in the prefix index from then on.
	FxAdopt
	// FxStop: cancel Seq at the scheduler, if it knows it.
	FxStop
	// FxFreed: pages that the pool was told of just before (EvRelease, EvReturn) have come home without the scheduler's doing: tell it (EvPagesFreed), after the pool.
	FxFreed
	// FxSuspect: Link is suspected to be dead. Tell the pool EvLost.
	FxSuspect
)

// NodeEffect is what Node.Step gives back, to be performed in order. Slices and pointers in it are valid until the next Step, but for Spec, which may be kept: whoever keeps others copies
// them, and a message is encoded, or copied, at once.
type NodeEffect struct {
	Kind        NodeEffectKind
	GatewayLife uint64
	Message     Message
	Pool        kvpool.Event
	Attempt     kvpool.Attempt // of FxAdmit, FxAsk, FxAdopt, FxStop; for traces
	Seq         page.Seq
	Spec        *Spec
	MaxTokens   int
	Waiting     int
	Export      bool
	Refs        []page.Ref
	Spare       page.Ref
	Token       int32
	Link        kvpool.Link
}

// GatewayEventKind says what happened at a gateway.
type GatewayEventKind uint8

const (
	// EvRequest: a client asks for Spec, one choice, until Deadline. Request names it between shell and core and is never used again. Hashes are the chain hashes to the end of the
	// prompt's full pages, or whatever else means the same prefix in the same cache domain: requests with equal ones are sent where their pages may be. Answered by one FxOutcome, maybe FxTokens before.
	EvRequest GatewayEventKind = iota + 1
	// EvAbort: the client of Request is gone, or wants no more (a stop string was met). Answered by FxOutcome at once, unless it has been told.
	EvAbort

	// EvNodeUp: Node said hello in its life Life. A new life proves that the one before has ended.
	EvNodeUp
	// EvNodeLost: the connection with Node is over. It may come back; what it does goes on meanwhile, for GatewayConfig.NodeGrace.
	EvNodeLost
	// EvNodeEnded: the life Life of Node has ended: its process was seen to end.
	EvNodeEnded
	// EvHeard: Message came from Node in its life Life.
	EvHeard

	// EvGatewayTick: time has passed. A few times in the shortest of the config's times, whatever else happens.
	EvGatewayTick
)

// GatewayEvent is what Gateway.Step takes. Which fields count is said at each kind; Now counts always. The gateway keeps Spec and Hashes, which must not be changed afterwards, and no other slice of an
// event after Step returns.
type GatewayEvent struct {
	Kind GatewayEventKind
	Now  int64 // nanoseconds of a clock that does not go back

	Request  uint64
	Spec     *Spec
	Hashes   []page.Hash
	Deadline int64 // on the clock of Now

	Node    page.Node
	Life    page.Incarnation
	Message *Message
}

// GatewayEffectKind says what must be done at a gateway.
type GatewayEffectKind uint8

const (
	// FxTell: send Message to Node, if it is up in its life Message.Life.
	FxTell GatewayEffectKind = iota + 1
	// FxTokens: Tokens (with Details, where asked for) are the next of Request's answer, from token First on. None is told twice, or left out.
	FxTokens
	// FxOutcome: the one outcome of Request. Nothing is said of it afterwards.
	FxOutcome
)

// Outcome is a request's end.
type Outcome uint8

const (
	Completed Outcome = iota + 1 // with a whole answer: Reason says whether by ReasonStop or ReasonLength
	Rejected                     // admission refused it: Rejection. No token was told
	Failed                       // Reason and Why; tokens may have been told
	Aborted                      // by EvAbort
)

func (o Outcome) String() string {
	return nameOf("outcome", []string{Completed: "completed", Rejected: "rejected", Failed: "failed", Aborted: "aborted"}, int(o))
}

// GatewayEffect is what Gateway.Step gives back, to be performed in order. Slices and pointers in it are valid until the next Step, but for a message's Spec, which may be kept.
type GatewayEffect struct {
	Kind    GatewayEffectKind
	Node    page.Node
	Message Message

	Request   uint64
	First     int
	Tokens    []int32
	Details   [][]byte
	Outcome   Outcome
	Reason    Reason
	Why       string
	Rejection *request.Rejection
	Tries     int // attempts that were made, of FxOutcome
}

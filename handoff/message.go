package handoff

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// MessageKind says what a message between a gateway and a node says.
type MessageKind uint8

const (
	// MsgSubmit, to a node: take part in Attempt as Role. Repeated until the node has said anything of the attempt.
	MsgSubmit MessageKind = iota + 1
	// MsgPoll, to a node: tell again what has become of Attempt, of the answer from token Have on. Sent when nothing was heard for a while.
	MsgPoll
	// MsgCancel, to a node: Attempt is over for the gateway, whatever became of it. Repeated until MsgClosed, or the end of the node's life.
	MsgCancel

	// MsgAccepted, from a node: it has Attempt, and there is nothing else to say of it yet.
	MsgAccepted
	// MsgRejected, from a node: admission refused Attempt. Nothing was computed or handed off for it, and nothing else will ever be said of it but MsgClosed.
	MsgRejected
	// MsgPrefilled, from a prefill node, where Spec.Details: the first token of the answer, with its detail, which the hand-off does not carry. It says nothing of the hand-off's success.
	MsgPrefilled
	// MsgTokens, from a decode node: Tokens of the answer, the first of them its token number First.
	MsgTokens
	// MsgEnd, from a node: its part of Attempt has ended, for Reason. At a decode node the answer has Total tokens in all, whether they have been heard or not.
	MsgEnd
	// MsgClosed, from a node, answers MsgCancel, and whatever else is said of an attempt that is over there: it is remembered as over. Nothing of it will begin any more.
	MsgClosed
	// MsgStatus, from a node: how it is.
	MsgStatus
)

// Role is what a node does in an attempt.
type Role uint8

const (
	Prefill Role = iota + 1 // reads the prompt and offers its pages
	Decode                  // takes the pages and writes the answer
	Local                   // both at one node: no hand-off
)

func (r Role) String() string {
	return nameOf("role", []string{Prefill: "prefill", Decode: "decode", Local: "local"}, int(r))
}

// Reason says why a node's part of an attempt, or a request, has ended.
type Reason uint8

const (
	ReasonStop     Reason = iota + 1 // a stop token was met: the answer is whole
	ReasonLength                     // MaxTokens, or the context is full: the answer is whole
	ReasonExported                   // at a prefill node: the decode node has all pages of the prompt

	ReasonNoRoom    // no pages for it now: Need would be needed, Max could be had
	ReasonLink      // the connection between the two nodes was lost, or was another one
	ReasonMismatch  // a page that was handed over did not hold what the prompt says
	ReasonRevoked   // the other node gave up, or this one did after waiting for it too long
	ReasonPreempted // the prefill node needed the pages for somebody who came before
	ReasonForgotten // the node knows nothing of it any more

	ReasonPageCheck // a page of this node did not hold what it must
	ReasonModel     // the model gave no usable numbers
	ReasonFault     // a part of the node has failed
	ReasonCancelled // by the gateway
	ReasonDeadline  // the time that the request was given is over
	ReasonGateway   // the gateway was lost, or has restarted
	ReasonNodeEnded // the node's life has ended, or it was not heard of for too long
	ReasonNoNode    // there was no node that could take it
	ReasonBusy      // the node's queue is full, or it takes nothing new
)

var reasons = []string{
	ReasonStop: "stop", ReasonLength: "length", ReasonExported: "exported",
	ReasonNoRoom: "no room", ReasonLink: "link lost", ReasonMismatch: "page mismatch", ReasonRevoked: "revoked", ReasonPreempted: "preempted", ReasonForgotten: "forgotten",
	ReasonPageCheck: "page check failed", ReasonModel: "no usable logits", ReasonFault: "engine failed", ReasonCancelled: "cancelled", ReasonDeadline: "deadline",
	ReasonGateway: "gateway lost", ReasonNodeEnded: "node ended", ReasonNoNode: "no node", ReasonBusy: "busy",
}

func (r Reason) String() string { return nameOf("reason", reasons, int(r)) }

// Whole reports whether the answer is all that was asked for.
func (r Reason) Whole() bool { return r == ReasonStop || r == ReasonLength }

// Spec is what a request asks of the nodes that serve it: one choice. It is never changed once it is made, so gateway, messages and node may share one.
type Spec struct {
	Request    string // its id, for logs and traces
	Choice     uint32 // sampling depends on (Seed, Choice, position)
	Tenant     string // whose turn it is
	Domain     string // cache domain: pages are shared within it alone
	Prompt     []int32
	MaxTokens  int     // of the answer, at least 1; 0: until the context is full
	StopTokens []int32 // end the answer
	Sampling   []byte  // how tokens are chosen, for the runner's eyes alone
	Seed       uint64
	Details    bool // each token comes with a detail (log-probabilities), for the client's eyes alone
}

// Status is how a node is. It replaces the one before it: of two, the one with the larger Serial is later.
type Status struct {
	Serial   uint64 // ascending in a life
	Ready    bool   // it can serve
	Draining bool   // it takes nothing new
	Prefill  bool   // it can be a prefill node
	Decode   bool   // it can be a decode node; with Prefill also local
	Load     Load
	Limits   Limits
	Links    []kvpool.Link // that are up, as this node names them, in order of their beginning
}

// Load is how much there is to do at a node.
type Load struct {
	FreePages  int // that can be had: free, or idle in the prefix index
	TotalPages int
	Waiting    int // sequences that wait
	Running    int // sequences that run
}

// Limits is what a node can ever hold.
type Limits struct {
	MaxModelLen int // tokens of prompt and answer
	PoolTokens  int // tokens that its pages hold
}

// Message is what a gateway and a node tell each other. Which fields count is said at each kind; the others are zero. Its canonical encoding ([AppendMessage]) defines
// when two messages are equal.
//
// A message may be lost, come twice, late, or in any order. Every wait for an answer has a repetition behind it, and a repetition changes nothing.
//
// Slices and pointers of a message belong to who made it; Spec and what it points to may be kept and is never changed.
type Message struct {
	Kind    MessageKind
	Attempt kvpool.Attempt   // of all kinds but MsgStatus; names the gateway's life
	Life    page.Incarnation // of the node: as the gateway knows it, or the node's own

	// MsgSubmit
	Role      Role
	Link      kvpool.Link // the pair's connection as this node names it: peer, its life, epoch. Zero where Local
	Remaining int64       // nanoseconds that the attempt may still take, from the moment of sending
	Spec      *Spec

	Have int // MsgPoll

	Rejection *request.Rejection // MsgRejected

	// MsgPrefilled, MsgTokens
	First   int
	Tokens  []int32
	Details [][]byte // one for each token where Spec.Details, else none

	// MsgEnd
	Reason    Reason
	Total     int
	Need, Max int    // ReasonNoRoom: pages
	Why       string // more of it for logs and the client; maybe nothing

	Status *Status // MsgStatus
}

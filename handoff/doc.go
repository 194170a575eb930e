// Package handoff holds the rules round an attempt: what a gateway does with a request, and what a node does with its part of it. It is pure: no goroutine, clock, I/O or randomness.
//
// There are two cores, [Gateway] and [Node]. Each has one function, Step, which takes an event and appends effects; a shell (an actor in production, the simulator in tests) translates
// messages to events and performs the effects in their order. Time comes with the events. The pages themselves are [kvpool.Ledger]'s: a node speaks to it in its events and hears its effects,
// and to the scheduler in a few words of this package.
//
// This comment is the specification, with those at each event, effect and message. I12 and its like are the invariants of package kvpool.
//
// # A request's way
//
//	client   --EvRequest--> gateway: chooses nodes, names an attempt
//	gateway  --Submit--> decode node D: admission, then the pool expects the prompt
//	gateway  --Submit--> prefill node P: admission, then the pool reserves and the scheduler computes
//	P, D     pages are offered, read and released; that is kvpool's
//	D        --Tokens, Tokens, ..., End--> gateway --FxTokens, FxOutcome--> client
//	gateway  --Cancel--> P and D, always, as the last word; --Closed--> gateway
//
// Where one node does both (local) there is no hand-off. n choices of one prompt are n requests here.
//
// # Names and words
//
// A try of a request is an attempt, under a name that is never used again. Everything said of it names it, and the node's life. A message may be lost, come twice, late, or in any order; so each is
// idempotent, and every wait has a repetition behind it: the gateway says Submit until the node has said anything, then Poll whenever it has heard nothing for a while, and Cancel until Closed. Repetitions get rarer, up
// to sixteen times the first wait. Nodes repeat nothing by themselves: they answer, with all that has become of the attempt from where the gateway says. Tokens are numbered, and a gap is asked for.
//
// # The gateway's rules
//
//   - Exactly one outcome for each request, the first (I12). Tokens in order, none twice, none left out; after the outcome nothing.
//   - A rejection for good (too long, malformed) is the client's outcome at once. A refusal for now (no room, queue full, closing, a lost link, a bad page) is tried anew under a new name, elsewhere if
//     there is an elsewhere, after a wait that doubles: some times, but for want of pages until the deadline, as a request waits in the queue of a single node.
//   - A prompt is held back while the decode node that it would go to has no room for it beside those that are on their way there, by its last report; who came later waits behind it, so that a long prompt
//     is not passed for ever by short ones. The report may be old: the node decides.
//   - After the first token of the answer there is no other attempt: the client would get tokens of two.
//   - The end of a node ends its attempts at once. A request is computed anew after that once. Once D has begun to answer, the end of P is no loss. A connection that is lost is not the end of a node; one
//     that stays lost is taken for it.
//   - Every attempt ends with Cancel to both its nodes, whatever they have said, until each has said Closed or its life has ended. If there are too many of those the oldest is forgotten: whatever is said
//     of an attempt that is not known is answered by Cancel. So nothing goes on at a node for nobody.
//   - A deadline is the request's, not the attempt's. Nodes are told what is left of it.
//   - What a node says is believed of its own part alone, and only as far as it can be: more tokens than asked for, a rejection after a token, an end that does not count ends the attempt.
//
// Where a request goes: only over a link that is up by D's report, to nodes that are ready and do not drain. D is the one with the least taken, of which the queue and what was sent there since its last
// report count as much as this request would take; P likewise, but a page that is likely to be in its prefix cache counts for it, and the hand-off itself against it, so that a node that is both mostly keeps
// what it gets. Of equals, whose turn it is. A node that has just failed the request, one that must read the prompt itself for want of a prefill node (up to GatewayConfig.LocalPrompts), one whose limits are too small: these come last,
// in this order; but the last are asked all the same if there is no other, since their rejection says the numbers.
//
// A gateway holds nothing that outlives it. Its next life learns the nodes from their hellos and reports, and they end what its last life has asked for.
//
// # The node's rules
//
//   - Admission comes first. What it refuses was never reserved, expected or computed, and nothing follows a rejection (I12); the pool closes the attempt, so that what the other node says of it has an answer.
//   - What is told of an attempt: at most one end or rejection, the first, and the same each time. After the gateway's Cancel nothing but Closed.
//   - A Cancel that comes before its Submit is remembered. So is everything that was closed: by name up to a bound, then by a floor under which everything of that gateway is closed. A gateway's numbers
//     ascend, so what the floor closes unheard is old, and is tried anew.
//   - P offers pages as they are sealed, some at a time. If its sequence loses its pages, or fails, the attempt ends.
//   - Deadlines, since the gateway may be gone: when the time of an attempt is over, P revokes and D cancels. If D does not release for ReleaseTimeout after the last offer, P revokes. If the pool has not
//     got its pages back for SuspectTimeout after that, the link is suspected. No timer frees a page.
//   - The attempts of a gateway that has restarted end at once; those of one that is lost, when it stays lost for GatewayGrace.
//   - What has ended is remembered with its tokens until the gateway's Cancel, up to a bound.
//   - At an end in which pages are here that nobody will run they go home from here: EvRelease, EvReturn and FxFreed.
//
// # What a shell must keep
//
// Both:
//
//   - One goroutine steps a core. Effects are performed in their order. What an effect points to is the core's and changes with the next Step: encode or copy it first (a Spec may be kept).
//   - A tick a few times in the shortest configured time.
//   - Hellos of one peer are told in their order, and messages only between its hello and its loss, from the life that said hello. A life's number is never used again.
//
// A node's:
//
//   - The core lives with the scheduler, in one actor. FxAdmit and FxAsk are answered before the next event. EvSealed is told after the pool was told of the seals (EvSeal), and before the scheduler hears of the batch (EvStepDone):
//     it may let go of the pages.
//   - FxPool and what the scheduler tells the pool go there in one order.
//   - Every FxRefused, FxExported, FxStart and FxImportEnded of the pool comes back by EvPool, in its order. When the pool says FxStart, the headers of the full pages are stamped before anything else is done for it (a verification, say):
//     they are in the prefix index from then on.
//   - When the pool says FxFence, EvLinkLost is told besides.
//   - FxFreed reaches the scheduler after the pool has seen the events before it.
//
// A gateway's: clients of a life that has ended are told so by whoever started the next, since no core knows them.
//
// # Cost
//
// Step of a message takes time in proportion to what the message says; of a token, none but its own, and no memory but the answer's. A tick looks at every attempt that is alive; so do the end of a node, and the loss or restart of a
// gateway. A choice looks at every node, and for some at their links.
package handoff

import "fmt"

// nameOf is the name of a small number, also where it has none.
func nameOf(what string, names []string, i int) string {
	if i > 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s %d", what, i)
}

// Package sched decides what a node computes next: who is admitted, whose turn it is, which tokens make up the next batch, and who gives way when pages
// run out. It is pure: no goroutines, clocks, randomness or I/O. The scheduler actor turns messages into an [Event], calls [Scheduler.Step] and performs each [Effect].
//
// # One idea
//
// There is no prefill phase and no decode phase. A sequence has known tokens (its prompt, then also its answer) and computed tokens (whose keys
// and values lie in its pages), and each step lets the computed catch up with the known:
//
//	a long prompt        0 of 5000 computed, in chunks
//	decode               all but one computed
//	a prefix hit         starts with 1024 computed
//	after a preemption   0 of 5017 computed: prompt and answer so far, no difference
//
// Where an item of a batch reaches the known tokens, one more is sampled and known.
//
// # Phases of a sequence
//
//	          other choices                 first choice, or EvAdopt
//	             |                                    |
//	             v    first has its prompt, or ended  v       turn      EvMatched        pages
//	           gated --------------------------> waiting --> matching --> matched --> running
//	                                              |  ^ ^                   ^  |          |
//	                                              |  | |                   |  |          |
//	                                              '--|-|--- turn, adopted -'  |          |
//	                                                 | '<-- gives way --------'          |
//	                                                 '<---- preempted: computed = 0 -----'
//
//	any of them --> ended (exactly once) --> forgotten, after the batch in flight if that names it
//
// # Admission
//
// [Admit] refuses at once what can never be served: a prompt and answer longer than the context, or than the pool can ever hold, and what finds no room in
// the queue. What it accepts fits the pool when it runs alone, which is what the proof of progress below stands on. [New]
// refuses a pool smaller than the context. A rejected request has no [Admitted], and without one there is no sequence.
//
// # Prompts from other nodes
//
// A sequence whose prompt another node has computed comes by EvAdopt, with its pages. From there on nothing is special about it, but that it needs no match at its turn and that its tenant is not charged for
// what was computed elsewhere. Whoever will tell EvAdopt asks [Scheduler.Admit] first, before anything is reserved, and says with each EvSubmit how many are expected: an adopted sequence
// fits the pool alone like any other, and the bound of the queue holds for what is on its way too.
//
// The node that computes a prompt for another has nothing special at all: an Ask with MaxTokens 1. But FxPreempted says that what was offered of it must be revoked.
//
// # A batch
//
// One budget of tokens a step. First come the running sequences that lack one token, then longer pieces of running sequences in order of start, at most
// MaxPrefillChunk tokens each; those that started since the last batch are the last. One batch is in flight at most. While it is, the next sequences are matched and the
// next pages asked for, as far as the next batch has tokens for them.
//
// Where a target is set for how long a step may take in which answers grow ([Config].TargetStepNanos), the prompt tokens of such a step have a budget of their own, which follows how long steps took. At
// least a page of them is computed whatever the target says, so that prompts go on; and what a token is does not depend on how its prompt was cut.
//
// # Start
//
// The pool is asked for the longest cached prefix ([FxMatch]), then the pages for all other known tokens are secured, then the sequence starts. So a chunked prompt
// never runs out of pages half-way; only growth by decoding can. At most one sequence is between match and start: what is pinned without running is one prefix, and the
// imported prompts.
//
// The choices of one request share its prompt: all but the first wait until the first has it computed, and then find its pages.
//
// # Whose turn it is
//
// Each tenant has a queue in order of arrival, and a counter of the tokens it had: prompt tokens less the cached ones, when it starts, and twice the answer
// tokens, as they come. The waiting tenant with the smallest counter is next. A tenant that begins to wait is lifted to the smallest counter of those who wait, so
// nobody saves up turns by being away (Sheng et al., Fairness in Serving Large Language Models, OSDI 2024). When the node has nothing left to do, all start even.
//
// # Pages
//
// Pages come in bulk ([FxAllot], one at a time) and are spent locally. In hand are the reserves of what runs, the growth of the next batch, and slack for a few
// steps more; what is beyond goes back ([FxReturn]), and everything does when nothing runs or waits.
//
// A page table only grows while its sequence runs, and is a fresh slice after a preemption, so that a batch in flight reads an unchanging one.
//
// An answer shorter than asked means that the pool is dry. It is asked again when something came home: [EvPagesFreed], or our own FxRelease or FxReturn,
// also one that crossed with the answer.
//
// # Progress
//
// When growth finds the pool dry, imported sequences in the queues lose their pages first, who asked last before the others: they hold what those may need whom they wait for. Then the matched sequence
// that has not started gives way, then the running one that started last. The one that has run longest never gives way. It fits the pool alone, so in the end it has its pages and ends, and the
// next is the longest-running. Where nothing runs, the candidate is in its place: imported sequences behind it lose their pages if it cannot start for want of some.
//
// In every state with work to do, at least one of these is true: a batch is in flight; an FxMatch or FxAllot is unanswered; or the pool is dry and
// holds pages that come back by themselves, of which EvPagesFreed tells. That is what the pool owes: every FxMatch of a sequence that was not released since is answered,
// every FxAllot is answered, and EvPagesFreed follows a short answer when pages that were neither owned nor allotted (being scrubbed or checked, or an import's that came to nothing) can be had. An import that did not
// come to nothing tells by EvAdopt.
//
// # Ends
//
// Each admitted sequence has exactly one [FxEnd] and afterwards no token; the first reason wins. Its FxRelease comes just before, or when the batch in flight that
// names it is done.
package sched

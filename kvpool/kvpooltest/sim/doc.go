// Package sim runs a whole cluster in one goroutine and in virtual time: gateways, each with the real [handoff.Gateway], and 2 to 64 nodes, each with the real [handoff.Node],
// [sched.Scheduler] and [kvpool.Ledger], under every fault that a network, a crash, bad memory or a lying peer brings. The pure parts are what production runs; only their shells, the
// model, the network and the clock are played. Gateways and nodes talk in encoded messages.
//
// One seed is one run, bit for bit: one queue of events ordered by time and number, one source of chance, no goroutine, no wall clock, no range over a map.
//
// # What is real
//
// A page's bytes lie in a slab and are not cleared on reuse. The model's next token is a hash of the exact bytes of all pages read through the page table, starting from
// the tenant, and of the choice; now and then it repeats a token found in those bytes. So a wrong, stale, torn or foreign page gives a wrong token, and another tenant's canary can surface in an answer.
//
// Pages have headers, which the runner checks before each step as the product's does. Bits turn over in headers anywhere, and in bytes wherever they will be hashed before they are used again: on their way between
// nodes, in pages that only the prefix index or a peer knows. (Bytes of a page that a running sequence reads are not hashed at each step, and the product promises nothing of those.)
//
// # What is asserted
//
// While it runs: [kvpool.Ledger.Check]; each token that leaves a node is the one that a single undisturbed node gives; no canary of another tenant; every request has one
// outcome, and no new attempt after its first token; a read lands only in a page that is still its own (I4); between honest nodes a page is read only while it is exported (I7, I8). When the faults have ended, within bounded virtual
// time: nothing waits, no node remembers a living attempt and no gateway one that is not closed, every request has its outcome, every page is Free or idle in the prefix index, and new requests between honest nodes complete.
package sim

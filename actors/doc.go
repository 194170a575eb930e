// Package actors runs one node: a pool actor, a scheduler actor and a runner actor under one node actor that supervises them. It is
// the only place that knows the actor library.
//
//	Submit --> scheduler --(allot, match, spend, release)--> pool
//	               |                                          |
//	               +--(begin, batch, forget)--> runner <--(verify, scrub)--+
//	                                              |
//	               scheduler <--(step done)-------+--(seal, verified, bad page)--> pool
//
// The actors are thin. Each turns a message into an event of its pure core ([kvpool.Ledger], [sched.Scheduler]) and performs the effects
// that come back; nothing is decided here. The runner has no such core: it does what a batch says, after it has compared the
// header of every page in the batch with what the sequence's own tokens say it must be.
//
// Messages between two local actors arrive in the order they were sent, so the pool hears of a seal before the scheduler that learns of the
// same step can release the page.
//
// A panic in any of them is a bug of ours. It ends this incarnation of the node: every request fails and is told, no actor is restarted,
// and the pages are never used again. A new life takes a new Node, with fresh memory.
package actors

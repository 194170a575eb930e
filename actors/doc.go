// Package actors runs a node, alone or among others: a pool actor, a scheduler actor and a runner actor under one node actor that supervises them. It is
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
// # With others
//
// A node of a cluster ([ClusterConfig]) has one channel actor for each other node it has met. The channel owns what joins the two: the control connection (package remote), and the copies in flight.
//
//	peer's messages --> channel --(messages, lost, fenced, read)--> pool
//	                       ^                                          |
//	                       +------------(send, read, fence)-----------+
//	                       |
//	                       +--(link is up, link is lost)--> scheduler <--(submit, poll, cancel)-- gateways
//
// The rules round an attempt, [handoff.Node], live in the scheduler's actor: what was sealed must be offered before the scheduler lets go of it, and one mailbox keeps that order. A [Gateway] is
// one actor round [handoff.Gateway], with the connections to its nodes.
//
// What the shells keep: the pool hears of a connection before the scheduler; a peer's Release reaches the pool when no read of that attempt is served any more; the headers of imported full pages are
// written before another sequence can find them; a fence is told when the control connection is closed, no read of this node's can land any more, and the peer can read nothing here.
//
// # Ends
//
// A panic in any of them is a bug of ours. It ends this incarnation of the node: every request fails and is told, no actor is restarted,
// and the pages are never used again. A new life takes a new Node, with fresh memory.
package actors

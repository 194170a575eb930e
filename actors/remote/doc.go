// Package remote is the control wire between the processes of a cluster: nodes, and gateways with nodes. It carries the messages of package wire over one bidirectional gRPC stream per
// pair of processes (service kvasir.v1.Link), and knows nothing of what they mean. Bytes of pages never travel here.
//
// [Links] are all connections of a process. They tell a [Handler], for each [Peer] in order and from one goroutine: Connected, then Message any number of times, then Lost. A peer that
// connects anew is a new Peer, and is Connected when the Lost of the one before has returned.
//
// # A connection
//
//	dialer    Hello (with the epoch that it proposes) -->
//	          <-- Hello (the epoch repeated), or Goodbye                acceptor
//	          Accept -->, or Goodbye
//	          <--> Batch of Payloads, Ack, Ping, Pong
//	          <--> Goodbye, from the one that ends it
//
// Both sides hold the hellos against each other ([Compatible]) and refuse what does not go together; the text that says why is logged on both. The epoch is ascending for the
// pair of incarnations: a hello with a greater one is a new connection, and the one before is lost; a hello with an equal or a smaller one is refused. Another incarnation of a peer is refused
// while the one before is connected and alive, since then two processes have one number.
//
// Payloads are numbered from 1 in each direction. The receiver takes the next number alone: a number that it has seen is a duplicate, dropped and counted, and a gap ends the connection. It
// acknowledges what its handler has handled. Nothing carries over: what was queued or unacknowledged at the end of a connection is gone, and a new connection begins empty. Everything that uses this
// package repeats what had no answer.
//
// # Bounds
//
// Nothing queues without bound, whatever the peer does:
//
//   - [Peer.Send] never waits. What is not on its way yet is at most [Config.QueueMessages] and [Config.QueueBytes]; beyond that Send returns [ErrBusy].
//   - A side sends payloads within the credit that the other has given, in messages and in bytes. Credit is given when a message has been handled, so what waits for a slow handler is at
//     most [Config.WindowMessages] and [Config.WindowBytes]. To exceed it ends the connection.
//   - Acks, pings and pongs do not queue: the latest one replaces the one before.
//   - A message is at most [Config.MaxMessageBytes] long, encoded; Send refuses a longer one. A prompt of a million tokens has about 4 MB. (While it is
//     decoded a message may take some tens of times its length, if a member of the cluster makes it so; one message of a peer is decoded at a time.)
//
// # The end of a connection
//
// Each side pings, and is lost to the other when nothing at all was heard of it for [Config.LostAfter]: a stopped process, a half-open connection, a network that swallows bytes. A frame that the protocol
// does not allow ends its connection and no other; a message or frame of an unknown kind, from a newer version, is dropped and counted.
//
// # Who is there
//
// With [Config.TLS] both sides prove by certificate that they belong to the cluster. Without it only loopback addresses are listened on and dialed, unless [Config.Insecure] is set.
package remote

// Package ucx reads pages of other nodes by UCX: InfiniBand, RoCE, tcp, and UCX's shared memory. It is built with the tag ucx, and needs cgo and libucx (Debian: libucx-dev, 1.13); without the
// tag [New] returns [ErrNotBuilt].
//
// Nodes meet over a tcp connection, plain or TLS, that proves which link it is, as the tcp transport's do. Over it the exposing side hands out the address and the memory key of a UCX worker that
// exists for this link alone: its own context, its own registration of the slab, its own thread that makes progress. The reading side has one worker a link too and reads with one-sided gets. The tcp
// connection stays, and its end is the link's.
//
// What a fence is. At the exposing side: the link's worker is destroyed, its endpoints, queue pairs and sockets with it, and the slab is deregistered for that link. That is this node's
// own doing and needs no word of the peer. At the reading side (Close): the endpoint is closed with force, the thread has ended and the worker is destroyed. A get that fails is not taken for a get
// that is over: it ends the connection, and its read ends when nothing can land any more.
//
// Which of UCX's transports may be used is in [Config]. Those without an end per peer are refused: dc, whose queue pairs serve all peers, and those by which a peer reaches into this process by itself
// for as long as both live (cma, knem, xpmem). Over posix and sysv only messages go through memory that both share; the slab is not in it, so there too the fence is this node's own doing.
//
// tcp is for trials: UCX 1.13 emulates gets over it in software, and its emulation ends the exposing process (ucs_fatal, "unexpected error") if the connection of a reader breaks while gets are under
// way, a reader's death say. The reading side waits for its gets before it closes, so an orderly end is safe. The tcp transport of this project has no such fault, and is as fast.
//
// Who may read. Exports cannot be asked, and what is registered for a link can all be read over it. More: where the hardware does not read by itself (tcp, posix, sysv) UCX's own code at the exposing
// side answers gets, and it does not check that the address it is asked for is registered; and its sockets take whoever connects. So ucx is for nodes of one operator on a network
// that nobody else reaches, also where the tcp connection has TLS. Elsewhere use tcp with TLS. Offers carry keyed checksums.
//
// InfiniBand and RoCE take the same code with Transports "rc"; they have not been tested on hardware.
package ucx

import (
	"crypto/tls"
	"errors"
)

// ErrNotBuilt is returned where the program was built without UCX.
var ErrNotBuilt = errors.New("ucx: this program was built without UCX: install libucx-dev and build with CGO_ENABLED=1 go build -tags ucx")

// Config says how nodes reach each other. The zero value is for nodes on one machine.
type Config struct {
	// Transports are UCX's, separated by commas: rc, rc_verbs, rc_mlx5; or posix, sysv, between nodes of one machine; or tcp, for trials. "" is posix. Both nodes name the same.
	Transports string
	// Devices are UCX's network devices, "mlx5_0:1" or "eth0" say, separated by commas; "" is lo, the machine itself.
	Devices string
	// Trial allows tcp.
	Trial bool
	// Listen, Advertise and TLS are for the connection over which nodes meet, as in tcp.Config.
	Listen, Advertise string
	TLS               *tls.Config
}

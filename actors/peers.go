package actors

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// peers hears of a node's connections with other processes, and hands on what they say to whoever owns it: another node's channel, or the scheduler, where gateways ask. It is a
// remote.Handler.
type peers struct{ node *Node }

func (h *peers) Connected(p *remote.Peer) {
	n, hello := h.node, p.Hello()
	if hello.Kind == remote.Gateway {
		n.tell(n.scheduler, gatewayUp{hello.ID, uint64(hello.Incarnation), peerControl{n, p}})
		return
	}
	if hello.Kernels != n.dev.KernelSet() {
		n.log.Warn("this peer computes with other kernels: answers may depend on where a prompt was computed (--require-bit-identity refuses such peers)",
			zap.Stringer("peer", p), zap.String("its", hello.Kernels), zap.String("ours", n.dev.KernelSet()))
	}
	n.tell(n.channel(hello.ID), &channelUp{control: peerControl{n, p}, reads: n.cluster.Decode && hello.Prefill, serves: n.cluster.Prefill && hello.Decode, offered: hello.Transports})
}

func (h *peers) Message(p *remote.Peer, message any, trace wire.Trace) {
	n, hello := h.node, p.Hello()
	switch m := message.(type) {
	case *kvpool.Message:
		if hello.Kind == remote.Node {
			n.tell(n.channel(hello.ID), &channelHeard{p.Link(), m})
			return
		}
	case *handoff.Message:
		if hello.Kind == remote.Gateway {
			n.tell(n.scheduler, &gatewaySaid{node: hello.ID, life: uint64(hello.Incarnation), message: m, trace: trace, metrics: n.metrics})
			return
		}
	case wire.Descriptors:
		if hello.Kind == remote.Node {
			d := map[string][]byte{}
			for _, x := range m {
				d[x.Transport] = x.Bytes
			}
			n.tell(n.channel(hello.ID), &channelDescriptors{p.Link(), d})
			return
		}
	case wire.Members:
		if hello.Kind == remote.Gateway {
			n.join(namedBy(p), m)
			return
		}
	}
	n.log.Warn("a peer has sent what its kind does not send", zap.Stringer("peer", p))
}

func (h *peers) Lost(p *remote.Peer, cause error) {
	n, hello := h.node, p.Hello()
	if hello.Kind == remote.Gateway {
		n.join(namedBy(p), nil) // it names all again when it is back
		n.tell(n.scheduler, gatewayLost{uint64(hello.Incarnation)})
		return
	}
	n.tell(n.channel(hello.ID), channelLost{p.Link(), causeOf(cause), cause.Error()})
}

// namedBy is a gateway, as one that names nodes.
func namedBy(p *remote.Peer) string { return fmt.Sprint("gateway ", p.Hello().ID) }

// peerControl is a connection as channels and attempts use it.
type peerControl struct {
	node *Node
	peer *remote.Peer
}

func (c peerControl) Link() page.Link { return c.peer.Link() }

// SendPage implements control.
func (c peerControl) SendPage(m *kvpool.Message) { c.sent(c.peer.Send(m)) }

// Report implements reporter.
func (c peerControl) Report(m *handoff.Message) { c.sent(c.peer.Send(m)) }

// SendDescriptors implements control.
func (c peerControl) SendDescriptors(descriptors map[string][]byte) {
	var d wire.Descriptors
	for _, name := range c.node.TransportNames() {
		if b, ok := descriptors[name]; ok {
			d = append(d, wire.Descriptor{Transport: name, Bytes: b})
		}
	}
	if err := c.peer.Send(d); err != nil { // nothing repeats it
		c.Disconnect("the descriptors could not be sent: " + err.Error())
	}
}

// Disconnect implements control.
func (c peerControl) Disconnect(string) { c.peer.Close() }

// sent notes what could not be sent. A connection that is over, or busy, is no news: all that matters is said again.
func (c peerControl) sent(err error) {
	if err != nil && !errors.Is(err, remote.ErrBusy) && !errors.Is(err, remote.ErrClosed) && !errors.Is(err, remote.ErrPeerClosed) {
		c.node.log.Debug("a message was not sent", zap.Stringer("peer", c.peer), zap.Error(err))
	}
}

// join connects with the nodes that by names now, and no more with those that it named before: a decode node needs those whose prompts it may be sent.
func (n *Node) join(by string, addresses []string) {
	if !n.cluster.Decode {
		return
	}
	if err := n.cluster.dialing.name(by, addresses); err != nil {
		n.log.Warn("cannot connect with a node", zap.String("named_by", by), zap.Error(err))
	}
}

// causeOf is a word for metrics: why a connection was lost.
func causeOf(err error) string {
	switch {
	case errors.Is(err, remote.ErrSilent):
		return "silent"
	case errors.Is(err, remote.ErrReplaced):
		return "replaced"
	case errors.Is(err, remote.ErrPeerClosed):
		return "peer_closed"
	case errors.Is(err, remote.ErrClosed):
		return "closed"
	case errors.Is(err, remote.ErrMalformed):
		return "malformed"
	}
	return "broken"
}

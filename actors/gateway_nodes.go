package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
)

// vocabularyTimeout is how long a node may take to send its model file's metadata.
const vocabularyTimeout = 30 * time.Second

// gatewayNodes hears of a gateway's connections. It is a remote.Handler. The first node tells what the cluster's model and measures are; one that differs is not used.
type gatewayNodes struct {
	gateway *Gateway
	known   chan struct{} // closed when first and vocabulary are set
	started chan struct{} // closed when the actor runs, or never will

	mu         sync.Mutex
	first      *remote.Hello
	vocabulary []byte
}

func newGatewayNodes(g *Gateway) *gatewayNodes {
	return &gatewayNodes{gateway: g, known: make(chan struct{}), started: make(chan struct{})}
}

// wait returns when the first node is there.
func (h *gatewayNodes) wait(ctx context.Context) error {
	select {
	case <-h.known:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("actors: no node has answered: %w", ctx.Err())
	}
}

func (h *gatewayNodes) Connected(p *remote.Peer) {
	if err := h.fits(p); err != nil {
		h.gateway.log.Error("a node is not used", zap.Stringer("peer", p), zap.Error(err))
		p.Close()
		return
	}
	<-h.started
	h.tell(nodeUp{p})
}

// tell sends m to the actor, if there is one.
func (h *gatewayNodes) tell(m any) {
	if h.gateway.self != nil {
		h.gateway.tell(m)
	}
}

// fits holds a node against the first one, or takes it as the first.
func (h *gatewayNodes) fits(p *remote.Peer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	hello := p.Hello()
	if hello.Kind != remote.Node {
		return errors.New("it is no node")
	}
	if h.first != nil {
		return remote.OneCluster(h.first, hello)
	}
	ctx, cancel := context.WithTimeout(h.gateway.open, vocabularyTimeout)
	defer cancel()
	v, err := p.Vocabulary(ctx)
	if err != nil {
		return fmt.Errorf("its vocabulary cannot be fetched: %w", err)
	}
	h.first, h.vocabulary = hello, v
	close(h.known)
	return nil
}

func (h *gatewayNodes) Message(p *remote.Peer, message any, _ wire.Trace) {
	m, ok := message.(*handoff.Message)
	if !ok {
		h.gateway.log.Warn("a node has sent what is not for gateways", zap.Stringer("peer", p))
		return
	}
	<-h.started
	h.tell(&nodeSaid{node: p.Hello().ID, life: p.Hello().Incarnation, message: m})
}

func (h *gatewayNodes) Lost(p *remote.Peer, _ error) {
	<-h.started
	h.tell(nodeLost{p})
}

// introduce tells decode nodes where the prefill nodes listen, when p is new among them.
func (a *gatewayActor) introduce(p *remote.Peer) {
	var prefill wire.Members
	for _, q := range a.peers {
		if q.Hello().Prefill && q.Dialed() {
			prefill = append(prefill, q.Address())
		}
	}
	slices.Sort(prefill)
	for _, q := range a.peers {
		if !q.Hello().Decode || q != p && !p.Hello().Prefill || len(prefill) == 0 {
			continue
		}
		if err := q.Send(prefill); err != nil { // nothing repeats it but a new connection
			a.gateway.log.Warn("a node could not be told of the others", zap.Stringer("peer", q), zap.Error(err))
			q.Close()
		}
	}
}

// tell sends a message of the core's. What cannot be sent now is said again.
func (a *gatewayActor) tell(p *remote.Peer, m *handoff.Message) {
	var trace wire.Trace
	if m.Kind == handoff.MsgSubmit {
		trace = a.traces[m.Spec]
	}
	a.send(p, m, trace)
}

func (a *gatewayActor) send(p *remote.Peer, m any, trace wire.Trace) {
	if err := p.SendTraced(m, trace); err != nil && !errors.Is(err, remote.ErrBusy) {
		a.gateway.log.Debug("a message was not sent", zap.Stringer("peer", p), zap.Error(err))
	}
}

// leaveTimeout is how long the nodes may take to acknowledge that a gateway which is closed wants nothing more.
const leaveTimeout = time.Second

// leave has the nodes end what is left. What they do not hear of now they end some time after the connection.
func (g *Gateway) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	g.tell(gatewayLeave{})
	t := time.NewTicker(gatewayTick)
	defer t.Stop()
	for {
		n, err := g.Nodes(ctx)
		if err != nil || n.Up == 0 || n.Stats.Closing == 0 {
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

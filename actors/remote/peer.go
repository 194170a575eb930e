package remote

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Handler is told what happens with peers. The calls for one peer process come one after another, also over several connections of it; those for different peers come from different
// goroutines. A Handler that takes long makes that peer wait, and no other. It may call all methods of Peer; it must not call Links.Close.
type Handler interface {
	// Connected: the hellos are done.
	Connected(p *Peer)
	// Message: p says m, which is a *kvpool.Message, a *handoff.Message or wire.Descriptors, and is the handler's from now on. Trace is the sender's trace context, or nil.
	Message(p *Peer, m any, trace wire.Trace)
	// Lost: the connection is over, for a cause that is one of the errors of this package by errors.Is. Nothing more will be heard of p.
	Lost(p *Peer, cause error)
}

// Why a connection was lost, or refused.
var (
	ErrClosed     = errors.New("remote: closed here")
	ErrPeerClosed = errors.New("remote: closed by the peer")
	ErrBroken     = errors.New("remote: connection broken")
	ErrSilent     = errors.New("remote: the peer is not heard of any more")
	ErrReplaced   = errors.New("remote: the peer has connected anew")
	ErrMalformed  = errors.New("remote: the peer does not keep to the protocol")
	ErrRefused    = errors.New("remote: connection refused")
)

// Peer is another process over one connection. Its methods may be called from any goroutine.
type Peer struct {
	links    *Links
	hello    *Hello
	epoch    uint64
	identity string
	address  string // dialed, or where it came from
	dialed   bool
	conn     *conn
}

// Hello is what the peer says of itself. It must not be changed.
func (p *Peer) Hello() *Hello { return p.hello }

// Link names the connection: who the peer is, in which life, by which epoch.
func (p *Peer) Link() page.Link {
	return page.Link{Peer: p.hello.ID, Incarnation: p.hello.Incarnation, Epoch: p.epoch}
}

// Self names the same connection as the peer does.
func (p *Peer) Self() page.Link {
	return page.Link{Peer: p.links.cfg.Self.ID, Incarnation: p.links.cfg.Self.Incarnation, Epoch: p.epoch}
}

// Identity is the name in the peer's certificate: its first DNS name, URI, IP address, or common name. "" without TLS.
func (p *Peer) Identity() string { return p.identity }

// Address is what was dialed, or where the peer's connection came from.
func (p *Peer) Address() string { return p.address }

// Dialed reports whether this side dialed.
func (p *Peer) Dialed() bool { return p.dialed }

// fields are what a log says of a peer that has connected.
func (p *Peer) fields() []zap.Field {
	address := p.address
	if !p.dialed && p.hello.Address != "" {
		address = p.hello.Address // the port that it came from says nothing
	}
	f := []zap.Field{zap.Stringer("kind", p.hello.Kind), zap.Uint64("id", uint64(p.hello.ID)), zap.String("address", address), zap.Stringer("link", p.Link())}
	if p.hello.Kind == Node {
		f = append(f, zap.Bool("prefill", p.hello.Prefill), zap.Bool("decode", p.hello.Decode))
	}
	if p.identity != "" {
		f = append(f, zap.String("identity", p.identity))
	}
	return f
}

func (p *Peer) String() string {
	return fmt.Sprintf("%s (%v, %s)", p.hello.name(), p.Link(), p.address)
}

// Send sends m, a *kvpool.Message, a *handoff.Message or wire.Descriptors. See SendTraced.
func (p *Peer) Send(m any) error { return p.SendTraced(m, nil) }

// SendTraced sends m with the trace context of its sender. It never waits: what it returns says that m is not sent, because of ErrBusy, ErrTooLarge, the end of the connection, or a field
// that has no encoding. nil says that m is queued, not that it will arrive. m may be changed when it has returned, but for a handoff.Spec and descriptors.
func (p *Peer) SendTraced(m any, trace wire.Trace) error {
	payload, err := wire.Encode(m, trace)
	if err != nil {
		return err
	}
	return p.conn.send(payload)
}

// Close ends the connection and drops what is queued; Lost will follow, with ErrClosed. It does not wait, and may be called again. A peer that was dialed is dialed again.
func (p *Peer) Close() { p.conn.fail(ErrClosed) }

// Flushed reports whether all that was sent has been handled by the peer.
func (p *Peer) Flushed() bool {
	c := p.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.acked == c.out.pushed
}

// RTT is the time that the peer took to answer the latest ping, 0 before the first answer.
func (p *Peer) RTT() time.Duration {
	c := p.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rtt
}

// MaxMessageBytes is the length of the longest message that can be sent to the peer, encoded.
func (p *Peer) MaxMessageBytes() int { return p.conn.out.maxMessage }

// peerKey is what a peer is over all its lives.
type peerKey struct {
	kind Kind
	id   page.Node
}

// known is what is remembered of a peer.
type known struct {
	incarnation page.Incarnation
	epoch       uint64 // the greatest of this incarnation that was connected
	up          *conn  // nil: none
	last        *conn  // the latest, up or not; its Lost may still be under way
}

// maxKnown bounds how many peers are remembered that are not connected.
const maxKnown = 4096

// registry knows who is connected.
type registry struct {
	mu    sync.Mutex
	max   int
	up    int
	peers map[peerKey]*known
}

func newRegistry(max int) *registry { return &registry{max: max, peers: map[peerKey]*known{}} }

// judge says why a connection must be refused, nil if it may be.
func (r *registry) judge(key peerKey, incarnation page.Incarnation, epoch uint64) *refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judgeLocked(key, incarnation, epoch)
}

func (r *registry) judgeLocked(key peerKey, incarnation page.Incarnation, epoch uint64) *refusal {
	k := r.peers[key]
	switch {
	case k != nil && k.up != nil && k.incarnation != incarnation:
		return &refusal{cause: causeInUse, text: fmt.Sprintf("%v %d is connected already in another life (%x, this is %x): two processes have this number, or the older one has not been seen to end yet",
			key.kind, key.id, uint64(k.incarnation), uint64(incarnation))}
	case k != nil && k.incarnation == incarnation && epoch <= k.epoch:
		return &refusal{cause: causeEpoch, text: fmt.Sprintf("epoch %d of %v %d is not greater than %d", epoch, key.kind, key.id, k.epoch), lastEpoch: k.epoch}
	case (k == nil || k.up == nil) && r.up >= r.max:
		return &refusal{cause: causeTooMany, text: fmt.Sprintf("%d peers are connected, which is the limit", r.up)}
	}
	return nil
}

// connected is the connection with that life of a peer that is up, or nil.
func (r *registry) connected(key peerKey, incarnation page.Incarnation) *conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.peers[key]; k != nil && k.incarnation == incarnation {
		return k.up
	}
	return nil
}

// add enters c as its peer's connection. before is the one whose place it takes, if that is up; after is the one whose Lost must have returned before c is Connected.
func (r *registry) add(c *conn) (before, after *conn, refused *refusal) {
	key := c.key()
	hello := c.peer.hello
	r.mu.Lock()
	defer r.mu.Unlock()
	if no := r.judgeLocked(key, hello.Incarnation, c.peer.epoch); no != nil {
		return nil, nil, no
	}
	k := r.peers[key]
	if k == nil {
		r.forget()
		k = &known{}
		r.peers[key] = k
	}
	before, after = k.up, k.last
	if before == nil {
		r.up++
	}
	*k = known{incarnation: hello.Incarnation, epoch: c.peer.epoch, up: c, last: c}
	return before, after, nil
}

// remove: c is not up any more.
func (r *registry) remove(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.peers[c.key()]; k != nil && k.up == c {
		k.up = nil
		r.up--
	}
}

// forget makes room for one more where too many peers are remembered.
func (r *registry) forget() {
	for key, k := range r.peers {
		if len(r.peers) < maxKnown+r.max {
			return
		}
		if k.up == nil && (k.last == nil || isClosed(k.last.done)) {
			delete(r.peers, key)
		}
	}
}

// all are the connections that are up, or whose Lost is still under way.
func (r *registry) all() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*conn
	for _, k := range r.peers {
		if k.last != nil {
			all = append(all, k.last)
		}
	}
	return all
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

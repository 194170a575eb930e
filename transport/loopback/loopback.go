// Package loopback reads pages of nodes of the same process. It serves what [transport.Exports] allows and nothing else, as tcp does, so that a cluster in one process keeps the same rules.
//
// What a fence is: the goroutines that copy for the link have ended. They are the reading side's as well, so either side's fence ends both.
package loopback

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// copiers is how many pages of a connection are copied at a time.
const copiers = 2

// Network is what the nodes of one process have in common. Every Transport on it can dial what the others have exposed.
type Network struct {
	mu      sync.Mutex
	next    uint64
	exposed map[uint64]*exposed
}

// NewNetwork returns a network on which nothing is exposed.
func NewNetwork() *Network { return &Network{exposed: map[uint64]*exposed{}} }

// Transport is loopback on a network.
type Transport struct{ network *Network }

// New returns a transport on network.
func New(network *Network) *Transport { return &Transport{network} }

// Name is "loopback".
func (*Transport) Name() string { return "loopback" }

type exposed struct {
	network *Network
	number  uint64
	key     peer.Key
	slab    transport.Slab
	exports *transport.Exports
	links   peer.Registry

	served, refused, badDials atomic.Uint64
}

// Expose lets the nodes of the network read slab, as far as exports allows.
func (t *Transport) Expose(slab transport.Slab, exports *transport.Exports) (transport.Exposed, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	n := t.network
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	e := &exposed{network: n, number: n.next, key: peer.NewKey(), slab: slab, exports: exports}
	n.exposed[e.number] = e
	return e, nil
}

// Descriptor is the number of what is exposed, and the link's key.
func (e *exposed) Descriptor(link page.Link) []byte {
	return peer.Descriptor{Address: string(binary.LittleEndian.AppendUint64(nil, e.number)), Key: e.key.Of(link)}.Encode()
}

func (e *exposed) Fence(ctx context.Context, link page.Link) error {
	if err := e.links.Fence(ctx, link); err != nil {
		return fmt.Errorf("loopback: fence %v: %w", link, err)
	}
	return nil
}

func (e *exposed) Close() error {
	e.network.mu.Lock()
	delete(e.network.exposed, e.number)
	e.network.mu.Unlock()
	return e.links.Close(context.Background())
}

func (e *exposed) Stats() transport.Stats {
	return transport.Stats{Served: e.served.Load(), Refused: e.refused.Load(), BadDials: e.badDials.Load()}
}

type conn struct{ *peer.Reads }

// Dial connects to what another node of the network has exposed.
func (t *Transport) Dial(_ context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (transport.Conn, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	e, key, err := t.find(descriptor)
	if err != nil {
		return nil, fmt.Errorf("loopback: dial %v: %w", link, err)
	}
	if key != e.key.Of(self) {
		e.badDials.Add(1)
		return nil, fmt.Errorf("loopback: dial %v: %w", link, peer.ErrImpostor)
	}
	if e.slab.PageBytes != slab.PageBytes {
		return nil, fmt.Errorf("loopback: dial %v: the peer's pages have %d bytes, ours %d", link, e.slab.PageBytes, slab.PageBytes)
	}
	c := conn{peer.NewReads(link, slab, func() {})}
	entry, ok := e.links.Enter(self, func() { c.Fail(fmt.Errorf("%w: the peer has ended link %v", transport.ErrClosed, link)) })
	if !ok {
		e.badDials.Add(1)
		return nil, fmt.Errorf("loopback: dial %v: the peer has ended this link", link)
	}
	var left sync.WaitGroup
	left.Add(copiers)
	c.Copy(copiers, func(r transport.Read) error { return e.read(self, r, slab) }, left.Done)
	c.Go(func() { left.Wait(); e.links.Leave(entry) })
	return c, nil
}

func (t *Transport) find(descriptor []byte) (*exposed, peer.Key, error) {
	d, err := peer.ParseDescriptor(descriptor)
	if err != nil || len(d.Address) != 8 {
		return nil, peer.Key{}, errors.Join(err, errors.New("the descriptor is not one of loopback"))
	}
	t.network.mu.Lock()
	defer t.network.mu.Unlock()
	e := t.network.exposed[binary.LittleEndian.Uint64([]byte(d.Address))]
	if e == nil {
		return nil, peer.Key{}, errors.New("nothing is exposed there any more")
	}
	return e, d.Key, nil
}

// read copies one page, if the node that owns it allows that now.
func (e *exposed) read(self page.Link, r transport.Read, slab transport.Slab) error {
	if !e.slab.Has(r.Src.Page) || !e.exports.Begin(self, r.Attempt, r.Src) {
		e.refused.Add(1)
		return fmt.Errorf("%w: %v for attempt %v", transport.ErrRefused, r.Src, r.Attempt)
	}
	defer e.exports.Done(self, r.Attempt)
	copy(slab.Page(r.Dst), e.slab.Page(r.Src.Page))
	e.served.Add(1)
	return nil
}

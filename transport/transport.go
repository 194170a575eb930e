// Package transport moves the bytes of KV pages between nodes. The decode side reads: nobody ever writes into another node's memory.
//
// A [Transport] has four operations. Expose registers a slab, so that peers may read it. Dial connects to what a peer has exposed. Read brings one page here. Fence ends what a peer may
// read, or what this node has asked of one: after it no byte of the old connection arrives. What a fence is differs from transport to transport, and each says so.
//
// Which pages a peer may read is in [Exports], which the serving side asks at the moment of reading, where it serves bytes itself (loopback, tcp). Transports that read one-sidedly (shm, ucx)
// cannot be asked; there the reader's checks are what is left, and a page goes home only after the fence.
package transport

import (
	"context"
	"errors"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Slab is KV memory as a transport sees it: Bytes holds pages of PageBytes each, page i at i*PageBytes. It lies outside the Go heap and stays where it is until every
// Exposed and Conn made with it is closed.
type Slab struct {
	Bytes     []byte
	PageBytes int
}

// Page is the memory of one page.
func (s Slab) Page(i page.Index) []byte {
	from := int(i) * s.PageBytes
	return s.Bytes[from : from+s.PageBytes : from+s.PageBytes]
}

// Pages is how many pages there are.
func (s Slab) Pages() int { return len(s.Bytes) / s.PageBytes }

// Transport is one way to read pages of other nodes.
type Transport interface {
	// Name is what it is called in flags, hellos and metrics: "loopback", "tcp", "shm", "ucx".
	Name() string
	// Expose lets peers read slab, as far as exports allows.
	Expose(slab Slab, exports *Exports) (Exposed, error)
	// Dial connects to what the peer of link has exposed. Descriptor is from the peer's Exposed.Descriptor, and came with its hello. Pages land in slab. The connection
	// belongs to link and ends with it; self is this node's name in the same link as the peer knows it (Peer is this node).
	Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab Slab) (Conn, error)
}

// Exposed is a slab that peers may read.
type Exposed interface {
	// Descriptor is what peers need to dial it.
	Descriptor() []byte
	// Fence returns nil when the peer of link can read nothing here any more, by any connection of that link. An error (of ctx, say) means that it still may: pages stay where they are.
	Fence(ctx context.Context, link page.Link) error
	// Close ends everything. When it has returned nobody reads the slab.
	Close() error
}

// Read names one page to be read: page Src of the peer, which it offered for Attempt, into this node's page Dst.
type Read struct {
	Attempt page.Attempt
	Src     page.Ref
	Dst     page.Index
}

// Conn reads pages of one peer over one link. Its methods may be called from any goroutine.
type Conn interface {
	// Read starts a read. done is called exactly once, from any goroutine, when no byte of it will land any more: with nil if all of the page has landed, else with why not. A timeout is no
	// reason to call done: whoever has waited too long closes the connection.
	Read(r Read, done func(error))
	// Close is the fence of this side: it returns when no byte of any read over this connection will land any more, and done of each has been called.
	Close() error
	// Lost is closed when the connection has failed; reads that are out then end with an error.
	Lost() <-chan struct{}
}

var (
	// ErrRefused: the peer has no live export of that page to this link and attempt.
	ErrRefused = errors.New("transport: the peer does not export this page to us")
	// ErrClosed: the connection was closed or lost before the page had landed.
	ErrClosed = errors.New("transport: connection closed")
)

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
	"fmt"
	"os"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Slab is KV memory as a transport sees it: Bytes holds pages of PageBytes each, page i at i*PageBytes. It lies outside the Go heap and stays where it is until every
// Exposed and Conn made with it is closed.
type Slab struct {
	Bytes     []byte
	PageBytes int
	// File is the memory file that Bytes maps, where a transport allocated it so (shm.NewSlab); else nil.
	File *os.File
}

// Check says what is wrong with a slab as it is given to a transport: nothing, if it holds a whole number of pages, and at least one.
func (s Slab) Check() error {
	if s.PageBytes <= 0 || len(s.Bytes) == 0 || len(s.Bytes)%s.PageBytes != 0 {
		return fmt.Errorf("transport: a slab of %d bytes does not hold whole pages of %d bytes", len(s.Bytes), s.PageBytes)
	}
	return nil
}

// Has is whether there is a page i.
func (s Slab) Has(i page.Index) bool { return int64(i) < int64(s.Pages()) }

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
	// Dial connects to what the peer of link has exposed. Descriptor is from the peer's Exposed.Descriptor, for this link, and came over its control stream. Pages land in slab. The
	// connection belongs to link and ends with it; self is the same link as the peer knows it: its Peer is this node, its Incarnation this node's.
	Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab Slab) (Conn, error)
}

// Exposed is a slab that peers may read.
type Exposed interface {
	// Descriptor is what the peer of link needs to dial it over that link. It holds a secret of the link, so that no other peer can dial in its name: it goes over the control stream
	// of the link and nowhere else.
	Descriptor(link page.Link) []byte
	// Fence returns nil when the peer of link can read nothing here any more, by any connection of that link or an earlier one of the same incarnation, and can dial none again. An error (of
	// ctx, say) means that it still may: pages stay where they are, and Fence may be called again to wait on.
	Fence(ctx context.Context, link page.Link) error
	// Close ends everything. When it has returned nil nobody reads the slab. It may be called again.
	Close() error
	// Stats counts what has happened so far.
	Stats() Stats
}

// Stats counts what an Exposed has seen.
type Stats struct {
	Served    uint64 // pages that a read began of here, where the transport serves them (loopback, tcp)
	Refused   uint64 // pages asked for without a live export
	BadDials  uint64 // connections ended because they did not prove that they are the peer of a link that may dial
	Malformed uint64 // connections ended because they did not speak the protocol
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
	// reason to call done: whoever has waited too long closes the connection. done must not block and must not call Close. A page that this slab does not have is a bug, and a panic; a
	// reference that does not name the peer of the link is refused.
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

package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// windowBytes is about how many bytes are asked for ahead on a stream. What is not asked for yet any stream may take, so the faster one takes more.
const windowBytes = 8 << 20

// stream is one connection, and the reads that have been asked for over it.
type stream struct {
	conn, raw net.Conn
	out       chan numbered // in the order in which they were asked for
	room      chan struct{} // has a value when out may have become shorter
	gone      chan struct{} // the receiver has ended
}

type numbered struct {
	peer.Item
	number uint64
}

type conn struct {
	*peer.Reads
	slab    transport.Slab
	streams int
}

func newConn(link page.Link, slab transport.Slab, streams []stream) *conn {
	c := &conn{slab: slab, streams: len(streams)}
	c.Reads = peer.NewReads(link, slab, func() {
		for _, s := range streams {
			peer.Reset(s.raw)
		}
	})
	window := max(2, min(2*maxBatch, windowBytes/slab.PageBytes))
	for i := range streams {
		streams[i].out = make(chan numbered, window)
		streams[i].room = make(chan struct{}, 1)
		streams[i].gone = make(chan struct{})
	}
	for _, s := range streams {
		c.Go(func() { c.ask(s) })
		c.Go(func() { c.receive(s) })
	}
	return c
}

// ask sends the requests of a stream.
func (c *conn) ask(s stream) {
	defer close(s.out)
	var items []peer.Item
	var asks []ask
	var frame []byte
	for number := uint64(0); ; {
		for len(s.out) == cap(s.out) {
			select {
			case <-s.room:
			case <-s.gone:
				return
			}
		}
		var ok bool
		if items, ok = c.Take(items[:0], min(maxBatch, cap(s.out)-len(s.out)), c.streams); !ok {
			return
		}
		asks = asks[:0]
		for _, it := range items {
			number++
			asks = append(asks, ask{number, it.Attempt, it.Src})
			s.out <- numbered{it, number} // has room: nobody else adds
		}
		clear(items)
		frame = appendRequest(frame[:0], asks)
		if _, err := s.conn.Write(frame); err != nil {
			c.fail(err)
			return
		}
	}
}

// receive brings the pages of a stream here, and ends their reads. It ends when the connection does; what has not landed by then is left to Reads.
func (c *conn) receive(s stream) {
	defer func() {
		close(s.gone)
		for n := range s.out {
			c.Orphan(n.Item)
		}
	}()
	var head [replyBytes]byte
	for {
		// A connection that ends while nothing is asked for is noticed here too: the next reply's head is waited for all the time.
		if _, err := io.ReadFull(s.conn, head[:]); err != nil {
			c.fail(err)
			return
		}
		var n numbered
		select {
		case n = <-s.out:
		default:
			c.fail(fmt.Errorf("%w: a reply that was not asked for", peer.ErrMalformed))
			return
		}
		err := checkReply(head[:], n.number, c.slab.PageBytes)
		if err == nil {
			if _, err = io.ReadFull(s.conn, c.slab.Page(n.Dst)); err != nil {
				c.Orphan(n.Item)
				c.fail(err)
				return
			}
		} else if !errors.Is(err, transport.ErrRefused) {
			c.Orphan(n.Item)
			c.fail(err)
			return
		}
		select {
		case s.room <- struct{}{}:
		default:
		}
		if err != nil {
			err = fmt.Errorf("%w: %v for attempt %v", err, n.Src, n.Attempt)
		}
		n.Done(err)
	}
}

// fail ends the connection because of err.
func (c *conn) fail(err error) { c.Fail(fmt.Errorf("%w: %w", transport.ErrClosed, err)) }

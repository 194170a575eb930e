//go:build ucx && cgo

package ucx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// maxOut is how many gets are out at a time.
const maxOut = 64

// conn reads pages of one peer.
type conn struct {
	*peer.Reads
	slab   transport.Slab
	base   uint64
	pages  uint64
	worker *worker
	events *os.File

	mu   sync.Mutex
	out  map[uint64]peer.Item // the gets that are out, by number
	room sync.Cond
	over bool // the connection is over
}

func newConn(ctx context.Context, link page.Link, slab transport.Slab, far welcome, w *worker, how mode, call peer.Call) (*conn, error) {
	events, err := w.events()
	if err != nil {
		return nil, err
	}
	if err := w.connect(far.address, far.key, how, timeLeft(ctx)); err != nil {
		events.Close()
		return nil, err
	}
	c := &conn{slab: slab, base: far.base, pages: uint64(far.slabBytes / far.pageBytes), worker: w, events: events, out: map[uint64]peer.Item{}}
	c.room.L = &c.mu
	c.Reads = peer.NewReads(link, slab, func() {
		peer.Reset(call.Raw)
		c.events.SetReadDeadline(time.Unix(1, 0))
		c.mu.Lock()
		c.over = true
		c.mu.Unlock()
		c.room.Broadcast()
	})
	var working sync.WaitGroup
	working.Add(3)
	c.Go(func() { defer working.Done(); c.begin() })
	c.Go(func() { defer working.Done(); c.collect() })
	c.Go(func() { defer working.Done(); c.watch(call) })
	c.Go(func() { // the fence of this side
		working.Wait()
		c.worker.stop()
		c.worker.ends(c.ended)
		for _, it := range c.out { // those that have failed
			c.Orphan(it)
		}
		c.events.Close()
		c.worker.free()
	})
	return c, nil
}

// begin starts gets.
func (c *conn) begin() {
	var items []peer.Item
	for number := uint64(0); ; {
		c.mu.Lock()
		for len(c.out) >= maxOut && !c.over {
			c.room.Wait()
		}
		n := maxOut - len(c.out)
		c.mu.Unlock()
		var ok bool
		if items, ok = c.Take(items[:0], max(1, n), 1); !ok {
			return
		}
		for _, it := range items {
			if uint64(it.Src.Page) >= c.pages {
				it.Done(fmt.Errorf("%w: page %d of %d", transport.ErrRefused, it.Src.Page, c.pages))
				continue
			}
			number++
			c.mu.Lock()
			c.out[number] = it
			c.mu.Unlock()
			if !c.worker.get(number, c.slab, it.Dst, c.base+uint64(it.Src.Page)*uint64(c.slab.PageBytes)) {
				panic("ucx: a worker was stopped while reads began") // it is stopped when nobody does
			}
		}
		clear(items)
	}
}

// collect ends the reads whose gets are over.
func (c *conn) collect() {
	var count [8]byte
	for {
		if _, err := c.events.Read(count[:]); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				c.fail(err)
			}
			return
		}
		c.worker.ends(c.ended)
		if err := c.worker.failed(); err != nil {
			c.fail(err)
		}
	}
}

// ended is told of a get that is over. One that has failed stays among those that are out, since something of it may land until the worker is stopped.
func (c *conn) ended(number uint64, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	c.mu.Lock()
	it := c.out[number]
	delete(c.out, number)
	c.mu.Unlock()
	c.room.Signal()
	it.Done(nil)
}

// watch notices the end of the link.
func (c *conn) watch(call peer.Call) {
	var b [1]byte
	_, err := io.ReadFull(call.Conn, b[:])
	if err == nil {
		err = fmt.Errorf("%w: the exposing side has nothing more to say", peer.ErrMalformed)
	}
	c.fail(err)
}

func (c *conn) fail(err error) { c.Fail(fmt.Errorf("%w: %w", transport.ErrClosed, err)) }

// connectTimeout is how long a worker may take to answer, at most.
const connectTimeout = 10 * time.Second

func timeLeft(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(connectTimeout, time.Until(end))
	}
	return connectTimeout
}

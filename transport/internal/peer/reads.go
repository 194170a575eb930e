package peer

import (
	"fmt"
	"sync"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// Item is a read and whom to tell of its end. Whoever has taken it from Reads calls Done once, or gives it back by Orphan.
type Item struct {
	transport.Read
	Done func(error)
}

// Reads are the reads of one connection: those that wait, and the workers that make bytes land. Each ends once, and those that fail with the connection do so when no worker is left.
type Reads struct {
	link page.Link
	slab transport.Slab
	end  func() // makes the workers end, where they are not waiting in Take

	mu      sync.Mutex
	more    sync.Cond
	waiting []Item // from head on
	head    int
	err     error // the connection has failed, or was closed
	workers sync.WaitGroup
	lost    chan struct{}
	settled chan struct{} // no worker is left and every read has ended
}

// NewReads returns the reads of a connection over link, the peer's name here. end is called once, when the connection has failed or is closed.
func NewReads(link page.Link, slab transport.Slab, end func()) *Reads {
	q := &Reads{link: link, slab: slab, end: end, lost: make(chan struct{}), settled: make(chan struct{})}
	q.more.L = &q.mu
	return q
}

// Go starts a worker. All are started before the first Read or Fail.
func (q *Reads) Go(work func()) { q.workers.Go(work) }

// Copy starts workers that take one read at a time and end it with what read says. Each calls left when it ends.
func (q *Reads) Copy(workers int, read func(transport.Read) error, left func()) {
	for range workers {
		q.Go(func() {
			defer left()
			var one []Item
			for ok := true; ok; {
				if one, ok = q.Take(one[:0], 1, 1); ok {
					one[0].Done(read(one[0].Read))
				}
			}
		})
	}
}

// Read adds a read to those that wait.
func (q *Reads) Read(r transport.Read, done func(error)) {
	if !q.slab.Has(r.Dst) {
		panic(fmt.Sprintf("transport: read into page %d of %d", r.Dst, q.slab.Pages()))
	}
	if r.Src.Node != q.link.Peer || r.Src.Incarnation != q.link.Incarnation {
		done(fmt.Errorf("%w: %v is not of link %v", transport.ErrRefused, r.Src, q.link))
		return
	}
	q.mu.Lock()
	if err := q.err; err != nil {
		q.mu.Unlock()
		done(err)
		return
	}
	if q.head > 64 && q.head > len(q.waiting)/2 {
		n := copy(q.waiting, q.waiting[q.head:])
		clear(q.waiting[n:])
		q.waiting, q.head = q.waiting[:n], 0
	}
	q.waiting = append(q.waiting, Item{r, done})
	q.mu.Unlock()
	q.more.Signal()
}

// Take waits for reads and appends up to n of them to dst, and of what waits no more than the part of one of so many takers. It returns false when the connection is over.
func (q *Reads) Take(dst []Item, n, takers int) ([]Item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && q.head == len(q.waiting) {
		q.more.Wait()
	}
	if q.err != nil {
		return dst, false
	}
	n = min(n, (len(q.waiting)-q.head+takers-1)/takers)
	dst = append(dst, q.waiting[q.head:q.head+n]...)
	clear(q.waiting[q.head : q.head+n])
	if q.head += n; q.head == len(q.waiting) {
		q.waiting, q.head = q.waiting[:0], 0
	}
	return dst, true
}

// Orphan gives back reads whose worker ends.
func (q *Reads) Orphan(items ...Item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, items...)
}

// Fail ends the connection with why, unless it has ended. Workers may call it: it does not wait for them.
func (q *Reads) Fail(why error) {
	q.mu.Lock()
	if q.err != nil {
		q.mu.Unlock()
		return
	}
	q.err = why
	q.mu.Unlock()
	close(q.lost)
	q.more.Broadcast()
	q.end()
	go q.settle()
}

func (q *Reads) settle() {
	q.workers.Wait()
	q.mu.Lock()
	left := q.waiting[q.head:]
	q.waiting, q.head = nil, 0
	q.mu.Unlock()
	for _, it := range left {
		it.Done(q.err)
	}
	close(q.settled)
}

// Lost is closed when the connection is over.
func (q *Reads) Lost() <-chan struct{} { return q.lost }

// Err says why the connection is over; nil while it is not.
func (q *Reads) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// Close ends the connection and waits until no byte can land and every read has ended.
func (q *Reads) Close() error {
	q.Fail(transport.ErrClosed)
	<-q.settled
	return nil
}

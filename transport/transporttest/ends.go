package transporttest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

const (
	endPages     = 12
	endPageBytes = 256 << 10
	endRounds    = 6
)

// eventually waits for what must come.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}

// traffic reads pages over c, one after the other into all pages of the slab with every page out at once, until a read fails. It checks each page that has come.
type traffic struct {
	ledger *ledger
	landed atomic.Int64
	wrong  atomic.Value // string
	gone   sync.WaitGroup
}

func startTraffic(c transport.Conn, p *prefill, attempt page.Attempt, slab transport.Slab) *traffic {
	f := &traffic{ledger: newLedger()}
	for i := range slab.Pages() {
		f.gone.Go(func() {
			for src := i % p.slab.Pages(); ; src = (src + 1) % p.slab.Pages() {
				ended := make(chan error, 1)
				number, end := f.ledger.begin()
				c.Read(transport.Read{Attempt: attempt, Src: p.ref(page.Index(src)), Dst: page.Index(i)}, func(err error) {
					if err == nil {
						if why := differs(slab.Page(page.Index(i))[:4096], src); why != "" {
							f.wrong.Store(why)
						}
						f.landed.Add(1)
					}
					end(err)
					ended <- err
				})
				f.ledger.accept(number)
				if <-ended != nil {
					return
				}
			}
		})
	}
	return f
}

// check says whether all that came was right, and every read has ended once. Preconditions: the connection is over.
func (f *traffic) check(t testing.TB) {
	t.Helper()
	f.ledger.once(t)
	if why, ok := f.wrong.Load().(string); ok {
		t.Error(why)
	}
}

// staysAs watches memory for a while.
func staysAs(t testing.TB, slab transport.Slab, v byte) {
	t.Helper()
	for end := time.Now().Add(40 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if !all(slab.Bytes, v) {
			t.Fatal("bytes have landed after the end")
		}
	}
}

// The reading side closes in the middle of reads, while another peer goes on reading: every read has ended, and its slab is its own.
func closeWhileReading(t *testing.T, k Kind) {
	w := newWorld(t, k, endPages, endPageBytes)
	other := w.decode(3, 2)
	otherConn := w.dial(other, 1)
	w.p.offer(other.link(1), w.p.attempt(1))
	going := startTraffic(otherConn, w.p, w.p.attempt(1), other.slab)
	d := w.decode(2, endPages)
	for epoch := uint64(1); epoch <= endRounds; epoch++ {
		c, attempt := w.dial(d, epoch), w.p.attempt(1+epoch)
		w.p.offer(d.link(epoch), attempt)
		f := startTraffic(c, w.p, attempt, d.slab)
		eventually(t, "pages come", func() bool { return f.landed.Load() > int64(3*epoch) })
		out := f.ledger.accepted()
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		f.ledger.haveEnded(t, out)
		set(d.slab.Bytes, 0xee)
		staysAs(t, d.slab, 0xee)
		f.gone.Wait()
		f.check(t)
		select {
		case <-c.Lost():
		default:
			t.Error("a closed connection is not lost")
		}
	}
	before := going.landed.Load()
	eventually(t, "the other peer's pages come", func() bool { return going.landed.Load() > before })
	otherConn.Close()
	going.gone.Wait()
	going.check(t)
}

// The exposing side fences a link in the middle of reads: nothing that it writes into its pages afterwards is ever seen over that link.
func fenceWhileReading(t *testing.T, k Kind) {
	w := newWorld(t, k, endPages, endPageBytes)
	d := w.decode(2, endPages)
	for epoch := uint64(1); epoch <= endRounds; epoch++ {
		fillAll(w.p.slab)
		c, attempt := w.dial(d, epoch), w.p.attempt(epoch)
		w.p.offer(d.link(epoch), attempt)
		f := startTraffic(c, w.p, attempt, d.slab)
		eventually(t, "pages come", func() bool { return f.landed.Load() > int64(3*epoch) })
		fence(t, w.p.exposed, d.link(epoch))
		set(w.p.slab.Bytes, 0xdd) // the pages are another's now
		mustBeLost(t, c)
		f.gone.Wait()
		c.Close()
		f.check(t)
	}
}

func exposedCloseWhileReading(t *testing.T, k Kind) {
	w := newWorld(t, k, endPages, endPageBytes)
	var conns []transport.Conn
	var flows []*traffic
	for name := page.Node(2); name < 4; name++ {
		d := w.decode(name, endPages)
		c := w.dial(d, 1)
		w.p.offer(d.link(1), w.p.attempt(1))
		conns, flows = append(conns, c), append(flows, startTraffic(c, w.p, w.p.attempt(1), d.slab))
	}
	for _, f := range flows {
		eventually(t, "pages come", func() bool { return f.landed.Load() > 5 })
	}
	if err := w.p.exposed.Close(); err != nil {
		t.Fatal(err)
	}
	set(w.p.slab.Bytes, 0xdd)
	for i, c := range conns {
		mustBeLost(t, c)
		flows[i].gone.Wait()
		c.Close()
		flows[i].check(t)
	}
	if c, err := w.tryDial(w.decode(5, 1), 1); err == nil {
		c.Close()
		t.Error("what was closed may be dialled")
	}
}

func mustBeLost(t testing.TB, c transport.Conn) {
	t.Helper()
	select {
	case <-c.Lost():
	case <-time.After(patience):
		t.Fatal("the reading side does not hear of the end")
	}
}

// A serving goroutine that does not move is waited for: the fence is not complete before, and is afterwards.
func fenceWaits(t *testing.T, k Kind) {
	w := newWorld(t, k, 2, endPageBytes)
	d := w.decode(2, 8)
	c := w.dial(d, 1)
	release, caught := make(chan struct{}), make(chan struct{})
	for number := uint64(1); ; number++ { // until an attempt ends while one of its pages is being read: its last Done then runs our function, which stalls
		attempt := w.p.attempt(number)
		w.p.offer(d.link(1), attempt)
		f := startTraffic(c, w.p, attempt, d.slab)
		eventually(t, "pages come", func() bool { return f.landed.Load() > 8 })
		var returned atomic.Bool
		stalled := make(chan bool, 1)
		w.p.exports.End(d.link(1), attempt, func() {
			if !returned.Load() {
				stalled <- false
				return
			}
			stalled <- true
			close(caught)
			<-release
		})
		returned.Store(true)
		if <-stalled {
			break
		}
		f.gone.Wait()
	}
	<-caught
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if err := w.p.exposed.Fence(ctx, d.link(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fence with a goroutine still serving: %v", err)
	}
	close(release)
	fence(t, w.p.exposed, d.link(1))
	mustBeLost(t, c)
}

// A fenced link, and what came before it, can dial no more; a new epoch can, and has the new attempts only.
func fencedLinksStayFenced(t *testing.T, k Kind) {
	w := newWorld(t, k, 2, 4096)
	d := w.decode(2, 2)
	w.p.offer(d.link(5), w.p.attempt(1))
	c := w.dial(d, 5)
	fence(t, w.p.exposed, d.link(5))
	fence(t, w.p.exposed, d.link(5)) // again changes nothing
	mustBeLost(t, c)
	for _, epoch := range []uint64{5, 4, 1} {
		if c, err := w.tryDial(d, epoch); err == nil {
			c.Close()
			t.Errorf("epoch %d may dial after the fence of epoch 5", epoch)
		}
	}
	renewed := w.dial(d, 6)
	if !k.OneSided {
		if err := read(renewed, w.p.attempt(1), w.p.ref(0), 0); !errors.Is(err, transport.ErrRefused) {
			t.Errorf("an attempt of the fenced link over the new one: %v", err)
		}
	}
	w.p.offer(d.link(6), w.p.attempt(2))
	if err := read(renewed, w.p.attempt(2), w.p.ref(1), 1); err != nil {
		t.Fatal(err)
	}
	if why := differs(d.slab.Page(1), 1); why != "" {
		t.Error(why)
	}
	other := w.decode(3, 1)
	fence(t, w.p.exposed, other.link(3)) // before it ever dialled
	if c, err := w.tryDial(other, 3); err == nil {
		c.Close()
		t.Error("a link that was fenced before it dialled may dial")
	}
	if err := read(renewed, w.p.attempt(2), w.p.ref(0), 0); err != nil {
		t.Errorf("a fence of another peer ends this one's reads: %v", err)
	}
}

func readsAfterClose(t *testing.T, k Kind) {
	w := newWorld(t, k, 1, 4096)
	d := w.decode(2, 1)
	c := w.dial(d, 1)
	w.p.offer(d.link(1), w.p.attempt(1))
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := read(c, w.p.attempt(1), w.p.ref(0), 0); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("a read after Close: %v", err)
	}
	if !all(d.slab.Bytes, 0) {
		t.Error("bytes have come")
	}
	defer func() {
		if recover() == nil {
			t.Error("a page that the slab does not have may be read into")
		}
	}()
	c.Read(transport.Read{Src: w.p.ref(0), Dst: 1}, func(error) {})
}

package remote

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/handoff"
)

// proxy is a network between two processes, which can swallow what goes over it while all sockets stay open: a half-open connection.
type proxy struct {
	addr                   string
	swallowTo, swallowFrom atomic.Bool // towards the process that listens, and from it
	all                    sync.WaitGroup
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String()}
	p.all.Go(func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				_ = a.Close()
				continue
			}
			p.all.Go(func() { pass(b, a, &p.swallowTo) })
			p.all.Go(func() { pass(a, b, &p.swallowFrom) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.all.Wait()
	})
	return p
}

// pass copies until one side closes, and then closes both.
func pass(to, from net.Conn, swallow *atomic.Bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err == nil && !swallow.Load() {
			_, err = to.Write(b[:n])
		}
		if err != nil {
			return
		}
	}
}

func quick(c *Config) { c.PingEvery, c.LostAfter = 40*time.Millisecond, 800*time.Millisecond }

// A peer whose bytes do not arrive any more is lost on both sides, though every socket is open; and is connected again when the network is well.
func TestHalfOpen(t *testing.T) {
	for _, c := range []struct {
		name     string
		to, from bool
	}{{"both ways", true, true}, {"one way, to the acceptor", true, false}, {"one way, to the dialer", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, hello(2), quick)
			p := newProxy(t, b.addr)
			a := start(t, hello(1), quick)
			a.dial(t, p.addr)
			bOfA := a.next(t, "connected").peer
			b.next(t, "connected")
			time.Sleep(time.Second) // longer than silence may last: pings are answered
			if err := bOfA.Send(poll(1)); err != nil {
				t.Fatal(err)
			}
			b.next(t, "message")
			if bOfA.RTT() <= 0 || bOfA.RTT() > patience {
				t.Errorf("a ping took %v", bOfA.RTT())
			}

			p.swallowTo.Store(c.to)
			p.swallowFrom.Store(c.from)
			if err := bOfA.Send(poll(2)); err != nil { // which may arrive, or not
				t.Fatal(err)
			}
			silent := 0
			for _, side := range []*party{a, b} {
				e := <-side.events
				if e.what == "message" {
					e = <-side.events
				}
				if e.what != "lost" {
					t.Fatalf("heard %s", e.what)
				}
				if errors.Is(e.cause, ErrSilent) {
					silent++
				}
			}
			if silent == 0 {
				t.Errorf("%d sides call the other silent", silent)
			}
			if err := bOfA.Send(poll(3)); err == nil {
				t.Error("a message is taken for a lost peer")
			}

			p.swallowTo.Store(false)
			p.swallowFrom.Store(false)
			again := a.next(t, "connected").peer
			b.next(t, "connected")
			if again.Link().Epoch <= bOfA.Link().Epoch {
				t.Errorf("epoch %d after %d", again.Link().Epoch, bOfA.Link().Epoch)
			}
			if err := again.Send(poll(4)); err != nil {
				t.Fatal(err)
			}
			if e := b.next(t, "message"); e.m.(*handoff.Message).Have != 4 {
				t.Errorf("over the new connection comes %+v", e.m)
			}
		})
	}
}

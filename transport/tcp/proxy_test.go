package tcp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
	"github.com/kvasir-engine/kvasir/transport/tcp"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
)

// proxy stands between two nodes and can hold back what the exposing one says.
type proxy struct {
	ln   net.Listener
	to   string
	gone sync.WaitGroup

	mu    sync.Mutex
	cond  sync.Cond
	held  bool
	left  int // bytes that still pass while held
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ln: ln, to: to}
	p.cond.L = &p.mu
	p.gone.Go(p.accept)
	t.Cleanup(func() {
		ln.Close()
		p.hold(false, 0)
		p.mu.Lock()
		for _, c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		p.gone.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		near, err := p.ln.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil {
			near.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, near, far)
		p.mu.Unlock()
		p.gone.Go(func() { io.Copy(far, near); far.Close() })
		p.gone.Go(func() { p.forward(near, far) })
	}
}

func (p *proxy) forward(near, far net.Conn) {
	defer near.Close()
	b := make([]byte, 16<<10)
	for {
		n, err := far.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		for p.held && p.left < n {
			p.cond.Wait()
		}
		if p.held {
			p.left -= n
		}
		p.mu.Unlock()
		if _, err := near.Write(b[:n]); err != nil {
			return
		}
	}
}

// hold lets pass so many more bytes, or all again.
func (p *proxy) hold(held bool, pass int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.left = held, pass
	p.cond.Broadcast()
}

// link is one connection of a prefill and a decode node through a proxy.
type linked struct {
	proxy   *proxy
	exposed transport.Exposed
	conn    transport.Conn
	slab    transport.Slab
	self    page.Link
}

var try = page.Attempt{Gateway: 1, Number: 1, Prefill: 1}

func src(i page.Index) page.Ref { return page.Ref{Node: 1, Incarnation: 1, Page: i, Generation: 1} }

func dialThroughProxy(t *testing.T, pages, pageBytes int) linked {
	tr := newTCP(t, tcp.Config{Streams: 1})
	from, to := transporttest.NewSlab(t, pages, pageBytes), transporttest.NewSlab(t, pages, pageBytes)
	exports := transport.NewExports()
	l := linked{slab: to, self: page.Link{Peer: 2, Incarnation: 2, Epoch: 1}}
	var refs []page.Ref
	for i := range page.Index(pages) {
		refs = append(refs, src(i))
	}
	for i := range from.Bytes {
		from.Bytes[i] = 0x77
	}
	exports.Offer(l.self, try, refs)
	var err error
	if l.exposed, err = tr.Expose(from, exports); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.exposed.Close() })
	d, err := peer.ParseDescriptor(l.exposed.Descriptor(l.self))
	if err != nil {
		t.Fatal(err)
	}
	l.proxy = newProxy(t, d.Address)
	d.Address = l.proxy.ln.Addr().String()
	if l.conn, err = tr.Dial(context.Background(), page.Link{Peer: 1, Incarnation: 1, Epoch: 1}, l.self, d.Encode(), to); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.conn.Close() })
	return l
}

// A peer that stalls in the middle of a page blocks neither side's end, and what it says later lands nowhere.
func TestLatePagesLandNowhere(t *testing.T) {
	const pages, pageBytes = 8, 1 << 20
	l := dialThroughProxy(t, pages, pageBytes)
	l.proxy.hold(true, pageBytes*3/2)
	ends := make(chan error, 2*pages)
	for i := range page.Index(pages) {
		l.conn.Read(transport.Read{Attempt: try, Src: src(i), Dst: i}, func(err error) { ends <- err })
	}
	if err := <-ends; err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ends:
		t.Fatalf("a read has ended with %v though its bytes are held back", err)
	case <-time.After(20 * time.Millisecond):
	}
	l.conn.Close()
	for range pages - 1 {
		if err := <-ends; !errors.Is(err, transport.ErrClosed) {
			t.Errorf("a read that was out at the end: %v", err)
		}
	}
	for i := range l.slab.Bytes {
		l.slab.Bytes[i] = 0xee // the pages are others' now
	}
	l.proxy.hold(false, 0)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := l.exposed.Fence(ctx, l.self); err != nil {
		t.Error(err)
	}
	time.Sleep(20 * time.Millisecond) // what the proxy has held may come now
	for i, b := range l.slab.Bytes {
		if b != 0xee {
			t.Fatalf("byte %d has landed late", i)
		}
	}
	if len(ends) != 0 {
		t.Error("a read has ended twice")
	}
}

// The exposing side, stuck in the middle of a page because nobody takes it, fences at once.
func TestFenceWithAPeerThatTakesNothing(t *testing.T) {
	l := dialThroughProxy(t, 16, 4<<20)
	l.proxy.hold(true, 0)
	ends := make(chan error, 32)
	for i := range page.Index(16) {
		l.conn.Read(transport.Read{Attempt: try, Src: src(i), Dst: i}, func(err error) { ends <- err })
	}
	time.Sleep(20 * time.Millisecond) // the kernels' buffers are full
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := l.exposed.Fence(ctx, l.self); err != nil {
		t.Error(err)
	}
	l.proxy.hold(false, 0)
	ok := 0
	for range 16 {
		if <-ends == nil {
			ok++
		}
	}
	if ok == 16 {
		t.Error("every page came though the peer had ended")
	}
}

package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

const (
	// handshakeTimeout is how long a stranger may take to say who it is.
	handshakeTimeout = 10 * time.Second
	// maxStrangers is how many connections may be open at a time that have not said who they are.
	maxStrangers = 64
)

// ErrMalformed: the other end does not speak the protocol.
var ErrMalformed = errors.New("transport: malformed message")

// Gate listens, and serves the connections that have proved for which link they are.
type Gate struct {
	Registry
	Counts
	o         GateOptions
	master    Key
	strangers chan struct{}
	all       sync.WaitGroup
	mu        sync.Mutex
	shy       map[net.Conn]struct{} // they have not said who they are yet
	closed    bool
}

// Counts is what has gone wrong at a gate.
type Counts struct{ BadDials, Malformed atomic.Uint64 }

// GateOptions say how connections are served.
type GateOptions struct {
	Name     string // of the transport
	Listener net.Listener
	// Secure encrypts a connection and returns what binds it to that, or is nil.
	Secure func(ctx context.Context, conn net.Conn) (net.Conn, []byte, error)
	// MaxPerLink is how many connections a link may have at a time.
	MaxPerLink int
	// Serve serves a connection until it is over. It sends the welcome (Visitor.Welcome) itself, first. An error that is ErrMalformed is counted.
	Serve func(v *Visitor) error
	// Fence makes the Serve of a visitor end; nil closes the connection.
	Fence func(v *Visitor)
}

// Visitor is a connection of a known link.
type Visitor struct {
	Link    page.Link
	Conn    net.Conn // encrypted, if the gate does that
	Raw     net.Conn
	Fenced  chan struct{} // closed when Serve must end
	Welcome func(payload []byte) error
}

// NewGate starts to listen.
func NewGate(o GateOptions) *Gate {
	g := &Gate{o: o, master: NewKey(), strangers: make(chan struct{}, maxStrangers), shy: map[net.Conn]struct{}{}}
	g.all.Go(g.accept)
	return g
}

// Descriptor is for the peer of link.
func (g *Gate) Descriptor(link page.Link, address string) []byte {
	return Descriptor{Address: address, Key: g.master.Of(link)}.Encode()
}

// Shut ends everything: no new connection, and none that was. It waits until all are over.
func (g *Gate) Shut(ctx context.Context) error {
	g.o.Listener.Close()
	g.mu.Lock()
	g.closed = true
	for c := range g.shy {
		c.Close()
	}
	g.mu.Unlock()
	if err := g.Registry.Close(ctx); err != nil {
		return err
	}
	g.all.Wait()
	return nil
}

func (g *Gate) accept() {
	for {
		conn, err := g.o.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of files, most often: it passes
			time.Sleep(10 * time.Millisecond)
			continue
		}
		select {
		case g.strangers <- struct{}{}:
			g.all.Go(func() { g.serve(conn) })
		default:
			g.BadDials.Add(1)
			conn.Close()
		}
	}
}

// serve is one connection from its first byte to its end.
func (g *Gate) serve(raw net.Conn) {
	defer raw.Close()
	v, e, err := g.admit(raw)
	<-g.strangers
	if err != nil {
		g.BadDials.Add(1)
		return
	}
	defer g.Leave(e)
	if err := g.o.Serve(v); errors.Is(err, ErrMalformed) {
		g.Malformed.Add(1)
	}
}

func (g *Gate) admit(raw net.Conn) (*Visitor, *Entry, error) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, nil, net.ErrClosed
	}
	g.shy[raw] = struct{}{}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.shy, raw)
		g.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	raw.SetDeadline(time.Now().Add(handshakeTimeout))
	v := &Visitor{Conn: raw, Raw: raw, Fenced: make(chan struct{})}
	s := Secret{Name: g.o.Name}
	if g.o.Secure != nil {
		var err error
		if v.Conn, s.Binding, err = g.o.Secure(ctx, raw); err != nil {
			return nil, nil, err
		}
	}
	hello, err := Greet(v.Conn, s, g.master)
	if err != nil {
		return nil, nil, err
	}
	v.Link = hello.Link
	v.Welcome = func(payload []byte) error {
		err := hello.Welcome(v.Conn, payload)
		raw.SetDeadline(time.Time{})
		return err
	}
	if n := g.Serving(v.Link); n >= g.o.MaxPerLink {
		return nil, nil, fmt.Errorf("transport: link %v has %d connections", v.Link, n)
	}
	e, ok := g.Enter(v.Link, func() { g.fence(v) })
	if !ok {
		return nil, nil, fmt.Errorf("transport: link %v has been fenced", v.Link)
	}
	return v, e, nil
}

func (g *Gate) fence(v *Visitor) {
	close(v.Fenced)
	if g.o.Fence != nil {
		g.o.Fence(v)
		return
	}
	Reset(v.Raw)
}

// Reset closes a connection at once: what the kernel still holds to be sent is thrown away.
func Reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

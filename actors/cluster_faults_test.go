package actors

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/loopback"
)

// faulty is a transport between nodes of this process that does what it is told to, in place of what it should.
type faulty struct {
	*loopback.Transport
	dial func() error // nil, or why no connection can be made
	read func() fate  // what becomes of a read
}

// fate is what becomes of a read.
type fate int

const (
	lands  fate = iota
	stalls      // nothing is heard of it until the connection is closed
	fails       // it brings no byte, and says so
	lies        // it brings bytes that are not those that were sent
)

func (f *faulty) Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (transport.Conn, error) {
	if f.dial != nil {
		if err := f.dial(); err != nil {
			return nil, err
		}
	}
	c, err := f.Transport.Dial(ctx, link, self, descriptor, slab)
	if err != nil || f.read == nil {
		return c, err
	}
	return &faultyConn{Conn: c, transport: f, slab: slab}, nil
}

type faultyConn struct {
	transport.Conn
	transport *faulty
	slab      transport.Slab
	mu        sync.Mutex
	stalled   []func(error)
}

func (c *faultyConn) Read(r transport.Read, done func(error)) {
	switch c.transport.read() {
	case stalls:
		c.mu.Lock()
		c.stalled = append(c.stalled, done)
		c.mu.Unlock()
	case fails:
		done(errors.New("the link is bad"))
	case lies:
		c.Conn.Read(r, func(err error) {
			if err == nil {
				c.slab.Page(r.Dst)[7] ^= 0x10
			}
			done(err)
		})
	default:
		c.Conn.Read(r, done)
	}
}

// Close implements transport.Conn: after it no read lands, so those that stall are over.
func (c *faultyConn) Close() error {
	err := c.Conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, done := range c.stalled {
		done(transport.ErrClosed)
	}
	c.stalled = nil
	return err
}

// pairOver makes a prefill and a decode node whose pages go by tr.
func pairOver(t *testing.T, tr transport.Transport, change ...func(*Config)) (p, d *lab) {
	t.Helper()
	over := append([]func(*Config){func(c *Config) {
		c.Cluster.Transports = []transport.Transport{tr}
		c.Cluster.ReadTimeout = 300 * time.Millisecond
	}}, change...)
	return member(t, 1, true, false, over...), member(t, 2, false, true, over...)
}

// Whatever a transport does to reads, answers are those of one node, made in another attempt; and every page comes home.
//
//   - C2: reads that are under way for ever end with their connection, which is fenced.
//   - C8: bytes that are not those that were sent are never used.
//   - C9: a read that failed does not count as done.
func TestReadsThatGoWrong(t *testing.T) {
	alone := newLab(t, nil)
	ask := prompt(3, 300)
	want, _, err := alone.collect(alone.submit(ask, 24))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		is   fate
		// which reads go wrong, counted from 1.
		wrong func(n int64) bool
	}{
		{"none", lands, func(int64) bool { return false }},
		{"C2: the first stalls", stalls, func(n int64) bool { return n == 1 }},
		{"C2: the fifth stalls", stalls, func(n int64) bool { return n == 5 }},
		{"C8: the first brings other bytes", lies, func(n int64) bool { return n == 1 }},
		{"C8: the last of an attempt brings other bytes", lies, func(n int64) bool { return n == 19 }},
		{"C9: the first fails", fails, func(n int64) bool { return n == 1 }},
		{"C9: the ninth fails", fails, func(n int64) bool { return n == 9 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var count atomic.Int64
			tr := &faulty{Transport: loopback.New(loopback.NewNetwork()), read: func() fate {
				if c.wrong(count.Add(1)) {
					return c.is
				}
				return lands
			}}
			p, d := pairOver(t, tr)
			g := newGateway(t, p, d)
			s, err := g.Submit(Spec{Tenant: "default", Prompt: ask, Choices: 1, MaxTokens: 24})
			if err != nil {
				t.Fatal(err)
			}
			got, end, err := alone.collect(s)
			if err != nil || end != sched.EndLength || !slices.Equal(got, want) {
				t.Errorf("%v, end %d, %v; alone %v", got, end, err, want)
			}
			nodes, err := g.Nodes(t.Context())
			if retried := nodes.Stats.Retries > 0; err != nil || retried != (c.is != lands) {
				t.Errorf("after %d reads: %+v, %v", count.Load(), nodes.Stats, err)
			}
			p.comesHome()
			d.comesHome()
		})
	}
}

// A page whose bytes never arrive as they were sent is not used however often it is tried; the client is told, and every page comes home (C8).
func TestNoAnswerFromOtherBytes(t *testing.T) {
	tr := &faulty{Transport: loopback.New(loopback.NewNetwork()), read: func() fate { return lies }}
	p, d := pairOver(t, tr)
	g := newGateway(t, p, d)
	s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(1, 100), Choices: 1, MaxTokens: 8})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := p.collect(s)
	if len(got) > 0 || !errors.Is(err, request.ErrUnavailable) {
		t.Errorf("%v, %v; want no token and ErrUnavailable", got, err)
	}
	p.comesHome()
	d.comesHome()
}

// C7: where pages cannot be fetched (no socket is left, say) a cluster does not look alive. When they can be again it is, and nobody has started anything again.
func TestAClusterThatCannotFetchIsNotReady(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	tr := &faulty{Transport: loopback.New(loopback.NewNetwork()), dial: func() error {
		if broken.Load() {
			return errors.New("too many open files")
		}
		return nil
	}}
	p, d := pairOver(t, tr)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	g, err := StartGateway(ctx, GatewayConfig{Timeout: time.Minute, Nodes: []string{p.Address(), d.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 100 {
		if g.Ready() == nil {
			t.Fatal("the gateway is ready though no page can be fetched")
		}
		time.Sleep(5 * time.Millisecond)
	}
	broken.Store(false)
	for g.Ready() != nil {
		if ctx.Err() != nil {
			t.Fatal("pages can be fetched again, and the gateway does not become ready")
		}
		time.Sleep(5 * time.Millisecond)
	}
	s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(1, 100), Choices: 1, MaxTokens: 8})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := p.collect(s); err != nil || len(got) != 8 {
		t.Errorf("%v, %v", got, err)
	}
}

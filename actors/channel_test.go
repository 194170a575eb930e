package actors

import (
	"context"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
	"github.com/kvasir-engine/kvasir/transport"
)

// deaf is a control connection with a peer that says nothing and hears nothing.
type deaf struct{ link page.Link }

func (d deaf) Link() page.Link                 { return d.link }
func (deaf) SendPage(*kvpool.Message)          {}
func (deaf) SendDescriptors(map[string][]byte) {}
func (deaf) Disconnect(string)                 {}

// An offer that the pool made before it heard of the peer's Release does not open the pages again: they are another's by then.
func TestAnOfferBehindAReleaseOpensNothing(t *testing.T) {
	p := member(t, 1, true, false)
	link := page.Link{Peer: 2, Incarnation: 22, Epoch: 1}
	attempt := page.Attempt{Gateway: 7, Number: 1, Prefill: p.incarnation}
	ref := page.Ref{Node: 1, Incarnation: p.incarnation, Page: 3, Generation: 1}
	a := &channelActor{node: p.Node, peer: 2, links: map[page.Link]*nodeLink{}}
	a.connected(&channelUp{control: deaf{link}, serves: true})
	offer := &channelSend{link, &kvpool.Message{Kind: kvpool.MsgOffer, Attempt: attempt, Pages: []kvpool.Offer{{Ref: ref}}}}
	readable := func() bool {
		ok := p.cluster.exports.Begin(link, attempt, ref)
		if ok {
			p.cluster.exports.Done(link, attempt)
		}
		return ok
	}
	if a.send(offer); !readable() {
		t.Fatal("what is offered cannot be read")
	}
	release := &channelHeard{link, &kvpool.Message{Kind: kvpool.MsgRelease, Attempt: attempt}}
	a.heard(release)
	a.heard(release)
	for left := 2; left > 0; left-- {
		if a.send(offer); readable() {
			t.Errorf("an offer before the pool has acted on %d Releases opens the pages", left)
		}
		a.released(channelReleased{link, attempt})
	}
	if a.send(offer); !readable() || len(a.links[link].released) != 0 {
		t.Errorf("the pool offers after all, and it counts for nothing: %v", a.links[link].released)
	}
}

// The pool tells a channel of each Release that it has acted on, so that nothing is kept of them.
func TestReleasesAreActedOn(t *testing.T) {
	var mu sync.Mutex
	heard, acted := 0, 0
	p := member(t, 1, true, false, func(c *Config) {
		c.receive = func(role string) []actor.ReceiverMiddleware {
			return []actor.ReceiverMiddleware{func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(ctx actor.ReceiverContext, e *actor.MessageEnvelope) {
					mu.Lock()
					switch m := e.Message.(type) {
					case *channelHeard:
						if m.message.Kind == kvpool.MsgRelease {
							heard++
						}
					case channelReleased:
						acted++
					}
					mu.Unlock()
					next(ctx, e)
				}
			}}
		}
	})
	d := member(t, 2, false, true)
	g := newGateway(t, p, d)
	for i := range 5 {
		s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(i, 100), Choices: 1, MaxTokens: 4})
		if err != nil {
			t.Fatal(err)
		}
		if _, end, err := p.collect(s); err != nil || end != sched.EndLength {
			t.Fatal(end, err)
		}
	}
	soon(t, "each Release is acted on", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return heard >= 5 && acted == heard
	})
}

// recorder keeps the connections that are dialed.
type recorder struct {
	transport.Transport
	mu    *sync.Mutex
	conns *[]transport.Conn
}

func (r recorder) Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (transport.Conn, error) {
	c, err := r.Transport.Dial(ctx, link, self, descriptor, slab)
	if err == nil {
		r.mu.Lock()
		*r.conns = append(*r.conns, c)
		r.mu.Unlock()
	}
	return c, err
}

// A node that has failed and is closed has no connection left over which a page could land in memory that it has given back: whichever of its actors failed.
func TestAFailedNodeReadsNothingMore(t *testing.T) {
	for _, role := range []string{"pool", "channel"} {
		t.Run(role, func(t *testing.T) {
			var mu sync.Mutex
			var conns []transport.Conn
			p := member(t, 1, true, false)
			d := member(t, 2, false, true, func(c *Config) {
				c.Cluster.Transports[0] = recorder{c.Cluster.Transports[0], &mu, &conns}
			})
			newGateway(t, p, d) // which is ready when they are connected
			switch role {
			case "pool":
				d.tell(d.pool, (*kvpool.Event)(nil))
			case "channel":
				d.tell(d.channel(1), (*channelSend)(nil))
			}
			<-d.Failed()
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(conns) == 0 {
				t.Fatal("no connection was made")
			}
			for _, c := range conns {
				select {
				case <-c.Lost():
				default:
					t.Error("a connection outlives the node")
				}
			}
		})
	}
}

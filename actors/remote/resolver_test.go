package remote

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// process is an actor system whose actors hear what peers say and speak to peers by PID.
type process struct {
	*party
	system   *actor.ActorSystem
	resolver *Resolver
	heard    chan any // by its actor "ledger"
	dead     chan any
}

// channelActor sends what its node's actors tell the peer.
type channelActor struct {
	t    *testing.T
	peer *Peer
}

func (c *channelActor) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*Outbound); ok {
		if err := c.peer.Send(m.Message); err != nil {
			c.t.Error(err)
		}
	}
}

func startProcess(t *testing.T, id page.Node) *process {
	t.Helper()
	p := &process{heard: make(chan any, 100), dead: make(chan any, 100)}
	p.system = actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(10*time.Millisecond),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }))
	t.Cleanup(p.system.Shutdown)
	p.resolver = NewResolver(p.system)
	p.system.EventStream.Subscribe(func(m any) {
		if d, ok := m.(*actor.DeadLetterEvent); ok {
			p.dead <- d.Message
		}
	})
	ledger := p.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *kvpool.Message, *handoff.Message, wire.Descriptors:
			p.heard <- m
		}
	}))
	p.party = start(t, hello(id), func(c *Config) { c.Handler = &tellActor{recorder: c.Handler.(*recorder), system: p.system, to: ledger} })
	return p
}

// tellActor hands what peers say to an actor.
type tellActor struct {
	*recorder
	system *actor.ActorSystem
	to     *actor.PID
}

func (h *tellActor) Message(_ *Peer, m any, _ wire.Trace) { h.system.Root.Send(h.to, m) }

// bind spawns the channel actor of a peer.
func (p *process) bind(t *testing.T, peer *Peer) *actor.PID {
	channel := p.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &channelActor{t: t, peer: peer} }))
	p.resolver.Bind(peer.Hello().Address, channel)
	return channel
}

func hear(t *testing.T, from chan any) any {
	t.Helper()
	select {
	case m := <-from:
		return m
	case <-time.After(patience):
		t.Fatal("nothing was heard")
	}
	panic("unreachable")
}

// Actors of two systems speak with each other by PID, in order; what is no message for another process is a dead letter there where it was sent.
func TestResolver(t *testing.T) {
	a, b := startProcess(t, 1), startProcess(t, 2)
	bOfA, aOfB := meet(t, a.party, b.party)
	channel := a.bind(t, bOfA)
	b.bind(t, aOfB)

	toB, toA := actor.NewPID(b.addr, "ledger"), actor.NewPID(a.addr, "ledger")
	for i := range 100 {
		a.system.Root.Send(toB, poll(i))
	}
	for i := range 100 {
		if m := hear(t, b.heard).(*handoff.Message); m.Have != i {
			t.Fatalf("message %d is %+v", i, m)
		}
	}
	b.system.Root.Request(toA, &kvpool.Message{Kind: kvpool.MsgRevoke, Epoch: 7}) // in an envelope with a sender
	if m := hear(t, a.heard).(*kvpool.Message); m.Kind != kvpool.MsgRevoke || m.Epoch != 7 {
		t.Errorf("a hears %+v", m)
	}

	dead := func(reason string, want any) {
		t.Helper()
		if m := hear(t, a.dead); want != nil && m != want {
			t.Errorf("the dead letter is %+v, want %+v", m, want)
		}
		if got := count(a.resolver.dead.WithLabelValues(reason)); got != 1 {
			t.Errorf("%d are counted as %s, want 1", got, reason)
		}
	}
	a.system.Root.Send(toB, "text")
	dead(deadForeign, "text")
	a.system.Root.Stop(toB) // does nothing to anybody at b
	dead(deadSystem, nil)
	a.system.Root.Send(toB, poll(100))
	hear(t, b.heard)

	// A channel that is over takes nothing, although the PID was used before; and one that was bound meanwhile stays.
	a.resolver.Unbind(b.addr, channel)
	last := poll(101)
	a.system.Root.Send(toB, last)
	dead(deadUnbound, last)
	a.bind(t, bOfA)
	a.resolver.Unbind(b.addr, channel)
	a.system.Root.Send(toB, poll(102))
	if m := hear(t, b.heard).(*handoff.Message); m.Have != 102 {
		t.Errorf("b hears %+v", m)
	}
}

// Who watches a PID of a peer is told that there is nobody: actors do not watch over processes.
func TestResolverWatch(t *testing.T) {
	a := startProcess(t, 1)
	terminated := make(chan any, 1)
	a.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Started:
			ctx.Watch(actor.NewPID("10.0.0.1:1", "ledger"))
		case *actor.Terminated:
			terminated <- m.Who.Address
		}
	}))
	if got := hear(t, terminated); got != "10.0.0.1:1" {
		t.Errorf("terminated: %v", got)
	}
}

package actors

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/tcp"
)

// member makes a node of a cluster on loopback.
func member(t *testing.T, id page.Node, prefill, decode bool, change ...func(*Config)) *lab {
	t.Helper()
	tr, err := tcp.New(tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	vocabulary := []byte("vocabulary")
	return newLab(t, nil, append([]func(*Config){func(c *Config) {
		c.Node = id
		c.Sched.TotalPages = 1024
		c.Logger = zaptest.NewLogger(t, zaptest.Level(zap.InfoLevel)).Named(map[bool]string{true: "prefill", false: "decode"}[prefill])
		c.Cluster = &ClusterConfig{
			Prefill: prefill, Decode: decode, Listen: "127.0.0.1:0", Transports: []transport.Transport{tr},
			Remote: remote.Config{Self: remote.Hello{Model: "mini", Vocabulary: sha256.Sum256(vocabulary)}, Vocabulary: vocabulary},
		}
	}}, change...)...)
}

func newGateway(t *testing.T, nodes ...*lab) *Gateway {
	t.Helper()
	cfg := GatewayConfig{Timeout: time.Minute, Logger: zaptest.NewLogger(t, zaptest.Level(zap.InfoLevel)).Named("gateway")}
	for _, n := range nodes {
		cfg.Nodes = append(cfg.Nodes, n.Address())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	g, err := StartGateway(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	for g.Ready() != nil {
		if ctx.Err() != nil {
			t.Fatal("the cluster does not become ready")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return g
}

// An answer through two nodes is that of one node, also for many at a time.
func TestTwoNodesAnswerAsOne(t *testing.T) {
	alone := newLab(t, nil)
	p, d := member(t, 1, true, false), member(t, 2, false, true)
	g := newGateway(t, p, d)
	var wg sync.WaitGroup
	for i := range 40 {
		ask := prompt(i/2, 20+i*7)
		want, _, err := alone.collect(alone.submit(ask, 24))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			s, err := g.Submit(Spec{Tenant: "default", Prompt: ask, Choices: 1, MaxTokens: 24})
			if err != nil {
				t.Error(err)
				return
			}
			got, end, err := alone.collect(s)
			if err != nil || end != sched.EndLength || !slices.Equal(got, want) {
				t.Errorf("prompt %d: through two nodes %v, end %d, %v; alone %v", i, got, end, err, want)
			}
		})
	}
	wg.Wait()
	nodes, err := g.Nodes(t.Context())
	if err != nil || nodes.Stats.Local > 0 || nodes.Stats.Tries < 40 {
		t.Errorf("%+v, %v", nodes, err)
	}
	for _, l := range []*lab{p, d} {
		l.comesHome()
	}
}

// comesHome waits until no attempt is alive and every page is free, or cached and read by nobody.
func (l *lab) comesHome() {
	l.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		r, _, err := l.Report(l.t.Context(), true)
		if err != nil {
			l.t.Fatal(err)
		}
		if r.Broken != nil {
			l.t.Fatal(r.Broken)
		}
		stats, err := ask(l.t.Context(), l.Node, l.scheduler, func(c chan<- handoff.NodeStats) any { return attemptsReport{c} })
		if err != nil {
			l.t.Fatal(err)
		}
		if stats.Live == 0 && r.Counts.Free+r.Counts.Idle+r.Counts.Allotted == l.slab.Pages {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("pages are not home: %+v, attempts %+v", r.Counts, stats)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A gateway that cannot be started says why, also when a node has answered already and waits for it.
func TestAGatewayThatCannotBeStarted(t *testing.T) {
	p := member(t, 1, true, true)
	_, err := StartGateway(t.Context(), GatewayConfig{Nodes: []string{p.Address()}, Timeout: time.Minute, Handoff: handoff.GatewayConfig{MaxTries: -1}})
	if err == nil || !strings.Contains(err.Error(), "MaxTries") {
		t.Errorf("%v", err)
	}
}

// A gateway that fails tells its clients, and leaves its nodes: they end what it has asked for, though nobody has closed it yet.
func TestAGatewayThatFails(t *testing.T) {
	steps, goOn := 0, make(chan struct{})
	n := member(t, 1, true, true, func(c *Config) {
		c.Cluster.Handoff.GatewayGrace = int64(time.Millisecond)
		c.receive = func(string) []actor.ReceiverMiddleware {
			return []actor.ReceiverMiddleware{func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(ctx actor.ReceiverContext, e *actor.MessageEnvelope) {
					if _, ok := e.Message.(*run); ok {
						if steps++; steps > 100 { // no answer ends before
							<-goOn
						}
					}
					next(ctx, e)
				}
			}}
		}
	})
	g := newGateway(t, n)
	var streams []*Stream
	for i := range 4 {
		s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(i, 20), Choices: 1, MaxTokens: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Next(t.Context()); !ok || err != nil {
			t.Fatal("it does not begin", err)
		}
		streams = append(streams, s)
	}
	g.tell(nodeUp{}) // of no node: a bug of ours
	for _, s := range streams {
		if _, _, err := n.collect(s); !errors.Is(err, request.ErrEngineFailed) {
			t.Errorf("a request ended with %v, want ErrEngineFailed", err)
		}
	}
	close(goOn)
	soon(t, "the node ends what the gateway has asked for", func() bool {
		stats, err := ask(t.Context(), n.Node, n.scheduler, func(c chan<- handoff.NodeStats) any { return attemptsReport{c} })
		if err != nil {
			t.Fatal(err)
		}
		return stats.Ends[handoff.ReasonGateway] > 0
	})
	n.comesHome()
}

// Closing a gateway ends its requests with ErrClosed, and at the nodes: not only when they give it up.
func TestAGatewayThatIsClosed(t *testing.T) {
	never := func(c *Config) { c.Cluster.Handoff.GatewayGrace = int64(time.Hour) }
	p, d := member(t, 1, true, false, never), member(t, 2, false, true, never)
	g := newGateway(t, p, d)
	var streams []*Stream
	for i := range 4 {
		s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(i, 20), Choices: 1, MaxTokens: 1000})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	if _, ok, err := streams[3].Next(t.Context()); !ok || err != nil {
		t.Fatal("it does not begin", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for _, s := range streams {
		if _, end, err := p.collect(s); !errors.Is(err, request.ErrClosed) {
			t.Errorf("a request ended with %d, %v, want ErrClosed", end, err)
		}
	}
	stats, err := ask(t.Context(), d.Node, d.scheduler, func(c chan<- handoff.NodeStats) any { return attemptsReport{c} })
	if err != nil || stats.Ends[handoff.ReasonCancelled] == 0 {
		t.Errorf("no attempt was cancelled: %+v, %v", stats, err)
	}
	p.comesHome()
	d.comesHome()
}

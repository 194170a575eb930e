package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// gatewayTick is how often a gateway's core hears that time passes.
const gatewayTick = 20 * time.Millisecond

// GatewayConfig is what a gateway is made of.
type GatewayConfig struct {
	Remote remote.Config // TLS and bounds; Self and the Handler are filled in here
	Nodes  []string      // addresses of nodes, "host:port"
	// Discover tells found of all further addresses that nodes have, again whenever these change, until ctx ends. nil: there are none.
	Discover   func(ctx context.Context, found func(addresses []string))
	Handoff    handoff.GatewayConfig // times and bounds; Incarnation and PageSize are filled in here
	Key        kvpool.Key            // of the cluster
	Timeout    time.Duration         // of a request
	Logger     *zap.Logger
	Registerer prometheus.Registerer // nil: metrics are kept but not registered
	Labels     prometheus.Labels     // on every metric
}

// Gateway serves requests by nodes elsewhere. It is the shell of handoff.Gateway: one actor that owns the core, the connections with the nodes, and the streams it answers on. All methods
// may be called from any goroutine.
type Gateway struct {
	cfg         GatewayConfig
	incarnation page.Incarnation
	log         *zap.Logger
	metrics     *metrics
	registry    *registry
	system      *actor.ActorSystem
	self        *actor.PID
	links       *remote.Links
	dialing     *dialing
	open        context.Context    // ends with disconnect, which waits for nothing that a node may hold up
	discover    context.CancelFunc // ends open, and Discover
	discovered  sync.WaitGroup
	nodes       *gatewayNodes
	began       time.Time
	stop        chan struct{}
	stopped     chan struct{}
	failed      chan struct{}
	failure     error
	closing     chan struct{}
}

// StartGateway connects with the nodes and returns when the first one is there, whose layout and vocabulary are the cluster's from then on; or with ctx's error.
func StartGateway(ctx context.Context, cfg GatewayConfig) (*Gateway, error) {
	life, err := newIncarnation()
	if err != nil {
		return nil, err
	}
	id, err := newIncarnation() // any number that no other gateway has
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	g := &Gateway{cfg: cfg, incarnation: life, log: cfg.Logger, metrics: newMetrics(cfg.Labels), registry: newRegistry(gatewayStreams), began: time.Now(),
		stop: make(chan struct{}), stopped: make(chan struct{}), failed: make(chan struct{}), closing: make(chan struct{}, 1)}
	g.nodes = newGatewayNodes(g)
	rc := cfg.Remote
	rc.Self = remote.Hello{Kind: remote.Gateway, ID: page.Node(id), Incarnation: life}
	rc.Handler, rc.Logger = g.nodes, g.log
	if g.links, err = remote.New(rc); err != nil {
		return nil, err
	}
	if err := g.connect(); err != nil {
		return nil, g.giveUp(err)
	}
	if err := g.nodes.wait(ctx); err != nil {
		return nil, g.giveUp(err)
	}
	if err := g.spawn(); err != nil {
		return nil, g.giveUp(err)
	}
	if err := g.metrics.registerGateway(cfg.Registerer, g); err != nil {
		return nil, errors.Join(fmt.Errorf("actors: %w", err), g.Close())
	}
	return g, nil
}

// giveUp ends what StartGateway has begun, before there is an actor.
func (g *Gateway) giveUp(err error) error {
	close(g.nodes.started) // connections wait for it, and their end for them
	return errors.Join(err, g.disconnect())
}

// connect connects with the nodes that are named, and with those that are discovered, until disconnect.
func (g *Gateway) connect() error {
	ctx, cancel := context.WithCancel(context.Background())
	g.open, g.discover, g.dialing = ctx, cancel, newDialing(ctx, g.links)
	if err := g.dialing.name("the configuration", g.cfg.Nodes); err != nil {
		return err
	}
	if g.cfg.Discover == nil {
		return nil
	}
	g.discovered.Go(func() {
		g.cfg.Discover(ctx, func(addresses []string) {
			g.log.Debug("nodes are listed", zap.Strings("addresses", addresses))
			if err := g.dialing.name("the list of nodes", addresses); err != nil {
				g.log.Warn("cannot connect with a node", zap.Error(err))
			}
		})
	})
	return nil
}

// disconnect ends all connections.
func (g *Gateway) disconnect() error {
	g.discover()
	g.discovered.Wait()
	return g.links.Close()
}

// spawn starts the actor, by the first node's measures.
func (g *Gateway) spawn() error {
	cfg := g.cfg.Handoff
	cfg.Incarnation, cfg.PageSize = uint64(g.incarnation), int64(g.nodes.first.PageSize)
	core, err := handoff.NewGateway(cfg)
	if err != nil {
		return err
	}
	g.system = actor.NewActorSystem(actor.WithLoggerFactory(systemLogger(g.log)), actor.WithDeadLetterThrottleInterval(deadLetterInterval))
	props := actor.PropsFromProducer(func() actor.Actor {
		return &gatewayActor{gateway: g, core: core, peers: map[page.Node]*remote.Peer{}, streams: map[page.Seq]*gatewayStream{}, traces: map[*handoff.Spec]wire.Trace{}}
	}, actor.WithMailbox(boundedMailbox(mailboxLimit)))
	ready := make(chan struct{})
	sup := &supervisor{fail: g.fail, stopped: g.stopped, start: func(ctx actor.Context) {
		g.self = ctx.SpawnPrefix(props, "gateway")
		close(ready)
	}}
	root := g.system.Root.SpawnPrefix(actor.PropsFromProducer(func() actor.Actor { return sup }), "supervisor")
	<-ready
	close(g.nodes.started)
	go g.tick(root)
	return nil
}

// gatewayStreams bounds the choices that a gateway has under way.
const gatewayStreams = 65536

// fail is called once, by the supervisor, which has one child.
func (g *Gateway) fail(reason any) {
	c := crashOf(reason, "gateway")
	g.failure = c.err()
	g.log.Error("an actor panicked; this gateway ends and all its requests fail", c.fields()...)
	close(g.failed)
	g.registry.close(g.failure)
	g.registry.failAll(g.failure, g.metrics)
	go g.links.Close() // nodes must hear of it at once; again, with its error, when the gateway is closed
}

func (g *Gateway) tick(root *actor.PID) {
	t := time.NewTicker(gatewayTick)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			g.tell(gatewayTicked{})
		case <-g.stop:
			g.system.Root.Stop(root)
			return
		}
	}
}

// Hello is what the first node said of itself: the cluster's model and measures. It must not be changed.
func (g *Gateway) Hello() *remote.Hello { return g.nodes.first }

// Vocabulary is the metadata of the nodes' model file.
func (g *Gateway) Vocabulary() []byte { return g.nodes.vocabulary }

func (g *Gateway) tell(m any) { g.system.Root.Send(g.self, m) }

func (g *Gateway) now() int64 { return int64(time.Since(g.began)) }

// Submit hands a request to the gateway. What becomes of it, a rejection too, the stream says.
//
// Preconditions: sample.Validate(spec.Sampling) is nil, and the prompt's tokens are within the vocabulary.
func (g *Gateway) Submit(spec Spec) (*Stream, error) {
	drop := func(q page.Seq) { g.tell(cancel{q}) }
	s, err := g.registry.open(drop, spec.Choices)
	if err != nil {
		g.metrics.rejected(spec.Choices)
		return nil, err
	}
	g.tell(&gatewaySubmit{gateway: g, spec: spec, stream: s})
	return s, nil
}

// Health is nil while the gateway's actor runs.
func (g *Gateway) Health() error {
	select {
	case <-g.failed:
		return g.failure
	case <-g.stopped:
		return request.ErrClosed
	default:
		return nil
	}
}

// Ready is nil while new requests are taken and there are nodes to serve them.
func (g *Gateway) Ready() error {
	g.registry.mu.Lock()
	closed := g.registry.closed
	g.registry.mu.Unlock()
	if closed != nil {
		return closed
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	nodes, err := g.Nodes(ctx)
	if err != nil {
		return err
	}
	if !nodes.Usable {
		return request.ErrUnavailable
	}
	return nil
}

// Failed is closed when the gateway has ended by a failure.
func (g *Gateway) Failed() <-chan struct{} { return g.failed }

// Nodes is what a gateway knows of the cluster.
type Nodes struct {
	Usable bool // a request could be sent now
	Up     int  // nodes that are connected
	Stats  handoff.GatewayStats
}

// Nodes asks the gateway what it knows.
func (g *Gateway) Nodes(ctx context.Context) (Nodes, error) {
	reply := make(chan Nodes, 1)
	g.tell(gatewayReport{reply})
	select {
	case n := <-reply:
		return n, nil
	case <-g.failed:
		return Nodes{}, g.failure
	case <-g.stopped:
		return Nodes{}, request.ErrClosed
	case <-ctx.Done():
		return Nodes{}, ctx.Err()
	}
}

// Drain refuses new requests and waits until those it has are answered, or ctx ends; it reports how many choices were left.
func (g *Gateway) Drain(ctx context.Context) (left int, err error) {
	return g.registry.drain(ctx, g.failed, func() error { return g.failure })
}

// Close ends every request that is left with ErrClosed, tells the nodes so as far as they can be reached at once, and stops the actor.
func (g *Gateway) Close() error {
	g.registry.close(request.ErrClosed)
	select {
	case g.closing <- struct{}{}:
		g.registry.failAll(request.ErrClosed, g.metrics)
		g.leave()
		err := g.disconnect()
		close(g.stop)
		<-g.stopped
		g.system.Shutdown()
		g.metrics.unregister(g.cfg.Registerer)
		return err
	default:
		<-g.stopped
	}
	return nil
}

// Messages to the gateway's actor.
type (
	gatewaySubmit struct {
		gateway *Gateway
		spec    Spec
		stream  *Stream
	}
	gatewayTicked struct{}
	gatewayLeave  struct{} // every request that is left is aborted
	gatewayReport struct{ reply chan<- Nodes }
	nodeUp        struct{ peer *remote.Peer }
	nodeLost      struct{ peer *remote.Peer }
	nodeSaid      struct {
		node    page.Node
		life    page.Incarnation
		message *handoff.Message
	}
)

// refuse answers a submit that found the mailbox full.
func (m *gatewaySubmit) refuse() {
	m.gateway.endStream(m.stream, &request.Rejection{Limit: request.LimitQueue, Have: mailboxLimit + 1, Max: mailboxLimit,
		Why: "The server is busy: too many requests arrive at once. Try again later."})
}

func (g *Gateway) endStream(s *Stream, err error) {
	g.metrics.rejected(len(s.seqs))
	s.fail(err, g.metrics)
	for _, q := range s.seqs {
		g.registry.done(q)
	}
}

// gatewayActor is the shell of handoff.Gateway.
type gatewayActor struct {
	gateway *Gateway
	core    *handoff.Gateway
	fx      []handoff.GatewayEffect
	peers   map[page.Node]*remote.Peer
	streams map[page.Seq]*gatewayStream
	traces  map[*handoff.Spec]wire.Trace // of requests without an outcome that are traced
}

type gatewayStream struct {
	stream *Stream
	choice int
	spec   *handoff.Spec
}

func (a *gatewayActor) Receive(ctx actor.Context) {
	defer rethrow("gateway")
	switch m := ctx.Message().(type) {
	case *gatewaySubmit:
		a.submit(m)
	case cancel:
		a.step(handoff.GatewayEvent{Kind: handoff.EvAbort, Request: uint64(m.seq)})
	case nodeUp:
		hello := m.peer.Hello()
		a.peers[hello.ID] = m.peer
		a.step(handoff.GatewayEvent{Kind: handoff.EvNodeUp, Node: hello.ID, Life: hello.Incarnation})
		a.introduce(m.peer)
	case nodeLost:
		if p, ok := a.peers[m.peer.Hello().ID]; ok && p == m.peer {
			delete(a.peers, p.Hello().ID)
			a.step(handoff.GatewayEvent{Kind: handoff.EvNodeLost, Node: p.Hello().ID, Life: p.Hello().Incarnation})
		}
	case *nodeSaid:
		a.step(handoff.GatewayEvent{Kind: handoff.EvHeard, Node: m.node, Life: m.life, Message: m.message})
	case gatewayLeave:
		for q := range a.streams {
			a.step(handoff.GatewayEvent{Kind: handoff.EvAbort, Request: uint64(q)})
		}
	case gatewayTicked:
		a.step(handoff.GatewayEvent{Kind: handoff.EvGatewayTick})
	case gatewayReport:
		m.reply <- Nodes{Usable: a.core.Usable(), Up: len(a.peers), Stats: a.core.Stats()}
	}
}

// submit makes each choice of a request a request of the core's.
func (a *gatewayActor) submit(m *gatewaySubmit) {
	g := a.gateway
	g.metrics.prompt.Add(float64(len(m.spec.Prompt)))
	hashes := kvpool.PageHashes(g.cfg.Key, m.spec.Tenant, g.nodes.first.Layout, m.spec.Prompt, g.nodes.first.PageSize)
	deadline := g.now() + int64(g.cfg.Timeout)
	for i, q := range m.stream.seqs {
		spec, err := handoffSpec(&m.spec, fmt.Sprintf("%x-%d", g.incarnation, q), i)
		if err != nil {
			panic(err) // validated sampling can be encoded
		}
		a.streams[q] = &gatewayStream{stream: m.stream, choice: i, spec: spec}
		if m.spec.Trace != nil {
			a.traces[spec] = m.spec.Trace
		}
		a.step(handoff.GatewayEvent{Kind: handoff.EvRequest, Request: uint64(q), Spec: spec, Hashes: hashes, Deadline: deadline})
	}
}

func (a *gatewayActor) step(ev handoff.GatewayEvent) {
	ev.Now = a.gateway.now()
	a.fx = a.core.Step(ev, a.fx[:0])
	for i := range a.fx {
		a.perform(&a.fx[i])
	}
}

func (a *gatewayActor) perform(fx *handoff.GatewayEffect) {
	g := a.gateway
	switch fx.Kind {
	case handoff.FxTell:
		if p, ok := a.peers[fx.Node]; ok && p.Hello().Incarnation == fx.Message.Life {
			a.tell(p, &fx.Message)
		}
	case handoff.FxTokens:
		s := a.streams[page.Seq(fx.Request)]
		for i, id := range fx.Tokens {
			t := sample.Result{ID: id}
			if i < len(fx.Details) {
				readDetail(fx.Details[i], &t)
			}
			s.stream.token(s.choice, t, g.metrics)
		}
	case handoff.FxOutcome:
		q := page.Seq(fx.Request)
		s := a.streams[q]
		delete(a.streams, q)
		delete(a.traces, s.spec)
		end, err := outcomeOf(fx)
		if fx.Outcome == handoff.Rejected {
			g.metrics.rejected(1)
		}
		if fx.Outcome == handoff.Failed {
			g.log.Warn("a request failed", zap.Uint64("request", fx.Request), zap.Stringer("reason", fx.Reason), zap.String("why", fx.Why), zap.Int("attempts", fx.Tries))
		}
		s.stream.finish(s.choice, end, err, g.metrics)
		g.registry.done(q)
	}
}

// outcomeOf is a request's outcome as its stream tells it.
func outcomeOf(fx *handoff.GatewayEffect) (sched.End, error) {
	switch fx.Outcome {
	case handoff.Completed:
		if fx.Reason == handoff.ReasonStop {
			return sched.EndStop, nil
		}
		return sched.EndLength, nil
	case handoff.Rejected:
		return 0, fx.Rejection
	case handoff.Aborted:
		return sched.EndCancelled, nil
	}
	switch fx.Reason {
	case handoff.ReasonPageCheck:
		return 0, request.ErrPageCheck
	case handoff.ReasonModel:
		return 0, request.ErrNoLogits
	case handoff.ReasonDeadline:
		return 0, context.DeadlineExceeded
	}
	return 0, fmt.Errorf("%w: %v after %d attempts: %s", request.ErrUnavailable, fx.Reason, fx.Tries, fx.Why)
}

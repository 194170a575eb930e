package actors

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

const (
	mailboxLimit   = 4096        // submits that may wait for the scheduler's attention
	patrolInterval = time.Second // how often idle cached pages are checked ...
	patrolBytes    = 4 << 20     // ... and how much at a time: a few tenths of a thousandth of the time
	verifyBytes    = 4 << 20     // how much of a check is done between two steps

	// The library bounds the logging of dead letters by this time, and keeps a goroutine as long after one, which should not outlive a closed node much.
	deadLetterInterval = 50 * time.Millisecond
)

// Config is what a node is made of. Device and Model stay the caller's and must outlive the node.
type Config struct {
	Node        page.Node
	Device      gpu.Device
	Model       *model.Model
	Layout      gpu.KVLayout
	LayoutHash  [32]byte   // see kvpool.Chain
	Key         kvpool.Key // the cluster key of the token-chain hashes
	Sched       sched.Config
	PrefixCache bool
	Scrub       bool // zero pages when they are freed
	Logger      *zap.Logger
	Registerer  prometheus.Registerer // nil: metrics are kept but not registered
	Labels      prometheus.Labels     // on every metric
	Cluster     *ClusterConfig        // nil: the node works alone

	// receive lets tests of this package see and change messages on their way into an actor.
	receive func(role string) []actor.ReceiverMiddleware
	// verifyBudget is how many bytes of a check are hashed between two steps. 0: verifyBytes.
	verifyBudget int
}

// Node is one incarnation of one node: its actors, its pages and the streams it answers on. All methods may be called from any goroutine.
type Node struct {
	cfg         Config
	incarnation page.Incarnation
	dev         gpu.Device
	model       *model.Model
	layout      gpu.KVLayout
	slab        *gpu.Slab
	log         *zap.Logger
	metrics     *metrics
	registry    *registry

	system                        *actor.ActorSystem
	self, pool, scheduler, runner *actor.PID

	ready, stopped chan struct{}
	failOnce       sync.Once
	failed         chan struct{} // closed after failure is set
	failure        error
	closeOnce      sync.Once
	closeErr       error
	patrolDone     chan struct{}

	began   time.Time
	cluster *cluster // nil: the node works alone
}

// Start allocates the pages and starts the actors.
func Start(cfg Config) (*Node, error) {
	core, err := sched.New(cfg.Sched)
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, dev: cfg.Device, model: cfg.Model, layout: cfg.Layout, log: cfg.Logger, metrics: newMetrics(cfg.Labels),
		registry: newRegistry(cfg.Sched.MaxQueue + cfg.Sched.MaxNumSeqs),
		ready:    make(chan struct{}), stopped: make(chan struct{}), failed: make(chan struct{}), patrolDone: make(chan struct{}), began: time.Now()}
	if n.log == nil {
		n.log = zap.NewNop()
	}
	if n.cfg.verifyBudget == 0 {
		n.cfg.verifyBudget = verifyBytes
	}
	if n.incarnation, err = newIncarnation(); err != nil {
		return nil, err
	}
	ledgerConfig := kvpool.Config{Node: cfg.Node, Incarnation: n.incarnation, Pages: cfg.Sched.TotalPages, PrefixCache: cfg.PrefixCache, Scrub: cfg.Scrub || invariants}
	// A new life always takes fresh memory.
	if n.slab, err = n.newSlab(); err != nil {
		return nil, fmt.Errorf("actors: allocate %d pages of %d bytes: %w", cfg.Sched.TotalPages, n.layout.PageBytes(), err)
	}
	if cfg.Cluster != nil {
		if err := n.openCluster(*cfg.Cluster); err != nil {
			return nil, errors.Join(err, n.freeSlab())
		}
		ledgerConfig.PageSize, ledgerConfig.ExportQuota = n.layout.PageSize, n.cluster.ExportQuota
	}
	if err := n.spawn(core, ledgerConfig); err != nil {
		return nil, errors.Join(err, n.freeSlab())
	}
	go n.patrol()
	if err := n.metrics.register(cfg.Registerer, n); err != nil {
		return nil, errors.Join(fmt.Errorf("actors: %w", err), n.Close())
	}
	if n.cluster != nil {
		if err := n.joinCluster(); err != nil { // last: from now on others ask
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

func newIncarnation() (page.Incarnation, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("actors: draw an incarnation: %w", err)
	}
	return page.Incarnation(binary.LittleEndian.Uint64(b[:]) | 1), nil
}

// props are those of an actor of this node.
func (n *Node) props(role string, a actor.Actor) *actor.Props {
	opts := []actor.PropsOption{actor.WithMailbox(boundedMailbox(mailboxLimit))}
	if n.cfg.receive != nil {
		opts = append(opts, actor.WithReceiverMiddleware(n.cfg.receive(role)...))
	}
	return actor.PropsFromProducer(func() actor.Actor { return a }, opts...)
}

func (n *Node) spawn(core *sched.Scheduler, cfg kvpool.Config) error {
	ledger, err := kvpool.New(cfg)
	if err != nil {
		return err
	}
	scheduler := &schedulerActor{node: n, core: core, seqs: map[page.Seq]*schedSeq{}}
	if n.cluster != nil {
		if scheduler.attempts, err = n.newAttempts(scheduler); err != nil {
			return err
		}
	}
	n.system = actor.NewActorSystem(actor.WithLoggerFactory(systemLogger(n.log)),
		actor.WithDeadLetterThrottleInterval(deadLetterInterval))
	sup := &supervisor{fail: n.fail, stopped: n.stopped, start: func(ctx actor.Context) {
		n.pool = ctx.SpawnPrefix(n.props("pool", &poolActor{node: n, core: ledger}), "pool")
		n.scheduler = ctx.SpawnPrefix(n.props("scheduler", scheduler), "scheduler")
		n.runner = ctx.SpawnPrefix(n.props("runner", &runner{node: n, seqs: map[page.Seq]*runSeq{}, logits: make([]float32, n.model.Config().Vocab)}), "runner")
		close(n.ready)
	}}
	n.self = n.system.Root.SpawnPrefix(actor.PropsFromProducer(func() actor.Actor { return sup }), "node")
	<-n.ready
	return nil
}

// supervisor is the actor above those of a node, or of a gateway. A child that panics is never restarted: its state is gone while device memory persists, and nothing is guessed.
type supervisor struct {
	start   func(actor.Context)
	fail    func(reason any) // ends the incarnation
	stopped chan<- struct{}
}

func (s *supervisor) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		s.start(ctx)
	case *actor.Stopped:
		close(s.stopped)
	}
}

func (s *supervisor) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, _ *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	s.fail(reason)
	sup.StopChildren(sup.Children()...)
}

// crash is a panic on its way to the supervisor, with the stack it came from.
type crash struct {
	role  string
	value any
	stack []byte
}

// crashOf is the crash that a supervisor was told of, by whichever of its children if that does not say.
func crashOf(reason any, role string) *crash {
	if c, ok := reason.(*crash); ok {
		return c
	}
	return &crash{role: role, value: reason}
}

func (c *crash) err() error {
	return fmt.Errorf("%w: the %s actor panicked: %v", request.ErrEngineFailed, c.role, c.value)
}

func (c *crash) fields() []zap.Field {
	return []zap.Field{zap.String("actor", c.role), zap.Any("panic", c.value), zap.ByteString("stack", c.stack)}
}

// rethrow is deferred by every Receive: the library keeps a panic's value but not its stack.
func rethrow(role string) {
	if v := recover(); v != nil {
		panic(&crash{role, v, debug.Stack()})
	}
}

// fail ends every request of this incarnation and tells why.
func (n *Node) fail(reason any) {
	n.failOnce.Do(func() {
		c := crashOf(reason, "node")
		n.failure = c.err()
		n.log.Error("an actor panicked; this incarnation ends and all its requests fail", append(c.fields(), zap.Int("requests", n.registry.live()))...)
		close(n.failed)
		n.registry.close(n.failure)
		n.registry.failAll(n.failure, n.metrics)
		if n.cluster != nil {
			n.cluster.abandon() // others must hear of it at once
		}
	})
}

// Failed is closed when this incarnation has ended by a failure.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Health is nil while the actors run.
func (n *Node) Health() error {
	select {
	case <-n.failed:
		return n.failure
	case <-n.stopped:
		return request.ErrClosed
	default:
		return nil
	}
}

// Ready is nil while new requests are taken.
func (n *Node) Ready() error {
	n.registry.mu.Lock()
	defer n.registry.mu.Unlock()
	return n.registry.closed
}

// Drain refuses new requests and waits until those it has are answered and what other processes ask of it is over, or ctx ends; it reports how many sequences and attempts were left. The
// error says why.
func (n *Node) Drain(ctx context.Context) (left int, err error) {
	left, err = n.registry.drain(ctx, n.failed, func() error { return n.failure })
	if n.cluster == nil || n.Health() != nil {
		return left, err
	}
	attempts, why := n.drainAttempts(ctx)
	return left + attempts, errors.Join(err, why)
}

// Close ends every request that is left with ErrClosed, stops the actors and gives the pages' memory back.
func (n *Node) Close() error {
	n.closeOnce.Do(func() {
		n.registry.close(request.ErrClosed)
		n.registry.failAll(request.ErrClosed, n.metrics)
		close(n.patrolDone)
		var left error
		if n.cluster != nil {
			left = n.leaveCluster() // nobody else may use the slab afterwards, and no read of ours
		}
		n.system.Root.Stop(n.self)
		<-n.stopped // a step that runs is finished first: nothing may use the slab afterwards
		n.system.Shutdown()
		n.metrics.unregister(n.cfg.Registerer)
		n.closeErr = errors.Join(left, n.freeSlab())
	})
	return n.closeErr
}

func (n *Node) freeSlab() error {
	return errors.Join(n.slab.Data.Free(), n.slab.Headers.Free())
}

// Spec is a request as the node runs it: token ids, and everything about text already done.
type Spec struct {
	Tenant     string // its cache domain too
	Prompt     []int32
	Choices    int // at least 1
	MaxTokens  int // 0: until the context is full
	StopTokens []int32
	Sampling   request.Sampling
	Seed       uint64
	Trace      wire.Trace // of the asker; nil: none
}

// ask is what admission needs to know.
func (s *Spec) ask(seqs []page.Seq) sched.Ask {
	return sched.Ask{Seqs: seqs, Tenant: s.Tenant, PromptLen: len(s.Prompt), MaxTokens: s.MaxTokens, StopTokens: s.StopTokens}
}

// Submit hands a request to the scheduler. A request that can never be served is refused here, before anything is made for it; the stream of one that cannot be served
// now hears of the rejection as its first and only event.
//
// Preconditions: sample.Validate(spec.Sampling) is nil, and the prompt's tokens are within the vocabulary.
func (n *Node) Submit(spec Spec) (*Stream, error) {
	if _, refused := sched.Admit(n.cfg.Sched, 0, spec.ask(make([]page.Seq, spec.Choices))); refused != nil {
		n.metrics.rejected(spec.Choices)
		return nil, refused
	}
	s, err := n.registry.open(n.drop, spec.Choices)
	if err != nil {
		n.metrics.rejected(spec.Choices)
		return nil, err
	}
	n.tell(n.scheduler, &submit{node: n, spec: spec, stream: s})
	return s, nil
}

func (n *Node) drop(q page.Seq) { n.tell(n.scheduler, cancel{q}) }

// endStream ends a stream that was never admitted.
func (n *Node) endStream(s *Stream, err error) {
	s.fail(err, n.metrics)
	for _, q := range s.seqs {
		n.registry.done(q)
	}
}

// Report returns the ledger's counts and statistics; with check it also verifies every invariant, which takes time in proportion to the pool.
func (n *Node) Report(ctx context.Context, check bool) (PoolReport, sched.Counts, error) {
	pool, err := ask(ctx, n, n.pool, func(c chan<- PoolReport) any { return poolReport{c, check} })
	if err != nil {
		return pool, sched.Counts{}, err
	}
	counts, err := ask(ctx, n, n.scheduler, func(c chan<- sched.Counts) any { return schedReport{c} })
	return pool, counts, err
}

// ask sends a question that is answered exactly once, and waits for the answer, the node's end or ctx.
func ask[T any](ctx context.Context, n *Node, to *actor.PID, question func(chan<- T) any) (T, error) {
	reply := make(chan T, 1)
	n.tell(to, question(reply))
	var none T
	select {
	case v := <-reply:
		return v, nil
	case <-n.failed:
		return none, n.failure
	case <-n.stopped:
		return none, request.ErrClosed
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (n *Node) tell(to *actor.PID, m any) { n.system.Root.Send(to, m) }

func (n *Node) tellPool(ev kvpool.Event) { n.tell(n.pool, &ev) }

// patrol has a few idle cached pages checked now and then, so that a flipped bit is found before a request needs the page.
func (n *Node) patrol() {
	t := time.NewTicker(patrolInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			n.tellPool(kvpool.Event{Kind: kvpool.EvPatrol, N: max(1, patrolBytes/n.layout.PageBytes())})
		case <-n.failed:
			return
		case <-n.patrolDone:
			return
		}
	}
}

func (n *Node) ours(ref page.Ref) bool {
	return ref.Node == n.cfg.Node && ref.Incarnation == n.incarnation && int(ref.Page) < n.slab.Pages
}

func (n *Node) chain(domain string) *kvpool.Chain {
	return kvpool.NewChain(n.cfg.Key, domain, n.cfg.LayoutHash)
}

func (n *Node) domain(name string) page.Domain { return kvpool.DomainOf(n.cfg.Key, name) }

func zapSeq(q page.Seq) zap.Field { return zap.Uint64("sequence", uint64(q)) }
func zapRef(r page.Ref) zap.Field { return zap.Stringer("page", r) }

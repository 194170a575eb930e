package actors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// ClusterConfig says how a node works with others. A zero stands for the default named at the field, unless it is required.
type ClusterConfig struct {
	Prefill bool // computes prompts for other nodes
	Decode  bool // answers prompts that others computed; with both it does either. One of the two is required

	Remote remote.Config // Self, TLS and bounds; what Self says of roles and transports, and the Handler, are filled in here
	Listen string        // address for other processes; required
	Peers  []string      // addresses of prefill nodes that a decode node connects with, beside those of which gateways tell

	// Memory is where the pages lie, for transports that need memory of a kind of their own; the caller gives it back when the node is closed. nil: the device allocates.
	Memory *transport.Slab

	Transports  []transport.Transport // ways to read pages, best first; required
	Handoff     handoff.NodeConfig    // times and bounds; the rest is filled in here
	ExportQuota int                   // pages that may be promised to other nodes at a time; half of the pool

	Tracing     trace.TracerProvider // nil: no traces
	Tick        time.Duration        // how often the pure parts hear that time passes; 50 ms
	ReadTimeout time.Duration        // a read that has not landed for so long makes its connection suspected; 30 s
}

func (c ClusterConfig) withDefaults(pages int) (*ClusterConfig, error) {
	switch {
	case !c.Prefill && !c.Decode:
		return nil, errors.New("actors: ClusterConfig: neither Prefill nor Decode is set; one or both must be")
	case len(c.Transports) == 0:
		return nil, errors.New("actors: ClusterConfig.Transports is empty; at least one transport is needed")
	}
	if c.ExportQuota == 0 {
		c.ExportQuota = max(1, pages/2)
	}
	if c.Tick == 0 {
		c.Tick = 50 * time.Millisecond
	}
	if c.ReadTimeout == 0 {
		c.ReadTimeout = readTimeout
	}
	return &c, nil
}

// HostMemory is what a device needs for its pages to be read by other nodes: memory that this process can address.
type HostMemory interface {
	// Bytes is the memory of a buffer of this device.
	Bytes(gpu.Buffer) []byte
	// SlabIn is NewSlab in zeroed memory that the caller has and keeps.
	SlabIn(l gpu.KVLayout, pages int, data []byte) (*gpu.Slab, error)
}

// cluster is what a node has beside its own actors when it works with others. All of it is made by start and ended by close; between the two it does not change, but for channels.
type cluster struct {
	ClusterConfig
	slab    transport.Slab
	exports *transport.Exports
	exposed map[string]transport.Exposed // by transport

	links   *remote.Links
	dialing *dialing
	address string // where this node listens

	background sync.WaitGroup  // dials, fences and watchers of channels
	closed     context.Context // ends when the node is being closed
	close      context.CancelFunc

	mu       sync.Mutex
	channels map[page.Node]channel
}

// channel is the channel actor of a peer.
type channel struct {
	pid  *actor.PID
	gone <-chan struct{} // see channelActor
}

func newCluster(n *Node, cfg *ClusterConfig) (*cluster, error) {
	host, ok := n.dev.(HostMemory)
	if !ok {
		return nil, fmt.Errorf("actors: pages of a %s device cannot be read by other nodes yet", n.dev.Name())
	}
	c := &cluster{ClusterConfig: *cfg, exports: transport.NewExports(), exposed: map[string]transport.Exposed{}, channels: map[page.Node]channel{},
		slab: transport.Slab{Bytes: host.Bytes(n.slab.Data), PageBytes: n.layout.PageBytes()}}
	if cfg.Memory != nil {
		c.slab = *cfg.Memory
	}
	c.closed, c.close = context.WithCancel(context.Background())
	if !cfg.Prefill {
		return c, nil
	}
	for _, t := range cfg.Transports {
		x, err := t.Expose(c.slab, c.exports)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("actors: expose the pages by %s: %w", t.Name(), err), c.closeExposed())
		}
		c.exposed[t.Name()] = x
	}
	return c, nil
}

func (c *cluster) closeExposed() error {
	var errs []error
	for name, x := range c.exposed {
		if err := x.Close(); err != nil {
			errs = append(errs, fmt.Errorf("actors: close %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// TransportNames are the ways to read this node's pages, best first.
func (n *Node) TransportNames() []string {
	var names []string
	for _, t := range n.cluster.Transports {
		names = append(names, t.Name())
	}
	return names
}

func (c *cluster) shares(offered []string) bool {
	for _, t := range c.Transports {
		for _, name := range offered {
			if t.Name() == name {
				return true
			}
		}
	}
	return false
}

// descriptors are what the peer of link needs to dial this node's pages.
func (c *cluster) descriptors(link page.Link) map[string][]byte {
	d := map[string][]byte{}
	for name, x := range c.exposed {
		d[name] = x.Descriptor(link)
	}
	return d
}

// fence returns true when the peer of link can read nothing here any more, and false when the node is closed first. It waits as long as that takes: no timer frees a page.
func (c *cluster) fence(link page.Link, log *zap.Logger) bool {
	for name, x := range c.exposed {
		for began := time.Now(); ; {
			ctx, cancel := context.WithTimeout(c.closed, fenceAttempt)
			err := x.Fence(ctx, link)
			cancel()
			if err == nil {
				break
			}
			if c.closed.Err() != nil {
				return false
			}
			log.Warn("a fence is not complete: the pages that the peer may still read stay where they are", zapLink(link), zap.String("transport", name),
				zap.Duration("waited", time.Since(began)), zap.Error(err))
		}
	}
	return true
}

// newSlab allocates the pages.
func (n *Node) newSlab() (*gpu.Slab, error) {
	pages := n.cfg.Sched.TotalPages
	if n.cfg.Cluster == nil || n.cfg.Cluster.Memory == nil {
		return n.dev.NewSlab(n.layout, pages)
	}
	host, ok := n.dev.(HostMemory)
	if !ok {
		return nil, fmt.Errorf("actors: pages of a %s device cannot lie in memory of the host", n.dev.Name())
	}
	return host.SlabIn(n.layout, pages, n.cfg.Cluster.Memory.Bytes)
}

// openCluster makes what a node has beside its actors when it works with others. It needs the slab, and nothing of it is used before joinCluster.
func (n *Node) openCluster(cfg ClusterConfig) (err error) {
	full, err := cfg.withDefaults(n.slab.Pages)
	if err != nil {
		return err
	}
	n.cluster, err = newCluster(n, full)
	return err
}

// joinCluster listens and connects: from now on others are served.
func (n *Node) joinCluster() error {
	c := n.cluster
	cfg := c.Remote
	cfg.Handler, cfg.Logger = &peers{n}, n.log
	self := &cfg.Self
	self.Kind, self.ID, self.Incarnation = remote.Node, n.cfg.Node, n.incarnation
	self.Prefill, self.Decode = c.Prefill, c.Decode
	self.Layout, self.PageSize, self.PoolPages = n.cfg.LayoutHash, n.layout.PageSize, n.slab.Pages
	self.MaxModelLen, self.Kernels, self.Transports = n.cfg.Sched.MaxModelLen, n.dev.KernelSet(), n.TransportNames()
	links, err := remote.New(cfg)
	if err != nil {
		return err
	}
	c.links = links
	if err := n.metrics.registerAll(n.cfg.Registerer, []prometheus.Collector{prometheus.WrapCollectorWith(n.cfg.Labels, links)}); err != nil {
		return fmt.Errorf("actors: %w", err)
	}
	c.dialing = newDialing(c.closed, links)
	c.dialing.never(c.Listen)
	addr, err := links.Listen(c.Listen)
	if err != nil {
		return err
	}
	c.address = addr.String()
	c.dialing.never(c.address)
	n.join("the configuration", c.Peers)
	c.background.Go(n.beat)
	return nil
}

// Life names this node, and its life.
func (n *Node) Life() (page.Node, page.Incarnation) { return n.cfg.Node, n.incarnation }

// Address is where this node listens for other processes; empty if it does not.
func (n *Node) Address() string {
	if n.cluster == nil {
		return ""
	}
	return n.cluster.address
}

// leaveCluster ends all connections. When it has returned nobody else reads this node's pages and no read of its own lands any more.
func (n *Node) leaveCluster() error {
	c := n.cluster
	c.close()
	var errs []error
	if c.links != nil {
		errs = append(errs, c.links.Close()) // tells every channel that its links are lost
	}
	c.mu.Lock()
	channels := slices.Collect(maps.Values(c.channels))
	c.mu.Unlock()
	for _, ch := range channels {
		n.system.Root.Stop(ch.pid)
		<-ch.gone
	}
	c.background.Wait()
	return errors.Join(append(errs, c.closeExposed())...)
}

// abandon ends the connections of a node that has failed.
func (c *cluster) abandon() {
	c.close()
	if c.links != nil {
		go c.links.Close() // again, with its error, when the node is closed
	}
}

// drainAttempts takes no new part in attempts, and waits until those there are have ended, hand-offs among them; it reports how many are left when ctx ends.
func (n *Node) drainAttempts(ctx context.Context) (left int, err error) {
	n.tell(n.scheduler, handoffDrain{})
	t := time.NewTicker(n.cluster.Tick)
	defer t.Stop()
	for {
		reply, err := ask(context.WithoutCancel(ctx), n, n.scheduler, func(c chan<- handoff.NodeStats) any { return attemptsReport{c} })
		if err != nil {
			return 0, err
		}
		if reply.Live == 0 {
			return 0, nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return reply.Live, ctx.Err()
		}
	}
}

// selfLink is link as its peer names it.
func (n *Node) selfLink(link page.Link) page.Link {
	return page.Link{Peer: n.cfg.Node, Incarnation: n.incarnation, Epoch: link.Epoch}
}

// channel is the channel actor of a peer, which is made when it is first asked for.
func (n *Node) channel(peer page.Node) *actor.PID {
	c := n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch, ok := c.channels[peer]; ok {
		return ch.pid
	}
	if c.closed.Err() != nil {
		return actor.NewPID(n.system.Address(), "closed") // what is said to nobody is lost
	}
	a := &channelActor{node: n, peer: peer, links: map[page.Link]*nodeLink{}, gone: make(chan struct{})}
	pid := n.system.Root.WithGuardian(&childGuard{n}).SpawnPrefix(n.props("channel", a), "channel")
	c.channels[peer] = channel{pid, a.gone}
	return pid
}

// eachChannel sends m to all channels.
func (n *Node) eachChannel(m any) {
	c := n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.channels {
		n.tell(ch.pid, m)
	}
}

// childGuard supervises channels as the node actor does its children: a panic ends the incarnation.
type childGuard struct{ node *Node }

func (s *childGuard) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	s.node.fail(reason)
	sup.StopChildren(child)
	s.node.system.Root.Stop(s.node.self)
}

// performHandoff performs what the ledger says of links and attempts. Its slices are the ledger's until the next event, so messages carry copies.
func (a *poolActor) performHandoff(fx *kvpool.Effect) {
	n := a.node
	switch fx.Kind {
	case kvpool.FxSend:
		m := fx.Message
		m.Pages = slices.Clone(m.Pages)
		if m.Seal != nil {
			seal := *m.Seal
			m.Seal = &seal
		}
		n.tell(n.channel(fx.Link.Peer), &channelSend{fx.Link, &m})
	case kvpool.FxFence:
		n.tell(n.scheduler, linkLost{fx.Link})
		n.tell(n.channel(fx.Link.Peer), channelFence{fx.Link})
	case kvpool.FxRead:
		n.tell(n.channel(fx.Link.Peer), &channelRead{link: fx.Link, job: fx.Job, attempt: fx.Attempt, src: fx.Src, dst: fx.Dst.Page})
	case kvpool.FxStart:
		// Whether or not the sequence runs, its full pages can be found by others from now on: their headers come first.
		s := &stamp{}
		for _, ref := range fx.Refs {
			if c, ok := a.core.Sealed(ref.Page); ok {
				s.pages = append(s.pages, c)
			}
		}
		n.tell(n.runner, s)
		fallthrough
	default:
		own := *fx
		own.Refs = slices.Clone(fx.Refs)
		n.tell(n.scheduler, &poolSaid{fx: &own})
	}
}

package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
)

// plan is what the seed decides beforehand: any part of it can be left out.
type plan struct {
	end      int64 // of the faults
	faults   []fault
	requests []arrival
}

// fault is one thing that goes wrong at a time.
type fault struct {
	kind     Faults
	at, last int64
	node     int
	nodes    []int
	oneWay   bool
	drops    bool
}

// arrival is one request.
type arrival struct {
	at       int64
	tenant   int
	prompt   []int32
	max      int
	cancelAt int64 // 0: never
	gate     int
	choices  int
	details  bool
	deadline int64
}

const tenants = 2

// build makes the cluster that the seed says, with its plan.
func (s *sim) build() {
	s.pageSize = []int{2, 4, 8}[s.rng.IntN(3)]
	s.oneSided = s.chance(50)
	for i := range s.key {
		s.key[i] = byte(s.rng.Uint64())
	}
	if sp := s.cfg.special; sp != nil {
		s.pageSize = sp.pageSize
	}
	for i := range s.cfg.Nodes {
		s.nodes = append(s.nodes, s.newNode(i))
	}
	if s.cfg.Faults&Lie != 0 && s.cfg.Nodes > 2 {
		s.nodes[s.rng.IntN(s.cfg.Nodes)].liar = true
	}
	s.net = newNetwork(s, s.cfg.Nodes)
	gates := 1 + s.rng.IntN(3)
	s.makePlan(gates)
	for _, n := range s.nodes {
		n.start()
	}
	for range gates {
		s.newGate()
	}
	for i, a := range s.nodes {
		for _, b := range s.nodes[i+1:] {
			if a.prefill && b.decode || b.prefill && a.decode {
				s.net.connect(s.net.pair(a, b))
			}
		}
	}
	s.schedule()
}

func (s *sim) newNode(i int) *node {
	n := &node{s: s, id: i, slowness: 1}
	switch k := s.rng.IntN(3); {
	case i == 0, i > 1 && k == 0:
		n.prefill = true
	case i == 1, k == 1:
		n.decode = true
	default:
		n.prefill, n.decode = true, true
	}
	if s.chance(10) {
		n.prefill, n.decode = true, true
	}
	most := s.mostTokens()
	least := (most+s.pageSize-1)/s.pageSize + 1
	n.pages = least + s.rng.IntN(4*least)
	if s.cfg.Faults&Tiny != 0 {
		n.pages = least + s.rng.IntN(3)
	}
	n.config = sched.Config{
		PageSize: s.pageSize, TotalPages: n.pages,
		MaxModelLen: most, MaxNumSeqs: 1 + s.rng.IntN(6), MaxBatchedTokens: 8 + s.rng.IntN(40), MaxPrefillChunk: s.rng.IntN(2) * (4 + s.rng.IntN(12)), MaxQueue: 16,
	}
	n.ledgerConfig = kvpool.Config{
		Node: page.Node(i), Pages: n.pages, PrefixCache: s.chance(80), Scrub: s.chance(25), PageSize: s.pageSize,
		ExportQuota: s.rng.IntN(2) * n.pages, MaxTombstones: []int{0, 0, -1, 1, 8}[s.rng.IntN(5)],
	}
	ms := int64(milli * 1000)
	n.coreConfig = handoff.NodeConfig{
		Key: s.key, Layout: s.layout, PageSize: int64(s.pageSize), GroupPages: int64(1 + s.rng.IntN(3)), RepeatAfter: 1, ReleaseTimeout: revokeAfter * 1000,
		SuspectTimeout: suspectAfter * 1000, GatewayGrace: 200 * ms, StatusEvery: 40 * ms, MaxRemaining: 20 * sec * 1000,
		MaxAttempts: []int64{0, 0, 12}[s.rng.IntN(3)], MaxEnded: []int64{0, 1, 6}[s.rng.IntN(3)], MaxClosed: []int64{0, 1, 6}[s.rng.IntN(3)], MaxGateways: 64,
	}
	if s.cfg.special != nil {
		s.cfg.special.node(n)
	}
	n.coreConfig.Prefill, n.coreConfig.Decode = n.prefill, n.decode
	n.coreConfig.Limits = handoff.Limits{MaxModelLen: n.config.MaxModelLen, PoolTokens: n.config.TotalPages * s.pageSize}
	return n
}

// mostTokens bounds prompt and answer of a request.
func (s *sim) mostTokens() int { return 6*s.pageSize + 16 }

func (s *sim) makePlan(gates int) {
	s.plan.end = s.between(200*milli, 600*milli)
	if s.cfg.special != nil {
		s.cfg.special.plan(s)
		return
	}
	var shared [3][]int32
	for i := range shared {
		shared[i] = s.tokens(1 + s.rng.IntN(4*s.pageSize))
	}
	for range s.cfg.Requests {
		a := arrival{at: s.between(milli, s.plan.end), tenant: s.rng.IntN(tenants), max: 1 + s.rng.IntN(10)}
		if s.chance(60) {
			a.prompt = slices.Clone(shared[s.rng.IntN(len(shared))])
		}
		for range 1 + s.rng.IntN(2) {
			a.prompt = append(a.prompt, int32(canary+a.tenant*canaries+s.rng.IntN(3)))
		}
		a.prompt = append(a.prompt, s.tokens(s.rng.IntN(2*s.pageSize))...)
		if n := s.mostTokens() - a.max - 1; len(a.prompt) > n {
			a.prompt = a.prompt[:n]
		}
		if s.chance(4) { // no node can hold it
			a.prompt = append(a.prompt, s.tokens(s.mostTokens())...)
		}
		if s.cfg.Faults&Abort != 0 && s.chance(89) || s.chance(5) {
			a.cancelAt = a.at + s.between(0, 60*milli)
		}
		a.gate, a.choices, a.details, a.deadline = s.rng.IntN(gates), 1, s.chance(30), 8*sec
		if s.chance(25) {
			a.choices = 2 + s.rng.IntN(2)
		}
		if s.chance(5) {
			a.deadline = s.between(milli, 100*milli)
		}
		s.plan.requests = append(s.plan.requests, a)
	}
	s.planFaults()
	s.res.PlannedFaults, s.res.PlannedRequests = len(s.plan.faults), len(s.plan.requests)
	s.plan.requests = without(s.plan.requests, s.cfg.DropRequests)
	s.plan.faults = without(s.plan.faults, s.cfg.DropFaults)
}

func (s *sim) planFaults() {
	for _, kind := range []Faults{Clog, Partition, Crash, Slow, Tick, Flip, Restart, Drop} {
		if s.cfg.Faults&kind == 0 {
			continue
		}
		for range 1 + s.rng.IntN(2+s.cfg.Nodes/4) {
			f := fault{kind: kind, at: s.between(milli, s.plan.end*9/10), last: s.between(milli, 150*milli), node: s.rng.IntN(s.cfg.Nodes), oneWay: s.chance(40), drops: s.chance(50)}
			for i := range s.cfg.Nodes {
				if s.chance(50) {
					f.nodes = append(f.nodes, i)
				}
			}
			s.plan.faults = append(s.plan.faults, f)
		}
	}
}

func (s *sim) tokens(n int) []int32 {
	t := make([]int32, n)
	for i := range t {
		t[i] = int32(s.rng.IntN(50000))
	}
	return t
}

func without[T any](all []T, drop []int) []T {
	var kept []T
	for i, x := range all {
		if !slices.Contains(drop, i) {
			kept = append(kept, x)
		}
	}
	return kept
}

// schedule puts the plan into the queue.
func (s *sim) schedule() {
	for _, f := range s.plan.faults {
		s.after(f.at, func() { s.strike(f) })
	}
	for _, a := range s.plan.requests {
		s.after(a.at, func() { s.arrive(a) })
	}
	s.after(s.plan.end, func() {
		s.faults = false
		for i := range s.net.block {
			s.net.block[i].until = min(s.net.block[i].until, s.now)
		}
		for _, n := range s.nodes {
			n.slowness = 1
		}
		s.logf("the faults are over")
		s.watch()
	})
}

// arrive has a client ask for its choices, and go away if it is planned so.
func (s *sim) arrive(a arrival) {
	seed := s.rng.Uint64()
	for i := range max(1, a.choices) {
		c := &client{tenant: a.tenant, max: a.max, deadline: a.deadline, spec: &handoff.Spec{Prompt: a.prompt, Choice: uint32(i), Seed: seed, Details: a.details}}
		g := s.gates[a.gate]
		for k := 0; k < len(s.gates) && g.down; k++ {
			g = s.gates[(a.gate+k)%len(s.gates)]
		}
		s.ask(g, c)
		if a.cancelAt > 0 {
			s.after(a.cancelAt-a.at, func() { s.abort(c) })
		}
	}
}

// strike makes a fault happen.
func (s *sim) strike(f fault) {
	if !s.faults {
		return
	}
	n := s.nodes[f.node]
	s.logf("fault %v: node %d of %v, %d ms", f.kind, f.node, f.nodes, f.last/milli)
	switch f.kind {
	case Clog:
		for _, to := range f.nodes { // one after the other, each until a time of its own
			s.after(s.between(0, f.last), func() { s.obstruct(f.node, to, s.between(0, f.last), false) })
		}
	case Partition:
		for _, a := range f.nodes {
			for b := range s.nodes {
				if !slices.Contains(f.nodes, b) {
					s.obstruct(a, b, f.last, f.drops)
					if !f.oneWay {
						s.obstruct(b, a, f.last, f.drops)
					}
				}
			}
		}
	case Slow:
		n.slowness = 5 + s.rng.IntN(30)
		s.after(f.last, func() { n.slowness = 1 })
	case Tick:
		for range 3 {
			s.after(s.between(0, f.last), func() {
				if !n.down {
					n.tick()
				}
			})
		}
	case Flip:
		for range 16 {
			s.after(s.between(0, f.last), func() { s.flip(n) })
		}
	case Restart:
		s.crashGate(s.gates[f.node%len(s.gates)], f.last)
	case Drop:
		for _, g := range s.gates {
			if w := g.wires[n.id]; w != nil {
				s.cut(w)
			}
		}
	case Crash:
		s.crashBusy(n, f.last, int(f.last%2)*200)
	}
}

func (s *sim) obstruct(from, to int, last int64, drops bool) {
	if from == to || !s.faults {
		return
	}
	b := &s.net.block[from*s.cfg.Nodes+to]
	if b.until <= s.now {
		b.since = s.now
	}
	b.until, b.drops = max(b.until, min(s.now+last, s.plan.end)), drops
}

// crashBusy waits a while for the worst moment: when something is being read from the node.
func (s *sim) crashBusy(n *node, last int64, tries int) {
	for _, c := range n.conns {
		if tries == 0 || len(c.sides[1-c.side(n)].out) > 0 {
			s.crash(n, last)
			return
		}
	}
	if s.faults && tries > 0 {
		s.after(s.between(50, 500), func() { s.crashBusy(n, last, tries-1) })
	}
}

// crash ends a life, and begins the next at the same address. Its peers hear of either first; the gateway of both, later.
func (s *sim) crash(n *node, last int64) {
	if n.down {
		return
	}
	s.res.Crashes++
	s.logf("node %d: life %d ends", n.id, n.life)
	n.down = true
	s.res.Pools.add(n.pool.Stats())
	for _, p := range s.net.pairs {
		if p == nil || p.a != n && p.b != n || p.conn == nil {
			continue
		}
		s.net.connect(p)
	}
	for _, c := range slices.Clone(n.conns) {
		s.net.shut(c, c.side(n))
	}
	for _, p := range s.net.pairs { // also what had not said hello yet
		if p != nil && p.conn != nil && (p.a == n || p.b == n) {
			c := p.conn
			if i := c.side(n); !c.sides[i].shut {
				s.net.shut(c, i)
			}
		}
	}
	for _, g := range s.gates {
		if w := g.wires[n.id]; w != nil {
			s.cut(w)
		}
	}
	if s.chance(50) {
		last = 2 * milli
	}
	s.after(s.between(100, last), n.start)
}

// flip turns a bit of some page over: of its header, or of its bytes where they are hashed before anybody reads them again. (What flips in a page that is being read is not found, and is not promised to be.)
func (s *sim) flip(n *node) {
	if n.down || !s.faults {
		return
	}
	if s.chance(50) {
		n.flip(page.Index(s.rng.IntN(n.pages)), true)
		return
	}
	first := s.rng.IntN(n.pages)
	for k := range n.pages {
		if i := page.Index((first + k) % n.pages); n.isQuiet(i) {
			n.flip(i, false)
			return
		}
	}
}

// probe makes new requests when the faults are over, each over two honest nodes, through a gateway that knows no others.
func (s *sim) probe() {
	if s.cfg.special != nil {
		return
	}
	for i, a := range s.nodes {
		b := s.nodes[(i+1+s.rng.IntN(len(s.nodes)-1))%len(s.nodes)]
		if a.prefill && b.decode && !a.liar && !b.liar {
			tenant := s.rng.IntN(tenants)
			prompt := append([]int32{int32(canary + tenant*canaries)}, s.tokens(1+s.rng.IntN(5*s.pageSize))...)
			s.ask(s.newGate(a, b), &client{tenant: tenant, max: 4, probe: true, deadline: 50 * sec, spec: &handoff.Spec{Prompt: prompt}})
		}
	}
}

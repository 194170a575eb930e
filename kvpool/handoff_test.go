package kvpool

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestHandoff lets rapid play the network, the transports, the schedulers and the gateway of two or three nodes, each both a prefill and a decode node: messages are dropped,
// repeated and reordered, nodes restart, links are lost and fenced at each side on its own, reads land late, in halves, or never. When the faults end everything must come home.
func TestHandoff(t *testing.T) {
	total := handoffTotals{}
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{
			Pages:         rapid.IntRange(2, 8).Draw(rt, "pages"),
			PrefixCache:   rapid.Bool().Draw(rt, "cache"),
			Scrub:         rapid.IntRange(0, 3).Draw(rt, "scrub") == 0,
			ExportQuota:   rapid.SampledFrom([]int{0, 0, 4}).Draw(rt, "quota"),
			MaxTombstones: rapid.SampledFrom([]int{0, -1, 1, 2}).Draw(rt, "tombstones"),
		}
		h := &handoffMachine{newWorld(rapid.IntRange(2, 3).Draw(rt, "nodes"), cfg)}
		h.w.t = rt
		for a := range h.w.nodes {
			for b := range a {
				h.w.connect(a, b)
			}
		}
		for _, n := range h.w.nodes {
			n.hello(-1)
		}
		actions := rapid.StateMachineActions(h)
		for range 10 {
			rt.Repeat(actions)
		}
		h.settle()
		for _, n := range h.w.nodes {
			h.w.past.add(n.ledger.Stats())
		}
		total.sum(&h.w.past)
	})
	// The test is of worth only where things happen.
	if total.started == 0 || total.lost == 0 || total.cancelled == 0 || total.refused == 0 || total.mismatched == 0 || total.hits == 0 {
		t.Errorf("something never happened: %+v", total)
	}
	t.Logf("%+v", total)
}

type handoffTotals struct {
	started, cancelled, refused, mismatched, lost, fences, folded, rejected, hits uint64
}

func (h *handoffTotals) sum(o *handoffTotals) {
	h.started += o.started
	h.cancelled += o.cancelled
	h.refused += o.refused
	h.mismatched += o.mismatched
	h.lost += o.lost
	h.fences += o.fences
	h.folded += o.folded
	h.rejected += o.rejected
	h.hits += o.hits
}

func (h *handoffTotals) add(s Stats) {
	h.started += s.ImportsEnded[Done]
	h.cancelled += s.ImportsEnded[Cancelled]
	h.refused += s.ImportsEnded[Refused]
	h.mismatched += s.ImportsEnded[Mismatch]
	h.lost += s.ImportsEnded[Lost]
	h.fences += s.Fences
	h.folded += s.Folded
	h.rejected += s.ReadsRejected
	h.hits += s.ImportHits
}

type handoffMachine struct{ w *world }

func (h *handoffMachine) Check(*rapid.T) {}

func (h *handoffMachine) node(t *rapid.T) *node { return rapid.SampledFrom(h.w.nodes).Draw(t, "node") }

// rarely is for faults: if each step had one nothing would ever get far.
func rarely(t *rapid.T) bool { return rapid.IntRange(0, 7).Draw(t, "rarely") == 7 }

func pick[T any](t *rapid.T, what string, from []T) T {
	if len(from) == 0 {
		t.Skip("no " + what)
	}
	return rapid.SampledFrom(from).Draw(t, what)
}

// Submit makes an attempt, and tells most of those who must know.
func (h *handoffMachine) Submit(t *rapid.T) {
	x := h.attempt(t)
	if rapid.IntRange(0, 4).Draw(t, "to prefill") > 0 {
		h.w.nodes[x.p].reserve(x)
	}
	if rapid.IntRange(0, 4).Draw(t, "to decode") > 0 {
		h.w.nodes[x.d].expect(x)
	}
}

func (h *handoffMachine) attempt(t *rapid.T) *try {
	w := h.w
	i := rapid.IntRange(0, len(w.nodes)-1).Draw(t, "prefill")
	d := (i + rapid.IntRange(1, len(w.nodes)-1).Draw(t, "decode")) % len(w.nodes)
	x := &try{
		name: Attempt{Gateway: 1 + uint64(len(w.attempts)%2), Number: uint64(len(w.attempts) + 1), Prefill: w.nodes[i].inc},
		p:    i, d: d, pi: w.nodes[i].inc, di: w.nodes[d].inc, domain: page.Domain(rapid.IntRange(1, 2).Draw(t, "tenant")),
		tokens:   rapid.SliceOfN(rapid.ByteRange(0, 1), 1, 6).Draw(t, "tokens"),
		released: map[page.Incarnation]bool{}, accepted: map[page.Ref]bool{},
	}
	w.attempts = append(w.attempts, x)
	w.byName[x.name] = x
	return x
}

// Flow lets an attempt go as it should, as far as it will: uniform chance would hardly ever get to the end.
func (h *handoffMachine) Flow(t *rapid.T) { h.flow(t, h.attempt(t)) }

// Twice hands a prompt to a node that has had it, or the beginning of it, before.
func (h *handoffMachine) Twice(t *rapid.T) {
	x := h.attempt(t)
	h.flow(t, x)
	y := h.attempt(t)
	y.p, y.d, y.domain = x.p, x.d, x.domain
	y.name.Prefill, y.pi, y.di = h.w.nodes[x.p].inc, h.w.nodes[x.p].inc, h.w.nodes[x.d].inc
	n := rapid.IntRange(0, len(x.tokens)).Draw(t, "in common")
	y.tokens = slices.Concat(x.tokens[:n], y.tokens)[:min(6, n+len(y.tokens))]
	h.flow(t, y)
}

func (h *handoffMachine) flow(t *rapid.T, x *try) {
	h.w.byName[x.name] = x
	p, d := h.w.nodes[x.p], h.w.nodes[x.d]
	stop := rapid.IntRange(0, 19).Draw(t, "stop") // a step that is not done, if there is one of that number
	if rapid.Bool().Draw(t, "a clear way") {
		if k, ok := p.up(x.d); !ok || k.Incarnation != x.di {
			h.w.connect(x.p, x.d)
		}
		for _, n := range []*node{p, d} {
			n.hello(-1)
			n.end(-1)
			n.upkeep()
		}
	}
	for i, do := range []func(){
		func() { p.reserve(x) },
		func() { d.expect(x) },
		func() { h.prefill(t, p, x) },
		func() { h.passOn(t, len(h.w.net)) },
		func() { h.readAll(d) },
		func() { h.prefill(t, p, x) },
		func() { h.passOn(t, len(h.w.net)) },
		func() { h.readAll(d) },
		func() { h.passOn(t, 1) },
	} {
		if i == stop {
			h.trouble(t, x)
			return
		}
		do()
	}
}

// trouble is what is worst in the middle of an attempt: something ends it at one side, and others take what pages they can get.
func (h *handoffMachine) trouble(t *rapid.T, x *try) {
	n := h.w.nodes[rapid.SampledFrom([]int{x.p, x.d}).Draw(t, "trouble at")]
	switch rapid.IntRange(0, 7).Draw(t, "trouble") {
	case 0:
		return
	case 4, 5:
		if d := h.w.nodes[x.d]; len(d.reads) > 0 {
			d.land(d.reads[len(d.reads)-1]) // before all of it has come
		}
	case 1:
		if k, ok := n.up(x.p + x.d - (n.id - 1)); ok {
			n.step(Event{Kind: EvLost, Link: k})
		}
	case 2:
		h.w.restart(n.id - 1)
	case 3:
		h.w.connect(x.p, x.d)
		n.hello(-1)
	default:
		n.step(Event{Kind: EvCancel, Attempt: x.name})
		if e := n.exports[x.name]; e != nil {
			e.gone = true
		}
	}
	if e := n.exports[x.name]; e != nil && rapid.Bool().Draw(t, "sequence ends") {
		e.gone = true
		n.step(Event{Kind: EvRelease, Seq: e.seq})
	}
	for range rapid.IntRange(0, h.w.cfg.Pages).Draw(t, "others") {
		n.local()
	}
}

func (h *handoffMachine) prefill(t *rapid.T, n *node, x *try) {
	e := n.exports[x.name]
	if e == nil || e.gone {
		return
	}
	for left := rapid.IntRange(-3, 2).Draw(t, "pages left out"); len(e.pages) < x.pages()-max(left, 0) && n.compute(e); {
	}
	n.offer(e, x.pages())
}

// passOn delivers the last few messages, in an order of its own.
func (h *handoffMachine) passOn(t *rapid.T, n int) {
	for _, p := range rapid.Permutation(slices.Clone(h.w.net[max(0, len(h.w.net)-min(n, 3)):])).Draw(t, "order") {
		h.w.deliver(p)
	}
}

func (h *handoffMachine) readAll(n *node) {
	for len(n.reads) > 0 {
		for n.sample(n.reads[0]) {
		}
		n.land(n.reads[0])
	}
	for len(n.checks) > 0 {
		n.verified(n.checks[0])
	}
}

// Again repeats the gateway's word to one side, or brings it late.
func (h *handoffMachine) Again(t *rapid.T) {
	x := pick(t, "attempt", h.w.attempts)
	if rapid.Bool().Draw(t, "prefill") {
		h.w.nodes[x.p].reserve(x)
	} else {
		h.w.nodes[x.d].expect(x)
	}
}

func (h *handoffMachine) Cancel(t *rapid.T) {
	x := pick(t, "attempt", h.w.attempts)
	n := h.w.nodes[rapid.SampledFrom([]int{x.p, x.d}).Draw(t, "where")]
	n.step(Event{Kind: EvCancel, Attempt: x.name})
	if e := n.exports[x.name]; e != nil {
		e.gone = true
	}
}

func (n *node) open() []*prefill {
	var open []*prefill
	for _, x := range n.w.attempts { // in their order, not the map's
		if e := n.exports[x.name]; e != nil && !e.gone {
			open = append(open, e)
		}
	}
	return open
}

// Prefill computes and offers.
func (h *handoffMachine) Prefill(t *rapid.T) {
	n := h.node(t)
	e := pick(t, "export", n.open())
	for len(e.pages) < e.try.pages() && rapid.IntRange(0, 3).Draw(t, "more") > 0 {
		if !n.compute(e) {
			break
		}
	}
	n.offer(e, rapid.IntRange(0, 3).Draw(t, "pages"))
}

func (h *handoffMachine) Revoke(t *rapid.T) {
	n := h.node(t)
	e := pick(t, "export", n.open())
	e.gone = true
	n.step(Event{Kind: EvRevoke, Attempt: e.try.name})
}

// Deliver delivers messages, which may come again.
func (h *handoffMachine) Deliver(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "how many") {
		h.w.deliver(pick(t, "message", h.w.net))
	}
}

// Newest delivers what was sent last: so that things get done.
func (h *handoffMachine) Newest(t *rapid.T) {
	p := pick(t, "message", h.w.net[max(0, len(h.w.net)-2):])
	h.w.deliver(p)
}

func (h *handoffMachine) Drop(t *rapid.T) {
	if len(h.w.net) == 0 {
		t.Skip("nothing under way")
	}
	i := rapid.IntRange(0, len(h.w.net)-1).Draw(t, "message")
	h.w.net = slices.Delete(h.w.net, i, i+1)
}

// Misdirect delivers a message as if it had come over the connection of today, or to another node.
func (h *handoffMachine) Misdirect(t *rapid.T) {
	p := pick(t, "message", h.w.net)
	if rapid.Bool().Draw(t, "to another") {
		p.to = rapid.IntRange(0, len(h.w.nodes)-1).Draw(t, "to")
	}
	if k, ok := h.w.nodes[p.to].up(int(p.link.Peer) - 1); ok {
		p.link = k
		h.w.deliver(p)
	}
}

func (h *handoffMachine) Tick(t *rapid.T) { h.node(t).step(Event{Kind: EvTick}) }

// Read lets reads go on, and end.
func (h *handoffMachine) Read(t *rapid.T) {
	n := h.node(t)
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		r := pick(t, "read", n.reads)
		if !n.sample(r) {
			n.land(r)
		}
	}
}

// FailRead ends a read before it has landed.
func (h *handoffMachine) FailRead(t *rapid.T) {
	if !rarely(t) {
		t.Skip("not now")
	}
	n := h.node(t)
	n.land(pick(t, "read", n.reads))
}

// Flip makes a cached byte at a prefill node bad.
func (h *handoffMachine) Flip(t *rapid.T) {
	n := h.node(t)
	e := pick(t, "export", n.open())
	if len(e.pages) > 0 {
		r := pick(t, "page", e.pages)
		n.bytes[r.Page][1]++
		n.flipped[r] = true
	}
}

// BadPage has a node find such a page itself.
func (h *handoffMachine) BadPage(t *rapid.T) {
	if !rarely(t) {
		t.Skip("not now")
	}
	n := h.node(t)
	e := pick(t, "export", n.open())
	n.step(Event{Kind: EvBadPage, Seq: e.seq, Ref: pick(t, "page", e.pages)})
}

func (n *node) hello(count int) {
	for count != 0 && len(n.hellos) > 0 {
		k := n.hellos[0]
		n.hellos = n.hellos[1:]
		n.step(Event{Kind: EvConnected, Link: k})
		count--
	}
}

func (h *handoffMachine) Hello(t *rapid.T) { h.node(t).hello(1) }

func (h *handoffMachine) Connect(t *rapid.T) {
	if !rarely(t) {
		t.Skip("not now")
	}
	a := rapid.IntRange(0, len(h.w.nodes)-1).Draw(t, "a")
	h.w.connect(a, (a+rapid.IntRange(1, len(h.w.nodes)-1).Draw(t, "b"))%len(h.w.nodes))
}

func (h *handoffMachine) Lose(t *rapid.T) {
	if !rarely(t) {
		t.Skip("not now")
	}
	n := h.node(t)
	if k, ok := n.up(rapid.IntRange(0, len(h.w.nodes)-1).Draw(t, "peer")); ok {
		n.step(Event{Kind: EvLost, Link: k})
	}
}

func (h *handoffMachine) Fence(t *rapid.T) {
	n := h.node(t)
	n.fence(pick(t, "fence", n.fences))
}

func (h *handoffMachine) Restart(t *rapid.T) {
	if !rarely(t) {
		t.Skip("not now")
	}
	h.w.restart(rapid.IntRange(0, len(h.w.nodes)-1).Draw(t, "node"))
}

func (h *handoffMachine) Local(t *rapid.T) { h.node(t).local() }

func (h *handoffMachine) End(t *rapid.T) { h.node(t).end(1) }

// end ends sequences that run.
func (n *node) end(count int) {
	for count != 0 && len(n.running) > 0 {
		s := n.running[0]
		n.running = n.running[1:]
		n.step(Event{Kind: EvRelease, Seq: s})
		count--
	}
	if len(n.spares) > 0 {
		n.step(Event{Kind: EvReturn, Refs: n.spares})
		n.spares = nil
	}
}

func (h *handoffMachine) Upkeep(t *rapid.T) { h.node(t).upkeep() }

// upkeep does what a ledger has asked for.
func (n *node) upkeep() {
	for len(n.scrubs) > 0 {
		r := n.scrubs[0]
		n.scrubs = n.scrubs[1:]
		n.bytes[r.Page] = [2]uint64{}
		n.step(Event{Kind: EvScrubbed, Ref: r})
	}
	for len(n.checks) > 0 {
		n.verified(n.checks[0])
	}
}

// settle ends the faults: every connection is made anew where it has to be, every attempt cancelled, all that is sent arrives, and all that is asked for is done. Then no
// page may be missing anywhere.
func (h *handoffMachine) settle() {
	w := h.w
	for a := range w.nodes {
		for b := range a {
			w.connect(a, b)
		}
	}
	for _, n := range w.nodes {
		n.hello(-1)
		for len(n.fences) > 0 {
			n.fence(n.fences[0])
		}
	}
	for _, x := range w.attempts {
		for _, i := range []int{x.p, x.d} {
			w.nodes[i].step(Event{Kind: EvCancel, Attempt: x.name})
		}
	}
	for range 3 {
		w.net = nil
		for _, n := range w.nodes {
			n.step(Event{Kind: EvTick})
			h.readAll(n)
		}
		for len(w.net) > 0 {
			p := w.net[0]
			w.net = w.net[1:]
			w.deliver(p)
		}
	}
	for _, n := range w.nodes {
		n.end(-1)
		n.upkeep()
		n.step(Event{Kind: EvAllot, N: w.cfg.Pages}) // evict
		n.upkeep()
		n.step(Event{Kind: EvAllot, N: w.cfg.Pages})
		c := n.ledger.Counts()
		if c.Allotted != w.cfg.Pages || c.Exports+c.Imports+c.Promised != 0 || len(n.exports)+len(n.imports) != 0 {
			w.t.Fatalf("I11: node %d is not home: %+v, %d exports, %d imports not told of", n.id, c, len(n.exports), len(n.imports))
		}
		if len(n.ledger.links) > 4*len(w.wires) || len(n.ledger.byLink) != len(w.nodes)-1 {
			w.t.Fatalf("node %d knows %d links", n.id, len(n.ledger.byLink))
		}
	}
}

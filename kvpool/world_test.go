package kvpool

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// world is a few nodes, the unreliable network between them, and a gateway. It knows what no ledger can: what the bytes of every page really are, and which reads may still
// land. It performs effects, and fails where an invariant that takes more than one node to see is broken.
type world struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	cfg      Config
	nodes    []*node
	wires    []*wire
	net      []packet // all that was ever sent, and was not dropped
	attempts []*try
	byName   map[Attempt]*try
	lives    page.Incarnation
	seqs     page.Seq
	past     handoffTotals // of lives that have ended
}

// node is one node in its present life.
type node struct {
	w       *world
	id      int
	inc     page.Incarnation
	ledger  *Ledger
	bytes   [][2]uint64 // of each page, in two halves
	reads   []*flight
	landing *flight // whose end the ledger is being told
	fences  []Link
	hellos  []Link
	scrubs  []page.Ref
	checks  []Effect          // FxVerify to be answered
	flipped map[page.Ref]bool // pages whose bytes went bad
	proved  map[page.Ref]bool // pages that a check has found good
	exports map[Attempt]*prefill
	imports map[Attempt]page.Seq // expected, neither started nor ended
	running []page.Seq
	spares  []page.Ref
}

// wire is one connection, whose sides are told of it and lose it each on its own.
type wire struct {
	nodes  [2]int
	incs   [2]page.Incarnation
	epoch  uint64
	fenced [2]bool
}

// packet is a message under way, encoded.
type packet struct {
	to   int
	link Link // as the receiver names it
	data []byte
}

// flight is a read that may still land.
type flight struct {
	fx   Effect
	wire *wire
	half int // halves that have landed
}

// try is one attempt as the gateway knows it.
type try struct {
	name     Attempt
	p, d     int
	pi, di   page.Incarnation
	domain   page.Domain
	tokens   []byte
	started  int
	reserved int
	released map[page.Incarnation]bool // by lives of d
	accepted map[page.Ref]bool         // pages of d that a read has filled as offered
}

// prefill is what the prefill node's scheduler knows of an attempt.
type prefill struct {
	try   *try
	seq   page.Seq
	pages []page.Ref
	given int
	gone  bool // revoked
}

const worldPageSize = 2

func newWorld(nodes int, cfg Config) *world {
	w := &world{cfg: cfg, byName: map[Attempt]*try{}}
	for i := range nodes {
		w.nodes = append(w.nodes, &node{w: w, id: i + 1})
		w.restart(i)
	}
	return w
}

// restart gives a node a new life, with fresh memory. Reads of the old one land nowhere that matters.
func (w *world) restart(i int) {
	w.lives++
	cfg := w.cfg
	cfg.Node, cfg.Incarnation, cfg.PageSize = page.Node(i+1), w.lives, worldPageSize
	l, err := New(cfg)
	if err != nil {
		panic(err)
	}
	if old := w.nodes[i].ledger; old != nil {
		w.past.add(old.Stats())
	}
	*w.nodes[i] = node{
		w: w, id: i + 1, inc: w.lives, ledger: l, bytes: make([][2]uint64, cfg.Pages),
		exports: map[Attempt]*prefill{}, imports: map[Attempt]page.Seq{}, proved: map[page.Ref]bool{}, flipped: map[page.Ref]bool{},
	}
}

// connect makes a connection of two present lives; each side hears of it in its own time.
func (w *world) connect(a, b int) {
	epoch := uint64(len(w.wires) + 1)
	x := &wire{nodes: [2]int{a, b}, incs: [2]page.Incarnation{w.nodes[a].inc, w.nodes[b].inc}, epoch: epoch}
	w.wires = append(w.wires, x)
	for side, i := range x.nodes {
		w.nodes[i].hellos = append(w.nodes[i].hellos, x.link(side))
	}
}

// link is the wire's name at one of its sides.
func (x *wire) link(side int) Link {
	return Link{Peer: page.Node(x.nodes[1-side] + 1), Incarnation: x.incs[1-side], Epoch: x.epoch}
}

func (n *node) wireOf(k Link) (*wire, int) {
	x := n.w.wires[k.Epoch-1]
	for side, i := range x.nodes {
		if i == n.id-1 && x.incs[side] == n.inc && x.link(side) == k {
			return x, side
		}
	}
	n.w.t.Fatalf("node %d speaks of a connection that it does not have: %+v", n.id, k)
	return nil, 0
}

// up returns the live link to a peer, if there is one.
func (n *node) up(peer int) (Link, bool) {
	for i := range n.ledger.links {
		if k := &n.ledger.links[i]; k.used && k.up && int(k.name.Peer) == peer+1 {
			return k.name, true
		}
	}
	return Link{}, false
}

// chain is the gateway's hash of the first pages of a prompt; content is what such a page must hold.
func (x *try) chain(pages int) page.Hash {
	h := fnv.New128a()
	fmt.Fprint(h, x.domain, x.tokens[:min(pages*worldPageSize, len(x.tokens))])
	return page.Hash(h.Sum(nil))
}

func content(h page.Hash) [2]uint64 {
	f := fnv.New64a()
	f.Write(h[:])
	return [2]uint64{f.Sum64(), f.Sum64() * 31}
}

func sum(b [2]uint64) uint32 { return uint32(b[0] ^ b[1]>>7 ^ b[1]<<3) }

func (x *try) pages() int { return (len(x.tokens) + worldPageSize - 1) / worldPageSize }

// step performs one event at a node, checks, and performs what follows. It returns the effects.
func (n *node) step(ev Event) []Effect {
	n.w.t.Helper()
	twin := n.ledger.Clone()
	if a, b := n.ledger.AppendState(nil), twin.AppendState(nil); !bytes.Equal(a, b) {
		n.w.t.Fatalf("a clone differs")
	}
	before := n.ledger.Counts()
	fx := cloneEffects(n.ledger.Step(ev, nil))
	if again := twin.Step(ev, nil); describeAll(again) != describeAll(fx) {
		n.w.t.Fatalf("a clone does otherwise after %v:\n%s%s", ev.Kind, describeAll(fx), describeAll(again))
	}
	if a, b := n.ledger.AppendState(nil), twin.AppendState(nil); !bytes.Equal(a, b) {
		n.w.t.Fatalf("a clone ends otherwise after %v", ev.Kind)
	}
	if err := n.ledger.Check(); err != nil {
		n.w.t.Fatalf("node %d after %v: %v", n.id, ev.Kind, err)
	}
	n.outcomes(&ev, fx, before)
	for _, x := range fx {
		n.perform(x)
	}
	return fx
}

func describeAll(fx []Effect) string {
	var b bytes.Buffer
	for _, x := range fx {
		x.Message.Seal = nil
		fmt.Fprintf(&b, "%+v\n", x)
	}
	return b.String()
}

func (n *node) perform(fx Effect) {
	t := n.w.t
	switch fx.Kind {
	case FxSend:
		x, side := n.wireOf(fx.Link)
		if fx.Message.Kind == MsgRelease {
			n.releases(&fx.Message)
		}
		n.w.net = append(n.w.net, packet{to: x.nodes[1-side], link: x.link(1 - side), data: AppendMessage(nil, &fx.Message)})
	case FxFence:
		if slices.Contains(n.fences, fx.Link) {
			t.Fatalf("%+v is to be fenced twice", fx.Link)
		}
		n.fences = append(n.fences, fx.Link)
	case FxVerify:
		n.checks = append(n.checks, fx)
	case FxScrub:
		n.scrubs = append(n.scrubs, fx.Ref)
	case FxExported:
		x := n.exports[fx.Attempt]
		if x == nil {
			t.Fatalf("%v ended at the prefill node, where it was not reserved, or twice", fx.Attempt)
		}
		delete(n.exports, fx.Attempt)
		n.running = append(n.running, x.seq)
	case FxRead:
		x, _ := n.wireOf(fx.Link)
		try := n.w.byName[fx.Attempt]
		if try.released[n.inc] {
			t.Fatalf("I7: %v is read after its release", fx.Attempt)
		}
		n.reads = append(n.reads, &flight{fx: fx, wire: x})
	case FxStart:
		n.starts(fx)
	case FxImportEnded:
		if _, ok := n.imports[fx.Attempt]; !ok {
			t.Fatalf("%v ended at the decode node, where it was not expected, or twice", fx.Attempt)
		}
		delete(n.imports, fx.Attempt)
	}
}

// releases judges a Release as it leaves.
func (n *node) releases(m *Message) {
	try := n.w.byName[m.Attempt]
	if try == nil {
		return // one that nobody made
	}
	for _, r := range n.reads {
		if r.fx.Attempt == m.Attempt {
			n.w.t.Fatalf("I7: node %d releases %v while a read is out", n.id, m.Attempt)
		}
	}
	if page.Incarnation(m.From) != n.inc {
		n.w.t.Fatalf("I7: node %d speaks for another life", n.id)
	}
	try.released[n.inc] = true
}

// starts judges the start of a sequence.
func (n *node) starts(fx Effect) {
	t, try := n.w.t, n.w.byName[fx.Attempt]
	seq, ok := n.imports[fx.Attempt]
	if !ok || seq != fx.Seq {
		t.Fatalf("%v starts seq %d, expected %d", fx.Attempt, fx.Seq, seq)
	}
	delete(n.imports, fx.Attempt)
	if try.started++; try.started > 1 {
		t.Fatalf("I9: %v starts twice", fx.Attempt)
	}
	if len(fx.Refs) != try.pages() || int(fx.First) != len(try.tokens) {
		t.Fatalf("I9: %v starts with %d pages of %d and first token %d", fx.Attempt, len(fx.Refs), try.pages(), fx.First)
	}
	for k, r := range fx.Refs {
		switch right := n.bytes[r.Page] == content(try.chain(k+1)); {
		case k < fx.Have && !n.proved[r]:
			t.Fatalf("I5: page %d of %v was this node's own, and not verified", k, fx.Attempt)
		case k >= fx.Have && !right:
			t.Fatalf("I5: page %d of %v holds what it must not", k, fx.Attempt)
		case k < fx.Have && !right && !n.flipped[r]: // it may have gone bad since
			t.Fatalf("I5: page %d of %v, this node's own, holds what it must not", k, fx.Attempt)
		case k >= fx.Have && !try.accepted[r]:
			t.Fatalf("I9: page %d of %v was not read to its end", k, fx.Attempt)
		}
	}
	if (fx.Spare != page.Ref{}) != (len(try.tokens)%worldPageSize == 0) {
		t.Fatalf("%v of %d tokens has spare %v", fx.Attempt, len(try.tokens), fx.Spare)
	}
	if fx.Spare.Generation != 0 {
		n.spares = append(n.spares, fx.Spare)
	}
	n.running = append(n.running, seq)
}

// sample lets the next half of a read be read at the source and land here. It reports whether it could.
func (n *node) sample(r *flight) bool {
	side := slices.Index(r.wire.nodes[:], int(r.fx.Src.Node)-1)
	p := n.w.nodes[r.wire.nodes[side]]
	if r.half == 2 || p.inc != r.wire.incs[side] || r.wire.fenced[side] {
		return false
	}
	if s := &p.ledger.pages[r.fx.Src.Page]; s.gen != r.fx.Src.Generation || s.state != Resident && s.state != Quarantined {
		n.w.t.Fatalf("I8: node %d reads %v, which is %s", n.id, r.fx.Src, p.ledger.Owners(r.fx.Src.Page))
	}
	if s := &n.ledger.pages[r.fx.Dst.Page]; s.gen != r.fx.Dst.Generation || s.state != Importing && s.state != Quarantined {
		n.w.t.Fatalf("I4: a read lands in %v, which is %s", r.fx.Dst, n.ledger.Owners(r.fx.Dst.Page))
	}
	n.bytes[r.fx.Dst.Page][r.half] = p.bytes[r.fx.Src.Page][r.half]
	r.half++
	return true
}

// land ends a read.
func (n *node) land(r *flight) {
	n.reads = slices.DeleteFunc(n.reads, func(o *flight) bool { return o == r })
	ev := Event{Kind: EvRead, Job: r.fx.Job, Failed: r.half < 2}
	if !ev.Failed {
		ev.Checksum = sum(n.bytes[r.fx.Dst.Page])
		n.w.byName[r.fx.Attempt].accepted[r.fx.Dst] = true
	}
	n.landing = r
	n.step(ev)
	n.landing = nil
}

// fence completes the fence of a link: what it must end has ended when the ledger is told.
func (n *node) fence(k Link) {
	x, side := n.wireOf(k)
	x.fenced[side] = true
	n.fences = slices.DeleteFunc(n.fences, func(o Link) bool { return o == k })
	n.reads = slices.DeleteFunc(n.reads, func(r *flight) bool { return r.wire == x })
	n.step(Event{Kind: EvFenced, Link: k})
}

// deliver hands a packet to the node at its address, whoever lives there now.
func (w *world) deliver(p packet) {
	m, err := DecodeMessage(p.data)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	w.nodes[p.to].step(Event{Kind: EvMessage, Link: p.link, Message: m})
}

// reserve is the prefill node's admission of an attempt; what its prefix cache has is pinned at once.
func (n *node) reserve(x *try) {
	k, _ := n.up(x.d)
	if k.Incarnation != x.di { // the gateway knows another life
		k = Link{Peer: page.Node(x.d + 1), Incarnation: x.di}
	}
	n.w.seqs++
	seq := n.w.seqs
	_, alive := n.exports[x.name]
	if fx := n.step(Event{Kind: EvReserve, Attempt: x.name, Link: k, Seq: seq, N: x.pages()}); len(fx) > 0 || alive {
		return
	}
	if x.reserved++; x.reserved > 1 {
		n.w.t.Fatalf("%v is reserved twice", x.name)
	}
	e := &prefill{try: x, seq: seq}
	n.exports[x.name] = e
	ev := Event{Kind: EvMatch, Seq: seq, Domain: x.domain}
	for i := range (len(x.tokens) - 1) / worldPageSize {
		ev.Hashes = append(ev.Hashes, x.chain(i+1))
	}
	fx := n.step(ev)
	if fx[0].Kind == FxVerify {
		fx = n.verified(fx[0])
	}
	e.pages = fx[len(fx)-1].Refs
}

// verified answers a check with the truth.
func (n *node) verified(fx Effect) []Effect {
	n.checks = slices.DeleteFunc(n.checks, func(o Effect) bool { return o.Job == fx.Job })
	ev := Event{Kind: EvVerified, Job: fx.Job}
	for k, c := range fx.Checks {
		if sum(n.bytes[c.Ref.Page]) != c.Checksum {
			ev.Bad = append(ev.Bad, k)
		} else {
			n.proved[c.Ref] = true
		}
	}
	return n.step(ev)
}

// compute fills and seals the next page of a prompt. It reports whether there was room.
func (n *node) compute(e *prefill) bool {
	fx := n.step(Event{Kind: EvAllot, N: 1})
	got := fx[len(fx)-1]
	if got.N == 0 {
		return false
	}
	r, k := got.Refs[0], len(e.pages)
	n.step(Event{Kind: EvSpend, Spends: []page.Spend{{Ref: r, Seq: e.seq}}})
	n.bytes[r.Page] = content(e.try.chain(k + 1))
	n.step(Event{Kind: EvSeal, Seals: []Seal{{
		Ref: r, Seq: e.seq, Domain: e.try.domain, Chain: e.try.chain(k + 1), Checksum: sum(n.bytes[r.Page]), Full: (k+1)*worldPageSize <= len(e.try.tokens),
	}}})
	e.pages = append(e.pages, r)
	return true
}

// offer offers the next pages that are ready, up to n of them.
func (n *node) offer(e *prefill, max int) {
	to := min(len(e.pages), e.given+max)
	last := to == e.try.pages()
	if to == e.given && !last {
		return
	}
	n.step(Event{Kind: EvOffer, Attempt: e.try.name, Refs: e.pages[e.given:to], Last: last, Tokens: len(e.try.tokens), First: int32(len(e.try.tokens))})
	e.given = to
	if last {
		e.given = e.try.pages()
	}
}

// expect is the decode node's Submit.
func (n *node) expect(x *try) {
	k, _ := n.up(x.p)
	if k.Incarnation != x.pi {
		k = Link{Peer: page.Node(x.p + 1), Incarnation: x.pi}
	}
	n.w.seqs++
	ev := Event{Kind: EvExpect, Attempt: x.name, Link: k, Seq: n.w.seqs, Domain: x.domain, To: x.di, Tokens: len(x.tokens)}
	for i := range x.pages() {
		ev.Hashes = append(ev.Hashes, x.chain(i+1))
	}
	_, alive := n.imports[x.name]
	was := len(n.ledger.importOf)
	n.step(ev)
	if !alive && len(n.ledger.importOf) > was {
		n.imports[x.name] = ev.Seq
	}
}

// local lets a sequence that has nothing to do with the hand-off use a page and scribble over it.
func (n *node) local() {
	fx := n.step(Event{Kind: EvAllot, N: 1})
	got := fx[len(fx)-1]
	if got.N == 0 {
		return
	}
	n.w.seqs++
	n.step(Event{Kind: EvSpend, Spends: []page.Spend{{Ref: got.Refs[0], Seq: n.w.seqs}}})
	n.bytes[got.Refs[0].Page] = [2]uint64{uint64(n.w.seqs), uint64(n.w.seqs)}
	n.running = append(n.running, n.w.seqs)
}

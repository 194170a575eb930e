package handoff

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// nodeWorld drives a node with arbitrary messages of gateways. It plays the pool and the scheduler, which owe an end to whatever they have taken, and hold what they are told against their contract.
type nodeWorld struct {
	t     *rapid.T
	n     *Node
	now   int64
	seq   page.Seq
	lives [2]uint64 // of the gateways
	life  uint64

	parts  map[kvpool.Attempt]*partSeen
	order  []*partSeen
	queue  []NodeEvent // what pool and scheduler will say
	ticked bool
}

// partSeen is what the world has seen of an attempt.
type partSeen struct {
	attempt   kvpool.Attempt
	role      Role
	spec      *Spec
	seq       page.Seq
	open      bool // the pool owes its end
	scheduled bool // the scheduler owes its end
	late      bool // it has stopped, and a batch in flight still names it
	adopted   bool
	offered   int
	sealed    bool
	answer    int    // tokens that the scheduler has given
	end       []byte // the end or rejection that was reported
	closed    bool   // it was reported as closed
}

func newNodeWorld(t *rapid.T) *nodeWorld {
	w := &nodeWorld{t: t, life: 100, parts: map[kvpool.Attempt]*partSeen{}}
	var err error
	if w.n, err = NewNode(NodeConfig{
		Incarnation: 1, Prefill: true, Decode: true, PageSize: 4, GroupPages: rapid.Int64Range(1, 3).Draw(t, "group"), MaxAttempts: 6,
		MaxEnded: rapid.Int64Range(1, 3).Draw(t, "max ended"), MaxClosed: rapid.Int64Range(1, 3).Draw(t, "max closed"), MaxGateways: 4,
	}); err != nil {
		t.Fatal(err)
	}
	for i := range w.lives {
		w.gatewayUp(i)
	}
	return w
}

func (w *nodeWorld) gatewayUp(i int) {
	w.life++
	w.lives[i] = w.life
	w.step(NodeEvent{Kind: EvGatewayUp, Gateway: page.Node(i), GatewayLife: w.life})
}

func (w *nodeWorld) step(ev NodeEvent) {
	ev.Now = w.now
	for _, fx := range w.n.Step(ev, nil) {
		w.perform(&fx)
	}
}

func (w *nodeWorld) perform(fx *NodeEffect) {
	p := w.parts[fx.Attempt]
	switch fx.Kind {
	case FxReport:
		w.report(fx)
	case FxPool:
		w.pool(&fx.Pool)
	case FxAdmit, FxAsk:
		p.seq = fx.Seq
		if len(p.spec.Prompt) == 0 || len(p.spec.Prompt)+fx.MaxTokens > 30 {
			w.step(NodeEvent{Kind: EvRejected, Seq: fx.Seq, Rejection: &request.Rejection{Limit: request.LimitContext}})
			return
		}
		p.scheduled = fx.Kind == FxAsk
		w.step(NodeEvent{Kind: EvAdmitted, Seq: fx.Seq, MaxTokens: max(1, fx.MaxTokens)})
	case FxAdopt:
		if p.adopted || p.closed || p.end != nil {
			w.t.Fatalf("I9: attempt %v is adopted twice, or after its end", p.attempt)
		}
		p.adopted, p.scheduled, p.answer = true, true, 1
	case FxStop:
		if p.scheduled { // else its end is on its way
			p.scheduled, p.late = false, true
			w.queue = append(w.queue, NodeEvent{Kind: EvEnded, Seq: p.seq, Reason: ReasonCancelled})
		}
	}
}

// report looks at what is said of an attempt: one end at most, the same each time, and nothing but that it is closed after it was closed.
func (w *nodeWorld) report(fx *NodeEffect) {
	m := &fx.Message
	if m.Kind == MsgStatus {
		return
	}
	p := w.parts[m.Attempt]
	if p == nil {
		if m.Kind != MsgClosed {
			w.t.Fatalf("%s, which nobody has asked for", describeNodeEffect(fx))
		}
		return
	}
	if p.closed && m.Kind != MsgClosed {
		w.t.Fatalf("%s, after it was closed", describeNodeEffect(fx))
	}
	switch m.Kind {
	case MsgClosed:
		p.closed = true
	case MsgRejected:
		if p.open || p.scheduled || p.offered > 0 {
			w.t.Fatalf("I12: %s, and the node goes on with it", describeNodeEffect(fx))
		}
		fallthrough
	case MsgEnd:
		b := AppendMessage(nil, m)
		if p.end != nil && !bytes.Equal(p.end, b) {
			w.t.Fatalf("I12: %s is a second end", describeNodeEffect(fx))
		}
		p.end = b
	default:
		if p.end != nil && kindOf(p.end) == MsgRejected {
			w.t.Fatalf("I12: %s, after its rejection", describeNodeEffect(fx))
		}
	}
}

// kindOf is the kind of an encoded message.
func kindOf(b []byte) MessageKind { return MessageKind(b[0]) }

// pool plays the ledger.
func (w *nodeWorld) pool(ev *kvpool.Event) {
	p := w.parts[ev.Attempt]
	end := kvpool.FxExported
	if p != nil && p.role == Decode {
		end = kvpool.FxImportEnded
	}
	switch ev.Kind {
	case kvpool.EvReserve, kvpool.EvExpect:
		if p.open {
			w.t.Fatalf("%s, twice", describePool(ev))
		}
		p.open = true
	case kvpool.EvOffer:
		if p.end != nil || p.closed || p.sealed || ev.Refs[0].Page != page.Index(p.offered) {
			w.t.Fatalf("%s, after %d pages", describePool(ev), p.offered)
		}
		p.offered += len(ev.Refs)
		if p.sealed = ev.Last; p.sealed && p.offered != (len(p.spec.Prompt)+3)/4 {
			w.t.Fatalf("%s, after %d pages", describePool(ev), p.offered)
		}
	case kvpool.EvCancel:
		if p != nil && p.open {
			p.open = false
			w.say(p, kvpool.Effect{Kind: end, Status: kvpool.Cancelled})
		}
	}
}

func (w *nodeWorld) say(p *partSeen, fx kvpool.Effect) {
	fx.Attempt, fx.Seq = p.attempt, p.seq
	w.queue = append(w.queue, NodeEvent{Kind: EvPool, Pool: &fx})
}

// event draws one.
func (w *nodeWorld) event() {
	t := w.t
	switch rapid.IntRange(0, 9).Draw(t, "event") {
	case 0:
		w.now += rapid.Int64Range(0, 20).Draw(t, "time") * second
		w.step(NodeEvent{Kind: EvNodeTick})
	case 1:
		w.step(NodeEvent{Kind: EvGatewayLost, GatewayLife: w.lives[0]})
	case 2:
		if i := rapid.IntRange(0, 1).Draw(t, "gateway"); rapid.Bool().Draw(t, "new life") {
			w.gatewayUp(i)
		} else {
			w.step(NodeEvent{Kind: EvGatewayUp, Gateway: page.Node(i), GatewayLife: w.lives[i]})
		}
	case 3, 4, 5:
		w.message()
	case 6, 7:
		w.deliver()
	default:
		if len(w.order) > 0 {
			w.progress(w.order[len(w.order)-1-rapid.IntRange(0, min(4, len(w.order)-1)).Draw(t, "part")])
		}
	}
}

// deliver has what the pool and the scheduler have said first arrive.
func (w *nodeWorld) deliver() {
	if len(w.queue) > 0 {
		ev := w.queue[0]
		w.queue = w.queue[1:]
		for _, p := range w.order {
			p.late = p.late && (ev.Kind != EvEnded || p.seq != ev.Seq)
		}
		w.step(ev)
	}
}

// message has a gateway say something of an attempt, new or old.
func (w *nodeWorld) message() {
	t := w.t
	i := rapid.IntRange(0, 1).Draw(t, "gateway")
	a := kvpool.Attempt{Gateway: w.lives[i], Number: rapid.Uint64Range(0, 12).Draw(t, "number"), Prefill: 1}
	m := &Message{Kind: MessageKind(rapid.IntRange(1, 4).Draw(t, "kind")), Life: page.Incarnation(rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "life")), Have: rapid.IntRange(-1, 4).Draw(t, "have")}
	if len(w.order) > 0 && rapid.Bool().Draw(t, "known") {
		a = w.order[len(w.order)-1-rapid.IntRange(0, min(4, len(w.order)-1)).Draw(t, "which")].attempt
	}
	m.Role = Role(1 + a.Number%3)
	if m.Role == Decode {
		m.Link = kvpool.Link{Peer: 2, Incarnation: 2, Epoch: 1}
		a.Prefill = 2
	}
	m.Attempt, m.Remaining = a, rapid.Int64Range(-1, 40).Draw(t, "remaining")*second
	m.Spec = &Spec{Prompt: make([]int32, rapid.IntRange(0, 33).Draw(t, "prompt")), MaxTokens: rapid.IntRange(0, 3).Draw(t, "max"), Details: rapid.Bool().Draw(t, "details")}
	if p := w.parts[a]; p != nil {
		m.Spec = p.spec
	}
	if m.Kind == MsgSubmit && w.parts[a] == nil && a.Valid() && m.Life == 1 {
		p := &partSeen{attempt: a, role: m.Role, spec: m.Spec}
		w.parts[a] = p
		w.order = append(w.order, p)
	}
	w.seq++
	w.step(NodeEvent{Kind: EvTold, GatewayLife: w.lives[i], Message: m, Seq: w.seq})
}

// progress has the pool or the scheduler come on with an attempt.
func (w *nodeWorld) progress(p *partSeen) {
	t := w.t
	switch {
	case (p.scheduled || p.late) && p.role == Prefill && rapid.Bool().Draw(t, "seals"):
		computed := min(len(p.spec.Prompt), 4*p.offered+rapid.IntRange(1, 9).Draw(t, "computed"))
		ev := NodeEvent{Kind: EvSealed, Seq: p.seq, Pages: refs(0, (computed+3)/4), Computed: computed, Last: computed == len(p.spec.Prompt)}
		w.step(ev)
		if ev.Last && p.scheduled {
			p.scheduled = false
			w.queue = append(w.queue, NodeEvent{Kind: EvEnded, Seq: p.seq, Reason: ReasonLength})
		}
	case p.scheduled && p.role == Prefill:
		w.step(NodeEvent{Kind: EvPreempted, Seq: p.seq})
	case p.scheduled || p.late && p.role != Prefill:
		p.answer++
		w.step(NodeEvent{Kind: EvToken, Seq: p.seq, Token: int32(p.answer)})
		if rapid.Bool().Draw(t, "ends") && p.scheduled {
			p.scheduled = false
			w.queue = append(w.queue, NodeEvent{Kind: EvEnded, Seq: p.seq, Reason: rapid.SampledFrom([]Reason{ReasonStop, ReasonLength, ReasonPageCheck}).Draw(t, "reason")})
		}
	case p.open && p.role == Decode && rapid.Bool().Draw(t, "starts"):
		p.open = false
		w.say(p, kvpool.Effect{Kind: kvpool.FxStart, Refs: refs(0, (len(p.spec.Prompt)+3)/4)})
	case p.open:
		p.open = false
		kind, status := kvpool.FxImportEnded, rapid.SampledFrom([]kvpool.Status{kvpool.Cancelled, kvpool.Refused, kvpool.Mismatch, kvpool.Lost}).Draw(t, "status")
		if p.role == Prefill {
			kind = kvpool.FxExported
			if p.sealed {
				status = kvpool.Done
			}
		}
		w.say(p, kvpool.Effect{Kind: kind, Status: status})
	}
}

// home lets every gateway go, and looks that nothing lives and little is remembered.
func (w *nodeWorld) home() {
	n := w.n
	idle := 0
	for _, g := range n.callers {
		if g.up || g.parts == 0 {
			idle++
		}
	}
	if n.ended.len > n.cfg.MaxEnded || idle > 4 {
		w.t.Fatalf("%d ended attempts of %d gateways are remembered, %d of them up or without a part", n.ended.len, len(n.callers), idle)
	}
	for _, g := range n.callers {
		if int64(len(g.closed.named)) > n.cfg.MaxClosed {
			w.t.Fatalf("%d closed attempts are remembered", len(g.closed.named))
		}
	}
	for i := range w.lives {
		w.gatewayUp(i)
	}
	for len(w.queue) > 0 {
		w.deliver()
	}
	if s := n.Stats(); s.Live != 0 || s.Ended != 0 || s.Imports != 0 || len(n.byName) != 0 || len(n.bySeq) != 0 {
		w.t.Fatalf("something lives on: %+v", s)
	}
	for _, p := range w.order {
		if p.open || p.scheduled {
			w.t.Fatalf("attempt %v goes on without its gateway", p.attempt)
		}
	}
}

func nodeProperty(t *rapid.T) {
	w := newNodeWorld(t)
	for range rapid.IntRange(1, 80).Draw(t, "events") {
		w.event()
	}
	w.home()
}

// Whatever gateways say, each attempt has one end, a rejected one has nothing else, the pool and the scheduler are told what they expect, and nothing outlives its gateway.
func TestNodeProperty(t *testing.T) { rapid.Check(t, nodeProperty) }

func FuzzNode(f *testing.F) { f.Fuzz(rapid.MakeFuzz(nodeProperty)) }

// A token costs the node no memory but the answer's own, which grows by doubling.
func TestNodeTokensAllocateNothing(t *testing.T) {
	n, err := NewNode(NodeConfig{Incarnation: 1, Decode: true, PageSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	fx := n.Step(NodeEvent{Kind: EvGatewayUp, Gateway: 7, GatewayLife: 77}, nil)
	m := &Message{Kind: MsgSubmit, Attempt: kvpool.Attempt{Gateway: 77, Number: 1, Prefill: 1}, Life: 1, Role: Local, Remaining: second, Spec: &Spec{Prompt: []int32{1}}}
	fx = n.Step(NodeEvent{Kind: EvTold, GatewayLife: 77, Message: m, Seq: 1}, fx[:0])
	fx = n.Step(NodeEvent{Kind: EvAdmitted, Seq: 1, MaxTokens: 1 << 20}, fx[:0])
	n.bySeq[1].tokens = make([]int32, 0, 4096)
	if allocs := testing.AllocsPerRun(1000, func() { fx = n.Step(NodeEvent{Kind: EvToken, Seq: 1, Token: 5}, fx[:0]) }); allocs != 0 || fx[0].Message.Kind != MsgTokens {
		t.Errorf("%v allocations for each token; the last effect is %s", allocs, describeNodeEffect(&fx[0]))
	}
}

func BenchmarkNodeToken(b *testing.B) {
	n, err := NewNode(NodeConfig{Incarnation: 1, Decode: true, PageSize: 4})
	if err != nil {
		b.Fatal(err)
	}
	fx := n.Step(NodeEvent{Kind: EvGatewayUp, Gateway: 7, GatewayLife: 77}, nil)
	m := &Message{Kind: MsgSubmit, Attempt: kvpool.Attempt{Gateway: 77, Number: 1, Prefill: 1}, Life: 1, Role: Local, Remaining: second, Spec: &Spec{Prompt: []int32{1}}}
	fx = n.Step(NodeEvent{Kind: EvTold, GatewayLife: 77, Message: m, Seq: 1}, fx[:0])
	fx = n.Step(NodeEvent{Kind: EvAdmitted, Seq: 1, MaxTokens: 1 << 30}, fx[:0])
	for b.Loop() {
		fx = n.Step(NodeEvent{Kind: EvToken, Seq: 1, Token: 5}, fx[:0])
	}
}

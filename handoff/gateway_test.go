package handoff

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// gatewayWorld drives a gateway with arbitrary events, and holds what it does against what it must never do.
type gatewayWorld struct {
	t       *rapid.T
	g       *Gateway
	now     int64
	lives   [4]page.Incarnation // of nodes that are up, as the gateway was told; 0: down
	life    page.Incarnation
	clients map[uint64]*clientSeen
	order   []uint64
	told    []GatewayEffect // Submits, from which reports are made
	last    uint64          // number of the latest attempt
}

// clientSeen is what a client of the world has seen.
type clientSeen struct {
	spec     *Spec
	deadline int64
	tokens   int
	outcome  Outcome
}

func newGatewayWorld(t *rapid.T) *gatewayWorld {
	w := &gatewayWorld{t: t, life: 100, clients: map[uint64]*clientSeen{}}
	var err error
	if w.g, err = NewGateway(GatewayConfig{
		Incarnation: 7, PageSize: 4, MaxTries: 3, MaxRequests: 4, MaxClosing: rapid.Int64Range(1, 6).Draw(t, "max closing"), MaxPrefixes: 3,
		LocalPrompts: rapid.Int64Range(0, 8).Draw(t, "local prompts"),
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// step has the gateway take an event, and looks at what it wants done.
func (w *gatewayWorld) step(ev GatewayEvent) {
	ev.Now = w.now
	for _, fx := range w.g.Step(ev, nil) {
		switch fx.Kind {
		case FxTell:
			w.tell(fx)
		case FxTokens:
			c := w.clients[fx.Request]
			if c.outcome != 0 || fx.First != c.tokens || len(fx.Tokens) == 0 || c.spec.Details != (len(fx.Details) == len(fx.Tokens)) {
				w.t.Fatalf("client with %+v gets %s", *c, describeGatewayEffect(&fx))
			}
			for i, token := range fx.Tokens {
				if token != int32(c.tokens+i) {
					w.t.Fatalf("token %d of an answer is that of place %d", c.tokens+i, token)
				}
			}
			if c.tokens += len(fx.Tokens); c.spec.MaxTokens > 0 && c.tokens > c.spec.MaxTokens {
				w.t.Fatalf("client that asked for %d tokens gets %d", c.spec.MaxTokens, c.tokens)
			}
		case FxOutcome:
			c := w.clients[fx.Request]
			if c.outcome != 0 {
				w.t.Fatalf("I12: %s, after %v", describeGatewayEffect(&fx), c.outcome)
			}
			if c.outcome = fx.Outcome; fx.Outcome == Rejected && c.tokens > 0 {
				w.t.Fatalf("I12: %s, after %d tokens", describeGatewayEffect(&fx), c.tokens)
			}
		}
	}
}

func (w *gatewayWorld) tell(fx GatewayEffect) {
	m := fx.Message
	if w.lives[fx.Node] != m.Life {
		w.t.Fatalf("%s, whose life is %d", describeGatewayEffect(&fx), w.lives[fx.Node])
	}
	if m.Kind != MsgSubmit {
		return
	}
	var id uint64
	for _, r := range w.order {
		if w.clients[r].spec == m.Spec {
			id = r
		}
	}
	c := w.clients[id]
	if c.outcome != 0 {
		w.t.Fatalf("%s, whose client has %+v", describeGatewayEffect(&fx), *c)
	}
	if m.Attempt.Number > w.last {
		if w.last = m.Attempt.Number; c.tokens > 0 {
			w.t.Fatalf("%s is new, and its client has %d tokens", describeGatewayEffect(&fx), c.tokens)
		}
	}
	w.told = append(w.told, fx)
}

// event draws one.
func (w *gatewayWorld) event() {
	t := w.t
	node := page.Node(rapid.IntRange(0, 3).Draw(t, "node"))
	switch rapid.IntRange(0, 11).Draw(t, "event") {
	case 0, 1:
		id := uint64(len(w.order) + 1)
		spec := &Spec{Request: "r", Prompt: make([]int32, rapid.IntRange(1, 12).Draw(t, "prompt")), MaxTokens: rapid.IntRange(0, 4).Draw(t, "max"), Details: rapid.Bool().Draw(t, "details")}
		c := &clientSeen{spec: spec, deadline: w.now + rapid.Int64Range(0, 20).Draw(t, "deadline")*second}
		w.clients[id], w.order = c, append(w.order, id)
		hashes := []page.Hash{{byte(rapid.IntRange(0, 2).Draw(t, "hash"))}, {9}}
		w.step(GatewayEvent{Kind: EvRequest, Request: id, Spec: spec, Deadline: c.deadline, Hashes: hashes})
	case 2:
		w.step(GatewayEvent{Kind: EvAbort, Request: uint64(rapid.IntRange(0, len(w.order)).Draw(t, "who"))})
	case 3:
		w.up(node, rapid.Bool().Draw(t, "new life"))
	case 4:
		w.lives[node] = 0
		w.step(GatewayEvent{Kind: EvNodeLost, Node: node})
	case 5:
		life := w.lives[node]
		w.lives[node] = 0
		w.step(GatewayEvent{Kind: EvNodeEnded, Node: node, Life: life})
	case 6:
		w.now += rapid.Int64Range(0, 3).Draw(t, "time") * second
		w.step(GatewayEvent{Kind: EvGatewayTick})
	case 7, 8:
		w.status(node)
	default:
		for range 3 {
			w.report()
		}
	}
}

func (w *gatewayWorld) up(node page.Node, newLife bool) {
	p := w.g.peerOf[node]
	if newLife || p == nil || p.life == 0 {
		w.life++
		w.lives[node] = w.life
	} else {
		w.lives[node] = p.life
	}
	life := w.lives[node]
	w.step(GatewayEvent{Kind: EvNodeUp, Node: node, Life: life})
}

func (w *gatewayWorld) status(node page.Node) {
	t := w.t
	s := &Status{
		Serial: rapid.Uint64Range(1, 50).Draw(t, "serial"), Ready: true, Prefill: rapid.Bool().Draw(t, "prefill"), Decode: rapid.Bool().Draw(t, "decode"),
		Load:   Load{FreePages: rapid.IntRange(-3, 30).Draw(t, "free"), TotalPages: rapid.IntRange(-1, 30).Draw(t, "total"), Waiting: rapid.IntRange(-1, 5).Draw(t, "waiting")},
		Limits: Limits{rapid.IntRange(0, 40).Draw(t, "limit"), 40},
	}
	for peer := range page.Node(4) {
		if peer != node && w.lives[peer] != 0 {
			s.Links = append(s.Links, kvpool.Link{Peer: peer, Incarnation: w.lives[peer], Epoch: 1})
		}
	}
	w.step(GatewayEvent{Kind: EvHeard, Node: node, Life: w.lives[node], Message: &Message{Kind: MsgStatus, Life: w.lives[node], Status: s}})
}

// kinds are drawn from, what matters most more often.
var kinds = []MessageKind{
	MsgTokens, MsgTokens, MsgTokens, MsgTokens, MsgEnd, MsgEnd, MsgRejected, MsgRejected, MsgPrefilled, MsgClosed, MsgAccepted, MsgStatus, MsgSubmit, MsgPoll, MsgCancel, 0, MsgStatus + 1,
}

// report has a node say something of an attempt that it was told of: anything, whether it makes sense or not.
func (w *gatewayWorld) report() {
	t := w.t
	if len(w.told) == 0 {
		return
	}
	fx := w.told[len(w.told)-1-rapid.IntRange(0, min(5, len(w.told)-1)).Draw(t, "attempt")]
	m := &Message{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Attempt: fx.Message.Attempt, Life: fx.Message.Life}
	m.First = rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3, -1}).Draw(t, "first")
	for i := range rapid.IntRange(0, 3).Draw(t, "tokens") {
		m.Tokens = append(m.Tokens, int32(m.First+i)) // each is its place in the answer
	}
	if fx.Message.Spec.Details != rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "wrong details") {
		m.Details = details(m.Tokens)
	}
	m.Reason = Reason(rapid.IntRange(0, 30).Draw(t, "reason"))
	m.Total = rapid.IntRange(-1, 5).Draw(t, "total")
	if rapid.Bool().Draw(t, "has") {
		m.Rejection = &request.Rejection{Limit: rapid.SampledFrom([]request.Limit{"", request.LimitQueue, request.LimitPool}).Draw(t, "limit")}
	}
	w.step(GatewayEvent{Kind: EvHeard, Node: fx.Node, Life: fx.Message.Life, Message: m})
}

// home ends everything, and looks that nothing is left.
func (w *gatewayWorld) home() {
	if s := w.g.Stats(); int64(s.Closing) > w.g.cfg.MaxClosing || s.Requests > 4 || len(w.g.byName) > s.Closing+s.Requests || len(w.g.prefixes.at) > 3 {
		w.t.Fatalf("more is remembered than may be: %+v, %d attempts", s, len(w.g.byName))
	}
	w.now += 60 * second
	w.step(GatewayEvent{Kind: EvGatewayTick})
	for _, id := range w.order {
		if w.clients[id].outcome == 0 {
			w.t.Fatalf("request %d has no outcome after its deadline", id)
		}
	}
	for _, fx := range w.told {
		w.step(GatewayEvent{Kind: EvHeard, Node: fx.Node, Life: fx.Message.Life, Message: &Message{Kind: MsgClosed, Attempt: fx.Message.Attempt, Life: fx.Message.Life}})
	}
	for node := range page.Node(4) { // what a life that has ended was never told, or was told only that it is over
		w.up(node, true)
	}
	if s := w.g.Stats(); s.Closing != 0 || len(w.g.byName) != 0 || len(w.g.byID) != 0 {
		w.t.Fatalf("not all is forgotten: %+v", s)
	}
}

func gatewayProperty(t *rapid.T) {
	w := newGatewayWorld(t)
	for node := range page.Node(4) {
		w.up(node, true)
		w.status(node)
	}
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		w.event()
	}
	w.home()
}

// Whatever happens, and whatever nodes say, each request has one outcome and its tokens in order, has no other attempt after the first, and nothing is remembered when all is over.
func TestGatewayProperty(t *testing.T) { rapid.Check(t, gatewayProperty) }

func FuzzGateway(f *testing.F) { f.Fuzz(rapid.MakeFuzz(gatewayProperty)) }

// A token that a client waits for costs the gateway no memory but its caller's.
func TestGatewayTokensAllocateNothing(t *testing.T) {
	g, err := NewGateway(GatewayConfig{Incarnation: 7, PageSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	fx := g.Step(GatewayEvent{Kind: EvNodeUp, Node: 1, Life: 11}, nil)
	status := &Message{Kind: MsgStatus, Life: 11, Status: &Status{Serial: 1, Ready: true, Prefill: true, Decode: true}}
	fx = g.Step(GatewayEvent{Kind: EvHeard, Node: 1, Life: 11, Message: status}, fx[:0])
	fx = g.Step(GatewayEvent{Kind: EvRequest, Request: 1, Spec: &Spec{Prompt: []int32{1}}, Deadline: 1 << 60}, fx[:0])
	m := &Message{Kind: MsgTokens, Attempt: fx[0].Message.Attempt, Life: 11, Tokens: []int32{5}}
	if n := testing.AllocsPerRun(1000, func() {
		fx = g.Step(GatewayEvent{Kind: EvHeard, Node: 1, Life: 11, Message: m}, fx[:0])
		m.First++
	}); n != 0 || fx[0].Kind != FxTokens {
		t.Errorf("%v allocations for each token, the last effect is %s", n, describeGatewayEffect(&fx[0]))
	}
}

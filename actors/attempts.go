package actors

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// attempts is the shell of handoff.Node. It lives in the scheduler's actor: what was sealed must be offered before the scheduler lets go of it, and one mailbox keeps that order.
type attempts struct {
	a        *schedulerActor
	core     *handoff.Node
	fx       []handoff.NodeEffect
	gateways map[uint64]reporter
	spans    *attemptSpans
}

// reporter is a gateway that is connected.
type reporter interface {
	// Report sends m without waiting. What cannot be sent now is lost: the gateway asks again.
	Report(m *handoff.Message)
}

// Messages to the scheduler about other processes.
type (
	linkUp    struct{ link page.Link }
	linkLost  struct{ link page.Link }
	gatewayUp struct {
		node     page.Node
		life     uint64
		reporter reporter
	}
	gatewayLost struct{ life uint64 }
	gatewaySaid struct {
		node    page.Node
		life    uint64
		message *handoff.Message
		trace   wire.Trace
		metrics *metrics
	}
	// poolSaid is what the ledger says of an attempt, with slices of its own.
	poolSaid     struct{ fx *kvpool.Effect }
	handoffTick  struct{ load handoff.Load }
	handoffDrain struct{}
	// attemptsReport asks for a snapshot; answered exactly once on a channel with room for it.
	attemptsReport struct{ reply chan<- handoff.NodeStats }
)

// refuse drops a message that found the mailbox full: gateways say again what matters.
func (m *gatewaySaid) refuse() { m.metrics.dropped.Inc() }

// hear takes a message about other processes.
func (t *attempts) hear(message any) {
	switch m := message.(type) {
	case linkUp:
		t.tell(handoff.NodeEvent{Kind: handoff.EvLinkUp, Link: m.link})
	case linkLost:
		t.tell(handoff.NodeEvent{Kind: handoff.EvLinkLost, Link: m.link})
	case gatewayUp:
		t.gateways[m.life] = m.reporter
		t.tell(handoff.NodeEvent{Kind: handoff.EvGatewayUp, Gateway: m.node, GatewayLife: m.life})
	case gatewayLost:
		delete(t.gateways, m.life)
		t.spans.gatewayGone(m.life)
		t.tell(handoff.NodeEvent{Kind: handoff.EvGatewayLost, GatewayLife: m.life})
	case *gatewaySaid:
		t.told(m)
	case *poolSaid:
		t.spans.said(m.fx)
		t.tell(handoff.NodeEvent{Kind: handoff.EvPool, Pool: m.fx})
	case handoffTick:
		c := t.a.core.Counts()
		m.load.Waiting, m.load.Running = c.Waiting, c.Running
		t.tell(handoff.NodeEvent{Kind: handoff.EvNodeTick, Load: m.load})
	case handoffDrain:
		t.tell(handoff.NodeEvent{Kind: handoff.EvDrain})
	case attemptsReport:
		s := t.core.Stats()
		s.Ends = slices.Clone(s.Ends) // the core's, and it goes on
		m.reply <- s
	}
}

// told passes on a gateway's message. A Submit's sampling parameters are the runner's affair and nobody else's, so they are looked at here.
func (t *attempts) told(m *gatewaySaid) {
	ev := handoff.NodeEvent{Kind: handoff.EvTold, Gateway: m.node, GatewayLife: m.life, Message: m.message}
	if m.message.Kind == handoff.MsgSubmit {
		ev.Seq = t.a.node.registry.name()
		if m.message.Attempt.Gateway == m.life { // its span ends with the connection at the latest
			t.spans.submitted(m.message, m.trace)
		}
	}
	t.tell(ev)
}

func (t *attempts) tell(ev handoff.NodeEvent) {
	t.a.do(func() {
		ev.Now = t.a.node.now()
		t.fx = t.core.Step(ev, t.fx[:0])
		for i := range t.fx {
			t.perform(&t.fx[i])
		}
	})
}

func (t *attempts) perform(fx *handoff.NodeEffect) {
	n := t.a.node
	switch fx.Kind {
	case handoff.FxReport:
		t.spans.reported(&fx.Message)
		if g, ok := t.gateways[fx.GatewayLife]; ok {
			g.Report(&fx.Message)
		}
	case handoff.FxPool:
		ev := fx.Pool
		ev.Refs = slices.Clone(ev.Refs)
		n.tellPool(ev)
	case handoff.FxAdmit:
		t.admit(fx)
	case handoff.FxAsk:
		t.ask(fx)
	case handoff.FxAdopt:
		t.adopt(fx)
	case handoff.FxStop:
		t.a.step(sched.Event{Kind: sched.EvCancel, Seq: fx.Seq})
	case handoff.FxFreed:
		// The pool answers, so that the scheduler hears of it after the pool did.
		n.tell(n.pool, poolFreed{})
	case handoff.FxSuspect:
		n.tellPool(kvpool.Event{Kind: kvpool.EvLost, Link: fx.Link})
	}
}

// spec reads what an attempt asks for. What cannot be read is refused like anything else that admission refuses.
func (t *attempts) spec(fx *handoff.NodeEffect) (Spec, bool) {
	spec, refused := specOf(fx.Spec, t.a.node.model.Config().Vocab)
	if refused != nil {
		t.rejected(fx.Seq, refused)
		return spec, false
	}
	spec.MaxTokens = fx.MaxTokens
	return spec, true
}

// admit holds a request whose prompt is to come from elsewhere against what can be served. Nothing is kept.
func (t *attempts) admit(fx *handoff.NodeEffect) {
	spec, ok := t.spec(fx)
	if !ok {
		return
	}
	admitted, refused := t.a.core.Admit(spec.ask([]page.Seq{fx.Seq}), fx.Waiting)
	if refused != nil {
		t.rejected(fx.Seq, refused)
		return
	}
	t.tell(handoff.NodeEvent{Kind: handoff.EvAdmitted, Seq: fx.Seq, MaxTokens: admitted.MaxTokens()})
}

func (t *attempts) rejected(seq page.Seq, why *request.Rejection) {
	t.a.node.metrics.rejected(1)
	t.tell(handoff.NodeEvent{Kind: handoff.EvRejected, Seq: seq, Rejection: why})
}

// ask hands an attempt's sequence to the scheduler.
func (t *attempts) ask(fx *handoff.NodeEffect) {
	spec, ok := t.spec(fx)
	if !ok {
		return
	}
	seqs := []page.Seq{fx.Seq}
	export, choice, waiting := fx.Export, int(fx.Spec.Choice), t.core.Stats().Imports
	t.a.do(func() {
		a := t.a
		a.fx = a.core.Step(sched.Event{Kind: sched.EvSubmit, Ask: spec.ask(seqs), Expected: waiting}, a.fx[:0])
		for _, fx := range a.fx {
			switch fx.Kind {
			case sched.FxAdmitted:
				a.node.metrics.prompt.Add(float64(len(spec.Prompt)))
				a.know(&begin{seqs: seqs, spec: spec, choice: choice, export: export}, nil)
				t.tell(handoff.NodeEvent{Kind: handoff.EvAdmitted, Seq: seqs[0], MaxTokens: fx.Admitted.MaxTokens()})
			case sched.FxRejected:
				t.rejected(seqs[0], fx.Rejection)
			default:
				a.perform(fx)
			}
		}
	})
}

// adopt hands a sequence with its imported prompt to the scheduler, after the runner has been told to stamp its pages.
func (t *attempts) adopt(fx *handoff.NodeEffect) {
	spec, refused := specOf(fx.Spec, t.a.node.model.Config().Vocab)
	if refused != nil {
		panic(fmt.Sprintf("actors: attempt %v was admitted and is refused now: %v", fx.Attempt, refused))
	}
	spec.MaxTokens = fx.MaxTokens + 1 // with the first token
	t.a.adopt(&adopt{seq: fx.Seq, spec: spec, choice: int(fx.Spec.Choice), first: fx.Token, refs: slices.Clone(fx.Refs), spare: fx.Spare})
}

// sealed tells what a step has sealed of prompts that are offered to other nodes.
func (t *attempts) sealed(done *stepDone) {
	for i := range done.prefixes {
		p := &done.prefixes[i]
		ev := handoff.NodeEvent{Kind: handoff.EvSealed, Seq: p.seq, Pages: p.pages, Computed: p.tokens, Last: p.last}
		if p.last {
			ev.Token = p.first.ID
			ev.Detail = t.detail(p.seq, &p.first)
		}
		t.tell(ev)
	}
}

// token tells a token of an attempt's answer.
func (t *attempts) token(seq page.Seq, tok *sample.Result) {
	t.tell(handoff.NodeEvent{Kind: handoff.EvToken, Seq: seq, Token: tok.ID, Detail: t.detail(seq, tok)})
}

func (t *attempts) detail(seq page.Seq, tok *sample.Result) []byte {
	if q := t.a.seqs[seq]; q == nil || !q.details {
		return nil
	}
	return appendDetail(nil, tok)
}

// ended tells the end of an attempt's sequence.
func (t *attempts) ended(seq page.Seq, end sched.End, cause error) {
	ev := handoff.NodeEvent{Kind: handoff.EvEnded, Seq: seq}
	switch {
	case end == sched.EndStop:
		ev.Reason = handoff.ReasonStop
	case end == sched.EndLength:
		ev.Reason = handoff.ReasonLength
	case end == sched.EndCancelled:
		ev.Reason = handoff.ReasonCancelled
	case cause == request.ErrNoLogits:
		ev.Reason, ev.Why = handoff.ReasonModel, cause.Error()
	case cause == request.ErrPageCheck:
		ev.Reason, ev.Why = handoff.ReasonPageCheck, cause.Error()
	default:
		ev.Reason, ev.Why = handoff.ReasonFault, fmt.Sprint(cause)
	}
	t.a.node.metrics.outcomes.WithLabelValues(outcome(end, cause)).Inc()
	t.tell(ev)
}

// newAttempts makes the shell of the hand-off's rules for this node.
func (n *Node) newAttempts(a *schedulerActor) (*attempts, error) {
	cfg := n.cluster.Handoff
	cfg.Incarnation, cfg.Prefill, cfg.Decode = n.incarnation, n.cluster.Prefill, n.cluster.Decode
	cfg.Key, cfg.Layout, cfg.PageSize = n.cfg.Key, n.cfg.LayoutHash, int64(n.layout.PageSize)
	cfg.Limits = handoff.Limits{MaxModelLen: n.cfg.Sched.MaxModelLen, PoolTokens: n.slab.Pages * n.layout.PageSize}
	core, err := handoff.NewNode(cfg)
	if err != nil {
		return nil, err
	}
	return &attempts{a: a, core: core, gateways: map[uint64]reporter{}, spans: newAttemptSpans(n.cluster.Tracing)}, nil
}

// beat tells the attempts that time passes, with the pool's load, and the channels.
func (n *Node) beat() {
	tick := time.NewTicker(n.cluster.Tick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.tell(n.pool, poolLoad{})
			n.eachChannel(channelTicked{})
		case <-n.cluster.closed.Done():
			return
		}
	}
}

// now is the clock of the pure parts: nanoseconds since the node's start.
func (n *Node) now() int64 { return int64(time.Since(n.began)) }

func zapLink(l page.Link) zap.Field { return zap.Stringer("link", l) }

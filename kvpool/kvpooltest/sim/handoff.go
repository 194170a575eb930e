package sim

import (
	"fmt"
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
)

// told brings a gateway's message to the core.
func (n *node) told(gateLife uint64, m *handoff.Message) {
	n.lastSeq++
	ev := handoff.NodeEvent{Kind: handoff.EvTold, GatewayLife: gateLife, Message: m, Seq: n.lastSeq}
	if n.s.cfg.Break == BreakReleaseEarly && m.Kind == handoff.MsgCancel {
		for _, a := range n.awaited {
			if a.Attempt == m.Attempt {
				n.s.net.send(n, a.Link, kvpool.Message{Kind: kvpool.MsgRelease, Attempt: a.Attempt, From: n.life, To: a.Link.Incarnation, Epoch: a.Link.Epoch, Status: kvpool.Cancelled})
			}
		}
	}
	n.tellCore(ev)
}

// stepCore feeds the core and performs what it says.
func (n *node) stepCore(ev handoff.NodeEvent) {
	ev.Now = n.s.now * 1000
	fx := n.core.Step(ev, n.coreFx[:0])
	n.s.note(uint64(n.id), 4000+uint64(ev.Kind), uint64(len(fx)))
	n.coreFx = nil // an effect may step again
	for i := range fx {
		n.performCore(&fx[i])
	}
	n.coreFx = fx
}

func (n *node) performCore(fx *handoff.NodeEffect) {
	switch fx.Kind {
	case handoff.FxReport:
		n.s.sendGate(n, fx.GatewayLife, handoff.AppendMessage(make([]byte, 0, 256), &fx.Message))
	case handoff.FxPool:
		n.tellPoolOf(fx.Pool)
	case handoff.FxAdmit:
		admitted, why := n.sched.Admit(askOf(fx), fx.Waiting)
		if why != nil {
			n.stepCore(handoff.NodeEvent{Kind: handoff.EvRejected, Seq: fx.Seq, Rejection: why})
		} else {
			n.stepCore(handoff.NodeEvent{Kind: handoff.EvAdmitted, Seq: fx.Seq, MaxTokens: admitted.MaxTokens()})
		}
	case handoff.FxAsk:
		n.newSeq(fx)
		n.plan(sched.Event{Kind: sched.EvSubmit, Ask: askOf(fx), Expected: fx.Waiting})
	case handoff.FxAdopt:
		n.adopt(fx)
	case handoff.FxStop:
		n.plan(sched.Event{Kind: sched.EvCancel, Seq: fx.Seq})
	case handoff.FxFreed:
		n.plan(sched.Event{Kind: sched.EvPagesFreed})
	case handoff.FxSuspect:
		n.suspect(fx.Link)
	}
}

func askOf(fx *handoff.NodeEffect) sched.Ask {
	ask := sched.Ask{Seqs: []page.Seq{fx.Seq}, Tenant: fx.Spec.Tenant, PromptLen: len(fx.Spec.Prompt), MaxTokens: fx.MaxTokens}
	if !fx.Export {
		ask.StopTokens = fx.Spec.StopTokens
	}
	return ask
}

// tellPoolOf tells the pool what the core says of an attempt.
func (n *node) tellPoolOf(ev kvpool.Event) {
	ev.Refs = slices.Clone(ev.Refs)
	switch ev.Kind {
	case kvpool.EvExpect:
		n.awaited = append(n.awaited, awaited{ev, n.s.now})
	case kvpool.EvRelease:
		n.readsNoMore(ev.Seq)
	case kvpool.EvOffer:
		if ev.Last && ev.Tokens%n.s.pageSize == 0 && len(ev.Refs) > 0 && n.s.chance(50) { // now and then the seal comes alone
			pages := ev
			pages.Last = false
			n.tellPool(pages)
			ev.Refs = nil
		}
	}
	n.tellPool(ev)
}

// handOff performs what the ledger says of attempts and links.
func (n *node) handOff(fx *kvpool.Effect) {
	switch fx.Kind {
	case kvpool.FxSend:
		m := fx.Message
		n.s.moved[m.Attempt] += len(m.Pages)
		m.Pages = slices.Clone(m.Pages)
		if m.Seal != nil {
			seal := *m.Seal
			m.Seal = &seal
		}
		n.s.net.send(n, fx.Link, m)
	case kvpool.FxFence:
		n.tellCore(handoff.NodeEvent{Kind: handoff.EvLinkLost, Link: fx.Link})
		n.s.net.fence(n, fx.Link)
	case kvpool.FxRead:
		n.s.net.read(n, *fx)
	case kvpool.FxStart, kvpool.FxImportEnded:
		for i := range n.awaited {
			if a := &n.awaited[i]; a.Attempt == fx.Attempt {
				if fx.Kind == kvpool.FxStart {
					n.stampImported(&a.Event, fx.Refs, fx.Have)
					n.reads(fx.Seq, slices.Clone(fx.Refs))
				}
				n.awaited = slices.Delete(n.awaited, i, i+1)
				break
			}
		}
		fallthrough
	case kvpool.FxRefused, kvpool.FxExported:
		word := *fx
		word.Refs = slices.Clone(fx.Refs)
		n.tellCore(handoff.NodeEvent{Kind: handoff.EvPool, Pool: &word})
	}
}

// tick is the shell's own patience, with what it alone can see; the core's comes with it.
func (n *node) tick() {
	s := n.s
	if s.chance(5) {
		n.tellPool(kvpool.Event{Kind: kvpool.EvPatrol, N: 4})
	}
	c, q := n.pool.Counts(), n.sched.Counts()
	load := handoff.Load{FreePages: c.Free + c.Idle, TotalPages: n.pages, Waiting: q.Waiting, Running: q.Running}
	n.tellCore(handoff.NodeEvent{Kind: handoff.EvNodeTick, Load: load})
	for _, c := range slices.Clone(n.conns) {
		i := c.side(n)
		if out := c.sides[i].out; len(out) > 0 && s.now-out[0].began > revokeAfter+suspectAfter {
			n.suspect(c.sides[i].link)
		}
		if peer := c.sides[1-i].node; s.net.block[peer.id*s.net.n+n.id].until > s.now && s.now-s.net.block[peer.id*s.net.n+n.id].since > 50*milli {
			n.suspect(c.sides[i].link) // nothing has been heard
		}
	}
	if len(n.conns) > 0 && s.on(Tick) && s.chance(3) {
		c := n.conns[s.rng.IntN(len(n.conns))]
		n.suspect(c.sides[c.side(n)].link)
	}
}

func (n *node) suspect(link kvpool.Link) {
	if c := n.connOf(link); c != nil && !c.sides[c.side(n)].over {
		n.s.net.lost(c, c.side(n))
	}
}

func describe(m kvpool.Message) string {
	switch m.Kind {
	case kvpool.MsgOffer:
		return fmt.Sprintf("offer %v group %d: pages %d to %d of %d, seal %v", m.Attempt, m.Group, m.First, m.First+len(m.Pages), m.Total, m.Seal)
	case kvpool.MsgRelease:
		return fmt.Sprintf("release %v status %d", m.Attempt, m.Status)
	}
	return fmt.Sprintf("revoke %v", m.Attempt)
}

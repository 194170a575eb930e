package actors

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
)

// poolActor is the shell of kvpool.Ledger, and the only one who changes the state of a page: its messages are the ledger's events.
type poolActor struct {
	node *Node
	core *kvpool.Ledger
	fx   []kvpool.Effect

	quarantined time.Time // since when there has been a page in quarantine without a break; zero: there is none
}

// PoolReport is a snapshot of the ledger. Broken is an invariant that does not hold, nil otherwise.
type PoolReport struct {
	Counts     kvpool.Counts
	Stats      kvpool.Stats
	Quarantine time.Duration // how long there has been a page in quarantine without a break
	Broken     error
}

func (a *poolActor) Receive(ctx actor.Context) {
	defer rethrow("pool")
	switch m := ctx.Message().(type) {
	case *kvpool.Event:
		a.fx = a.core.Step(*m, a.fx[:0])
		if invariants {
			if err := a.core.Check(); err != nil {
				panic(err)
			}
		}
		a.watchQuarantine()
		for i := range a.fx {
			a.perform(&a.fx[i])
		}
		if m.Kind == kvpool.EvMessage && m.Message.Kind == kvpool.MsgRelease {
			a.node.tell(a.node.channel(m.Link.Peer), channelReleased{m.Link, m.Message.Attempt})
		}
	case poolFreed:
		a.node.tell(a.node.scheduler, pagesFreed{})
	case poolLoad:
		c := a.core.Counts()
		a.node.tell(a.node.scheduler, handoffTick{handoff.Load{FreePages: c.Free + c.Idle, TotalPages: a.node.slab.Pages}})
	case poolReport:
		r := PoolReport{Counts: a.core.Counts(), Stats: a.core.Stats()}
		if !a.quarantined.IsZero() {
			r.Quarantine = time.Since(a.quarantined)
		}
		if m.check {
			r.Broken = a.core.Check()
		}
		m.reply <- r
	}
}

// watchQuarantine notes when the quarantine was last empty. No timer frees a page; how long one has waited is told, and an alarm.
func (a *poolActor) watchQuarantine() {
	switch waits := a.core.Counts().Quarantined > 0; {
	case !waits:
		a.quarantined = time.Time{}
	case a.quarantined.IsZero():
		a.quarantined = time.Now()
	}
}

// perform sends an effect on its way. An effect's slices are the ledger's until the next event, so messages carry copies.
func (a *poolActor) perform(fx *kvpool.Effect) {
	n := a.node
	switch fx.Kind {
	case kvpool.FxAllotted:
		n.tell(n.scheduler, &allotted{slices.Clone(fx.Refs)})
	case kvpool.FxMatched:
		n.tell(n.scheduler, &matched{fx.Seq, slices.Clone(fx.Refs)})
	case kvpool.FxVerify:
		n.tell(n.runner, &verify{job: fx.Job, checks: slices.Clone(fx.Checks)})
	case kvpool.FxScrub:
		n.tell(n.runner, scrub{fx.Ref})
	case kvpool.FxFailed:
		n.tell(n.scheduler, seqFailed{fx.Seq})
	case kvpool.FxFreed:
		n.tell(n.scheduler, pagesFreed{})
	default:
		a.performHandoff(fx)
	}
}

package kvpooltest

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// turn is one action under way: a state of its own that events and their effects change.
type turn struct {
	*cluster
	s    state
	err  error                                   // the first invariant broken
	tell func(node int, ev kvpool.Event, of ref) // each event, for a script; of: as in stepJob
}

func (t *turn) broken(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// step gives an event to a node's ledger and performs the effects as far as shells do that at once. It returns all of them.
func (t *turn) step(i int, ev kvpool.Event) []kvpool.Effect { return t.stepJob(i, ev, ref{}, 0) }

// stepJob is a step for the job that lands in, or looks at, a page: job numbers are the ledger's and no part of a state. Of several it is the one named by which, from the latest back.
func (t *turn) stepJob(i int, ev kvpool.Event, of ref, which int) []kvpool.Effect {
	if t.err != nil {
		return nil
	}
	n := &t.s.nodes[i]
	if jobs := t.ledgers.at(n.ledger).jobs[of]; which < len(jobs) {
		ev.Job = jobs[len(jobs)-1-which].number
	}
	if t.tell != nil {
		t.tell(i, ev, of)
	}
	o := t.ledgers.step(n.ledger, &ev)
	if o.err != nil {
		t.broken("node %d: %w", i+1, o.err)
		return nil
	}
	n.ledger = o.next
	t.seen.noteAll(o.met)
	for k := range o.effects {
		t.effect(i, &o.effects[k])
	}
	return o.effects
}

// effect does what a shell does, and holds it against what may be asked of one.
func (t *turn) effect(i int, fx *kvpool.Effect) {
	n := &t.s.nodes[i]
	switch fx.Kind {
	case kvpool.FxScrub:
		if n.scrubs[fx.Ref.Page] {
			t.broken("I11: node %d scrubs page %d twice", i+1, fx.Ref.Page)
		}
		n.scrubs[fx.Ref.Page] = true
	case kvpool.FxVerify:
		if len(fx.Checks) == 1 {
			n.checks[fx.Checks[0].Ref.Page]++
		}
	case kvpool.FxSend:
		t.sent(i, fx)
	case kvpool.FxFence:
		k, e := t.connOf(&t.s, i, fx.Link)
		if k < 0 || t.s.conns[k].sides[e] != up {
			t.broken("I8: node %d fences %v, which is not up", i+1, fx.Link)
			return
		}
		t.s.conns[k].sides[e] = lost
	case kvpool.FxRefused, kvpool.FxExported, kvpool.FxImportEnded, kvpool.FxStart:
		t.ends(i, fx)
	case kvpool.FxRead:
		t.reads(i, fx)
	}
}

func (t *turn) sent(i int, fx *kvpool.Effect) {
	k, e := t.connOf(&t.s, i, fx.Link)
	if k < 0 || t.s.conns[k].sides[e] != up {
		t.broken("I7: node %d speaks over %v, which is not up", i+1, fx.Link)
		return
	}
	m := &fx.Message
	a := &t.s.attempts[t.attemptOf(m.Attempt)]
	switch m.Kind {
	case kvpool.MsgRelease:
		a.vouched = true
		if m.Status == kvpool.Done && a.starts == 0 {
			t.broken("I9: %v is released as done and has not started", m.Attempt)
		}
	case kvpool.MsgOffer:
		if a.p != open {
			t.broken("I12: %v is offered though it was not admitted, or has ended", m.Attempt)
		}
		a.sealed = a.sealed || m.Seal != nil
	}
	t.s.put(t.intern(i, int(t.s.conns[k].nodes[1-e]), *m))
}

// ends takes what ends, or begins, an attempt at a node: each of these once at the most.
func (t *turn) ends(i int, fx *kvpool.Effect) {
	a := &t.s.attempts[t.attemptOf(fx.Attempt)]
	prefill := fx.Seq == prefillSeq(t.attemptOf(fx.Attempt))
	switch {
	case fx.Kind == kvpool.FxRefused && fx.Status == kvpool.Refused && fx.Have <= fx.Max:
		t.broken("I10: %v is refused %d pages of %d", fx.Attempt, fx.Have, fx.Max)
	case fx.Kind == kvpool.FxRefused && prefill:
		if a.p == notAsked {
			a.p = refused
			t.seen.note(refusedAtPrefill, fx.Status == kvpool.Refused)
		}
	case fx.Kind == kvpool.FxRefused:
		if a.d == notTold {
			a.d = rejectedThere
		}
	case fx.Kind == kvpool.FxExported:
		if a.p != open {
			t.broken("I12: the export of %v ends and was not open", fx.Attempt)
		}
		a.p, a.without = exported, fx.Status != kvpool.Done
		t.seen.note(exportFenced, fx.Status == kvpool.Lost)
	case fx.Kind == kvpool.FxImportEnded:
		if a.d != expecting {
			t.broken("I12: the import of %v ends and was not expected", fx.Attempt)
		}
		a.d = ended
		t.seen.note(refusedForRoom, fx.Status == kvpool.Refused)
		t.seen.note(mismatch, fx.Status == kvpool.Mismatch)
		t.seen.note(cancelWhileReading, fx.Status == kvpool.Cancelled && t.reading(i, fx.Attempt))
		t.seen.note(lostWhileReading, fx.Status == kvpool.Lost && t.reading(i, fx.Attempt))
	default:
		t.starts(i, fx)
	}
}

// starts holds a beginning sequence against everything that is known of its pages (I5, I9).
func (t *turn) starts(i int, fx *kvpool.Effect) {
	r := t.attemptOf(fx.Attempt)
	a := &t.s.attempts[r]
	switch {
	case a.d != expecting || a.starts > 0:
		t.broken("I9: %v starts again", fx.Attempt)
	case a.stopped:
		t.broken("I12: %v starts after it was stopped", fx.Attempt)
	case a.p == refused && a.pLife == t.s.nodes[t.Requests[r].Prefill].life:
		t.broken("I12: %v starts though it was refused", fx.Attempt)
	case len(fx.Refs) != t.pages(r):
		t.broken("I9: %v starts with %d pages of %d", fx.Attempt, len(fx.Refs), t.pages(r))
	case (fx.Spare != page.Ref{}) == t.lastIsPartial(r):
		t.broken("I10: %v starts with the spare page %v", fx.Attempt, fx.Spare)
	case !a.sealed && a.pLife == t.s.nodes[t.Requests[r].Prefill].life:
		t.broken("I9: %v starts without a seal", fx.Attempt)
	case t.reading(i, fx.Attempt):
		t.broken("I9: %v starts while reads are out", fx.Attempt)
	}
	if t.err != nil {
		return
	}
	a.d, a.starts, a.landed, a.spare = running, 1, [maxPrompt]ref{}, small(fx.Spare)
	for k, p := range fx.Refs {
		a.landed[k] = small(p)
	}
}

func (t *turn) reading(i int, name kvpool.Attempt) bool {
	for k := range t.s.reads {
		if r := &t.s.reads[k]; r.used && t.name(&t.s, int(r.attempt)) == name {
			return true
		}
	}
	return false
}

// reads puts a read in flight.
func (t *turn) reads(i int, fx *kvpool.Effect) {
	r := t.attemptOf(fx.Attempt)
	a := &t.s.attempts[r]
	k, e := t.connOf(&t.s, i, fx.Link)
	switch {
	case k < 0 || t.s.conns[k].sides[e] != up:
		t.broken("I7: node %d reads over %v, which is not up", i+1, fx.Link)
		return
	case a.vouched || a.d != expecting:
		t.broken("I7: node %d reads for %v after its end", i+1, fx.Attempt)
		return
	}
	at := -1
	for n, h := range t.content[r] {
		if checksum(h) == fx.Checksum {
			at = n
		}
	}
	for n := range t.s.reads {
		if !t.s.reads[n].used {
			t.s.reads[n] = read{used: true, attempt: uint8(r), at: uint8(at), conn: uint8(k), src: small(fx.Src), dst: small(fx.Dst)}
			t.s.sortReads()
			return
		}
	}
	panic("kvpooltest: too many reads: raise maxReads")
}

// sortReads keeps reads in an order of their own, whatever the order in which they were issued.
func (s *state) sortReads() {
	less := func(a, b *read) bool {
		x, y := [5]uint8{a.attempt, a.at, a.conn, a.dst.page, a.dst.gen}, [5]uint8{b.attempt, b.at, b.conn, b.dst.page, b.dst.gen}
		if a.used != b.used {
			return a.used
		}
		for i := range x {
			if x[i] != y[i] {
				return x[i] < y[i]
			}
		}
		return false
	}
	for i := 1; i < maxReads; i++ {
		for k := i; k > 0 && less(&s.reads[k], &s.reads[k-1]); k-- {
			s.reads[k], s.reads[k-1] = s.reads[k-1], s.reads[k]
		}
	}
}

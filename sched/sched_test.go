package sched

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestWorld drives a scheduler through anything that the contract allows, in any order, and then to the end.
func TestWorld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		cfg := Config{PageSize: draw("page size", 1, 4), MaxModelLen: draw("model len", 4, 24), MaxNumSeqs: draw("seqs", 1, 5)}
		cfg.TotalPages = cfg.pages(cfg.MaxModelLen) + draw("more pages", 0, 12)
		cfg.MaxBatchedTokens = cfg.MaxNumSeqs + draw("more tokens", 0, 12)
		cfg.MaxPrefillChunk = draw("chunk", 0, 5)
		cfg.MaxQueue = draw("queue", 1, 12)
		cfg.TargetStepNanos = int64(draw("target", 0, 2) * 100)
		w, err := newWorld(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		w.pool.scrub = rapid.Bool().Draw(rt, "scrub")
		d := driver{world: w, draw: draw}
		for range draw("actions", 1, 200) {
			d.act()
			if err := w.err(); err != nil {
				rt.Fatal(err)
			}
		}
		w.finish(d.result)
		if err := w.err(); err != nil {
			rt.Fatal(err)
		}
	})
}

// driver chooses what happens next in a world.
type driver struct {
	*world
	draw func(name string, lo, hi int) int
	next page.Seq
}

func (d *driver) act() {
	switch d.draw("action", 0, 22) {
	case 0, 1, 2:
		d.ask()
	case 3:
		d.cancel(page.Seq(d.draw("cancel", 1, int(d.next)+1))) // maybe ended, or nobody's
	case 4, 5, 6, 7, 8:
		if len(d.pool.inbox) > 0 {
			d.errs = append(d.errs, d.pool.work()...)
		}
	case 9, 10, 11:
		if len(d.pool.outbox) > 0 {
			d.step(d.pool.receive())
		}
	case 12, 13:
		d.pool.verify(d.draw("verify", 0, 1))
	case 14, 15, 16:
		if d.inFlight != nil {
			d.nanos = int64(d.draw("nanos", 0, 300))
			d.done(d.result)
		}
	case 17:
		d.pool.withhold(d.draw("withhold", 1, 4))
	case 18:
		if d.pool.count(limbo) > 0 {
			d.pool.cleaned(d.draw("cleaned", 1, d.pool.count(limbo)))
		}
	case 19:
		d.fault()
	case 20, 21, 22:
		d.moveImport()
	}
}

func (d *driver) ask() {
	ask := Ask{
		Tenant:    []string{"a", "b", "c"}[d.draw("tenant", 0, 2)],
		PromptLen: d.draw("prompt", 1, d.cfg.MaxModelLen),
		MaxTokens: d.draw("max tokens", 0, 8),
	}
	if d.draw("stops", 0, 1) == 1 {
		ask.StopTokens = []int32{7, 0}
	}
	for range d.draw("n", 1, 3) {
		d.next++
		ask.Seqs = append(ask.Seqs, d.next)
	}
	if text := d.draw("text", 0, 2); len(ask.Seqs) == 1 && d.draw("expect", 0, 3) > 0 {
		d.expect(ask, text)
	} else {
		d.submit(ask, text)
	}
}

// moveImport has a prompt come, or come to nothing.
func (d *driver) moveImport() {
	if len(d.imports) == 0 {
		return
	}
	if i := d.draw("import", 0, len(d.imports)-1); d.draw("fails", 0, 5) > 0 {
		d.adopt(i)
	} else {
		d.giveUp(i)
	}
}

// fault is a bad page, or a message that comes late or twice.
func (d *driver) fault() {
	switch d.draw("fault", 0, 3) {
	case 0:
		if reader := d.pool.spoil(d.draw("page", 0, d.cfg.TotalPages-1)); reader != 0 {
			d.seqs[reader].pageFailed = true
			d.pool.outbox = append(d.pool.outbox, Event{Kind: EvFailed, Seq: reader})
		}
	case 1:
		d.step(Event{Kind: EvStepDone, Step: uint64(d.steps)}) // that of the batch before
	case 2:
		if id := page.Seq(d.draw("match", 1, int(d.next)+1)); d.seqs[id] == nil || !d.seqs[id].begun {
			d.step(Event{Kind: EvMatched, Seq: id, Refs: []page.Ref{{Generation: 1 << 40}}})
		}
	case 3:
		d.step(Event{Kind: EvPagesFreed})
	}
}

func (d *driver) result(it Item) Result {
	if d.draw("outcome", 0, 40) == 1 {
		return Result{Failed: true}
	}
	return Result{Token: int32(d.draw("token", 0, 9))}
}

package sched

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// world is all that a scheduler lives among: a fake pool and a fake runner, joined to it by queues of messages that a test delivers when it likes. It
// keeps its own books, and a broken promise of the scheduler is an error.
type world struct {
	cfg  Config
	s    *Scheduler
	pool *fakePool
	seqs map[page.Seq]*client
	ids  []page.Seq // admitted, in order

	inFlight *Batch // the runner's
	asIssued Batch  // a copy, to see that it is left alone
	steps    int
	turns    int

	errs []string
}

// client is what one admitted sequence's user and the books know of it.
type client struct {
	id                    page.Seq
	ask                   Ask
	maxTokens             int
	prompt                int // id of the prompt's text
	tokens                []int32
	computed              int
	table                 []page.Ref
	ended, released       bool
	end                   End
	begun                 bool // between FxMatch and FxRelease
	turn                  int  // order of FxMatch, which is the order of starts
	cancelled, pageFailed bool
}

func newWorld(cfg Config) (*world, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &world{cfg: cfg, s: s, pool: newFakePool(cfg), seqs: map[page.Seq]*client{}}, nil
}

func (w *world) failf(format string, args ...any) {
	w.errs = append(w.errs, fmt.Sprintf(format, args...))
}

func (w *world) assert(ok bool, format string, args ...any) {
	if !ok {
		w.failf(format, args...)
	}
}

// submit asks with a prompt whose text is that of the given id.
func (w *world) submit(ask Ask, prompt int) []Effect {
	for _, id := range ask.Seqs {
		w.seqs[id] = &client{id: id, ask: ask, prompt: prompt}
	}
	return w.step(Event{Kind: EvSubmit, Ask: ask})
}

func (w *world) cancel(id page.Seq) []Effect {
	if c := w.seqs[id]; c != nil {
		c.cancelled = true
	}
	return w.step(Event{Kind: EvCancel, Seq: id})
}

// step delivers ev, performs what the scheduler wants, and checks it against the books.
func (w *world) step(ev Event) []Effect {
	if c := w.seqs[ev.Seq]; ev.Kind == EvMatched && c != nil && c.begun && !c.ended {
		c.table, c.computed = slices.Clone(ev.Refs), len(ev.Refs)*w.cfg.PageSize
	}
	effects := w.s.Step(ev, nil)
	clear(ev.Refs) // it keeps no slice of an event
	clear(ev.Results)
	for _, fx := range effects {
		w.perform(fx)
	}
	if err := w.s.Check(); err != nil {
		w.failf("%v", err)
	}
	w.checkAwake()
	return effects
}

// checkAwake: a scheduler with work waits for something.
func (w *world) checkAwake() {
	if w.s.Counts().Running+w.s.Counts().Waiting == 0 {
		if w.inFlight == nil {
			w.assert(w.s.Counts().PagesInHand == 0, "%d pages hoarded with nothing to do", w.s.Counts().PagesInHand)
		}
		return
	}
	awaits := w.inFlight != nil || len(w.pool.inbox) > 0 || len(w.pool.unverified) > 0 || len(w.pool.outbox) > 0
	w.assert(awaits || w.pool.count(limbo) > 0, "work to do, nothing said and nothing to wait for: %+v", w.s.Counts())
}

func (w *world) perform(fx Effect) {
	c := w.seqs[fx.Seq]
	switch fx.Kind {
	case FxAdmitted:
		for _, id := range fx.Admitted.Ask().Seqs {
			w.ids = append(w.ids, id)
			w.seqs[id].maxTokens = fx.Admitted.MaxTokens()
		}
	case FxRejected:
		for _, id := range c.ask.Seqs {
			delete(w.seqs, id)
		}
	case FxMatch:
		for _, o := range w.seqs {
			w.assert(!o.begun || o.ended || w.s.seqs[o.id].phase == running, "sequences %d and %d are matched at once", o.id, c.id)
		}
		w.assert(!c.ended && c.computed == 0 && len(c.table) == 0 && !c.begun, "%d is matched out of turn", c.id)
		w.assert(fx.Known == c.known(), "%d is matched with %d of %d tokens", c.id, fx.Known, c.known())
		w.checkTurn(c)
		c.begun = true
		w.turns++
		c.turn = w.turns
		w.pool.send(poolMessage{match: c, known: fx.Known})
	case FxAllot:
		w.assert(fx.N > 0 && !w.pool.asked, "FxAllot of %d, another out: %v", fx.N, w.pool.asked)
		w.pool.asked = true
		w.pool.send(poolMessage{allot: fx.N})
	case FxReturn:
		w.assert(len(fx.Refs) > 0, "FxReturn of nothing")
		w.pool.send(poolMessage{refs: fx.Refs})
	case FxRun:
		w.run(fx.Batch)
	case FxRelease:
		w.assert(w.item(c.id) < 0, "%d released in flight", c.id)
		w.assert(!c.released, "%d released again after its end", c.id)
		c.released = c.released || c.ended
		c.table, c.computed, c.begun = nil, 0, false
		w.pool.send(poolMessage{release: c.id})
	case FxToken:
		w.assert(!c.ended, "a token for %d after its end", c.id)
		c.tokens = append(c.tokens, fx.Token)
	case FxEnd:
		w.assert(!c.ended, "%d ends twice", c.id)
		c.ended, c.end = true, fx.End
		c.released = w.item(c.id) < 0 // FxRelease was before
		w.assert(!c.released || len(c.table) == 0, "%d ends with pages and out of flight", c.id)
		w.checkEnd(c)
	case FxPreempted:
		w.assert(w.inFlight == nil && !c.ended, "%d preempted", c.id)
		for _, o := range w.seqs {
			runs := w.s.seqs[o.id] != nil && w.s.seqs[o.id].phase == running
			w.assert(!runs || o.turn < c.turn, "%d preempted, which started before %d", c.id, o.id)
		}
	default:
		w.failf("effect %d", fx.Kind)
	}
}

func (c *client) known() int { return c.ask.PromptLen + len(c.tokens) }

// checkTurn: within a tenant nobody overtakes, and other choices come after the first one's prompt.
func (w *world) checkTurn(c *client) {
	for _, id := range w.ids {
		o := w.seqs[id]
		if o == c {
			break
		}
		idle := !o.ended && !o.begun && o.ask.Tenant == c.ask.Tenant
		w.assert(!idle || o.gatedBy(w), "%d overtakes %d", c.id, o.id)
	}
	w.assert(!c.gatedBy(w), "%d starts before %d has the prompt", c.id, c.ask.Seqs[0])
}

func (c *client) gatedBy(w *world) bool {
	first := w.seqs[c.ask.Seqs[0]]
	return first != c && !first.ended && first.computed < first.ask.PromptLen && len(first.tokens) == 0
}

func (w *world) checkEnd(c *client) {
	last := int32(-1)
	if len(c.tokens) > 0 {
		last = c.tokens[len(c.tokens)-1]
	}
	stopped := slices.Contains(c.ask.StopTokens, last)
	switch c.end {
	case EndStop:
		w.assert(stopped, "%d stops at token %d", c.id, last)
	case EndLength:
		w.assert(!stopped && len(c.tokens) == c.maxTokens, "%d has %d of %d tokens", c.id, len(c.tokens), c.maxTokens)
	case EndCancelled:
		w.assert(c.cancelled, "%d was not cancelled", c.id)
	case EndFailed:
		w.assert(c.pageFailed, "%d did not fail", c.id)
	}
}

// item is the place of a sequence in the batch in flight, or -1.
func (w *world) item(id page.Seq) int {
	if w.inFlight == nil {
		return -1
	}
	return slices.IndexFunc(w.inFlight.Items, func(it Item) bool { return it.Seq == id })
}

// run takes a batch and checks all that a batch must be.
func (w *world) run(b *Batch) {
	w.assert(w.inFlight == nil, "two batches in flight")
	w.assert(len(b.Items) > 0 && len(b.Items) <= w.cfg.MaxNumSeqs, "%d items", len(b.Items))
	budget, longer := w.cfg.MaxBatchedTokens, false
	spends := b.Spends
	for _, it := range b.Items {
		c := w.seqs[it.Seq]
		budget -= it.Count
		w.assert(c != nil && !c.ended && w.item(it.Seq) < 0, "sequence %d in a batch", it.Seq)
		w.assert(it.Start == c.computed && it.Count > 0 && it.Start+it.Count <= c.known(), "%d computes %d+%d of %d", c.id, it.Start, it.Count, c.known())
		w.assert(it.Sample == (it.Start+it.Count == c.known()), "%d samples: %v", c.id, it.Sample)
		w.assert(w.cfg.MaxPrefillChunk == 0 || it.Count <= w.cfg.MaxPrefillChunk, "a chunk of %d", it.Count)
		single := c.known()-it.Start == 1
		w.assert(!single || !longer, "%d needs one token and comes after longer pieces", c.id)
		longer = longer || !single

		w.assert(len(it.Pages) == w.cfg.pages(it.Start+it.Count), "%d has %d pages for %d tokens", c.id, len(it.Pages), it.Start+it.Count)
		w.assert(slices.Equal(it.Pages[:len(c.table)], c.table), "the table of %d changed", c.id)
		for _, ref := range it.Pages[len(c.table):] {
			w.assert(len(spends) > 0 && spends[0] == page.Spend{Ref: ref, Seq: c.id}, "page %v of %d is not the next one spent", ref, c.id)
			spends = spends[min(1, len(spends)):]
		}
		c.table = slices.Clone(it.Pages)
	}
	w.assert(budget >= 0, "over the budget by %d tokens", -budget)
	w.assert(len(spends) == 0, "%d pages spent for nobody", len(spends))
	w.pool.send(poolMessage{batch: &Batch{Items: slices.Clone(b.Items), Spends: b.Spends}})
	w.inFlight = b
	w.asIssued = Batch{Step: b.Step, Items: slices.Clone(b.Items), Spends: slices.Clone(b.Spends)}
	for i := range w.asIssued.Items {
		w.asIssued.Items[i].Pages = slices.Clone(w.asIssued.Items[i].Pages)
	}
}

// done finishes the batch in flight; result says what becomes of each item.
func (w *world) done(result func(it Item) Result) []Effect {
	b := w.inFlight
	w.assert(reflect.DeepEqual(*b, w.asIssued), "batch %d changed in flight", b.Step)
	ev := Event{Kind: EvStepDone, Step: b.Step}
	var seals []seal
	for _, it := range b.Items {
		r := result(it)
		r.Seq = it.Seq
		ev.Results = append(ev.Results, r)
		c := w.seqs[it.Seq]
		if r.Failed {
			c.pageFailed = true
			continue
		}
		c.computed = it.Start + it.Count
		for i := it.Start / w.cfg.PageSize; (i+1)*w.cfg.PageSize <= c.computed; i++ {
			seals = append(seals, seal{it.Pages[i], c.key(i, w.cfg.PageSize)})
		}
	}
	w.pool.send(poolMessage{seals: seals})
	w.inFlight = nil
	w.steps++
	return w.step(ev)
}

// deliver lets the pool answer everything, and the scheduler react, until only the runner has something to do.
func (w *world) deliver() (effects []Effect) {
	for len(w.errs) == 0 {
		w.pool.verify(0)
		switch {
		case len(w.pool.inbox) > 0:
			w.errs = append(w.errs, w.pool.work()...)
		case len(w.pool.outbox) > 0:
			effects = append(effects, w.step(w.pool.receive())...)
		default:
			hand := w.s.Counts().PagesInHand
			w.assert(w.pool.count(allotted) == hand, "%d pages allotted, %d in hand", w.pool.count(allotted), hand)
			return effects
		}
	}
	return effects
}

// finish runs the world until nothing moves, and checks that everything ended and every page is home.
func (w *world) finish(result func(it Item) Result) {
	for limit := w.steps + 10000; len(w.errs) == 0; {
		w.deliver()
		switch {
		case w.inFlight != nil:
			w.done(result)
		case w.pool.count(limbo) > 0:
			w.pool.cleaned(w.pool.count(limbo))
		default:
			w.checkQuiet()
			return
		}
		w.assert(w.steps < limit, "no end")
	}
}

func (w *world) checkQuiet() {
	for _, id := range w.ids {
		c := w.seqs[id]
		w.assert(c.ended && c.released, "sequence %d: ended %v, released %v", id, c.ended, c.released)
	}
	w.assert(w.s.Counts() == Counts{}, "left over: %+v", w.s.Counts())
	w.assert(len(w.s.seqs) == 0 && len(w.s.tenants.byName) == 0, "%d sequences and %d tenants are remembered", len(w.s.seqs), len(w.s.tenants.byName))
	w.assert(w.pool.count(free)+w.pool.count(cached) == w.cfg.TotalPages, "pages not home: %v", w.pool)
}

func (w *world) err() error {
	if len(w.errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(w.errs, "\n"))
}

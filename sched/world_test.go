package sched

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// world is all that a scheduler lives among: a fake pool and a fake runner, joined to it by queues of messages that a test delivers when it likes. It
// keeps its own books, and a broken promise of the scheduler is an error.
type world struct {
	cfg     Config
	s       *Scheduler
	pool    *fakePool
	seqs    map[page.Seq]*client
	ids     []page.Seq // admitted, in order
	imports []imported

	inFlight *Batch // the runner's
	asIssued Batch  // a copy, to see that it is left alone
	nanos    int64  // that each step takes
	steps    int
	turns    int
	lost     int // adopted sequences that lost their pages before they started

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
	turn                  int  // order of turns, which is the order of starts
	cancelled, pageFailed bool

	adopted   bool // it came with its prompt, and has not lost it since
	preempted bool // told so, since its last FxRelease
}

// imported is a prompt on its way: its pages, and maybe one more.
type imported struct {
	ask    Ask
	prompt int
	refs   []page.Ref
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
	return w.step(Event{Kind: EvSubmit, Ask: ask, Expected: len(w.imports)})
}

// expect has another node compute the prompt of ask, if it is admitted and there are pages for it.
func (w *world) expect(ask Ask, prompt int) *request.Rejection {
	_, rejection := w.s.Admit(ask, len(w.imports))
	if rejection != nil {
		return rejection
	}
	n := w.cfg.pages(ask.PromptLen)
	if ask.PromptLen%w.cfg.PageSize == 0 {
		n++ // for the answer
	}
	if refs := w.pool.reserve(n); refs != nil {
		w.imports = append(w.imports, imported{ask, prompt, refs})
	}
	return nil
}

// adopt ends the i-th import: its pages are the new sequence's from now on.
func (w *world) adopt(i int) []Effect {
	m := w.imports[i]
	w.imports = slices.Delete(w.imports, i, i+1)
	ev := Event{Kind: EvAdopt, Ask: m.ask, Computed: m.ask.PromptLen, Refs: m.refs[:w.cfg.pages(m.ask.PromptLen)]}
	ev.Ask.PromptLen++ // the first token has come along
	if ev.Ask.MaxTokens--; m.ask.MaxTokens < 2 {
		ev.Ask.MaxTokens = 0 // the rest of the context
	}
	if len(ev.Refs) < len(m.refs) {
		ev.Spare = m.refs[len(ev.Refs)]
		w.pool.at(ev.Spare).state = allotted
	}
	c := &client{id: m.ask.Seqs[0], ask: ev.Ask, prompt: m.prompt, maxTokens: ev.Ask.MaxTokens, adopted: true, computed: ev.Computed, table: slices.Clone(ev.Refs)}
	if c.maxTokens == 0 {
		c.maxTokens = w.cfg.MaxModelLen - c.ask.PromptLen
	}
	w.seqs[c.id] = c
	w.ids = append(w.ids, c.id)
	for i, ref := range ev.Refs {
		w.pool.own(int(ref.Page), c.id)
		if (i+1)*w.cfg.PageSize <= ev.Computed {
			w.pool.enter(ref, c.key(i, w.cfg.PageSize))
		}
	}
	return w.step(ev)
}

// giveUp ends the i-th import: it has come to nothing.
func (w *world) giveUp(i int) {
	for _, ref := range w.imports[i].refs {
		w.pool.at(ref).state = limbo
	}
	w.imports = slices.Delete(w.imports, i, i+1)
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
	w.noteStarts()
	clear(ev.Refs) // it keeps no slice of an event
	clear(ev.Results)
	for i, fx := range effects {
		w.perform(fx, effects[i:])
	}
	if err := w.s.Check(); err != nil {
		w.failf("%v", err)
	}
	w.checkAwake()
	return effects
}

// noteStarts gives those a turn that needed no match.
func (w *world) noteStarts() {
	for q := w.s.running.head; q != nil; q = q.next {
		w.noteTurn(q.id)
	}
	if q := w.s.candidate; q != nil && q.phase == matched {
		w.noteTurn(q.id)
	}
}

func (w *world) noteTurn(id page.Seq) {
	if c := w.seqs[id]; !c.begun {
		w.assert(c.adopted, "%d starts without a match", id)
		w.checkTurn(c)
		c.begun = true
		w.turns++
		c.turn = w.turns
	}
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
	w.assert(awaits || len(w.imports) > 0 || w.pool.count(limbo) > 0, "work to do, nothing said and nothing to wait for: %+v", w.s.Counts())
}

// perform does what fx says; rest are the effects from fx on.
func (w *world) perform(fx Effect, rest []Effect) {
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
		ends := func(next Effect) bool { return next.Kind == FxEnd && next.Seq == c.id }
		w.assert(!c.adopted || c.ended || c.preempted || slices.ContainsFunc(rest, ends), "%d loses its prompt and nobody is told", c.id)
		c.preempted = false
		c.table, c.computed, c.begun, c.adopted = nil, 0, false, false
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
		c.preempted = true
		if c.adopted && w.s.seqs[c.id].phase == waiting {
			w.lost++
		}
		w.assert(w.inFlight == nil && !c.ended, "%d preempted", c.id)
		for _, o := range w.seqs {
			runs := w.s.seqs[o.id] != nil && w.s.seqs[o.id].phase == running
			w.assert(!c.begun || !runs || o.turn < c.turn, "%d preempted, which started before %d", c.id, o.id)
			if o.adopted && !o.begun && !o.ended { // it waits with pages
				w.assert(!c.begun && slices.Index(w.ids, o.id) <= slices.Index(w.ids, c.id), "%d loses its pages, and %d waits with some", c.id, o.id)
			}
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
	budget, longer, answers, prompt := w.cfg.MaxBatchedTokens, false, 0, 0
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
		if single {
			answers++
		} else {
			prompt += it.Count
		}

		w.assert(len(it.Pages) == w.cfg.pages(it.Start+it.Count), "%d has %d pages for %d tokens", c.id, len(it.Pages), it.Start+it.Count)
		w.assert(slices.Equal(it.Pages[:len(c.table)], c.table), "the table of %d changed", c.id)
		for _, ref := range it.Pages[len(c.table):] {
			w.assert(len(spends) > 0 && spends[0] == page.Spend{Ref: ref, Seq: c.id}, "page %v of %d is not the next one spent", ref, c.id)
			spends = spends[min(1, len(spends)):]
		}
		c.table = slices.Clone(it.Pages)
	}
	w.assert(budget >= 0, "over the budget by %d tokens", -budget)
	w.assert(answers == 0 || prompt <= w.s.pace.bound, "%d prompt tokens while answers grow, of at most %d", prompt, w.s.pace.bound)
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
	ev := Event{Kind: EvStepDone, Step: b.Step, Nanos: w.nanos}
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
		case len(w.imports) > 0:
			w.adopt(0)
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

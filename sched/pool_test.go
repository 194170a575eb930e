package sched

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// pageState of the fake pool.
type pageState uint8

const (
	free      pageState = iota
	cached              // in the prefix index, read by no sequence
	allotted            // to the scheduler
	owned               // by the sequences in owners
	importing           // a prompt is being read into it
	limbo               // nobody's for a while: being scrubbed
)

// fakePool is the slow and obvious ledger of a world. It works off its inbox in order; the answers to matches may take longer than those behind them.
type fakePool struct {
	cfg        Config
	pages      []fakePage
	scrub      bool // freed pages pass through limbo
	inbox      []poolMessage
	unverified []poolMessage // matches found, not yet answered
	outbox     []Event
	asked      bool // FxAllot without EvAllotted
}

type fakePage struct {
	state      pageState
	generation page.Generation
	owners     map[page.Seq]bool
	key        *prefixKey // in the index
}

// prefixKey stands for the chain hash of a page: its place, and the text up to its end (a prompt's, or the answer of one sequence).
type prefixKey struct {
	prompt int
	seq    page.Seq // 0: of the prompt
	i      int
}

func (c *client) key(i, pageSize int) prefixKey {
	k := prefixKey{prompt: c.prompt, i: i}
	if (i+1)*pageSize > c.ask.PromptLen {
		k.seq = c.id
	}
	return k
}

type seal struct {
	ref page.Ref
	key prefixKey
}

// poolMessage is one of: match, allot, refs to return, release, batch that spends, seals.
type poolMessage struct {
	match   *client
	known   int
	found   []page.Ref
	allot   int
	refs    []page.Ref
	release page.Seq
	batch   *Batch
	seals   []seal
}

func newFakePool(cfg Config) *fakePool {
	return &fakePool{cfg: cfg, pages: make([]fakePage, cfg.TotalPages)}
}

func (p *fakePool) send(m poolMessage) { p.inbox = append(p.inbox, m) }

func (p *fakePool) receive() Event {
	ev := p.outbox[0]
	p.outbox = p.outbox[1:]
	if ev.Kind == EvAllotted {
		p.asked = false
	}
	return ev
}

func (p *fakePool) count(st pageState) (n int) {
	for i := range p.pages {
		if p.pages[i].state == st {
			n++
		}
	}
	return n
}

func (p *fakePool) String() string {
	s := ""
	for i := range p.pages {
		s += fmt.Sprintf("%d:%d%v ", i, p.pages[i].state, p.pages[i].owners)
	}
	return s
}

// at is the page that ref names, if it still does.
func (p *fakePool) at(ref page.Ref) *fakePage {
	if pg := &p.pages[ref.Page]; pg.generation == ref.Generation {
		return pg
	}
	return nil
}

// work does the oldest message and returns what was wrong with it.
func (p *fakePool) work() (errs []string) {
	m := p.inbox[0]
	p.inbox = p.inbox[1:]
	failf := func(format string, args ...any) { errs = append(errs, "pool: "+fmt.Sprintf(format, args...)) }
	switch {
	case m.match != nil:
		for i := 0; (i+1)*p.cfg.PageSize <= m.known-1; i++ {
			at, ok := p.find(m.match.key(i, p.cfg.PageSize))
			if !ok {
				break
			}
			p.own(at, m.match.id)
			m.found = append(m.found, page.Ref{Page: page.Index(at), Generation: p.pages[at].generation})
		}
		p.unverified = append(p.unverified, m)
	case m.allot > 0:
		p.outbox = append(p.outbox, Event{Kind: EvAllotted, Refs: p.take(m.allot)})
	case m.release != 0:
		p.release(m.release)
	case m.batch != nil:
		for _, sp := range m.batch.Spends {
			if pg := p.at(sp.Ref); pg == nil || pg.state != allotted {
				failf("%v was spent and is not allotted", sp.Ref)
				continue
			}
			p.own(int(sp.Ref.Page), sp.Seq)
		}
		for _, it := range m.batch.Items {
			for _, ref := range it.Pages {
				if pg := p.at(ref); pg == nil || !pg.owners[it.Seq] {
					failf("%d computes with %v, which is not its own", it.Seq, ref)
				}
			}
		}
	}
	for _, ref := range m.refs {
		pg := p.at(ref)
		if pg == nil || pg.state != allotted {
			failf("%v was returned and is not allotted", ref)
			continue
		}
		pg.state = free
	}
	for _, s := range m.seals {
		p.enter(s.ref, s.key)
	}
	return errs
}

// enter lets the index find a page that a sequence owns.
func (p *fakePool) enter(ref page.Ref, key prefixKey) {
	if pg := p.at(ref); pg != nil && pg.state == owned && pg.key == nil {
		if _, twice := p.find(key); !twice {
			pg.key = &key
		}
	}
}

// reserve takes n pages for an import, or none.
func (p *fakePool) reserve(n int) []page.Ref {
	if p.count(free)+p.count(cached) < n {
		return nil
	}
	refs := p.take(n)
	for _, ref := range refs {
		p.at(ref).state = importing
	}
	return refs
}

func (p *fakePool) find(k prefixKey) (int, bool) {
	for i := range p.pages {
		if key := p.pages[i].key; key != nil && *key == k {
			return i, true
		}
	}
	return 0, false
}

func (p *fakePool) own(i int, id page.Seq) {
	pg := &p.pages[i]
	if pg.owners == nil {
		pg.owners = map[page.Seq]bool{}
	}
	pg.owners[id] = true
	pg.state = owned
}

// take allots up to n pages: free ones, then cached ones.
func (p *fakePool) take(n int) (refs []page.Ref) {
	for _, from := range []pageState{free, cached} {
		for i := range p.pages {
			if pg := &p.pages[i]; pg.state == from && len(refs) < n {
				pg.state, pg.key = allotted, nil
				pg.generation++
				refs = append(refs, page.Ref{Page: page.Index(i), Generation: pg.generation})
			}
		}
	}
	return refs
}

func (p *fakePool) release(id page.Seq) {
	for i, m := range p.unverified {
		if m.match.id == id {
			p.unverified = append(p.unverified[:i:i], p.unverified[i+1:]...)
			break
		}
	}
	for i := range p.pages {
		pg := &p.pages[i]
		if !pg.owners[id] {
			continue
		}
		delete(pg.owners, id)
		switch {
		case len(pg.owners) > 0:
		case pg.key != nil:
			pg.state = cached
		case p.scrub:
			pg.state = limbo
		default:
			pg.state = free
		}
	}
}

// verify answers the i-th match that waits, if there is one.
func (p *fakePool) verify(i int) {
	if i < len(p.unverified) {
		m := p.unverified[i]
		p.unverified = append(p.unverified[:i:i], p.unverified[i+1:]...)
		p.outbox = append(p.outbox, Event{Kind: EvMatched, Seq: m.match.id, Refs: m.found})
	}
}

// withhold takes up to n free or cached pages away for a while.
func (p *fakePool) withhold(n int) {
	for i := range p.pages {
		if pg := &p.pages[i]; n > 0 && pg.state <= cached {
			pg.state, pg.key = limbo, nil
			n--
		}
	}
}

// cleaned brings up to n pages home, which the scheduler is told.
func (p *fakePool) cleaned(n int) {
	for i := range p.pages {
		if pg := &p.pages[i]; n > 0 && pg.state == limbo {
			pg.state = free
			n--
		}
	}
	p.outbox = append(p.outbox, Event{Kind: EvPagesFreed})
}

// spoil makes a page that a sequence reads bad: it leaves the index, and a reader fails. It returns 0 if nobody reads any.
func (p *fakePool) spoil(i int) (reader page.Seq) {
	pg := &p.pages[i]
	pg.key = nil
	if pg.state == cached {
		pg.state = free
	}
	for id := range pg.owners {
		if reader == 0 || id < reader {
			reader = id
		}
	}
	return reader
}

package kvpooltest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// ledgers holds every ledger that was ever reached, once: two that will behave alike are one. A world has few of them next to its states, so the real Step runs once for each ledger
// and event, and a state of the world names its ledgers by number.
type ledgers struct {
	mu      sync.RWMutex
	byState map[string]uint32 // by configuration, life and AppendState
	byOrbit map[string]uint32
	all     []*ledger
	names   []naming     // under which a state is the same; the first changes nothing
	compare bool         // keep what alike needs
	bytes   atomic.Int64 // about what all this takes
}

// ledger is one reached ledger. Nothing steps it in place.
type ledger struct {
	id     uint32
	config kvpool.Config
	l      *kvpool.Ledger
	pages  []pageState
	counts kvpool.Counts
	jobs   map[ref][]job // that run: reads by the page they land in, checks by their first page

	under []orbit // for each naming of the world

	mu   sync.Mutex
	memo map[string]*outcome

	others   []likeness // for alike: ledgers that were taken for this one
	compared int        // of these
	records  map[string]bool
}

// naming says of each attempt which it becomes.
type naming [maxAttempts]uint8

// numbering says of each page which it becomes.
type numbering [maxPages]uint8

// orbit is all ledgers that differ from one, under a naming, in the numbers of pages alone. Each of the numberings takes it to the one that stands for them: several, if pages of the ledger are alike.
type orbit struct {
	id uint32
	to []numbering
}

// ref is a page's life at a known node in its present life. Generation 0: none.
type ref struct{ page, gen uint8 }

// job is a read or check that a ledger has asked for.
type job struct {
	number   uint64
	checksum uint32 // that the page should have
	checks   []kvpool.Check
	seq      page.Seq // that waits for it
}

type pageState struct {
	state kvpool.State
	gen   uint8
}

// outcome is what a ledger does with an event.
type outcome struct {
	next    uint32
	effects []kvpool.Effect
	met     []situation // on the way: what a ledger has counted is no part of its state
	err     error
	event   kvpool.Event // for alike
}

func newLedgers() *ledgers {
	return &ledgers{byState: map[string]uint32{}, byOrbit: map[string]uint32{}, names: []naming{{0, 1, 2}}}
}

// renamed is a ledger whose attempts and their sequences have other names.
func (n naming) renamed(l *kvpool.Ledger) *kvpool.Ledger {
	if n == (naming{0, 1, 2}) {
		return l
	}
	return l.Renamed(func(a kvpool.Attempt) kvpool.Attempt {
		a.Number = 1 + uint64(n[a.Number-1])
		return a
	}, func(s page.Seq) page.Seq {
		if s < prefillSeq(0) || s >= otherSeq(0) {
			return s
		}
		role := (s - prefillSeq(0)) / 10 * 10 // of the prefill node or the decode node
		return prefillSeq(int(n[s-prefillSeq(0)-role])) + role
	})
}

func (ls *ledgers) at(id uint32) *ledger {
	ls.mu.RLock()
	defer ls.mu.RUnlock()
	return ls.all[id]
}

// fresh returns the ledger of a new life.
func (ls *ledgers) fresh(cfg kvpool.Config) uint32 {
	l, err := kvpool.New(cfg)
	if err != nil {
		panic(err)
	}
	return ls.intern(cfg, l, nil)
}

func (ls *ledgers) intern(cfg kvpool.Config, l *kvpool.Ledger, jobs map[ref][]job) uint32 {
	key := stateKey(cfg, l)
	ls.mu.RLock()
	id, known := ls.byState[key]
	ls.mu.RUnlock()
	if known {
		if ls.compare {
			ls.took(id, l, jobs)
		}
		return id
	}
	x := &ledger{config: cfg, l: l, counts: l.Counts(), jobs: jobs, memo: map[string]*outcome{}}
	for i := range cfg.Pages {
		s, g := l.Page(page.Index(i))
		x.pages = append(x.pages, pageState{s, uint8(g)})
	}
	var orbitKeys []string
	for _, n := range ls.names {
		key, to := standsFor(cfg, n.renamed(l))
		orbitKeys, x.under = append(orbitKeys, key), append(x.under, orbit{to: to})
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if id, known := ls.byState[key]; known {
		return id
	}
	x.id = uint32(len(ls.all))
	ls.all = append(ls.all, x)
	ls.bytes.Add(int64(4096 + 2*len(key)))
	ls.byState[key] = x.id
	for i, key := range orbitKeys {
		id, known := ls.byOrbit[key]
		if !known {
			id = uint32(len(ls.byOrbit))
			ls.byOrbit[key] = id
		}
		x.under[i].id = id
	}
	return x.id
}

func stateKey(cfg kvpool.Config, l *kvpool.Ledger) string {
	b := binary.AppendUvarint(nil, uint64(cfg.Node))
	b = binary.AppendUvarint(b, uint64(cfg.Incarnation))
	return string(l.AppendState(b))
}

// standsFor tries every numbering of the pages and returns the least encoding with all numberings that give it.
func standsFor(cfg kvpool.Config, l *kvpool.Ledger) (least string, to []numbering) {
	perm := make([]page.Index, cfg.Pages)
	for i := range perm {
		perm[i] = page.Index(i)
	}
	var try func(k int)
	try = func(k int) {
		if k == len(perm) {
			key := stateKey(cfg, l.Renumbered(perm))
			if len(to) > 0 && key > least {
				return
			}
			if key != least {
				least, to = key, nil
			}
			n := numbering{0, 1, 2, 3}
			for i, p := range perm {
				n[i] = uint8(p)
			}
			to = append(to, n)
			return
		}
		for i := k; i < len(perm); i++ {
			perm[k], perm[i] = perm[i], perm[k]
			try(k + 1)
			perm[k], perm[i] = perm[i], perm[k]
		}
	}
	try(0)
	return least, to
}

// step runs the real Step on a clone, once for each event, and checks what can be seen of the invariants in the ledger alone.
func (ls *ledgers) step(id uint32, ev *kvpool.Event) *outcome {
	x := ls.at(id)
	var buf [512]byte
	key := appendEvent(buf[:0], ev)
	x.mu.Lock()
	defer x.mu.Unlock()
	if o, ok := x.memo[string(key)]; ok {
		return o
	}
	o := &outcome{next: id}
	x.memo[string(key)] = o
	next := x.l.Clone()
	o.perform(next, ev)
	if ls.compare {
		o.event = *ev
	}
	ls.bytes.Add(int64(len(key)) + 96 + int64(unsafe.Sizeof(*o)) + int64(len(o.effects))*int64(unsafe.Sizeof(kvpool.Effect{})))
	if o.err == nil {
		o.err = x.compare(next)
	}
	if o.err == nil {
		o.err = unmoved(x.config, next)
	}
	if o.err == nil {
		o.next = ls.intern(x.config, next, x.jobsAfter(ev, o.effects))
	}
	return o
}

// perform gives the event to a ledger.
func (o *outcome) perform(l *kvpool.Ledger, ev *kvpool.Event) {
	defer func() {
		if p := recover(); p != nil {
			o.err = fmt.Errorf("panic: %v", p)
		}
	}()
	before := l.Stats()
	for _, fx := range l.Step(*ev, nil) {
		o.effects = append(o.effects, keep(fx))
	}
	o.err = l.Check()
	o.met = met(before, l.Stats())
}

// met tells what a ledger has counted in a step.
func met(before, after kvpool.Stats) (m []situation) {
	for _, x := range []struct {
		what      situation
		was, then uint64
	}{
		{folded, before.Folded, after.Folded},
		{idleEvicted, before.Evicted, after.Evicted},
		{distrusted, before.Distrusted, after.Distrusted},
		{duplicate, before.Duplicates, after.Duplicates},
	} {
		if x.then > x.was {
			m = append(m, x.what)
		}
	}
	return m
}

// compare: generations never go back, and a page leaves Free with a new one (I6).
func (x *ledger) compare(next *kvpool.Ledger) error {
	for i, was := range x.pages {
		s, g := next.Page(page.Index(i))
		left := was.state == kvpool.Free && s != kvpool.Free
		if uint8(g) < was.gen || left && uint8(g) == was.gen {
			return fmt.Errorf("I6: page %d went from %v @%d to %v @%d", i, was.state, was.gen, s, g)
		}
		if c := next.Counts(); c.Free+c.Allotted+c.Filling+c.Resident+c.Quarantined+c.Importing != x.config.Pages {
			return fmt.Errorf("I10: the pages do not add up: %+v", c)
		}
	}
	return nil
}

func (x *ledger) jobsAfter(ev *kvpool.Event, effects []kvpool.Effect) map[ref][]job {
	gone := map[page.Seq]bool{}
	if ev.Kind == kvpool.EvRelease {
		gone[ev.Seq] = true
	}
	for _, fx := range effects {
		gone[fx.Seq] = gone[fx.Seq] || fx.Kind == kvpool.FxFailed
	}
	jobs := map[ref][]job{}
	for r, run := range x.jobs {
		for _, j := range run {
			if gone[j.seq] {
				j.seq = 0
			}
			if j.number != ev.Job {
				jobs[r] = append(jobs[r], j)
			}
		}
	}
	for _, fx := range effects {
		switch fx.Kind {
		case kvpool.FxRead:
			jobs[small(fx.Dst)] = append(jobs[small(fx.Dst)], job{number: fx.Job, checksum: fx.Checksum})
		case kvpool.FxVerify:
			r := small(fx.Checks[0].Ref)
			jobs[r] = append(jobs[r], job{number: fx.Job, checksum: fx.Checks[0].Checksum, checks: fx.Checks, seq: ev.Seq})
		}
	}
	return jobs
}

func (x *ledger) mayRead(l kvpool.Link, a kvpool.Attempt, r page.Ref) bool {
	return x.l.MayRead(l, a, r)
}

func small(r page.Ref) ref { return ref{uint8(r.Page), uint8(r.Generation)} }

// keep copies what an effect only lends.
func keep(fx kvpool.Effect) kvpool.Effect {
	fx.Refs, fx.Checks = slices.Clone(fx.Refs), slices.Clone(fx.Checks)
	fx.Message = keepMessage(fx.Message)
	return fx
}

func keepMessage(m kvpool.Message) kvpool.Message {
	m.Pages = slices.Clone(m.Pages)
	if m.Seal != nil {
		seal := *m.Seal
		m.Seal = &seal
	}
	return m
}

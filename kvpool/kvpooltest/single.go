package kvpooltest

import (
	"fmt"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Single is a world of one node: sequences that match, fill, seal and release pages in every order, checks that run meanwhile, pages that go bad.
type Single struct {
	Name    string
	Node    Node
	Prompts []Prompt
	Lives   int // of each sequence
	Flips   int // pages that go bad
	Patrols int
	Returns int // of allotted pages: each costs a page a generation, so there must be an end
	Want    []string
}

// Prompt is what a sequence computes, in whole pages.
type Prompt struct{ Tenant, Text string }

// local is a sequence of a Single.
type local struct {
	phase    phase
	lives    uint8
	have     uint8 // pages in its table
	sealed   uint8 // of these
	table    [maxPrompt]ref
	checking ref   // the first page of its match's check, which may outlive it
	checks   uint8 // pages of that check
}

type phase uint8

const (
	idle phase = iota
	matching
	working
	failing // it was told to fail, and owns what it owned
)

type singleState struct {
	node    node
	seqs    [maxAttempts]local
	spare   ref             // allotted
	flipped [maxPages]bool  // bad by itself, since it was written
	patrol  [maxPages]uint8 // checks of single pages that run
	flips   uint8
	patrols uint8
	returns uint8
}

type single struct {
	*Single
	ledgers *ledgers
	hashes  [][]page.Hash
	content [][]bytes
	domains []page.Domain
	seen    *situations
}

// Explore searches the world within bounds.
func (w *Single) Explore(b Bounds) Report {
	x := &single{Single: w, ledgers: newLedgers(), seen: newSituations()}
	known := map[string]bytes{}
	for _, p := range w.Prompts {
		var content []bytes
		hashes := kvpool.PageHashes(kvpool.Key{}, p.Tenant, [32]byte{}, letters(p.Text), pageSize)
		for k := range hashes { // what a page holds follows from tenant and text, not from what the index takes for its name
			text := p.Tenant + " " + p.Text[:(k+1)*pageSize]
			if known[text] == 0 {
				known[text] = bytes(len(known) + 1)
			}
			content = append(content, known[text])
		}
		x.hashes, x.content = append(x.hashes, hashes), append(x.content, content)
		x.domains = append(x.domains, kvpool.DomainOf(kvpool.Key{}, p.Tenant))
	}
	x.ledgers.compare = b.Compare > 0
	r := explore[singleState](x, b)
	if b.Compare > 0 && r.Broken == nil {
		r.Broken = x.ledgers.alike()
	}
	r.World, r.Situation = w.Name, x.seen.all()
	return r
}

func (x *single) initial() singleState {
	return singleState{node: node{life: 1, ledger: x.ledgers.fresh(config(0, 1, x.Node))}}
}

// Titled is the world's name, and the situations that it must get into.
func (w *Single) Titled() (name string, want []string) { return w.Name, w.Want }

// Kinds of action of a single node.
const (
	doAllot = iota + 1
	doReturn
	doMatch
	doVerified
	doSpend
	doSeal
	doRelease
	doFlip
	doReport // the runner meets a page that is not what it must be
	doPatrol
	doPatrolled
	doScrubbed
)

func (x *single) next(s *singleState, yield func(a Action, n *singleState, err error)) {
	t := &singleTurn{single: x}
	try := func(a Action) {
		t.s, t.err, t.none = *s, nil, false
		t.do(a)
		if t.err != nil {
			yield(a, nil, t.err)
		} else if t.s != *s && !t.none {
			yield(a, &t.s, nil)
		}
	}
	l := x.ledgers.at(s.node.ledger)
	jobs := l.jobs
	try(Action{Kind: doAllot})
	try(Action{Kind: doReturn})
	try(Action{Kind: doPatrol})
	for i := range x.Prompts {
		for _, kind := range []uint8{doMatch, doSpend, doSeal, doRelease} {
			try(Action{Kind: kind, A: uint8(i)})
		}
		for which := range jobs[s.seqs[i].checking] {
			try(Action{Kind: doVerified, A: uint8(i), C: uint8(which)})
		}
		for k := range s.seqs[i].have {
			try(Action{Kind: doReport, A: uint8(i), B: k})
		}
	}
	for p := range x.Node.Pages {
		try(Action{Kind: doFlip, A: uint8(p)})
		try(Action{Kind: doScrubbed, A: uint8(p)})
		for which := range jobs[ref{uint8(p), l.pages[p].gen}] {
			try(Action{Kind: doPatrolled, A: uint8(p), C: uint8(which)})
		}
	}
}

// singleTurn is one action under way.
type singleTurn struct {
	*single
	s    singleState
	err  error
	none bool // the action cannot happen
}

func (t *singleTurn) full(r ref) page.Ref {
	return page.Ref{Node: nodeName(0), Incarnation: incarnation(0, 1), Page: page.Index(r.page), Generation: page.Generation(r.gen)}
}

func (t *singleTurn) step(ev kvpool.Event) []kvpool.Effect {
	if t.err != nil {
		return nil
	}
	o := t.ledgers.step(t.s.node.ledger, &ev)
	if t.err = o.err; t.err != nil {
		return nil
	}
	t.s.node.ledger = o.next
	t.seen.noteAll(o.met)
	for _, fx := range o.effects {
		switch fx.Kind {
		case kvpool.FxScrub:
			t.s.node.scrubs[fx.Ref.Page] = true
		case kvpool.FxFailed:
			q := &t.s.seqs[fx.Seq-10]
			if q.phase == idle || q.phase == failing {
				t.err = fmt.Errorf("I12: sequence %d is told to fail again, or when it has ended", fx.Seq)
			}
			q.phase = failing
		case kvpool.FxMatched:
			t.matched(&fx)
		}
	}
	return o.effects
}

// matched: what a sequence gains holds what it would have computed (I5), whether or not it went bad while its check ran.
func (t *singleTurn) matched(fx *kvpool.Effect) {
	i := int(fx.Seq - 10)
	q := &t.s.seqs[i]
	if q.phase != matching {
		t.err = fmt.Errorf("I12: sequence %d hears of a match that it has not asked for", fx.Seq)
		return
	}
	q.phase, q.checking, q.have, q.sealed = working, ref{}, uint8(len(fx.Refs)), uint8(len(fx.Refs))
	for k, r := range fx.Refs {
		q.table[k] = small(r)
		if b := t.s.node.bytes[r.Page]; b != t.content[i][k] {
			t.err = fmt.Errorf("I5: sequence %d gains page %d, which holds %d, not %d", fx.Seq, r.Page, b, t.content[i][k])
		}
	}
	t.seen.note(prefixHit, len(fx.Refs) > 0)
}

func (t *singleTurn) do(a Action) {
	switch i := int(a.A); a.Kind {
	case doAllot:
		if t.s.spare.gen == 0 {
			if fx := t.step(kvpool.Event{Kind: kvpool.EvAllot, N: 1}); len(fx) > 0 {
				for _, f := range fx {
					if f.Kind == kvpool.FxAllotted && f.N == 1 {
						t.s.spare = small(f.Refs[0])
						t.s.flipped[f.Refs[0].Page] = false
					}
				}
			}
		}
	case doReturn:
		if t.s.spare.gen != 0 && int(t.s.returns) < t.Returns {
			t.s.returns++
			t.step(kvpool.Event{Kind: kvpool.EvReturn, Refs: []page.Ref{t.full(t.s.spare)}})
			t.s.spare = ref{}
		}
	case doMatch:
		t.match(i)
	case doVerified:
		t.verified(i, int(a.C))
	case doSpend:
		t.spend(i)
	case doSeal:
		t.seal(i)
	case doRelease:
		if q := &t.s.seqs[i]; q.phase != idle {
			t.seen.note(releasedWhileChecked, q.phase == matching)
			t.step(kvpool.Event{Kind: kvpool.EvRelease, Seq: page.Seq(10 + i)})
			*q = local{lives: q.lives, checking: q.checking, checks: q.checks}
		}
	case doFlip:
		if s := t.ledgers.at(t.s.node.ledger).pages[i].state; int(t.s.flips) < t.Flips && s == kvpool.Resident && !t.s.flipped[i] {
			t.s.flips++
			t.s.node.bytes[i], t.s.flipped[i] = flip, true
		}
	case doReport:
		if r := t.s.seqs[i].table[a.B]; t.s.flipped[r.page] && t.s.seqs[i].phase == working {
			t.step(kvpool.Event{Kind: kvpool.EvBadPage, Seq: page.Seq(10 + i), Ref: t.full(r)})
			t.s.seqs[i].phase = failing
		}
	case doPatrol:
		if int(t.s.patrols) < t.Patrols {
			for _, fx := range t.step(kvpool.Event{Kind: kvpool.EvPatrol, N: 1}) {
				if fx.Kind == kvpool.FxVerify {
					t.s.patrols++
					t.s.patrol[fx.Checks[0].Ref.Page]++
				}
			}
		}
	case doPatrolled:
		if t.s.patrol[i] > 0 {
			t.s.patrol[i]--
			t.ends(ref{uint8(i), t.ledgers.at(t.s.node.ledger).pages[i].gen}, 1, 0, false, int(a.C))
		}
	case doScrubbed:
		if t.s.node.scrubs[i] {
			t.s.node.scrubs[i], t.s.node.bytes[i], t.s.flipped[i] = false, zero, false
			t.step(kvpool.Event{Kind: kvpool.EvScrubbed, Ref: t.full(ref{uint8(i), t.ledgers.at(t.s.node.ledger).pages[i].gen})})
			t.seen.note(quarantinedThenHome, true)
		}
	}
}

func (t *singleTurn) match(i int) {
	q := &t.s.seqs[i]
	if q.phase != idle || int(q.lives) >= t.Lives || q.checking.gen != 0 {
		return
	}
	q.lives++
	q.phase = matching
	for _, fx := range t.step(kvpool.Event{Kind: kvpool.EvMatch, Seq: page.Seq(10 + i), Domain: t.domains[i], Hashes: t.hashes[i]}) {
		if fx.Kind == kvpool.FxVerify {
			q.checking, q.checks = small(fx.Checks[0].Ref), uint8(len(fx.Checks))
		}
	}
}

// verified ends the check of a match, also after its sequence has ended.
func (t *singleTurn) verified(i, which int) {
	if r := t.s.seqs[i].checking; r.gen != 0 {
		q := &t.s.seqs[i]
		q.checking = ref{}
		t.ends(r, int(q.checks), page.Seq(10+i), q.phase == matching, which)
	}
}

// ends tells the truth about the pages of a check that begins with page r and has n: the one that seq waits for, or one for which nobody does. Of the latter the
// ledger, and so a state, knows no more than the pages; which of several is meant is a choice.
func (t *singleTurn) ends(r ref, n int, seq page.Seq, waits bool, which int) {
	skipped := 0
	for _, j := range t.ledgers.at(t.s.node.ledger).jobs[r] {
		awaited := j.seq != 0
		if len(j.checks) != n || awaited != waits || waits && j.seq != seq {
			continue
		}
		if skipped++; skipped <= which {
			continue
		}
		ev := kvpool.Event{Kind: kvpool.EvVerified, Job: j.number}
		for k, c := range j.checks {
			if checksum(t.s.node.bytes[c.Ref.Page]) != c.Checksum {
				ev.Bad = append(ev.Bad, k)
			}
		}
		t.seen.note(badInCheck, len(ev.Bad) > 0)
		t.step(ev)
		return
	}
	if skipped > 0 {
		t.none = true // there is no other
		return
	}
	t.err = fmt.Errorf("I11: the check of page %d is not known", r.page)
}

func (t *singleTurn) spend(i int) {
	q := &t.s.seqs[i]
	if q.phase != working || int(q.have) == len(t.content[i]) || t.s.spare.gen == 0 {
		return
	}
	t.step(kvpool.Event{Kind: kvpool.EvSpend, Spends: []page.Spend{{Ref: t.full(t.s.spare), Seq: page.Seq(10 + i)}}})
	q.table[q.have] = t.s.spare
	t.s.node.bytes[t.s.spare.page] = t.content[i][q.have]
	t.s.spare = ref{}
	q.have++
}

func (t *singleTurn) seal(i int) {
	q := &t.s.seqs[i]
	if q.phase != working || q.sealed == q.have {
		return
	}
	k := q.sealed
	t.step(kvpool.Event{Kind: kvpool.EvSeal, Seals: []kvpool.Seal{{
		Ref: t.full(q.table[k]), Seq: page.Seq(10 + i), Domain: t.domains[i], Chain: t.hashes[i][k], Checksum: checksum(t.content[i][k]), Full: true,
	}}})
	q.sealed++
}

// check: what a sequence reads or writes is its own, and holds what it put there or gained.
func (x *single) check(s *singleState) error {
	l := x.ledgers.at(s.node.ledger)
	for i := range x.Prompts {
		q := &s.seqs[i]
		for k := range q.have {
			r := q.table[k]
			p, b := l.pages[r.page], s.node.bytes[r.page]
			if p.gen != r.gen || p.state == kvpool.Free || p.state == kvpool.Allotted {
				return fmt.Errorf("I1: page %d @%d in the table of sequence %d is %v @%d", r.page, r.gen, 10+i, p.state, p.gen)
			}
			if b != x.content[i][k] && !s.flipped[r.page] {
				return fmt.Errorf("I5: page %d in the table of sequence %d holds %d, not %d", r.page, 10+i, b, x.content[i][k])
			}
			if k >= q.sealed && p.state == kvpool.Filling {
				for o := range x.Prompts {
					if other := &s.seqs[o]; o != i && containsRef(other.table[:other.have], r) {
						return fmt.Errorf("I2: page %d is written by sequence %d and in the table of %d", r.page, 10+i, 10+o)
					}
				}
			}
		}
	}
	if err := clean(x.Node.Scrub, &s.node, l); err != nil {
		return err
	}
	for i := range x.Prompts {
		if r := s.seqs[i].checking; r.gen != 0 {
			if p := l.pages[r.page]; p.gen != r.gen || p.state != kvpool.Resident && p.state != kvpool.Quarantined {
				return fmt.Errorf("I1: page %d @%d is being checked and is %v @%d", r.page, r.gen, p.state, p.gen)
			}
		}
	}
	if s.spare.gen != 0 && l.pages[s.spare.page] != (pageState{kvpool.Allotted, s.spare.gen}) {
		return fmt.Errorf("I1: page %d is the scheduler's, and %v @%d", s.spare.page, l.pages[s.spare.page].state, l.pages[s.spare.page].gen)
	}
	return nil
}

func containsRef(refs []ref, r ref) bool {
	for _, x := range refs {
		if x == r {
			return true
		}
	}
	return false
}

func (x *single) home(s *singleState) bool {
	c := x.ledgers.at(s.node.ledger).counts
	spare := 0
	if s.spare.gen != 0 {
		spare = 1 // the scheduler may return it, though here it may have done so often enough
	}
	return c.Free+c.Idle+spare == x.Node.Pages
}

func (x *single) size() int64 { return x.ledgers.bytes.Load() }

// canonical renumbers the pages, as for a cluster.
func (x *single) canonical(s *singleState) singleState {
	l := x.ledgers.at(s.node.ledger)
	var all []singleState
	for i := range l.under[0].to {
		all = append(all, x.renumbered(s, l.under[0].id, &l.under[0].to[i]))
	}
	return least(all, x.encode)
}

func (x *single) renumbered(s *singleState, orbit uint32, to *numbering) singleState {
	n := *s
	n.node.ledger = orbit
	at := func(r *ref) {
		if r.gen != 0 {
			r.page = to[r.page]
		}
	}
	for p, q := range to {
		n.node.bytes[q], n.node.scrubs[q], n.flipped[q], n.patrol[q] = s.node.bytes[p], s.node.scrubs[p], s.flipped[p], s.patrol[p]
	}
	at(&n.spare)
	for i := range n.seqs {
		for k := range n.seqs[i].table {
			at(&n.seqs[i].table[k])
		}
		at(&n.seqs[i].checking)
	}
	return n
}

// Script tells a trace in words: each line is an action.
func (w *Single) Script(r *Report) string {
	names := [...]string{"", "allot", "return", "match", "verified", "spend", "seal", "release", "page goes bad", "runner reports", "patrol", "patrol verified", "scrubbed"}
	var b strings.Builder
	fmt.Fprintf(&b, "# World %q: %v\n", w.Name, r.Broken)
	for _, a := range r.Trace {
		fmt.Fprintf(&b, "%s %d %d\n", names[a.Kind], a.A, a.B)
	}
	return b.String()
}

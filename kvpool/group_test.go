package kvpool

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

func TestNewRefusesGroups(t *testing.T) {
	for _, c := range []struct {
		want string
		cfg  Config
	}{
		{"Config.Groups[1].Pages is 0", Config{Groups: []Group{{Pages: 2}, {}}}},
		{"Config.Groups[1].Pages is 2147483647", Config{Groups: []Group{{Pages: 2}, {Pages: MaxPages}}}},
		{"Config.Groups[0].Window is -1", Config{Groups: []Group{{Pages: 2, Window: -1}}}},
		{"Config.Groups has 9 groups", Config{Groups: make([]Group, 9)}},
		{"Config.Pages is 3, its Groups have 4", Config{Pages: 3, Groups: []Group{{Pages: 2}, {Pages: 2}}}},
		{"the hand-off takes one group", Config{PageSize: 16, Groups: []Group{{Pages: 2}, {Pages: 2}}}},
		{"the hand-off takes one group", Config{PageSize: 16, Groups: []Group{{Pages: 2, Window: 1}}}},
	} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.cfg, err, c.want)
		}
	}
	if _, err := New(Config{Pages: 4, PageSize: 16, Groups: []Group{{Pages: 4}}}); err != nil {
		t.Error(err)
	}
}

// TestGroups lets sequences of a model with several cache groups match, compute, slide and end in any order.
func TestGroups(t *testing.T) {
	matched, slid := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := newGrouped(rt)
		actions := rapid.StateMachineActions(g)
		for range 3 {
			rt.Repeat(actions)
		}
		g.home()
		matched, slid = matched+g.matched, slid+g.slid
	})
	t.Logf("%d pages matched, %d slid", matched, slid)
	if matched == 0 || slid == 0 {
		t.Error("something never happened")
	}
}

// grouped drives one ledger, and knows what is in each page.
type grouped struct {
	t     *rapid.T
	l     *Ledger
	holds []groupPage
	seqs  map[page.Seq]*groupSeq
	last  page.Seq

	matched, slid int
}

// groupPage is what a page holds: the keys of a group's layers for the page behind a path.
type groupPage struct {
	group int
	path  string
}

// groupSeq has computed n pages of its path, one token each; of each group it has the pages from[group]..n.
type groupSeq struct {
	path  []byte
	n     int
	table [][]page.Ref
	from  []int
}

func newGrouped(t *rapid.T) *grouped {
	cfg := Config{PrefixCache: true, Scrub: rapid.Bool().Draw(t, "scrub")}
	for range rapid.IntRange(1, 3).Draw(t, "groups") {
		cfg.Groups = append(cfg.Groups, Group{Pages: rapid.IntRange(3, 9).Draw(t, "pages"), Window: rapid.IntRange(0, 3).Draw(t, "window")})
	}
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &grouped{t: t, l: l, holds: make([]groupPage, len(l.pages)), seqs: map[page.Seq]*groupSeq{}}
}

func (g *grouped) Check(*rapid.T) {}

func (g *grouped) step(ev Event) []Effect {
	fx := cloneEffects(g.l.Step(ev, nil))
	if err := g.l.Check(); err != nil {
		g.t.Fatalf("after %v: %v", ev.Kind, err)
	}
	if s := g.l.Stats(); s.StaleTotal() > 0 {
		g.t.Fatalf("after %v: stale %v", ev.Kind, s.Stale)
	}
	for _, x := range fx {
		if x.Kind == FxScrub {
			fx = append(fx, g.step(Event{Kind: EvScrubbed, Ref: x.Ref})...)
		}
	}
	return fx
}

// Begin matches what is there of a new sequence's path, and holds the result against a search of all lengths.
func (g *grouped) Begin(t *rapid.T) {
	if len(g.seqs) > 3 {
		t.Skip("enough")
	}
	g.last++
	s := &groupSeq{path: rapid.SliceOfN(rapid.ByteRange(0, 1), 7, 7).Draw(t, "path")}
	ev := Event{Kind: EvMatch, Seq: g.last}
	for i := range len(s.path) - 1 {
		ev.Hashes = append(ev.Hashes, pathHash(s.path[:i+1]))
	}
	want := g.longest(ev.Hashes)
	fx := g.step(ev)
	if fx[0].Kind == FxVerify {
		fx = g.step(Event{Kind: EvVerified, Job: fx[0].Job})
	}
	m := fx[len(fx)-1]
	if m.Kind != FxMatched || m.N != want {
		t.Fatalf("matched %d pages, there are %d", m.N, want)
	}
	g.matched += m.N
	s.n = m.N
	refs := m.Refs
	for k := range g.l.groups {
		from := 0
		if w := g.l.groups[k].Window; w > 0 {
			from = max(0, s.n-w)
		}
		s.from = append(s.from, from)
		s.table = append(s.table, slices.Clone(refs[:s.n-from]))
		refs = refs[s.n-from:]
		for i, r := range s.table[k] {
			if h := g.holds[r.Page]; h != (groupPage{k, string(s.path[:from+i+1])}) {
				t.Fatalf("I5: page %d of group %d holds %+v", from+i, k, h)
			}
		}
	}
	if len(refs) > 0 {
		t.Fatalf("%d pages too many", len(refs))
	}
	g.seqs[g.last] = s
}

// longest looks for each length whether every group has all that it needs, the longest first.
func (g *grouped) longest(hashes []page.Hash) int {
	for n := len(hashes); n > 0; n-- {
		all := true
		for k := range g.l.groups {
			for at := range hashes[:n] {
				w := g.l.groups[k].Window
				there := slices.ContainsFunc(g.l.pages, func(s slot) bool { return s.indexed && int(s.group) == k && s.chain == hashes[at] })
				all = all && (there || w > 0 && at < n-w)
			}
		}
		if all {
			return n
		}
	}
	return 0
}

func (g *grouped) pick(t *rapid.T) (page.Seq, *groupSeq) {
	var names []page.Seq
	for q := range g.seqs {
		names = append(names, q)
	}
	if len(names) == 0 {
		t.Skip("none")
	}
	slices.Sort(names)
	q := rapid.SampledFrom(names).Draw(t, "seq")
	return q, g.seqs[q]
}

// Compute fills and seals the next page of each group, if all have room.
func (g *grouped) Compute(t *rapid.T) {
	q, s := g.pick(t)
	if s.n == len(s.path) {
		t.Skip("at its end")
	}
	var got []page.Ref
	for k := range g.l.groups {
		fx := g.step(Event{Kind: EvAllot, Group: k, N: 1})
		refs := fx[0].Refs
		for _, x := range fx {
			if x.Kind == FxAllotted {
				refs = x.Refs
			}
		}
		got = append(got, refs...)
		for _, r := range refs {
			if r.Page < g.l.groups[k].first || int(r.Page) >= int(g.l.groups[k].first)+g.l.groups[k].Pages {
				t.Fatalf("page %d is not of group %d", r.Page, k)
			}
		}
	}
	if len(got) < len(g.l.groups) {
		g.step(Event{Kind: EvReturn, Refs: got})
		return
	}
	s.n++
	spend, seal := Event{Kind: EvSpend}, Event{Kind: EvSeal}
	for k, r := range got {
		spend.Spends = append(spend.Spends, page.Spend{Ref: r, Seq: q})
		seal.Seals = append(seal.Seals, Seal{Ref: r, Seq: q, Chain: pathHash(s.path[:s.n]), Full: true})
		g.holds[r.Page] = groupPage{k, string(s.path[:s.n])}
		s.table[k] = append(s.table[k], r)
	}
	g.step(spend)
	g.step(seal)
}

// Slide lets go of what has slid out of a window.
func (g *grouped) Slide(t *rapid.T) {
	q, s := g.pick(t)
	for k := range g.l.groups {
		w := g.l.groups[k].Window
		if out := s.n - w - s.from[k]; w > 0 && out > 0 {
			g.step(Event{Kind: EvSlide, Seq: q, Refs: s.table[k][:out]})
			s.table[k], s.from[k] = s.table[k][out:], s.from[k]+out
			g.slid += out
		}
	}
}

func (g *grouped) End(t *rapid.T) {
	q, _ := g.pick(t)
	g.step(Event{Kind: EvRelease, Seq: q})
	delete(g.seqs, q)
}

func (g *grouped) Patrol(t *rapid.T) {
	fx := g.step(Event{Kind: EvPatrol, Group: rapid.IntRange(0, len(g.l.groups)-1).Draw(t, "group"), N: 2})
	if len(fx) > 0 {
		g.step(Event{Kind: EvVerified, Job: fx[0].Job})
	}
}

// home ends everything; then each group has all its pages (I11), and none of another's.
func (g *grouped) home() {
	for q := page.Seq(1); q <= g.last; q++ {
		g.step(Event{Kind: EvRelease, Seq: q})
	}
	for k := range g.l.groups {
		n, have := g.l.groups[k].Pages, 0
		for range 2 { // what is evicted is scrubbed first, if it has to be
			for _, x := range g.step(Event{Kind: EvAllot, Group: k, N: n - have}) {
				if x.Kind == FxAllotted {
					have += x.N
				}
			}
		}
		if have != n {
			g.t.Fatalf("I11: of %d pages of group %d %d came home", n, k, have)
		}
	}
}

// TestArbitraryEventsOverGroups: noise breaks nothing there either.
func TestArbitraryEventsOverGroups(t *testing.T) {
	var total Stats
	for seed := range uint64(150) {
		playGroups(t, noise(seed, 4000), &total)
	}
	if total.HitPages == 0 || total.Failed == 0 || total.Restored == 0 || total.Stale[EvSlide][WrongState] == 0 {
		t.Errorf("the noise met too little: %d hits, %d failed, %d restored", total.HitPages, total.Failed, total.Restored)
	}
}

// FuzzGroups does the same with arbitrary bytes.
func FuzzGroups(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(noise(seed, 300))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1024 {
			t.Skip("longer is not different")
		}
		playGroups(t, data, &Stats{})
	})
}

func playGroups(t *testing.T, data []byte, total *Stats) {
	d := &decoder{data: data}
	cfg := Config{Node: 1, Incarnation: 1, PrefixCache: true, Scrub: d.small(3) == 0}
	for range 1 + d.small(2) {
		cfg.Groups = append(cfg.Groups, Group{Pages: 1 + d.small(6), Window: d.small(3)})
	}
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{ledger: l, twin: newTwin(l.cfg)}
	for len(d.data) > 0 {
		for i := range l.pages {
			p.twin.pages[i].gen = l.pages[i].gen
		}
		ev := d.event(p)
		if d.small(2) == 0 {
			ev = d.likely(p)
		}
		ev.Group = d.small(9) % 3
		twin := l.Clone()
		fx := describeAll(l.Step(ev, nil))
		if again := describeAll(twin.Step(ev, nil)); again != fx || string(twin.AppendState(nil)) != string(l.AppendState(nil)) {
			t.Fatalf("a clone does otherwise after %v:\n%s%s", ev.Kind, fx, again)
		}
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
	}
	s := l.Stats()
	total.HitPages += s.HitPages
	total.Failed += s.Failed
	total.Restored += s.Restored
	total.Stale[EvSlide][WrongState] += s.Stale[EvSlide][WrongState]
}

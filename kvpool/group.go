package kvpool

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// MaxGroups is the largest number of cache groups.
const MaxGroups = 8

// Group is a cache group: the layers of a model whose keys live equally long. A page holds the keys of one group's layers, so each group has pages of its own: those of group 0 come first in
// the slab, then those of group 1, and so on.
type Group struct {
	// Pages is the number of its pages.
	Pages int
	// Window is how many pages in front of a token its layers read. Where they read all of them it is 0.
	Window int
}

// group is what the ledger keeps of one.
type group struct {
	Group
	first     page.Index // its first page
	free      int32      // the Free page to leave next, or none
	frees     int
	idle      idleList
	scrubbing int // Quarantined pages without an owner: FxScrub was sent, EvScrubbed is awaited
}

// newGroups makes the groups of a configuration, which says either Pages, or Groups, or both alike.
func newGroups(cfg *Config) ([]group, error) {
	list := cfg.Groups
	if len(list) == 0 {
		list = []Group{{Pages: cfg.Pages}}
	}
	if len(list) > MaxGroups {
		return nil, fmt.Errorf("kvpool: Config.Groups has %d groups, must be at most %d", len(list), MaxGroups)
	}
	var groups []group
	total := 0
	for i, g := range list {
		switch {
		case (g.Pages < 1 || g.Pages > MaxPages-total) && len(cfg.Groups) == 0:
			return nil, fmt.Errorf("kvpool: Config.Pages is %d, must be 1 to %d", cfg.Pages, MaxPages)
		case g.Pages < 1 || g.Pages > MaxPages-total:
			return nil, fmt.Errorf("kvpool: Config.Groups[%d].Pages is %d, must be 1 to %d", i, g.Pages, MaxPages-total)
		case g.Window < 0:
			return nil, fmt.Errorf("kvpool: Config.Groups[%d].Window is %d, must be at least 0", i, g.Window)
		case cfg.PageSize > 0 && (len(list) > 1 || g.Window > 0):
			return nil, fmt.Errorf("kvpool: Config.PageSize is %d, must be 0: the hand-off takes one group, without a window", cfg.PageSize)
		}
		groups = append(groups, group{Group: g, first: page.Index(total), free: none, idle: idleList{head: none, tail: none, patrol: none}})
		total += g.Pages
	}
	if cfg.Pages != 0 && cfg.Pages != total {
		return nil, fmt.Errorf("kvpool: Config.Pages is %d, its Groups have %d", cfg.Pages, total)
	}
	cfg.Pages, cfg.Groups = total, append([]Group(nil), cfg.Groups...)
	return groups, nil
}

// groupAt returns the group of an event of kind k, or nil where there is none of that number.
func (l *Ledger) groupAt(k EventKind, i int) *group {
	if i < 0 || i >= len(l.groups) {
		l.stale(k, Malformed)
		return nil
	}
	return &l.groups[i]
}

func (l *Ledger) groupOf(i page.Index) *group { return &l.groups[l.pages[i].group] }

// plain: there is one group, and it has no window.
func (l *Ledger) plain() bool { return len(l.groups) == 1 && l.groups[0].Window == 0 }

// from is the first of n pages that a group needs to go on behind them.
func (g *Group) from(n int) int {
	if g.Window == 0 {
		return 0
	}
	return max(0, n-g.Window)
}

// matchable is the longest prefix, in pages, of which every group has what is needed to go on behind it.
func (l *Ledger) matchable(d page.Domain, hashes []page.Hash) int {
	n := len(hashes)
	for again := true; again; {
		again = false
		for i := range l.groups {
			if k := l.matchableIn(uint8(i), d, hashes[:n]); k < n {
				n, again = k, i > 0
			}
		}
	}
	return n
}

// matchableIn is the same for one group.
func (l *Ledger) matchableIn(group uint8, d page.Domain, hashes []page.Hash) int {
	g, n := &l.groups[group].Group, len(hashes)
	if g.Window == 0 {
		for i := range hashes {
			if l.index.find(l.pages, group, d, &hashes[i]) == none {
				return i
			}
		}
		return n
	}
	for i := n - 1; i >= g.from(n); i-- { // [i+1, n) are there
		if l.index.find(l.pages, group, d, &hashes[i]) == none {
			n = i
		}
	}
	return n
}

// gainPrefix makes a sequence, and the check of its match, owners of what the groups need of the first n pages. A chain that names one page twice is none, and gains nothing.
func (l *Ledger) gainPrefix(seq page.Seq, d page.Domain, hashes []page.Hash) (job int32) {
	reader, job := l.own.enrol(sequence(seq)), l.newJob(Verify)
	l.own.pair(reader, job)
	l.own.recs[job].prefix = int32(len(hashes))
	for i := range l.groups {
		for at := l.groups[i].from(len(hashes)); at < len(hashes); at++ {
			p := page.Index(l.index.find(l.pages, uint8(i), d, &hashes[at])) // I5: the same prefix, in the same domain
			if l.gain(reader, job, p) {
				continue
			}
			l.own.part(reader)
			l.letGoAll(reader)
			l.letGoAll(job)
			l.checks = l.checks[:0]
			return none
		}
	}
	return job
}

// gain makes a sequence and the check of its match owners of page p, unless they are already.
func (l *Ledger) gain(reader, job int32, p page.Index) bool {
	s := &l.pages[p]
	if s.edges != none && l.own.edges[s.edges].owner == job {
		return false
	}
	if s.idle {
		l.groupOf(p).idle.remove(l.pages, p)
	}
	l.own.link(reader, p, s)
	l.pin(job, p)
	return true
}

// slide ends what a sequence holds of pages that are out of its window.
func (l *Ledger) slide(seq page.Seq, refs []page.Ref) {
	r := l.own.find(sequence(seq))
	if r == none {
		l.stale(EvSlide, WrongOwner)
		return
	}
	for _, ref := range refs {
		s := l.live(EvSlide, ref, oneOf(Resident))
		if s == nil {
			continue
		}
		e, rec := l.own.edgeOf(r, s), &l.own.recs[r]
		switch {
		case e == none:
			l.stale(EvSlide, WrongOwner)
			continue
		case l.groups[s.group].Window == 0, rec.partner != none, rec.head == rec.tail: // what it reads next it has; it is known as long as it has a page
			l.stale(EvSlide, WrongState)
			continue
		}
		rec.slid, rec.domain = l.now, s.domain
		l.letGo(e)
	}
}

// failSlid fails the sequences that may have read page i, which is bad, before it slid out of their window: since it was last found good they have let go of some page of its domain. Its
// cost is the number of owners; that is a rare alarm.
func (l *Ledger) failSlid(i page.Index) {
	s := &l.pages[i]
	for r := range l.own.recs {
		if rec := &l.own.recs[r]; rec.name.Kind == Sequence && rec.slid > s.proved && rec.domain == s.domain {
			l.fail(int32(r), false, i)
		}
	}
}

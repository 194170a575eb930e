package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// MaxPages is the largest pool: pages are linked by 32-bit numbers.
const MaxPages = 1<<31 - 1

// Config describes the pool that a ledger keeps.
type Config struct {
	// Node and Incarnation name this node's present life in every page.Ref.
	Node        page.Node
	Incarnation page.Incarnation
	// Pages is the number of pages in the slab, 1 to MaxPages.
	Pages int
	// Groups are the model's cache groups, which share the slab: at most MaxGroups. Pages then is 0 or their sum. None: one group of all Pages, whose layers see everything.
	Groups []Group
	// PrefixCache keeps full pages in the prefix index when their sequences have ended.
	PrefixCache bool
	// Scrub zeroes every page that was written before it becomes Free. Without it only pages that failed a check are scrubbed.
	Scrub bool

	// PageSize is the number of tokens that fill a page. The hand-off needs it; without it (0) nothing can be reserved or expected. It must be 0 where there are several groups, or one
	// with a window.
	PageSize int
	// ExportQuota bounds the pages promised to exports, since a slow peer pins them. 0: the pool.
	ExportQuota int
	// MaxTombstones bounds the closed attempts that are remembered one by one; older ones are folded into watermarks. 0: 65536; negative: none.
	MaxTombstones int
}

// Ledger knows the state, generation and owners of every page of one node, and the prefix index. See the package comment.
//
// It is not safe for concurrent use: one goroutine calls its methods.
type Ledger struct {
	cfg   Config
	pages []slot
	own   owners
	index prefixIndex

	count  [states]int // pages by state
	groups []group
	jobs   uint64 // the last job's number
	now    uint64 // Steps so far; the only clock
	copies bool   // pages have been copied out
	alarms int    // FxDistrust sent

	handoff

	stats Stats

	// Filled by one Step, and valid until the next.
	fx     []Effect
	refs   []page.Ref
	checks []Check
	run    []page.Index
	offers []Offer
}

// New returns the ledger of a pool whose pages are all Free.
func New(cfg Config) (*Ledger, error) {
	groups, err := newGroups(&cfg)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		cfg:   cfg,
		pages: make([]slot, cfg.Pages),
		own:   newOwners(),
		index: newPrefixIndex(cfg),

		groups: groups,

		handoff: newHandoff(cfg),
	}
	for k := range groups {
		g := &groups[k]
		for i := int(g.first) + g.Pages - 1; i >= int(g.first); i-- {
			l.pages[i] = slot{edges: none, prev: none, next: g.free, group: uint8(k)}
			g.free = int32(i)
		}
		g.frees = g.Pages
	}
	l.count[Free] = cfg.Pages
	return l, nil
}

// Step is the only function that changes page state. It appends to dst what must be done, in order. It does not block, read a clock, draw
// random numbers, or range over a map, so the same events always give the same effects.
//
// No event, however wrong, makes it panic: what does not match changes nothing and is counted in Stats (I6). A panic is a broken invariant of the ledger itself.
//
// Pages named in the effects belong to whom the effect's kind says; the slices in them are the ledger's and valid until the next Step.
func (l *Ledger) Step(ev Event, dst []Effect) []Effect {
	l.now++
	l.fx, l.refs, l.checks, l.offers = dst, l.refs[:0], l.checks[:0], l.offers[:0]
	switch ev.Kind {
	case EvAllot:
		l.allot(ev.Group, ev.N)
	case EvReturn:
		l.giveBack(ev.Refs)
	case EvSpend:
		l.spend(ev.Spends)
	case EvSeal:
		for i := range ev.Seals {
			l.seal(&ev.Seals[i])
		}
	case EvMatch:
		l.match(ev.Seq, ev.Domain, ev.Hashes)
	case EvVerified:
		l.verified(ev.Job, ev.Bad)
	case EvRelease:
		l.release(ev.Seq)
	case EvBadPage:
		l.badPage(ev.Ref, ev.Seq)
	case EvScrubbed:
		l.scrubbed(ev.Ref)
	case EvPatrol:
		l.patrol(ev.Group, ev.N)
	case EvConnected:
		l.connected(ev.Link)
	case EvLost:
		l.lost(ev.Link)
	case EvFenced:
		l.fenced(ev.Link)
	case EvMessage:
		l.message(ev.Link, &ev.Message)
	case EvCancel:
		l.cancel(ev.Attempt)
	case EvTick:
		l.tick()
	case EvReserve:
		l.reserve(&ev)
	case EvOffer:
		l.offer(&ev)
	case EvRevoke:
		l.revoke(ev.Attempt)
	case EvExpect:
		l.expect(&ev)
	case EvRead:
		l.read(ev.Job, ev.Failed, ev.Checksum)
	case EvCopyOut:
		l.copyOut(ev.Refs)
	case EvCopied:
		l.copied(ev.Job, ev.Failed)
	case EvRestore:
		l.restore(&ev)
	case EvSlide:
		l.slide(ev.Seq, ev.Refs)
	case EvRestored:
		l.restored(ev.Job, ev.Checks, ev.Failed)
	default:
		l.stale(0, Malformed)
	}
	fx := l.fx
	l.fx = nil
	return fx
}

func (l *Ledger) emit(fx Effect) { l.fx = append(l.fx, fx) }

func (l *Ledger) stale(k EventKind, r Reason) { l.stats.Stale[k][r]++ }

// ref names the present life of page i.
func (l *Ledger) ref(i page.Index) page.Ref {
	return page.Ref{Node: l.cfg.Node, Incarnation: l.cfg.Incarnation, Page: i, Generation: l.pages[i].gen}
}

// live returns the page that r names, if r is of this node, this incarnation and the page's present generation, and the page's state
// is one of want (a set). Otherwise it counts an event of kind k as stale and returns nil (I6).
func (l *Ledger) live(k EventKind, r page.Ref, want stateSet) *slot {
	reason := Reason(0)
	switch {
	case r.Node != l.cfg.Node:
		reason = WrongNode
	case r.Incarnation != l.cfg.Incarnation:
		reason = WrongIncarnation
	case int64(r.Page) >= int64(len(l.pages)):
		reason = NoSuchPage
	case r.Generation == 0 || r.Generation != l.pages[r.Page].gen:
		reason = WrongGeneration
	case !want.has(l.pages[r.Page].state):
		reason = WrongState
	default:
		return &l.pages[r.Page]
	}
	l.stale(k, reason)
	return nil
}

package kvpool

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestScripts plays testdata/*.txt, one situation a file. A verb is one event; below it stand the effects, and what of the event was stale.
//
// Pages are written page@generation, in their node's present incarnation unless node= or incarnation= says otherwise. A text is a row of tokens, one a
// letter; a page holds two.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &script{}
			datadriven.RunTest(t, path, s.run)
		})
	}
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	handle, ok := verb(s.at(t, d))
	if !ok {
		d.Fatalf(t, "no such verb: %s", d.Cmd)
	}
	out := handle(s, t, d)
	if err := s.ledger.Check(); err != nil {
		d.Fatalf(t, "%v\nafter:\n%s", err, out)
	}
	return out
}

const scriptPageSize = 2

type script struct {
	ledger *Ledger // the node that a command is for
	cast   cast
}

type handler func(s *script, t *testing.T, d *datadriven.TestData) string

var verbs = map[string]handler{
	"new":      (*script).new,
	"allot":    (*script).allot,
	"return":   (*script).giveBack,
	"spend":    (*script).spend,
	"seal":     (*script).seal,
	"match":    (*script).match,
	"verified": (*script).verified,
	"release":  (*script).release,
	"bad":      (*script).bad,
	"scrubbed": (*script).scrubbed,
	"patrol":   (*script).patrol,
	"copy-out": (*script).copyOut,
	"copied":   (*script).copied,
	"restore":  (*script).restore,
	"restored": (*script).restored,
	"slide":    (*script).slide,
	"counts":   (*script).counts,
	"owners":   (*script).owners,
}

// new pages=N [scrub] [no-prefix-cache], or groups=(PAGES, ...) windows=(PAGES, ...)
func (s *script) new(t *testing.T, d *datadriven.TestData) string {
	cfg := Config{Node: 1, Incarnation: 7, PrefixCache: !d.HasArg("no-prefix-cache"), Scrub: d.HasArg("scrub")}
	d.MaybeScanArgs(t, "pages", &cfg.Pages)
	if groups, ok := d.Arg("groups"); ok {
		windows, _ := d.Arg("windows")
		for i := range groups.Vals {
			var g Group
			groups.Scan(t, i, &g.Pages)
			windows.Scan(t, i, &g.Window)
			cfg.Groups = append(cfg.Groups, g)
		}
	}
	var err error
	if s.ledger, err = New(cfg); err != nil {
		d.Fatalf(t, "%v", err)
	}
	return "ok"
}

// allot N [group=G]
func (s *script) allot(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvAllot, N: first(t, d)}
	d.MaybeScanArgs(t, "group", &ev.Group)
	return s.step(ev)
}

// slide seq=S PAGE...
func (s *script) slide(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvSlide, Seq: seq(t, d), Refs: s.refs(t, d)})
}

// return PAGE...
func (s *script) giveBack(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvReturn, Refs: s.refs(t, d)})
}

// spend seq=S PAGE...
func (s *script) spend(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvSpend}
	for _, r := range s.refs(t, d) {
		ev.Spends = append(ev.Spends, page.Spend{Ref: r, Seq: seq(t, d)})
	}
	return s.step(ev)
}

// seal seq=S tenant=T text=LETTERS [from=I] PAGE...: the pages are pages I (or 0), I+1, ... of the text.
func (s *script) seal(t *testing.T, d *datadriven.TestData) string {
	var tenant, text string
	from := 0
	d.ScanArgs(t, "tenant", &tenant)
	d.ScanArgs(t, "text", &text)
	d.MaybeScanArgs(t, "from", &from)
	ev := Event{Kind: EvSeal}
	for i, r := range s.refs(t, d) {
		end := min((from+i+1)*scriptPageSize, len(text))
		c := NewChain(Key{}, tenant, [32]byte{})
		c.Add(tokens(text[:end]))
		ev.Seals = append(ev.Seals, Seal{
			Ref: r, Seq: seq(t, d), Domain: DomainOf(Key{}, tenant), Chain: c.Sum(), Checksum: 0xc0de, Full: end == (from+i+1)*scriptPageSize,
		})
	}
	return s.step(ev)
}

// match seq=S tenant=T text=LETTERS
func (s *script) match(t *testing.T, d *datadriven.TestData) string {
	var tenant, text string
	d.ScanArgs(t, "tenant", &tenant)
	d.ScanArgs(t, "text", &text)
	return s.step(Event{
		Kind: EvMatch, Seq: seq(t, d), Domain: DomainOf(Key{}, tenant),
		Hashes: PageHashes(Key{}, tenant, [32]byte{}, tokens(text), scriptPageSize),
	})
}

// verified job=J [bad=(I, ...)]
func (s *script) verified(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvVerified}
	d.ScanArgs(t, "job", &ev.Job)
	if bad, ok := d.Arg("bad"); ok {
		for i := range bad.Vals {
			var b int
			bad.Scan(t, i, &b)
			ev.Bad = append(ev.Bad, b)
		}
	}
	return s.step(ev)
}

// release seq=S
func (s *script) release(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvRelease, Seq: seq(t, d)})
}

// bad seq=S PAGE
func (s *script) bad(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvBadPage, Seq: seq(t, d), Ref: s.refs(t, d)[0]})
}

// scrubbed PAGE
func (s *script) scrubbed(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvScrubbed, Ref: s.refs(t, d)[0]})
}

// patrol N [group=G]
func (s *script) patrol(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvPatrol, N: first(t, d)}
	d.MaybeScanArgs(t, "group", &ev.Group)
	return s.step(ev)
}

// counts
func (s *script) counts(*testing.T, *datadriven.TestData) string {
	c := s.ledger.Counts()
	pages := fmt.Sprintf("free %d, allotted %d, filling %d, resident %d (idle %d, read %d), quarantined %d; indexed %d",
		c.Free, c.Allotted, c.Filling, c.Resident, c.Idle, c.Read, c.Quarantined, c.Indexed)
	if s.cast.ledgers == nil {
		return pages
	}
	return fmt.Sprintf("%s\nimporting %d; exports %d, promised %d, imports %d, tombstones %d", pages, c.Importing, c.Exports, c.Promised, c.Imports, c.Tombstones)
}

// owners
func (s *script) owners(*testing.T, *datadriven.TestData) string {
	var b strings.Builder
	for i := range s.ledger.pages {
		fmt.Fprintf(&b, "page %d: %s\n", i, s.ledger.Owners(page.Index(i)))
	}
	return b.String()
}

// step performs one event and tells what came of it.
func (s *script) step(ev Event) string {
	before := s.ledger.Stats()
	var b strings.Builder
	for _, fx := range s.ledger.Step(ev, nil) {
		b.WriteString(s.describe(fx))
	}
	after := s.ledger.Stats()
	for r := range after.Stale[ev.Kind] {
		if n := after.Stale[ev.Kind][r] - before.Stale[ev.Kind][r]; n > 0 {
			fmt.Fprintf(&b, "stale %v: %v (%d)\n", ev.Kind, Reason(r), n)
		}
	}
	if b.Len() == 0 {
		return "ok"
	}
	return b.String()
}

func (s *script) describe(fx Effect) string {
	switch fx.Kind {
	case FxAllotted:
		return fmt.Sprintf("allotted %d:%s\n", fx.N, short(fx.Refs))
	case FxMatched:
		return fmt.Sprintf("seq %d matched %d:%s\n", fx.Seq, fx.N, short(fx.Refs))
	case FxVerify:
		return fmt.Sprintf("verify job %d:\n%s", fx.Job, checksOf(fx.Checks))
	case FxScrub:
		return fmt.Sprintf("scrub%s\n", short([]page.Ref{fx.Ref}))
	case FxFailed:
		return fmt.Sprintf("seq %d failed by%s\n", fx.Seq, short([]page.Ref{fx.Ref}))
	case FxFreed:
		return fmt.Sprintf("freed %d\n", fx.N)
	}
	if text, ok := s.describeCopy(fx); ok {
		return text
	}
	return s.describeHandoff(fx)
}

// checksOf tells what pages must hold.
func checksOf(checks []Check) string {
	var b strings.Builder
	for i, c := range checks {
		fmt.Fprintf(&b, "  [%d] %d@%d chain %.8s checksum %x\n", i, c.Ref.Page, c.Ref.Generation, c.Chain, c.Checksum)
	}
	return b.String()
}

func short(refs []page.Ref) string {
	var b strings.Builder
	for _, r := range refs {
		fmt.Fprintf(&b, " %d@%d", r.Page, r.Generation)
	}
	return b.String()
}

// refs reads the arguments of the form page@generation.
func (s *script) refs(t *testing.T, d *datadriven.TestData) []page.Ref {
	node, incarnation := uint64(s.ledger.cfg.Node), uint64(s.ledger.cfg.Incarnation)
	d.MaybeScanArgs(t, "node", &node)
	d.MaybeScanArgs(t, "incarnation", &incarnation)
	var refs []page.Ref
	for _, a := range d.CmdArgs {
		i, g, ok := strings.Cut(a.Key, "@")
		if !ok {
			continue
		}
		refs = append(refs, page.Ref{
			Node: page.Node(node), Incarnation: page.Incarnation(incarnation),
			Page: page.Index(number(t, d, i)), Generation: page.Generation(number(t, d, g)),
		})
	}
	return refs
}

func seq(t *testing.T, d *datadriven.TestData) page.Seq {
	var n uint64
	d.ScanArgs(t, "seq", &n)
	return page.Seq(n)
}

func first(t *testing.T, d *datadriven.TestData) int { return number(t, d, d.CmdArgs[0].Key) }

func number(t *testing.T, d *datadriven.TestData, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

func tokens(text string) []int32 {
	return slices.Collect(func(yield func(int32) bool) {
		for _, r := range text {
			if !yield(r) {
				return
			}
		}
	})
}

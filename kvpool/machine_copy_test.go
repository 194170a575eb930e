package kvpool

import (
	"bytes"
	"slices"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

type copyKey struct {
	domain page.Domain
	chain  page.Hash
}

// CopyOut asks for copies of pages, some of which may not be copied.
func (m *machine) CopyOut(t *rapid.T) {
	m.do(Event{Kind: EvCopyOut, Refs: rapid.SliceOfN(rapid.SampledFrom(m.inState(t, Resident)), 1, 4).Draw(t, "refs")})
}

func (m *machine) job(t *rapid.T, restore bool) uint64 {
	var jobs []uint64
	for j := range m.p.copies {
		if m.p.restores[j] == restore {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		t.Skip("no job")
	}
	slices.Sort(jobs)
	return rapid.SampledFrom(jobs).Draw(t, "job")
}

func (m *machine) Copied(t *rapid.T) {
	m.do(Event{Kind: EvCopied, Job: m.job(t, false), Failed: rapid.IntRange(0, 4).Draw(t, "failed") == 0})
}

// Offload copies all that can be copied.
func (m *machine) Offload(t *rapid.T) {
	for _, x := range m.do(Event{Kind: EvCopyOut, Refs: m.inState(t, Resident)}) {
		m.do(Event{Kind: EvCopied, Job: x.Job})
	}
}

// Reload gives a new sequence the path of a copy that is kept, and asks for it.
func (m *machine) Reload(t *rapid.T) {
	s := m.seq(t)
	var kept []Check
	for _, c := range m.kept {
		if c.Domain == domainOf(s) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		t.Skip("nothing is kept")
	}
	m.do(Event{Kind: EvRelease, Seq: s})
	slices.SortFunc(kept, func(a, b Check) int { return bytes.Compare(a.Chain[:], b.Chain[:]) })
	c := rapid.SampledFrom(kept).Draw(t, "copy")
	m.paths[s], m.sealed[s] = slices.Clone(c.Chain[8:8+maxDepth]), 0
	m.restore(t, s)
	if rapid.IntRange(0, 3).Draw(t, "at once") > 0 && m.p.restores[m.p.ledger.jobs] {
		m.Restored(t)
	}
}

// Restore lets a sequence ask for the rest of its path, as far as copies are kept.
func (m *machine) Restore(t *rapid.T) { m.restore(t, m.seq(t)) }

func (m *machine) restore(t *rapid.T, s page.Seq) {
	ev := Event{Kind: EvRestore, Seq: s, N: m.alarms}
	for i := m.sealed[s]; i < maxDepth; i++ {
		c, ok := m.kept[copyKey{domainOf(s), pathHash(m.path(t, s)[:i+1])}]
		if !ok {
			break
		}
		c.Ref = page.Ref{}
		ev.Checks = append(ev.Checks, c)
	}
	if rapid.IntRange(0, 9).Draw(t, "old") == 0 {
		ev.N--
	}
	m.do(ev)
}

// Restored says what landed: mostly what was asked for.
func (m *machine) Restored(t *rapid.T) {
	ev := Event{Kind: EvRestored, Job: m.job(t, true), Failed: rapid.IntRange(0, 9).Draw(t, "failed") == 0}
	ev.Checks = slices.Clone(m.p.copies[ev.Job])
	k := rapid.IntRange(0, len(ev.Checks)-1).Draw(t, "which")
	c := &ev.Checks[k]
	switch rapid.IntRange(0, 17).Draw(t, "what is wrong") {
	case 0:
		c.Checksum++
	case 1:
		c.Chain[15]++
	case 2:
		c.Domain++
	case 3:
		c.Ref.Generation--
	case 4:
		ev.Checks = ev.Checks[:k]
	case 5:
		ev.Checks = append(ev.Checks, *c)
	}
	m.do(ev)
}

// copies makes an event of copies of bytes: its refs and checks are those of something that exists, often.
func (d *decoder) copies(p *pair, ev *Event) {
	switch ev.Kind {
	case EvRestore:
		ev.N = p.ledger.alarms - d.small(8)/7
		for range d.small(4) {
			ev.Checks = append(ev.Checks, Check{Domain: page.Domain(d.small(2)), Chain: page.Hash{byte(d.small(3))}, Checksum: uint32(d.small(2))})
		}
	case EvRestored:
		if job := p.ledger.own.find(restoreJob(ev.Job)); job != none {
			for _, i := range p.ledger.pagesOf(job) {
				ev.Checks = append(ev.Checks, p.ledger.checkOf(i))
			}
		}
		if n := len(ev.Checks); n > 0 {
			switch c := &ev.Checks[d.small(n)]; d.small(8) {
			case 0:
				c.Checksum++
			case 1:
				c.Ref.Generation++
			case 2:
				ev.Checks = ev.Checks[1:]
			case 3:
				ev.Checks = append(ev.Checks, *c)
			}
		}
	}
	ev.Failed = d.small(6) == 0
}

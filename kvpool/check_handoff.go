package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// checkLinks: a link has one record, found by its name, and is up only as its peer's latest.
func (l *Ledger) checkLinks() error {
	n := 0
	for i := range l.links {
		k := &l.links[i]
		if !k.used {
			continue
		}
		n++
		if got, ok := l.byLink[k.name]; !ok || got != int32(i) {
			return broken("I7", "link %v cannot be found", k.name)
		}
		p, ok := l.byPeer[k.name.Peer]
		if !ok {
			return broken("I7", "the peer of link %v is not known", k.name)
		}
		if latest := l.peers[p]; k.up && (k.dead || latest.incarnation != k.name.Incarnation || latest.epoch != k.name.Epoch) {
			return broken("I7", "link %v is up, but its peer is at %x, epoch %d", k.name, uint64(latest.incarnation), latest.epoch)
		}
	}
	if n != len(l.byLink) {
		return broken("I7", "%d links by name, %d records", len(l.byLink), n)
	}
	return nil
}

// checkForeign: exports read, imports hold what is being read for them, and a read lands in a page that its own import holds.
func (l *Ledger) checkForeign() error {
	for i := range l.pages {
		s := &l.pages[i]
		var n [ownerKinds]int
		var place [ownerKinds]int32
		for e := s.edges; e != none; e = l.own.edges[e].pageNext {
			name := l.own.recs[l.own.edges[e].owner].name
			n[name.Kind]++
			place[name.Kind] = l.own.edges[e].at
			switch {
			case name.Kind == Export && (name.Number >= uint64(len(l.exports)) || !l.exports[name.Number].used):
				return broken("I1", "page %d is %v's, of no attempt", i, name)
			case name.Kind == Import && (name.Number >= uint64(len(l.imports)) || !l.imports[name.Number].used):
				return broken("I1", "page %d is %v's, of no attempt", i, name)
			}
		}
		switch {
		case n[Read] > 0 && (n[Read] != 1 || n[Import] != 1 || place[Read] != place[Import]):
			return broken("I4", "a read lands in page %d, which is not its import's: %s", i, l.owners(s))
		case n[Read] > 0 && s.state != Importing && s.state != Quarantined:
			return broken("I4", "a read lands in page %d, which is %v", i, s.state)
		case n[Import] > 0 && s.state != Importing && s.state != Quarantined && s.state != Resident:
			return broken("I2", "page %d is %v and an import's", i, s.state)
		case n[Import] > 0 && s.state != Resident && n[Import]+n[Read] != int(s.readers+s.pins):
			return broken("I2", "page %d is being imported and has other owners: %s", i, l.owners(s))
		case s.state == Importing && n[Import] != 1:
			return broken("I8", "page %d is Importing for %d imports", i, n[Import])
		case n[Export] > 0 && s.state != Resident && s.state != Quarantined:
			return broken("I8", "page %d is exported and %v", i, s.state)
		case s.state == Filling && n[Sequence] != 1:
			return broken("I2", "page %d is Filling and written by no sequence: %s", i, l.owners(s))
		case n[Copy] > 0 && s.state != Resident && s.state != Quarantined:
			return broken("I2", "page %d is being copied and %v", i, s.state)
		case (s.state == Restoring) != (n[Restore] == 1) || n[Restore] > 1:
			return broken("I3", "page %d is %v and written by %d restores", i, s.state, n[Restore])
		case s.state == Restoring && (s.pins != 1 || s.readers != int32(n[Sequence]) || n[Sequence] > 1 || l.own.recs[l.own.edges[s.edges].owner].name.Kind != Restore):
			return broken("I2", "page %d is being restored and has other owners: %s", i, l.owners(s))
		}
	}
	return nil
}

// checkExports: the pages of an export are those it has offered, and the promises add up.
func (l *Ledger) checkExports() error {
	promised, live := 0, 0
	for i := range l.exports {
		x := &l.exports[i]
		if !x.used {
			continue
		}
		live++
		promised += x.total
		if got, ok := l.exportOf[x.attempt]; !ok || got != int32(i) {
			return broken("I1", "the export of %v cannot be found", x.attempt)
		}
		if l.buried(x.attempt) {
			return broken("I9", "%v is exported and closed", x.attempt)
		}
		if k := &l.links[x.link]; !k.used || k.dead {
			return broken("I8", "%v is exported to nobody", x.attempt)
		}
		if !l.exportedBy(x.seq, int32(i)) {
			return broken("I11", "the end of sequence %d would not revoke %v", x.seq, x.attempt)
		}
		n, group := 0, int32(0)
		if r := l.own.find(exporter(int32(i))); r != none {
			for e := l.own.recs[r].head; e != none; e = l.own.edges[e].ownNext {
				if at := l.own.edges[e].at; at < group || at > group+1 || int(at) >= x.groups || n == 0 && at != 0 {
					return broken("I8", "page %d of %v is in group %d, after group %d of %d", n, x.attempt, at, group, x.groups)
				}
				group = l.own.edges[e].at
				n++
			}
		}
		if n != x.given || n > x.total || x.sealed && (n != x.total || x.seal.Groups != x.groups) {
			return broken("I8", "%v holds %d pages, has offered %d of %d (sealed: %v)", x.attempt, n, x.given, x.total, x.sealed)
		}
	}
	if live != len(l.exportOf) || promised != l.promised || promised > l.quota() {
		return broken("I10", "%d exports of %d, %d pages promised of %d, counted %d", live, len(l.exportOf), promised, l.quota(), l.promised)
	}
	return nil
}

// exportedBy: export i is found among those of a sequence.
func (l *Ledger) exportedBy(seq page.Seq, i int32) bool {
	at, has := l.exportsBy[seq]
	if !has {
		at = none
	}
	for at != none && at != i {
		at = l.exports[at].sibling
	}
	return at == i
}

// checkImports: an import holds no page, or all of its prompt, or after its end those alone into which a read may land.
func (l *Ledger) checkImports() error {
	live := 0
	for i := range l.imports {
		x := &l.imports[i]
		if !x.used {
			continue
		}
		live++
		if got, ok := l.importOf[x.attempt]; !ok || got != int32(i) {
			return broken("I1", "the import of %v cannot be found", x.attempt)
		}
		if l.buried(x.attempt) {
			return broken("I9", "%v is imported and closed", x.attempt)
		}
		if k := &l.links[x.link]; !k.used || !k.up && x.phase != draining {
			return broken("I7", "%v is imported over a link that is not up", x.attempt)
		}
		if err := l.checkImport(int32(i)); err != nil {
			return err
		}
	}
	if live != len(l.importOf) {
		return broken("I1", "%d imports by name, %d records", len(l.importOf), live)
	}
	return nil
}

func (l *Ledger) checkImport(i int32) error {
	x := &l.imports[i]
	pages, reads := 0, 0
	if r := l.own.find(importer(i)); r != none {
		for e := l.own.recs[r].head; e != none; e = l.own.edges[e].ownNext {
			s, at := &l.pages[l.own.edges[e].page], int(l.own.edges[e].at)
			own := at < x.own
			out := !own && at < len(x.places) && x.places[at].group != none && !x.places[at].ok
			switch {
			case x.phase == draining && s.state != Quarantined:
				return broken("I8", "%v has ended, its page %d is %v", x.attempt, l.own.edges[e].page, s.state)
			case x.phase == reading && x.pageAt(at) != int32(l.own.edges[e].page):
				return broken("I4", "place %d of %v has page %d, and holds page %d for it", at, x.attempt, x.pageAt(at), l.own.edges[e].page)
			case x.phase == reading && own != (s.state == Resident) || s.state == Resident && (s.chain != x.places[at].chain || s.domain != x.domain):
				return broken("I5", "place %d of %v has page %d, which is %v (its own: %v)", at, x.attempt, l.own.edges[e].page, s.state, own)
			case out && s.pins != 1, !out && !own && s.pins != 0:
				return broken("I4", "place %d of %v: a read is out: %v, reads known: %d", at, x.attempt, out, s.pins)
			}
			pages++
			if !own {
				reads += int(s.pins)
			}
		}
	}
	accepted, covered := 0, 0
	for _, p := range x.places {
		if p.ok {
			accepted++
		}
		if p.group != none {
			covered++
		}
	}
	switch {
	case reads != x.out:
		return broken("I7", "%v counts %d reads out, there are %d", x.attempt, x.out, reads)
	case accepted != x.accepted || covered != x.covered:
		return broken("I9", "%v counts %d pages accepted of %d offered, there are %d of %d", x.attempt, x.accepted, x.covered, accepted, covered)
	case x.phase == expecting && pages != 0, x.phase == reading && pages != len(x.places)+x.spares(l.cfg.PageSize):
		return broken("I10", "%v holds %d pages of %d", x.attempt, pages, len(x.places))
	case x.phase == draining && (reads == 0 || reads != pages):
		return broken("I11", "%v has ended with %d reads out and %d pages", x.attempt, reads, pages)
	case x.phase == reading && x.sealed && accepted == len(x.places) && covered == len(x.places):
		return broken("I11", "%v has all of its pages and has not started", x.attempt)
	}
	return nil
}

// pageAt is the page of a place, or the spare behind the last.
func (x *importing) pageAt(at int) int32 {
	if at < len(x.places) {
		return x.places[at].page
	}
	return x.spare
}

// checkTombstones: they are remembered once each, in a list, and no more of them than there may be.
func (l *Ledger) checkTombstones() error {
	n, before := 0, none
	for i := l.oldest; i != none; before, i = i, l.tombs[i].next {
		got, ok := l.tombOf[l.tombs[i].attempt]
		if n++; !ok || got != i || l.tombs[i].prev != before {
			return broken("I9", "the tombstone of %v is out of its list", l.tombs[i].attempt)
		}
	}
	if n != len(l.tombOf) || l.newest != before || n > max(l.maxTombs, 0) || len(l.marks) != len(l.markOf) {
		return broken("I9", "%d tombstones in the list, %d by attempt, at most %d", n, len(l.tombOf), l.maxTombs)
	}
	return nil
}

// buried: an attempt is remembered by name as closed. (One that is alive may be at or below a watermark.)
func (t *tombstones) buried(a Attempt) bool {
	_, ok := t.tombOf[a]
	return ok
}

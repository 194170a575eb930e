package kvpooltest

// memoryMutants forget, or confuse, what was said.
func memoryMutants() []Mutant {
	return []Mutant{
		{
			Name: "tombstones forgotten with the link", Fault: "D7", World: "one page, links", Breaks: []string{"I9", "I12", "I7"},
			Edits: []Edit{{"link.go", "	delete(l.byLink, name)\n", "	delete(l.byLink, name)\n	for l.oldest != none {\n		l.tombstones.forget(l.oldest)\n	}\n"}},
		},
		{
			Name: "watermark closes too little", Fault: "D7", World: "no tombstones", Breaks: []string{"I9", "I12", "I7"},
			Edits: []Edit{{"tombstone.go", "max(t.marks[i].number, a.Number)", "max(t.marks[i].number, a.Number-1)"}},
		},
		{
			Name: "fence of another link frees", Fault: "D6", World: "one page, links", Breaks: []string{"I8"},
			Edits: []Edit{{"export.go", "		if l.exports[i].link == link {\n			l.endExport(", "		if true {\n			l.endExport("}},
		},
		{
			Name: "cancel before Submit forgotten", Fault: "D7", World: "hand-off", Breaks: []string{"I12"},
			Edits: []Edit{{"link.go", "isNew = !l.closed(a); isNew {\n		l.bury(", "isNew = false; isNew {\n		l.bury("}},
		},
		{
			Name: "revoke before Submit not answered", Fault: "D4", World: "hand-off", Breaks: []string{"I11"},
			Edits: []Edit{{"import.go", "	l.sendRelease(link, a, v)\n	return 0\n", "	_ = v\n	return 0\n"}},
		},
		{
			Name: "group counted twice", Fault: "G2", World: "hand-off", Breaks: []string{"I4", "I7", "I9"},
			Edits: []Edit{{"import.go", "		return 0, again\n", "		return 0, fits\n"}},
		},
		{
			Name: "end of an import told twice", Fault: "D8", World: "hand-off", Breaks: []string{"I12"},
			Edits: []Edit{{"import.go", "	if x.phase == draining {\n		return false\n", "	if x.phase == draining {\n		l.emit(Effect{Kind: FxImportEnded, Attempt: x.attempt, Seq: x.seq, Status: v.status})\n		return false\n"}},
		},
		{
			Name: "link lost and its imports not ended", Fault: "E4", World: "one page, links", Breaks: []string{"I7", "I11", "I12"},
			Edits: []Edit{{"link.go", "Link: l.links[i].name})\n	l.stopImports(i)\n", "Link: l.links[i].name})\n"}},
		},
		{
			Name: "link of an older connection stays up", Fault: "E1", World: "one page, links", Breaks: []string{"I7"},
			Edits: []Edit{{"link.go", "		case k.up:\n			l.lose(i)\n", ""}},
		},
		{
			Name: "cancelled while it waits, and its pages kept", Fault: "D9", World: "hand-off", Breaks: []string{"I1", "I8", "I10", "I11"},
			Edits: []Edit{{"import.go", "p := &x.places[at]; p.page != none {\n			home", "p := &x.places[at]; p.page != none && (p.ok || v.status != Cancelled || l.pages[p.page].pins > 0) {\n			home"}},
		},
		{
			Name: "quota not given back", Fault: "A4", World: "no tombstones", Breaks: []string{"I10"},
			Edits: []Edit{{"export.go", "	l.promised -= x.total\n", ""}},
		},
	}
}

// poolMutants break the rules of one node.
func poolMutants() []Mutant {
	return []Mutant{
		{
			Name: "exported page freed with its sequence", Fault: "D6", World: "hand-off", Breaks: []string{"I1", "I8"},
			Edits: []Edit{{"slot.go", "case s.state == Resident && !s.indexed && s.edges == none:", "case s.state == Resident && !s.indexed:"}},
		},
		{
			Name: "no new generation", Fault: "F2", World: "one page, links", Breaks: []string{"I6"},
			Edits: []Edit{{"slot.go", "	s.gen++ // I6: no life of a page has the name of an earlier one\n", "	s.gen = max(s.gen, 1)\n"}},
		},
		{
			Name: "incarnation of a page not checked", Fault: "E1", World: "one page, crash", Breaks: []string{"I6"},
			Edits: []Edit{{"ledger.go", "	case r.Incarnation != l.cfg.Incarnation:\n		reason = WrongIncarnation\n", ""}},
		},
		{
			Name: "duplicate freed while a table names it", Fault: "F5", World: "one node", Breaks: []string{"I1"},
			Edits: []Edit{{"sequence.go", "		l.stats.Duplicates++\n", "		l.stats.Duplicates++\n		l.own.unlink(s.edges, s)\n		l.putFree(i)\n"}},
		},
		{
			Name: "pin of a match dropped with its sequence", Fault: "F1", World: "one node", Breaks: []string{"I1"},
			Edits: []Edit{{"sequence.go", "	l.letGoAll(r)\n}\n\n// letGoAll", "	if p := l.own.recs[r].partner; p != none {\n		l.letGoAll(p)\n	}\n	l.letGoAll(r)\n}\n\n// letGoAll"}},
		},
		{
			Name: "shorter match one page too long", Fault: "H2", World: "one node", Breaks: []string{"I1", "I5", "I12"},
			Edits: []Edit{{"verify.go", "		good = min(good, b)\n", "		good = min(good, b+1)\n"}},
		},
		{
			Name: "quarantined page goes home as it is", Fault: "H3", World: "scrub, tcp", Breaks: []string{"I5"},
			Edits: []Edit{{"slot.go", "	case s.state == Quarantined && s.edges == none:\n		l.scrub(i)\n", "	case s.state == Quarantined && s.edges == none:\n		l.putFree(i)\n"}},
		},
		{
			Name: "scrub forgotten", Fault: "H3", World: "one node, scrub", Breaks: []string{"I5"},
			Edits: []Edit{{"slot.go", "	if l.cfg.Scrub {\n", "	if false {\n"}},
		},
		{
			Name: "tenant not in the key of the prefix", Fault: "F6", World: "one node, scrub", Breaks: []string{"I5"},
			Edits: []Edit{
				{"chain.go", "	c.h.Write([]byte(domain))\n", ""},
				{"chain.go", "uint64(len(domain)))", "0)"},
				{"prefix.go", "pages[p].chain == *h && pages[p].domain == d", "pages[p].chain == *h"},
			},
		},
		{
			Name: "indexed before it is sealed", Fault: "F3", World: "one node", Breaks: []string{"I1", "I2", "I5"},
			Edits: []Edit{{"sequence.go", "	l.move(s, Resident)\n	l.stats.Sealed++\n", "	l.stats.Sealed++\n"}},
		},
		{
			Name: "page under a check sent home", Fault: "F1", World: "one node", Breaks: []string{"I1"},
			Edits: []Edit{{"quarantine.go", "	if s.edges == none {\n		l.retire(i)\n	}\n", "	l.retire(i)\n"}},
		},
	}
}

// scriptMutants believe a peer, a sequence or a copy.
func scriptMutants() []Mutant {
	return []Mutant{
		{
			Name: "offer not held against the gateway's tokens", Fault: "G2", Script: "handoff_lying_peer", Breaks: []string{"I5"},
			Edits: []Edit{{"import.go", "o.Chain != p.chain || ", ""}},
		},
		{
			Name: "offer of more or fewer pages accepted", Fault: "C4", Script: "handoff_lying_peer", Breaks: []string{"I9"},
			Edits: []Edit{{"import.go", "case m.Total != total, ", "case "}},
		},
		{
			Name: "what was computed from a bad page stays", Fault: "H3", Script: "bad_page_taints_what_followed", Breaks: []string{"I5"},
			Edits: []Edit{{"quarantine.go", "	l.leaveIndex(i)\n	l.stats.Distrusted++\n", "	return\n"}},
		},
		{
			Name: "exported by who does not own it", Fault: "B3", Script: "handoff_offer_what_is_not", Breaks: []string{"I1"},
			Edits: []Edit{{"export.go", "	if l.own.edgeOf(seq, s) == none {\n		l.stale(EvOffer, WrongOwner)\n		return false\n	}\n", ""}},
		},
		{
			Name: "served without an export", Fault: "D6", Script: "handoff_two_exports", Breaks: []string{"I8"},
			Edits: []Edit{{"export.go", "	return r != none && ref == l.ref(ref.Page) && s.state == Resident && l.own.edgeOf(r, s) != none\n", "	return r != none && s != nil\n"}},
		},
		{
			Name: "copy restored unseen", Fault: "H2", Script: "copy_restored", Breaks: []string{"I5"},
			Edits: []Edit{{"copy.go", " || landed[i] != l.checkOf(p)", ""}},
		},
		{
			Name: "copied page evicted while the copy runs", Fault: "F1", Script: "copy_of_preempted", Breaks: []string{"I1"},
			Edits: []Edit{{"prefix.go", "		if s.pins == 0 {\n			l.leaveIndex", "		if s.pins == 0 || s.readers == 0 && l.own.recs[l.own.edges[s.edges].owner].name.Kind == Copy {\n			l.leaveIndex"}},
		},
		{
			Name: "copies trusted after an alarm", Fault: "F1", Script: "copy_distrusted", Breaks: []string{"I5"},
			Edits: []Edit{{"copy.go", "	case ev.N != l.alarms:", "	case false:"}},
		},
	}
}

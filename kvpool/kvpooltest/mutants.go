package kvpooltest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is a rule of kvpool broken on purpose, as it was broken in engines that people ran. The checker must find each, in the world named, by one of the invariants named. What no world can show,
// since all that takes part in one is honest, a script of kvpool/testdata shows: its peers lie.
type Mutant struct {
	Name   string
	Fault  string // of the list in docs/protocol.md
	World  string
	Script string   // in place of World
	Breaks []string // invariants, any of which may be the first found broken; with a script the one that its rule keeps
	Edits  []Edit
}

// Edit replaces Old, which stands exactly once in a file of kvpool, by New.
type Edit struct{ File, Old, New string }

// Overlay writes the changed files into dir, with the list that has the go command put them in place (-overlay), and returns that list's path. root is the folder of kvpool. An edit whose text does not
// stand exactly once is an error.
func (m *Mutant) Overlay(root, dir string) (string, error) {
	changed := map[string]string{}
	for _, e := range m.Edits {
		path, err := filepath.Abs(filepath.Join(root, e.File))
		if err != nil {
			return "", err
		}
		text, ok := changed[path]
		if !ok {
			b, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("%s: %s has %d times, not once:\n%s", m.Name, e.File, n, e.Old)
		}
		changed[path] = strings.Replace(text, e.Old, e.New, 1)
	}
	replace := map[string]string{}
	for path, text := range changed {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(replace[path], []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, b, 0o644)
}

// Mutants are all of them.
func Mutants() []Mutant {
	return slices.Concat(handoffMutants(), memoryMutants(), poolMutants(), scriptMutants())
}

// handoffMutants break the rules between two nodes.
func handoffMutants() []Mutant {
	return []Mutant{
		{
			Name: "page freed before its own read has landed", Fault: "D1", World: "hand-off", Breaks: []string{"I4", "I7"},
			Edits: []Edit{{"import.go", "	case s.pins > 0:\n		l.move(s, Quarantined)\n", "	case s.pins > 0:\n		l.own.unlink(s.edges, s)\n		l.own.unlink(s.edges, s)\n		l.putFree(page.Index(i))\n"}, {"import.go", "	x.own = 0\n", "	x.own, x.out = 0, 0\n"}},
		},
		{
			Name: "freed on Revoke without Release", Fault: "D6", World: "hand-off", Breaks: []string{"I8"},
			Edits: []Edit{{"export.go", "	x.revoked = true\n	l.send(x.link, Message{Kind: MsgRevoke, Attempt: x.attempt})", "	l.send(x.link, Message{Kind: MsgRevoke, Attempt: x.attempt})\n	l.endExport(i, verdict{status: Cancelled})"}},
		},
		{
			Name: "freed by suspicion", Fault: "D2", World: "one page, links", Breaks: []string{"I8"},
			Edits: []Edit{{"link.go", "	l.stats.Fences++\n", "	l.stats.Fences++\n	l.endExports(i)\n"}},
		},
		{
			Name: "own reads taken for over at suspicion", Fault: "C1", World: "one page, links", Breaks: []string{"I4", "I7", "I12"},
			Edits: []Edit{{"link.go", "	l.stopImports(i)\n}\n\n// restarted", "	l.stopImports(i)\n	l.endReads(i)\n}\n\n// restarted"}},
		},
		{
			Name: "a group missing from the seal check", Fault: "C3", World: "hand-off", Breaks: []string{"I5", "I9"},
			Edits: []Edit{
				{"import.go", "if !x.sealed || x.accepted < len(x.places) || x.covered < len(x.places) {", "if !x.sealed || x.out > 0 {"},
				{"import.go", "	case !x.whole():", "	case false:"},
			},
		},
		{
			Name: "started without a seal", Fault: "C4", World: "seal alone", Breaks: []string{"I9"},
			Edits: []Edit{
				{"import.go", "if !x.sealed || x.accepted < len(x.places) || x.covered < len(x.places) {", "if x.accepted < len(x.places) {"},
				{"import.go", "	case !x.whole():", "	case false:"},
			},
		},
		{
			Name: "partial reservation", Fault: "B2", World: "one page, links", Breaks: []string{"I10"},
			Edits: []Edit{
				{"import.go", "	need := len(x.places) + x.spares(l.cfg.PageSize) - x.own\n", "	need := len(x.places) - x.own\n"},
				{"import.go", "	if x.spares(l.cfg.PageSize) > 0 {\n", "	if false {\n"},
			},
		},
		{
			Name: "waiting in place of refusing", Fault: "A6", World: "both full", Breaks: []string{"I11"},
			Edits: []Edit{{"import.go", "		l.stop(i, verdict{status: Refused, have: need, max: can})\n", ""}},
		},
		{
			Name: "Release sent before the last read", Fault: "D3", World: "hand-off", Breaks: []string{"I7"},
			Edits: []Edit{{"import.go", "	if x.out == 0 {\n		l.endImport(i, v)\n	}\n	if home > 0 {", "	if x.out == 0 {\n		l.endImport(i, v)\n	} else {\n		l.sendRelease(x.link, x.attempt, v)\n	}\n	if home > 0 {"}},
		},
		{
			Name: "one count for two exports", Fault: "F5", World: "shared", Breaks: []string{"I1", "I8"},
			Edits: []Edit{{"export.go", "return Owner{Export, uint64(i)}", "return Owner{Export, 0}"}},
		},
		{
			Name: "missing checksum accepted", Fault: "C8", World: "hand-off", Breaks: []string{"I5"},
			Edits: []Edit{{"import.go", "case failed || checksum != s.checksum:", "case failed || checksum != 0 && checksum != s.checksum:"}},
		},
		{
			Name: "checksum not compared", Fault: "C8", World: "flip", Breaks: []string{"I5"},
			Edits: []Edit{{"import.go", "case failed || checksum != s.checksum:", "case failed:"}},
		},
		{
			Name: "failed read accepted", Fault: "C9", World: "hand-off", Breaks: []string{"I5"},
			Edits: []Edit{{"import.go", "case failed || checksum != s.checksum:", "case !failed && checksum != s.checksum:"}},
		},
		{
			Name: "generation not checked", Fault: "G3", World: "one page, links", Breaks: []string{"I6"},
			Edits: []Edit{{"ledger.go", "	case r.Generation == 0 || r.Generation != l.pages[r.Page].gen:\n		reason = WrongGeneration\n", ""}},
		},
		{
			Name: "stale incarnation accepted", Fault: "E1", World: "one page, crash", Breaks: []string{"I7", "I8", "I9"},
			Edits: []Edit{{"link.go", "case m.From != name.Incarnation || m.To != l.cfg.Incarnation:", "case false:"}},
		},
		{
			Name: "attempt of an older life admitted", Fault: "E5", World: "one page, crash", Breaks: []string{"I11", "I12"},
			Edits: []Edit{{"export.go", "case ev.Attempt.Prefill != l.cfg.Incarnation:", "case false:"}},
		},
		{
			Name: "restart not proving", Fault: "E2", World: "one page, crash", Breaks: []string{"I11"},
			Edits: []Edit{{"link.go", "restart := known && before.incarnation != name.Incarnation", "restart := false"}},
		},
		{
			Name: "restart taken for a fence of own reads", Fault: "C1", World: "one page, crash", Breaks: []string{"I4", "I7", "I12"},
			Edits: []Edit{{"link.go", "	l.endExports(i)\n}\n\n// fenced", "	l.endExports(i)\n	l.endReads(i)\n}\n\n// fenced"}},
		},
		{
			Name: "fence ignored", Fault: "C2", World: "one page, links", Breaks: []string{"I11"},
			Edits: []Edit{{"link.go", "	l.endExports(i)\n	l.endReads(i)\n	delete", "	l.endReads(i)\n	return\n	delete"}},
		},
		{
			Name: "tombstone forgotten", Fault: "D7", World: "hand-off", Breaks: []string{"I12", "I9", "I7"},
			Edits: []Edit{{"tombstone.go", "	if t.closed(a) { // it was alive below a mark", "	if true {"}},
		},
		{
			Name: "tombstone dropped in place of folded", Fault: "D7", World: "no tombstones", Breaks: []string{"I12", "I9", "I7"},
			Edits: []Edit{{"tombstone.go", "		t.fold(t.tombs[t.oldest].attempt)\n", ""}},
		},
		{
			Name: "success overwrites a cancel", Fault: "A3", World: "scrub, tcp", Breaks: []string{"I9", "I11", "I12"},
			Edits: []Edit{{"import.go", "	case x.phase == draining:\n		l.letGo(s.edges)\n		if x.out == 0 {\n			l.endImport(i, x.verdict)\n		}\n", ""}},
		},
		{
			Name: "admitted over the quota", Fault: "A1", World: "no tombstones", Breaks: []string{"I10"},
			Edits: []Edit{{"export.go", "case ev.N > l.quota()-l.promised:", "case false:"}},
		},
		{
			Name: "refusal forgotten", Fault: "A1", World: "one page, links", Breaks: []string{"I9", "I12"},
			Edits: []Edit{{"export.go", "	if !exported && !imported {\n		l.bury(a, v)\n	}\n", "	_, _ = exported, imported\n"}},
		},
		{
			Name: "page evicted while a check reads it", Fault: "F1", World: "one node", Breaks: []string{"I1"},
			Edits: []Edit{{"prefix.go", "		if s.pins == 0 {\n			l.leaveIndex", "		if true {\n			l.leaveIndex"}},
		},
		{
			Name: "bad page stays in the prefix index", Fault: "H3", World: "one node", Breaks: []string{"I2"},
			Edits: []Edit{{"quarantine.go", "	wasSealed := s.state == Resident\n	l.leaveIndex(i)\n", "	wasSealed := s.state == Resident\n"}},
		},
		{
			Name: "match verified without its bytes", Fault: "H2", World: "one node", Breaks: []string{"I5", "I12"},
			Edits: []Edit{{"verify.go", "		good = min(good, b)\n", ""}},
		},
	}
}

package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// Renamed returns a ledger that differs from l in nothing but the names of attempts and sequences. The checker merges states that differ in no more than that.
//
// Preconditions: attempt and seq give different names different names; nothing is closed by a watermark, which compares numbers.
func (l *Ledger) Renamed(attempt func(Attempt) Attempt, seq func(page.Seq) page.Seq) *Ledger {
	c := l.Clone()
	for i := range c.own.recs {
		if name := &c.own.recs[i].name; name.Kind == Sequence {
			name.Number = uint64(seq(page.Seq(name.Number)))
		}
	}
	exportsBy := map[page.Seq]int32{}
	for i := range c.exports {
		if x := &c.exports[i]; x.used {
			exportsBy[seq(x.seq)] = c.exportsBy[x.seq]
			x.attempt, x.seq = attempt(x.attempt), seq(x.seq)
		}
	}
	c.exportsBy = exportsBy
	for i := range c.imports {
		if x := &c.imports[i]; x.used {
			x.attempt, x.seq = attempt(x.attempt), seq(x.seq)
		}
	}
	for i := c.oldest; i != none; i = c.tombs[i].next {
		c.tombs[i].attempt = attempt(c.tombs[i].attempt)
	}
	return c.Clone() // finds all of it by its new names
}

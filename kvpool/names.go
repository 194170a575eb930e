package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// names finds the record of an owner. Exports and imports have small numbers; there are as many jobs as pages are read, so each
// must cost little.
type names struct {
	seqs             map[page.Seq]int32 // for lookup only
	exports, imports []int32            // by number: a record or none
	jobs             jobTable
	size             int
}

func newNames() names { return names{seqs: map[page.Seq]int32{}} }

// get returns the record of an owner, or none. Of a job the number alone counts: no two have the same, of whatever kind.
func (n *names) get(o Owner) int32 {
	switch o.Kind {
	case Sequence:
		if r, ok := n.seqs[page.Seq(o.Number)]; ok {
			return r
		}
		return none
	case Export:
		return at(n.exports, o.Number)
	case Import:
		return at(n.imports, o.Number)
	}
	return n.jobs.get(o.Number)
}

func at(list []int32, i uint64) int32 {
	if i < uint64(len(list)) {
		return list[i]
	}
	return none
}

// put enters an owner. Preconditions: it is not there.
func (n *names) put(o Owner, r int32) {
	n.size++
	switch o.Kind {
	case Sequence:
		n.seqs[page.Seq(o.Number)] = r
	case Export:
		n.exports = putAt(n.exports, o.Number, r)
	case Import:
		n.imports = putAt(n.imports, o.Number, r)
	default:
		n.jobs.put(o.Number, r)
	}
}

func putAt(list []int32, i uint64, r int32) []int32 {
	for uint64(len(list)) <= i {
		list = append(list, none)
	}
	list[i] = r
	return list
}

// remove takes an owner out. Preconditions: it is there.
func (n *names) remove(o Owner) {
	n.size--
	switch o.Kind {
	case Sequence:
		delete(n.seqs, page.Seq(o.Number))
	case Export:
		n.exports[o.Number] = none
	case Import:
		n.imports[o.Number] = none
	default:
		n.jobs.remove(o.Number)
	}
}

// jobTable is a hash table with open addressing, at most half full, which grows with the number of jobs that run at a time. Numbers in a row are spread: side by side they would be one
// long run of places to look through.
type jobTable struct {
	places []jobPlace
	n      int
}

// jobPlace is empty if its number is 0.
type jobPlace struct {
	number uint64
	rec    int32
}

func (t *jobTable) mask() uint64 { return uint64(len(t.places) - 1) }

// home is where a job would be best: Fibonacci hashing.
func (t *jobTable) home(number uint64) uint64 { return number * 0x9e3779b97f4a7c15 >> 32 & t.mask() }

func (t *jobTable) get(number uint64) int32 {
	if number == 0 || len(t.places) == 0 {
		return none
	}
	for i := t.home(number); t.places[i].number != 0; i = (i + 1) & t.mask() {
		if t.places[i].number == number {
			return t.places[i].rec
		}
	}
	return none
}

func (t *jobTable) put(number uint64, rec int32) {
	if 2*(t.n+1) > len(t.places) {
		old := t.places
		t.places, t.n = make([]jobPlace, max(16, 2*len(old))), 0
		for _, p := range old {
			if p.number != 0 {
				t.put(p.number, p.rec)
			}
		}
	}
	i := t.home(number)
	for t.places[i].number != 0 {
		i = (i + 1) & t.mask()
	}
	t.places[i] = jobPlace{number, rec}
	t.n++
}

// remove closes the gap that a job leaves, so that a search never has to look past one.
func (t *jobTable) remove(number uint64) {
	i := t.home(number)
	for t.places[i].number != number {
		i = (i + 1) & t.mask()
	}
	for next := (i + 1) & t.mask(); t.places[next].number != 0; next = (next + 1) & t.mask() {
		if home := t.home(t.places[next].number); (next-home)&t.mask() >= (next-i)&t.mask() {
			t.places[i], i = t.places[next], next
		}
	}
	t.places[i] = jobPlace{}
	t.n--
}

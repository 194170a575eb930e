package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// verdict is how an attempt ended.
type verdict struct {
	status          Status
	page, have, max int
}

// tombstones remember closed attempts.
type tombstones struct {
	tombs          []tomb
	tombOf         map[Attempt]int32 // for lookup only
	oldest, newest int32
	spareTomb      int32
	maxTombs       int

	marks  []mark
	markOf map[markKey]int32 // for lookup only
}

// tomb is one closed attempt.
type tomb struct {
	attempt    Attempt
	verdict    verdict
	prev, next int32
}

// mark closes every attempt of a gateway for one life of a prefill node that is numbered at or below number and not alive here.
type mark struct {
	markKey
	number uint64
}

// markKey: Gateway 0 stands for all gateways.
type markKey struct {
	prefill page.Incarnation
	gateway uint64
}

const (
	defaultTombstones = 1 << 16
	maxMarks          = 1 << 12
)

func newTombstones(cfg Config) tombstones {
	t := tombstones{tombOf: map[Attempt]int32{}, markOf: map[markKey]int32{}, oldest: none, newest: none, spareTomb: none, maxTombs: cfg.MaxTombstones}
	if t.maxTombs == 0 {
		t.maxTombs = defaultTombstones
	}
	return t
}

// closed reports whether an attempt that is not alive here is known to be over.
func (t *tombstones) closed(a Attempt) bool {
	_, ok := t.epitaph(a)
	return ok
}

// epitaph tells how an attempt that is not alive here ended, if it is closed.
func (t *tombstones) epitaph(a Attempt) (verdict, bool) {
	if i, ok := t.tombOf[a]; ok {
		return t.tombs[i].verdict, true
	}
	return verdict{status: Cancelled}, t.marked(markKey{a.Prefill, a.Gateway}, a.Number) || t.marked(markKey{a.Prefill, 0}, a.Number)
}

func (t *tombstones) marked(k markKey, number uint64) bool {
	i, ok := t.markOf[k]
	return ok && number <= t.marks[i].number
}

// bury remembers that an attempt has ended.
//
// Preconditions: it is not alive here any more, and was not closed.
func (l *Ledger) bury(a Attempt, v verdict) {
	t := &l.tombstones
	if t.closed(a) { // it was alive below a mark
		return
	}
	i := t.spareTomb
	if i == none {
		i = int32(len(t.tombs))
		t.tombs = append(t.tombs, tomb{})
	} else {
		t.spareTomb = t.tombs[i].next
	}
	t.tombs[i] = tomb{attempt: a, verdict: v, prev: t.newest, next: none}
	if t.newest != none {
		t.tombs[t.newest].next = i
	} else {
		t.oldest = i
	}
	t.newest = i
	t.tombOf[a] = i
	for len(t.tombOf) > max(t.maxTombs, 0) {
		t.fold(t.tombs[t.oldest].attempt)
		t.forget(t.oldest)
		l.stats.Folded++
	}
}

// fold puts a stronger statement in the place of a tombstone.
func (t *tombstones) fold(a Attempt) {
	k := markKey{a.Prefill, a.Gateway}
	i, ok := t.markOf[k]
	if !ok && len(t.marks) >= maxMarks {
		k.gateway = 0
		i, ok = t.markOf[k]
	}
	if !ok {
		i = int32(len(t.marks))
		t.marks = append(t.marks, mark{markKey: k})
		t.markOf[k] = i
	}
	t.marks[i].number = max(t.marks[i].number, a.Number)
}

// forget removes a tombstone.
func (t *tombstones) forget(i int32) {
	x := t.tombs[i]
	if x.prev != none {
		t.tombs[x.prev].next = x.next
	} else {
		t.oldest = x.next
	}
	if x.next != none {
		t.tombs[x.next].prev = x.prev
	} else {
		t.newest = x.prev
	}
	delete(t.tombOf, x.attempt)
	t.tombs[i] = tomb{next: t.spareTomb}
	t.spareTomb = i
}

// forgetLife removes what is remembered of attempts for a life of a prefill node that has ended: no link to it can be up again, and none of them can be
// expected or offered without one.
func (t *tombstones) forgetLife(p page.Incarnation) {
	for i := t.oldest; i != none; {
		next := t.tombs[i].next
		if t.tombs[i].attempt.Prefill == p {
			t.forget(i)
		}
		i = next
	}
	kept := t.marks[:0]
	for _, m := range t.marks {
		if m.prefill == p {
			delete(t.markOf, m.markKey)
			continue
		}
		t.markOf[m.markKey] = int32(len(kept))
		kept = append(kept, m)
	}
	t.marks = kept
}

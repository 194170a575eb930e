package sched

import "github.com/kvasir-engine/kvasir/kvpool/page"

// phase is where a sequence is on its way; doc.go draws them.
type phase uint8

const (
	gated    phase = iota + 1 // in the gated queue of its request's first choice
	waiting                   // in the queue of its tenant; has pages only if imported
	matching                  // the candidate; FxMatch is out
	matched                   // the candidate; has its prefix pages, or those of its prompt, and waits for the rest
	running                   // in the running queue
	ended                     // FxEnd was said; stays known only while the batch in flight names it
)

func (p phase) String() string {
	return [...]string{"none", "gated", "waiting", "matching", "matched", "running", "ended"}[p]
}

// sequence is one choice of one request.
//
//	[0, computed)      has its keys and values in the pages of table
//	[computed, known)  prompt, or answer so far: to be computed
type sequence struct {
	id     page.Seq
	tenant *tenant
	phase  phase

	prompt     int
	maxTokens  int // most tokens of the answer
	stopTokens []int32
	charged    bool // the tenant has been charged for the prompt

	known    int
	computed int
	inFlight int // tokens that the batch in flight computes, the next after computed

	// table is append-only while the sequence runs, and a fresh slice after it lost its pages: a batch in flight reads it.
	table    []page.Ref
	reserved int  // pages in hand that are set aside for it
	imported bool // it has the pages that EvAdopt brought

	choices queue     // the gated other choices of the request, if this is its first
	lead    *sequence // the first choice, while gated by it

	arrival    uint64 // order of asking; never two alike
	in         *queue
	prev, next *sequence
}

// answer is the number of tokens of the answer so far.
func (q *sequence) answer() int { return q.known - q.prompt }

// outlook is the sequence after the batch in flight, as far as can be foretold: a sampled token is taken not to be a stop token.
func (q *sequence) outlook() (computed, known int) {
	computed, known = q.computed+q.inFlight, q.known
	if q.inFlight > 0 && computed == known && q.answer()+1 < q.maxTokens {
		known++
	}
	return computed, known
}

// queue is a list of sequences through their own links; a sequence is in one queue at most.
type queue struct {
	head, tail *sequence
	len        int
}

// push appends q.
func (l *queue) push(q *sequence) { l.insert(q, l.tail) }

// insertByArrival puts q before all that asked later. It walks from the head, which is short where q was at the head before.
func (l *queue) insertByArrival(q *sequence) {
	var after *sequence
	for at := l.head; at != nil && at.arrival < q.arrival; at = at.next {
		after = at
	}
	l.insert(q, after)
}

// insert puts q behind after; nil is the head.
func (l *queue) insert(q, after *sequence) {
	if q.in != nil {
		panic("sched: a sequence in two queues")
	}
	q.in, q.prev = l, after
	if after == nil {
		q.next, l.head = l.head, q
	} else {
		q.next, after.next = after.next, q
	}
	if q.next == nil {
		l.tail = q
	} else {
		q.next.prev = q
	}
	l.len++
}

// remove takes q out.
func (l *queue) remove(q *sequence) {
	if q.in != l {
		panic("sched: a sequence is not in this queue")
	}
	if q.prev == nil {
		l.head = q.next
	} else {
		q.prev.next = q.next
	}
	if q.next == nil {
		l.tail = q.prev
	} else {
		q.next.prev = q.prev
	}
	q.in, q.prev, q.next = nil, nil, nil
	l.len--
}

package sched

// What a token costs in a tenant's counter: a token of the answer takes a step of its own, one of the prompt shares it.
const (
	promptWeight = 1
	answerWeight = 2
)

// tenant is one customer: its waiting sequences in order of arrival, and what it has had.
type tenant struct {
	name    string
	queue   queue
	live    int    // sequences that have not ended
	counter int    // weighted tokens served
	at      [2]int // place in the heaps: index+1, 0 is absent
}

// tenants are the queues of all tenants, fair by virtual token counters.
//
// The tenant that waits with the smallest counter is next. A tenant that begins to wait is lifted to the smallest counter of those who wait, or to that of
// the last who did: time not asked for is not saved up (Sheng et al., Fairness in Serving Large Language Models, OSDI 2024, algorithm 2).
type tenants struct {
	byName map[string]*tenant
	live   int // sequences of all tenants that have not ended

	waiting tenantHeap // tenants with something in their queue
	last    *tenant    // the last that left waiting, while that is empty; nil at first
	idle    tenantHeap // tenants without live sequences whose counter is over the floor, so that coming back does not erase it
}

func newTenants() tenants {
	return tenants{byName: map[string]*tenant{}, idle: tenantHeap{which: 1}}
}

// ask notes that a new sequence of a tenant is there.
func (ts *tenants) ask(name string) *tenant {
	t := ts.byName[name]
	if t == nil {
		t = &tenant{name: name}
		ts.byName[name] = t
	}
	ts.idle.remove(t)
	t.live++
	ts.live++
	return t
}

// leave notes that a sequence of t has ended, and forgets tenants that nothing needs to be remembered of.
func (ts *tenants) leave(t *tenant) {
	t.live--
	ts.live--
	if t.live == 0 {
		ts.idle.push(t)
	}
	for len(ts.idle.items) > 0 && (ts.live == 0 || ts.idle.items[0].counter <= ts.floor()) {
		gone := ts.idle.items[0]
		ts.idle.remove(gone)
		delete(ts.byName, gone.name)
	}
	if ts.live == 0 { // nobody was kept from anything: all start even
		ts.last = nil
	}
}

// floor is the counter that a tenant which begins to wait has at least.
func (ts *tenants) floor() int {
	switch {
	case len(ts.waiting.items) > 0:
		return ts.waiting.items[0].counter
	case ts.last != nil:
		return ts.last.counter
	}
	return 0
}

// wait puts q into its tenant's queue, at the place of its arrival.
func (ts *tenants) wait(q *sequence) {
	t := q.tenant
	if t.queue.len == 0 {
		t.counter = max(t.counter, ts.floor())
	}
	if t.queue.tail != nil && t.queue.tail.arrival < q.arrival {
		t.queue.push(q)
	} else {
		t.queue.insertByArrival(q)
	}
	if t.queue.len == 1 {
		ts.waiting.push(t)
	} else {
		ts.waiting.fix(t) // it may have another head
	}
}

// next is the sequence whose turn it is, left in its queue; nil if none waits.
func (ts *tenants) next() *sequence {
	if len(ts.waiting.items) == 0 {
		return nil
	}
	return ts.waiting.items[0].queue.head
}

// remove takes q out of its tenant's queue.
func (ts *tenants) remove(q *sequence) {
	t := q.tenant
	t.queue.remove(q)
	if t.queue.len == 0 {
		ts.waiting.remove(t)
		ts.last = t
	} else {
		ts.waiting.fix(t)
	}
}

// charge adds tokens served to t's counter.
func (ts *tenants) charge(t *tenant, tokens int) {
	t.counter += tokens
	ts.waiting.fix(t)
}

// tenantHeap is a binary heap of tenants, smallest counter first. (The heap of container/heap would need a callback a step to keep the places.)
type tenantHeap struct {
	which int // which place of tenant.at is this heap's
	items []*tenant
}

// before: the smaller counter; of equal ones, whose head has waited longer.
func (t *tenant) before(u *tenant) bool {
	if t.counter != u.counter || t.queue.len == 0 || u.queue.len == 0 {
		return t.counter < u.counter
	}
	return t.queue.head.arrival < u.queue.head.arrival
}

func (h *tenantHeap) put(i int, t *tenant) {
	h.items[i] = t
	t.at[h.which] = i + 1
}

func (h *tenantHeap) push(t *tenant) {
	if t.at[h.which] != 0 {
		panic("sched: a tenant twice in a heap")
	}
	h.items = append(h.items, nil)
	h.put(len(h.items)-1, t)
	h.fix(t)
}

// remove takes t out if it is there.
func (h *tenantHeap) remove(t *tenant) {
	i := t.at[h.which] - 1
	if i < 0 {
		return
	}
	end := len(h.items) - 1
	moved := h.items[end]
	h.items[end] = nil
	h.items = h.items[:end]
	t.at[h.which] = 0
	if moved != t {
		h.put(i, moved)
		h.fix(moved)
	}
}

// fix restores the order after t's counter changed, if t is there.
func (h *tenantHeap) fix(t *tenant) {
	i := t.at[h.which] - 1
	if i < 0 {
		return
	}
	for i > 0 && t.before(h.items[(i-1)/2]) {
		h.put(i, h.items[(i-1)/2])
		i = (i - 1) / 2
	}
	for {
		child := 2*i + 1
		if child+1 < len(h.items) && h.items[child+1].before(h.items[child]) {
			child++
		}
		if child >= len(h.items) || !h.items[child].before(t) {
			break
		}
		h.put(i, h.items[child])
		i = child
	}
	h.put(i, t)
}

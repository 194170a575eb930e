package kvpool

// order lists records, by number, as they began. What one event does to several it does in this order: what the ledger does then depends on what has happened alone, not on which
// spare records were used.
type order struct {
	first, last int32
	near        []neighbours // of each record
}

type neighbours struct{ prev, next int32 }

func newOrder() order { return order{first: none, last: none} }

func (o *order) clone() order {
	c := *o
	c.near = append([]neighbours(nil), o.near...)
	return c
}

// add puts record i last. Preconditions: it is not in.
func (o *order) add(i int32) {
	for int(i) >= len(o.near) {
		o.near = append(o.near, neighbours{none, none})
	}
	o.near[i] = neighbours{o.last, none}
	if o.last != none {
		o.near[o.last].next = i
	} else {
		o.first = i
	}
	o.last = i
}

// remove takes record i out. Preconditions: it is in.
func (o *order) remove(i int32) {
	n := o.near[i]
	if n.prev != none {
		o.near[n.prev].next = n.next
	} else {
		o.first = n.next
	}
	if n.next != none {
		o.near[n.next].prev = n.prev
	} else {
		o.last = n.prev
	}
}

// all goes through the records; the one at hand may be removed.
func (o *order) all() func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for i := o.first; i != none; {
			next := o.near[i].next
			if !yield(i) {
				return
			}
			i = next
		}
	}
}

package handoff

// list runs through its elements' own places, in order of arrival. An element is in one list at most.
type list[T any, P placed[T]] struct {
	head, tail *T
	len        int64
}

// place is where an element is; it is embedded in the element.
type place[T any] struct {
	in         any // the list, nil: none
	prev, next *T
}

func (p *place[T]) at() *place[T] { return p }

type placed[T any] interface {
	*T
	at() *place[T]
}

func (l *list[T, P]) push(x *T) {
	p := P(x).at()
	if p.in != nil {
		panic("handoff: an element in two lists")
	}
	p.in, p.prev = l, l.tail
	if l.tail == nil {
		l.head = x
	} else {
		P(l.tail).at().next = x
	}
	l.tail = x
	l.len++
}

func (l *list[T, P]) remove(x *T) {
	p := P(x).at()
	if p.in != l {
		panic("handoff: an element is not in this list")
	}
	if p.prev == nil {
		l.head = p.next
	} else {
		P(p.prev).at().next = p.next
	}
	if p.next == nil {
		l.tail = p.prev
	} else {
		P(p.next).at().prev = p.prev
	}
	*p = place[T]{}
	l.len--
}

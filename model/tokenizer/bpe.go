package tokenizer

// A merge joins two neighbouring symbols into one. The lower the rank, the earlier it is done.
type merge struct {
	rank   int32
	symbol int32
}

// Symbols are token ids, and beyond the vocabulary's size numbers for what appears in merges without being a token.

// pair is the key of two neighbouring symbols.
func pair(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// node is a symbol in the list that merging shortens.
type node struct {
	symbol     int32
	prev, next int32 // -1 at the ends
}

const gone = -1 // the symbol of a node that was merged into its left neighbour

// candidate is a merge that was possible when it was queued. It still is if both nodes hold the same symbols.
type candidate struct {
	merge
	left, right             int32 // nodes
	leftSymbol, rightSymbol int32
}

// before orders candidates: lowest rank first, leftmost first among equals.
func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.left < d.left
}

// merger merges the symbols of one piece at a time and keeps its memory for the next.
type merger struct {
	merges map[uint64]merge
	nodes  []node
	queue  []candidate // a binary heap
}

// merge joins neighbours until no merge is left, always the pair of lowest rank first (leftmost first among equals), and appends the symbols that remain to dst.
// It takes O(n log n) for n symbols: the classic loop that looks for the best pair anew after each merge is quadratic.
func (m *merger) merge(dst, symbols []int32) []int32 {
	if len(symbols) < 2 {
		return append(dst, symbols...)
	}
	m.nodes, m.queue = m.nodes[:0], m.queue[:0]
	for i, s := range symbols {
		m.nodes = append(m.nodes, node{symbol: s, prev: int32(i) - 1, next: int32(i) + 1})
	}
	m.nodes[len(symbols)-1].next = -1
	for i := range int32(len(symbols) - 1) {
		m.consider(i, i+1)
	}
	for len(m.queue) > 0 {
		c := m.pop()
		left, right := &m.nodes[c.left], &m.nodes[c.right]
		if left.symbol != c.leftSymbol || right.symbol != c.rightSymbol {
			continue
		}
		left.symbol, right.symbol = c.symbol, gone
		left.next = right.next
		if left.next >= 0 {
			m.nodes[left.next].prev = c.left
			m.consider(c.left, left.next)
		}
		if left.prev >= 0 {
			m.consider(left.prev, c.left)
		}
	}
	for i := int32(0); i >= 0; i = m.nodes[i].next {
		dst = append(dst, m.nodes[i].symbol)
	}
	return dst
}

// consider queues the merge of two neighbouring nodes, if there is one.
func (m *merger) consider(left, right int32) {
	l, r := m.nodes[left].symbol, m.nodes[right].symbol
	if found, ok := m.merges[pair(l, r)]; ok {
		m.push(candidate{merge: found, left: left, right: right, leftSymbol: l, rightSymbol: r})
	}
}

func (m *merger) push(c candidate) {
	m.queue = append(m.queue, c)
	i := len(m.queue) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !c.before(m.queue[parent]) {
			break
		}
		m.queue[i] = m.queue[parent]
		i = parent
	}
	m.queue[i] = c
}

func (m *merger) pop() candidate {
	top := m.queue[0]
	n := len(m.queue) - 1
	c := m.queue[n]
	m.queue = m.queue[:n]
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && m.queue[child+1].before(m.queue[child]) {
			child++
		}
		if !m.queue[child].before(c) {
			break
		}
		m.queue[i] = m.queue[child]
		i = child
	}
	if n > 0 {
		m.queue[i] = c
	}
	return top
}

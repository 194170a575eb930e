package kvpooltest

import "encoding/binary"

// A state is stored, hashed and compared as the few bytes that it takes: what is never used of its arrays takes none.

// packer appends numbers to b.
type packer struct{ b []byte }

func (p *packer) bytes(x ...uint8) { p.b = append(p.b, x...) }
func (p *packer) num(x uint32)     { p.b = binary.AppendUvarint(p.b, uint64(x)) }

func (p *packer) flags(f ...bool) {
	var x uint8
	for i, is := range f {
		if is {
			x |= 1 << i
		}
	}
	p.b = append(p.b, x)
}

func (p *packer) refs(refs ...ref) {
	for _, r := range refs {
		p.b = append(p.b, r.page, r.gen)
	}
}

// unpacker takes them from the front of b again.
type unpacker struct{ b []byte }

func (u *unpacker) byte() uint8 {
	x := u.b[0]
	u.b = u.b[1:]
	return x
}

func (u *unpacker) num() uint32 {
	x, n := binary.Uvarint(u.b)
	u.b = u.b[n:]
	return uint32(x)
}

func (u *unpacker) flags(f ...*bool) {
	x := u.byte()
	for i := range f {
		*f[i] = x&(1<<i) != 0
	}
}

func (u *unpacker) ref() ref { return ref{u.byte(), u.byte()} }

func (p *packer) node(n *node, pages int) {
	p.num(n.ledger)
	p.bytes(n.life, n.others)
	p.refs(n.other)
	for i := range pages {
		p.bytes(uint8(n.bytes[i]), n.checks[i])
	}
	p.flags(n.scrubs[:pages]...)
}

func (u *unpacker) node(n *node, pages int) {
	n.ledger = u.num()
	n.life, n.others = u.byte(), u.byte()
	n.other = u.ref()
	for i := range pages {
		n.bytes[i], n.checks[i] = bytes(u.byte()), u.byte()
	}
	x := u.byte()
	for i := range pages {
		n.scrubs[i] = x&(1<<i) != 0
	}
}

func (c *cluster) encode(b []byte, s *state) []byte {
	p := &packer{b}
	for i := range c.Nodes {
		p.node(&s.nodes[i], c.Nodes[i].Pages)
	}
	p.bytes(s.crashes, s.losses, s.connections, s.failures, s.flips)
	p.bytes(uint8(s.conned()))
	for i := range s.conned() {
		k := &s.conns[i]
		p.bytes(k.nodes[0], k.nodes[1], k.lives[0], k.lives[1], k.epoch, uint8(k.sides[0])<<4|uint8(k.sides[1]))
	}
	n := c.reads(s)
	p.bytes(uint8(n))
	for i := range n {
		r := &s.reads[i]
		p.bytes(r.attempt, r.at, r.conn, r.half, uint8(r.first), uint8(r.second))
		p.refs(r.src, r.dst)
	}
	for t := range c.Requests {
		p.attempt(&s.attempts[t], c.pages(t))
	}
	before := uint16(0)
	for _, id := range s.messages { // the rest of the bytes
		if id == 0 {
			break
		}
		p.num(uint32(id - before))
		before = id
	}
	return p.b
}

func (c *cluster) decode(b []byte) state {
	var s state
	u := &unpacker{b}
	for i := range c.Nodes {
		u.node(&s.nodes[i], c.Nodes[i].Pages)
	}
	s.crashes, s.losses, s.connections, s.failures, s.flips = u.byte(), u.byte(), u.byte(), u.byte(), u.byte()
	for i := range u.byte() {
		k := &s.conns[i]
		k.nodes, k.lives, k.epoch = [2]uint8{u.byte(), u.byte()}, [2]uint8{u.byte(), u.byte()}, u.byte()
		x := u.byte()
		k.sides = [2]side{side(x >> 4), side(x & 15)}
	}
	for i := range u.byte() {
		r := &s.reads[i]
		*r = read{used: true, attempt: u.byte(), at: u.byte(), conn: u.byte(), half: u.byte(), first: bytes(u.byte()), second: bytes(u.byte())}
		r.src, r.dst = u.ref(), u.ref()
	}
	for t := range c.Requests {
		u.attempt(&s.attempts[t], c.pages(t))
	}
	for i, before := 0, uint16(0); len(u.b) > 0; i++ {
		before += uint16(u.num())
		s.messages[i] = before
	}
	return s
}

// conned is the number of connections ever made, which come first.
func (s *state) conned() int {
	n := 0
	for n < maxConns && s.conns[n].epoch != 0 {
		n++
	}
	return n
}

func (p *packer) attempt(a *attempt, pages int) {
	p.flags(a.submitted, a.cancelled, a.halted, a.released, a.without, a.vouched, a.stopped, a.sealed)
	p.bytes(a.pLife, a.dLife, uint8(a.told)<<4|uint8(a.p), uint8(a.d)<<4|a.starts, a.have<<4|a.offered, a.groups)
	p.refs(a.table[:pages]...)
	p.refs(a.landed[:pages]...)
	p.refs(a.spare)
}

func (u *unpacker) attempt(a *attempt, pages int) {
	u.flags(&a.submitted, &a.cancelled, &a.halted, &a.released, &a.without, &a.vouched, &a.stopped, &a.sealed)
	a.pLife, a.dLife = u.byte(), u.byte()
	x, y, z := u.byte(), u.byte(), u.byte()
	a.told, a.p, a.d, a.starts, a.have, a.offered, a.groups = told(x>>4), exporting(x&15), importing(y>>4), y&15, z>>4, z&15, u.byte()
	for i := range pages {
		a.table[i] = u.ref()
	}
	for i := range pages {
		a.landed[i] = u.ref()
	}
	a.spare = u.ref()
}

func (x *single) encode(b []byte, s *singleState) []byte {
	p := &packer{b}
	n := x.Node.Pages
	p.node(&s.node, n)
	for i := range x.Prompts {
		q := &s.seqs[i]
		p.bytes(uint8(q.phase), q.lives, q.have, q.sealed, q.checks)
		p.refs(q.table[:]...)
		p.refs(q.checking)
	}
	p.refs(s.spare)
	p.flags(s.flipped[:n]...)
	p.bytes(s.patrol[:n]...)
	p.bytes(s.flips, s.patrols, s.returns)
	return p.b
}

func (x *single) decode(b []byte) singleState {
	var s singleState
	u := &unpacker{b}
	n := x.Node.Pages
	u.node(&s.node, n)
	for i := range x.Prompts {
		q := &s.seqs[i]
		q.phase, q.lives, q.have, q.sealed, q.checks = phase(u.byte()), u.byte(), u.byte(), u.byte(), u.byte()
		for k := range q.table {
			q.table[k] = u.ref()
		}
		q.checking = u.ref()
	}
	s.spare = u.ref()
	bad := u.byte()
	for i := range n {
		s.flipped[i] = bad&(1<<i) != 0
	}
	for i := range n {
		s.patrol[i] = u.byte()
	}
	s.flips, s.patrols, s.returns = u.byte(), u.byte(), u.byte()
	return s
}

package sim

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// read is one page on its way from a peer's slab into this node's.
type read struct {
	job      uint64
	attempt  kvpool.Attempt
	conn     *conn
	side     int // the reader's
	src, dst page.Ref
	checksum uint32
	bytes    []byte
	over     bool // nothing will land any more
	began    int64
}

// read begins a read. The bytes are taken in two halves, and land in two: a copy is not atomic.
func (w *network) read(n *node, fx kvpool.Effect) {
	s := w.s
	c := n.connOf(fx.Link)
	if c == nil {
		s.fail("node %d: a read over a link that it does not have: %+v", n.id, fx.Link)
		return
	}
	r := &read{job: fx.Job, attempt: fx.Attempt, conn: c, side: c.side(n), src: fx.Src, dst: fx.Dst, checksum: fx.Checksum, began: s.now}
	m := &c.sides[r.side]
	m.out = append(m.out, r)
	s.res.Reads++
	s.moved[fx.Attempt]++
	peer := c.sides[1-r.side].node
	delay, arrives := w.way(n, peer)
	if !arrives {
		return // it hangs until the fence
	}
	if s.on(Stall) && s.chance(5) {
		delay += s.between(100*milli, 1500*milli)
		if s.cfg.Break == BreakFailedRead {
			s.after(50*milli, func() { n.tellPool(kvpool.Event{Kind: kvpool.EvRead, Job: r.job, Failed: true}) })
		}
	}
	r.bytes = make([]byte, s.pageSize*slotBytes)
	half := len(r.bytes) / 2
	s.after(delay, func() {
		if !r.sample(s, 0, half) {
			r.failed(s)
			return
		}
		s.after(s.between(1, 200), func() {
			if !r.sample(s, half, len(r.bytes)) {
				r.failed(s)
				return
			}
			r.travel(s)
		})
	})
}

// sample takes bytes [from, to) from the peer's slab, as they are at this moment. It reports whether they were served.
func (r *read) sample(s *sim, from, to int) bool {
	p := &r.conn.sides[1-r.side]
	n := p.node
	if r.over || p.shut || n.down || n.life != p.life || int(r.src.Page) >= n.pages {
		return false
	}
	if !s.oneSided && s.cfg.Break != BreakNoChecksum && !n.pool.MayRead(p.link, r.attempt, r.src) {
		return false
	}
	reader := r.conn.sides[r.side]
	honest := !n.liar && !reader.node.liar && !reader.node.down && reader.node.life == reader.life && !reader.shut
	if state, g := n.pool.Page(r.src.Page); honest && (g != r.src.Generation || state != kvpool.Resident && state != kvpool.Quarantined) {
		s.fail("I7, I8: node %d reads page %v of node %d for attempt %v, and the page is %v @%d", reader.node.id, r.src, n.id, r.attempt, state, g)
	}
	copy(r.bytes[from:to], n.slab.page(r.src.Page)[from:to])
	return true
}

// travel brings the bytes to the reader's slab.
func (r *read) travel(s *sim) {
	m := &r.conn.sides[r.side]
	delay, arrives := s.net.way(r.conn.sides[1-r.side].node, m.node)
	if !arrives {
		return
	}
	if s.on(Stall) && s.chance(6) {
		delay += s.between(100*milli, 1500*milli)
	}
	if s.on(Flip) && s.chance(2) {
		s.res.Flips++
		r.bytes[s.rng.IntN(len(r.bytes))] ^= 1 << s.rng.IntN(8)
	}
	half := len(r.bytes) / 2
	s.after(delay, func() {
		if !r.land(s, 0, half) {
			return
		}
		s.after(s.between(1, 200), func() {
			if r.land(s, half, len(r.bytes)) {
				sum := checksum(m.node.slab.page(r.dst.Page))
				if s.cfg.Break == BreakNoChecksum {
					sum = r.checksum
				}
				r.end(s, false, sum)
			}
		})
	})
}

// land writes bytes [from, to) into the page that the read was issued for, whoever has it now.
func (r *read) land(s *sim, from, to int) bool {
	m := &r.conn.sides[r.side]
	n := m.node
	if r.over || m.shut || n.down || n.life != m.life {
		return false
	}
	if state, g := n.pool.Page(r.dst.Page); g != r.dst.Generation || state != kvpool.Importing && state != kvpool.Quarantined {
		s.fail("I4: a read of attempt %v lands in page %v of node %d, which is %v @%d", r.attempt, r.dst, n.id, state, g)
	}
	copy(n.slab.page(r.dst.Page)[from:to], r.bytes[from:to])
	return true
}

// failed: the peer does not serve. The reader is told, or hears nothing and has to fence.
func (r *read) failed(s *sim) {
	if r.over || s.on(Loss|Partition|Crash) && s.chance(40) {
		return
	}
	s.after(s.between(50, milli), func() { r.end(s, s.chance(50), 0) }) // either way there is no checksum
}

func (r *read) end(s *sim, failed bool, sum uint32) {
	m := &r.conn.sides[r.side]
	if r.over || m.shut || m.node.down || m.node.life != m.life {
		return
	}
	r.over = true
	for i, x := range m.out {
		if x == r {
			m.out = append(m.out[:i], m.out[i+1:]...)
			break
		}
	}
	m.node.tellPool(kvpool.Event{Kind: kvpool.EvRead, Job: r.job, Failed: failed, Checksum: sum})
}

package kvpooltest

import (
	"fmt"
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
)

// check verifies what must hold between nodes, their ledgers, and what the bytes really are.
func (c *cluster) check(s *state) error {
	for i := range c.reads(s) {
		if err := c.checkRead(s, &s.reads[i]); err != nil {
			return err
		}
	}
	for i := range c.Nodes {
		if err := c.checkNode(s, i); err != nil {
			return err
		}
	}
	for t := range c.Requests {
		if err := c.checkAttempt(s, t); err != nil {
			return err
		}
	}
	return nil
}

// reads is the number of reads in flight, which come first.
func (c *cluster) reads(s *state) int {
	n := 0
	for n < maxReads && s.reads[n].used {
		n++
	}
	return n
}

func (c *cluster) checkRead(s *state, r *read) error {
	a, q := &s.attempts[r.attempt], &c.Requests[r.attempt]
	dst := c.ledger(s, q.Decode).pages[r.dst.page]
	if dst.gen != r.dst.gen || dst.state != kvpool.Importing && dst.state != kvpool.Quarantined {
		return fmt.Errorf("I4: a read of attempt %d may land in page %d of node %d, which is %v @%d and was @%d", r.attempt+1, r.dst.page, q.Decode+1, dst.state, dst.gen, r.dst.gen)
	}
	if a.vouched {
		return fmt.Errorf("I7: attempt %d was released, and a read of it is out", r.attempt+1)
	}
	if e, alive := s.end(&s.conns[r.conn], q.Prefill); alive && s.conns[r.conn].sides[e] != fenced {
		if src := c.ledger(s, q.Prefill).pages[r.src.page]; src.gen != r.src.gen || src.state != kvpool.Resident && src.state != kvpool.Quarantined {
			return fmt.Errorf("I8: page %d of node %d is %v @%d while attempt %d may still read it @%d", r.src.page, q.Prefill+1, src.state, src.gen, r.attempt+1, r.src.gen)
		}
	}
	return nil
}

func (c *cluster) checkNode(s *state, i int) error {
	n, l := &s.nodes[i], c.ledger(s, i)
	if n.other.gen != 0 {
		if p := l.pages[n.other.page]; n.bytes[n.other.page] != other || p.gen != n.other.gen || p.state != kvpool.Filling {
			return fmt.Errorf("I3: page %d of node %d is an unrelated sequence's, and is %v @%d with bytes %d", n.other.page, i+1, p.state, p.gen, n.bytes[n.other.page])
		}
	}
	if err := clean(c.Nodes[i].Scrub, n, l); err != nil {
		return fmt.Errorf("node %d: %w", i+1, err)
	}
	exports, imports, draining := 0, 0, 0
	for t := range c.Requests {
		a := &s.attempts[t]
		if c.Requests[t].Prefill == i && a.p == open {
			exports++
		}
		if c.Requests[t].Decode == i && a.d == expecting {
			imports++
		}
		if c.Requests[t].Decode == i && (a.d == ended) && c.out(s, t) {
			draining++
		}
	}
	if l.counts.Exports != exports || l.counts.Imports != imports+draining && !c.LateReads {
		return fmt.Errorf("I12: node %d has %d exports and %d imports; %d, and %d with %d that drain, have begun and not ended", i+1, l.counts.Exports, l.counts.Imports, exports, imports, draining)
	}
	c.seen.note(twoExports, l.counts.Exports > 1)
	c.seen.note(bothRoles, l.counts.Exports > 0 && l.counts.Imports > 0)
	return nil
}

// clean: where pages are scrubbed, what can be had holds nobody's bytes (I5).
func clean(scrub bool, n *node, l *ledger) error {
	for p, x := range l.pages {
		if scrub && (x.state == kvpool.Free || x.state == kvpool.Allotted && n.other != (ref{uint8(p), x.gen})) && n.bytes[p] != zero {
			return fmt.Errorf("I5: page %d is %v @%d and holds %d", p, x.state, x.gen, n.bytes[p])
		}
	}
	return nil
}

func (c *cluster) out(s *state, t int) bool {
	for i := range c.reads(s) {
		if int(s.reads[i].attempt) == t {
			return true
		}
	}
	return false
}

func (c *cluster) checkAttempt(s *state, t int) error {
	a, q := &s.attempts[t], &c.Requests[t]
	if a.d == running {
		c.seen.note(started, true)
		for k, b := range c.content[t] {
			p := a.landed[k]
			want := kvpool.Resident
			if k == c.pages(t)-1 && c.lastIsPartial(t) {
				want = kvpool.Filling
			}
			if got := c.ledger(s, q.Decode).pages[p.page]; s.nodes[q.Decode].bytes[p.page] != b || got.gen != p.gen || got.state != want {
				return fmt.Errorf("I5: page %d of attempt %d lies in page %d of node %d, %v @%d, and holds %d, not %d", k, t+1, p.page, q.Decode+1, got.state, got.gen, s.nodes[q.Decode].bytes[p.page], b)
			}
		}
	}
	if !a.released && a.have > 0 {
		for k := range int(a.have) {
			p := a.table[k]
			if got := c.ledger(s, q.Prefill).pages[p.page]; got.gen != p.gen || got.state != kvpool.Resident && got.state != kvpool.Quarantined {
				return fmt.Errorf("I1: page %d of node %d is %v @%d in the table of attempt %d", p.page, q.Prefill+1, got.state, got.gen, t+1)
			}
		}
		for o := range t {
			if b := &s.attempts[o]; c.Requests[o].Prefill == q.Prefill && a.offered > 0 && b.offered > 0 && a.table[0] == b.table[0] && a.p == open && b.p == open {
				c.seen.note(sharedExport, true)
			}
		}
	}
	return nil
}

// home: nothing is out, no page is owned, and whoever sent a request has been told how it ended.
func (c *cluster) home(s *state) bool {
	for i := range c.Nodes {
		l := c.ledger(s, i)
		if l.counts.Free+l.counts.Idle != c.Nodes[i].Pages || l.counts.Exports+l.counts.Imports > 0 {
			return false
		}
	}
	for t := range c.Requests {
		if a := &s.attempts[t]; a.submitted && a.told == nothing {
			return false
		}
	}
	return c.reads(s) == 0
}

// canonical renames attempts that are alike, and renumbers the pages of each node, so that the ledgers become those that stand for their orbits. Where pages or attempts are alike to the ledgers, but what
// they hold or who else knows them differs, it takes the naming and numbering of which the state is least: else it would depend on which of its likes was met.
func (c *cluster) canonical(s *state) state {
	best, names := c.orbits(s, 0), []int{0}
	for k := 1; k < len(c.ledgers.names); k++ {
		switch o := c.orbits(s, k); slices.Compare(o[:], best[:]) {
		case -1:
			best, names = o, append(names[:0], k)
		case 0:
			names = append(names, k)
		}
	}
	var all []state
	for _, k := range names {
		all = c.under(s, k, all)
	}
	return least(all, c.encode)
}

// orbits are those of the ledgers under a naming.
func (c *cluster) orbits(s *state, name int) (o [maxNodes]uint32) {
	for i := range c.Nodes {
		o[i] = c.ledger(s, i).under[name].id
	}
	return o
}

// under appends the states that s becomes under a naming and all numberings that take its ledgers to what stands for them.
func (c *cluster) under(s *state, name int, all []state) []state {
	from := len(all)
	all = append(all, *s)
	c.rename(&all[from], name)
	for i := range c.Nodes {
		o := &c.ledger(s, i).under[name]
		for k := from; k < len(all); k++ {
			all[k].nodes[i].ledger = o.id
		}
		for k, n := from, len(all); k < n; k++ {
			for _, to := range o.to[1:] {
				all = append(all, all[k])
				c.renumber(&all[len(all)-1], i, &to)
			}
			c.renumber(&all[k], i, &o.to[0])
		}
	}
	return all
}

// rename gives attempts other names.
func (c *cluster) rename(s *state, name int) {
	if name == 0 {
		return
	}
	to := c.ledgers.names[name]
	was := s.attempts
	for t := range c.Requests {
		s.attempts[to[t]] = was[t]
	}
	for k := range c.reads(s) {
		s.reads[k].attempt = to[s.reads[k].attempt]
	}
	s.sortReads()
	c.eachMessage(s, func(id uint16) uint16 {
		return c.changed(change{message: id, name: name}, func(m *kvpool.Message) { m.Attempt.Number = 1 + uint64(to[m.Attempt.Number-1]) })
	})
}

// eachMessage puts others in the place of messages.
func (c *cluster) eachMessage(s *state, other func(id uint16) uint16) {
	ids := s.messages
	s.messages = [maxMessages]uint16{}
	for _, id := range ids {
		if id == 0 {
			break
		}
		s.put(other(id))
	}
}

func (c *cluster) size() int64 { return c.ledgers.bytes.Load() }

// least returns the state with the least encoding.
func least[S any](all []S, encode func([]byte, *S) []byte) S {
	at := 0
	var best string
	for i := range all {
		if len(all) == 1 {
			break
		}
		if x := string(encode(nil, &all[i])); i == 0 || x < best {
			at, best = i, x
		}
	}
	return all[at]
}

func (c *cluster) renumber(s *state, i int, to *numbering) {
	if *to == (numbering{0, 1, 2, 3}) {
		return
	}
	at := func(r *ref) {
		if r.gen != 0 {
			r.page = to[r.page]
		}
	}
	was := s.nodes[i]
	n := &s.nodes[i]
	for p, q := range to {
		n.bytes[q], n.scrubs[q], n.checks[q] = was.bytes[p], was.scrubs[p], was.checks[p]
	}
	at(&n.other)
	for t := range c.Requests {
		a := &s.attempts[t]
		if c.Requests[t].Prefill == i {
			for k := range a.table {
				at(&a.table[k])
			}
		}
		if c.Requests[t].Decode == i {
			for k := range a.landed {
				at(&a.landed[k])
			}
			at(&a.spare)
		}
	}
	for k := range c.reads(s) {
		r := &s.reads[k]
		if c.Requests[r.attempt].Decode == i {
			at(&r.dst)
		}
		if _, alive := s.end(&s.conns[r.conn], i); alive && c.Requests[r.attempt].Prefill == i {
			at(&r.src)
		}
	}
	s.sortReads()
	c.eachMessage(s, func(id uint16) uint16 { return c.renumbered(id, i, incarnation(i, n.life), to) })
}

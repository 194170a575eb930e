package handoff

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// prefixWeight is how many pages of room at a node a page is worth that it need not compute.
const prefixWeight = 4

// route is where an attempt could go.
type route struct {
	prefill, decode *peer
	link            kvpool.Link // as the decode node names it
	rank            rank
}

// rank orders what there is to choose from: the smaller the better.
type rank struct {
	class int // 0, and more for what is a makeshift
	cost  int // thousandths of the node's pages
}

func (r rank) before(q rank) bool { return r.class < q.class || r.class == q.class && r.cost < q.cost }

// Makeshifts, the worse the larger.
const (
	avoided   = 1 // the last attempt has failed there
	alone     = 2 // a decode node without a prefill node
	unfitting = 4 // it will be rejected, with the numbers
)

// place begins an attempt of j. It reports whether there was a node for it.
func (g *Gateway) place(j *job) bool {
	if g.held != 0 && g.held < j.arrival {
		j.held = true // behind who came before
		return false
	}
	r, ok := g.choose(j)
	if !ok {
		g.letPass(j) // it waits for a node: that has an end, and keeps nobody else from one
		return false
	}
	if !g.room(j, r.decode) {
		g.hold(j)
		return false
	}
	g.letPass(j)
	j.tries++
	g.number++
	g.stats.Tries++
	if j.tries > 1 {
		g.stats.Retries++
	}
	if r.prefill.hit > 0 {
		g.stats.Hits++
	}
	a := kvpool.Attempt{Gateway: g.cfg.Incarnation, Number: g.number, Prefill: r.prefill.life}
	t := &try{attempt: a, job: j}
	j.try = t
	g.byName[a] = t
	if r.prefill == r.decode {
		g.stats.Local++
		g.addLeg(t, r.decode, Local, kvpool.Link{})
	} else {
		g.addLeg(t, r.decode, Decode, r.link)
		g.addLeg(t, r.prefill, Prefill, kvpool.Link{Peer: r.decode.node, Incarnation: r.decode.life, Epoch: r.link.Epoch})
	}
	g.prefixes.add(j.hashes, r.prefill)
	return true
}

// room reports whether a prompt will find pages at a decode node, as far as its last report and what was sent there since tell. A node where nothing of this gateway waits for pages is asked anyway: it
// knows best.
func (g *Gateway) room(j *job, d *peer) bool {
	return d.owed == 0 || d.status.Load.FreePages >= d.owed+g.pages(len(j.spec.Prompt))+1
}

// owe counts the pages of a prompt that is sent to a decode node until its answer begins there, or its attempt ends.
func (g *Gateway) owe(l *leg, spec *Spec) {
	if l.role != Prefill {
		l.owed = g.pages(len(spec.Prompt)) + 1
		l.peer.owed += l.owed
	}
}

func (l *leg) paid() {
	if l.peer.life == l.life {
		l.peer.owed -= l.owed
	}
	l.owed = 0
}

// hold has j wait for room, and who came later behind it, so that a long prompt is not passed for ever by short ones.
func (g *Gateway) hold(j *job) {
	j.held = true
	if g.held == 0 || j.arrival < g.held {
		g.held = j.arrival
	}
}

// letPass: j does not wait for room any more. The next that does is the oldest now.
func (g *Gateway) letPass(j *job) {
	j.held = false
	if j.arrival != g.held {
		return
	}
	g.held = 0
	for k := g.jobs.head; k != nil; k = k.next {
		if k.held && k.try == nil {
			g.held = k.arrival
			return
		}
	}
}

func (g *Gateway) addLeg(t *try, p *peer, role Role, link kvpool.Link) {
	l := &leg{try: t, peer: p, life: p.life, role: role, link: link, wait: g.cfg.RepeatAfter}
	t.legs = append(t.legs, l)
	p.sent++
	g.owe(l, t.job.spec)
	g.say(l)
}

// choose finds the decode node with the most room and the shortest queue that has a prefill node, or is one, and the prefill node for it that has the least to do for this
// prompt. Of equals it takes the one whose turn it is.
func (g *Gateway) choose(j *job) (route, bool) {
	g.prefixes.find(j.hashes, g.peers)
	var best route
	g.turn++
	for i := range g.peers {
		d := g.peers[(g.turn+i)%len(g.peers)]
		if !d.usable() || !d.status.Decode {
			continue
		}
		r := route{decode: d, rank: g.rank(j, d, len(j.spec.Prompt)+max(1, j.spec.MaxTokens))}
		if best.decode != nil && !r.rank.before(best.rank) {
			continue
		}
		if !g.choosePrefill(j, &r) {
			if int64(len(j.spec.Prompt)) > g.cfg.LocalPrompts {
				continue
			}
			r.prefill, r.rank.class = d, r.rank.class+alone
		}
		if best.decode == nil || r.rank.before(best.rank) {
			best = r
		}
	}
	return best, best.decode != nil
}

// choosePrefill completes a route with the best prefill node for it. What the node itself computes need not be moved.
func (g *Gateway) choosePrefill(j *job, r *route) bool {
	var best rank
	pages, d := g.pages(len(j.spec.Prompt)), r.decode
	consider := func(p *peer, link kvpool.Link, tokens, moved int) {
		k := g.rank(j, p, tokens)
		k.cost += (moved - prefixWeight*p.hit) * 1000 / max(1, p.status.Load.TotalPages)
		if r.prefill == nil || k.before(best) {
			r.prefill, r.link, best = p, link, k
		}
	}
	if d.status.Prefill {
		consider(d, kvpool.Link{}, len(j.spec.Prompt)+max(1, j.spec.MaxTokens), 0)
	}
	n := len(d.status.Links)
	for i := range n {
		link := d.status.Links[(g.turn+i)%n]
		if p := g.peerOf[link.Peer]; p != nil && p != d && p.usable() && p.status.Prefill && p.life == link.Incarnation {
			consider(p, link, len(j.spec.Prompt)+1, pages)
		}
	}
	r.rank.class = max(r.rank.class, best.class)
	return r.prefill != nil
}

func (p *peer) usable() bool { return p.up && p.life != 0 && p.status.Ready && !p.status.Draining }

func (g *Gateway) pages(tokens int) int {
	return (tokens + int(g.cfg.PageSize) - 1) / int(g.cfg.PageSize)
}

// rank says how well a sequence of so many tokens would do at p: by the pages that are taken, and those which who waits there, or was sent there since its last report, will take if they are
// like this one.
func (g *Gateway) rank(j *job, p *peer, tokens int) rank {
	s := &p.status
	var r rank
	if p == j.avoid {
		r.class += avoided
	}
	if tokens > s.Limits.MaxModelLen || tokens > s.Limits.PoolTokens {
		r.class += unfitting
	}
	taken := s.Load.TotalPages - s.Load.FreePages + (s.Load.Waiting+p.sent)*g.pages(tokens)
	r.cost = taken * 1000 / max(1, s.Load.TotalPages)
	return r
}

// prefixes remembers where the pages of prompts were last computed. It is a guess: the node may have evicted them.
type prefixes struct {
	most           int64
	at             map[page.Hash]int32 // for lookup only
	entries        []prefix
	newest, oldest int32
}

// prefix is one page of a prompt. Entries are in a ring by use.
type prefix struct {
	hash         page.Hash
	peer         *peer
	life         page.Incarnation
	newer, older int32
}

const nowhere = int32(-1)

func newPrefixes(most int64) prefixes {
	return prefixes{most: most, at: map[page.Hash]int32{}, newest: nowhere, oldest: nowhere}
}

// find sets each peer's hit to the number of the prompt's first pages that were last computed there.
func (x *prefixes) find(hashes []page.Hash, peers []*peer) {
	for _, p := range peers {
		p.hit = 0
	}
	for i, h := range hashes {
		e, ok := x.at[h]
		if !ok {
			return
		}
		if p := x.entries[e].peer; p.life == x.entries[e].life {
			p.hit = i + 1
		}
	}
}

// add notes that the pages of a prompt are computed at p. The last page is used first, so that of a prompt the deepest goes first.
func (x *prefixes) add(hashes []page.Hash, p *peer) {
	for i := min(len(hashes), int(x.most)) - 1; i >= 0; i-- {
		e, ok := x.at[hashes[i]]
		switch {
		case ok:
			x.unlink(e)
		case int64(len(x.entries)) < x.most:
			e = int32(len(x.entries))
			x.entries = append(x.entries, prefix{})
		default:
			e = x.oldest
			x.unlink(e)
			delete(x.at, x.entries[e].hash)
		}
		x.entries[e] = prefix{hash: hashes[i], peer: p, life: p.life, newer: nowhere, older: x.newest}
		x.at[hashes[i]] = e
		if x.newest != nowhere {
			x.entries[x.newest].newer = e
		} else {
			x.oldest = e
		}
		x.newest = e
	}
}

func (x *prefixes) unlink(e int32) {
	p := &x.entries[e]
	if p.newer != nowhere {
		x.entries[p.newer].older = p.older
	} else {
		x.newest = p.older
	}
	if p.older != nowhere {
		x.entries[p.older].newer = p.newer
	} else {
		x.oldest = p.newer
	}
}

package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// handoff is the part of a ledger that knows other nodes. Links and attempts are records in arrays, found by name; spare records keep their memory.
type handoff struct {
	links   []link
	peers   []peer // all that ever said hello
	exports []export
	imports []importing

	// For lookup only.
	byLink   map[Link]int32
	byPeer   map[page.Node]int32
	exportOf map[Attempt]int32
	importOf map[Attempt]int32

	exportsBy map[page.Seq]int32 // the latest export of a sequence; the others follow by sibling

	spareLink, spareExport, spareImport int32 // spare records, linked by next
	linkOrder, exportOrder, importOrder order // those in use

	promised int // pages promised to exports, offered or not

	tombstones
}

// link is one connection that is up, or lost and not yet fenced.
type link struct {
	name Link
	used bool
	up   bool  // hello done, and not lost
	dead bool  // the peer has restarted since
	next int32 // spare records
}

// peer is the latest life and connection of another node.
type peer struct {
	node        page.Node
	incarnation page.Incarnation
	epoch       uint64
}

func newHandoff(cfg Config) handoff {
	return handoff{
		byLink: map[Link]int32{}, byPeer: map[page.Node]int32{}, exportOf: map[Attempt]int32{}, importOf: map[Attempt]int32{},
		exportsBy: map[page.Seq]int32{},
		spareLink: none, spareExport: none, spareImport: none,
		linkOrder: newOrder(), exportOrder: newOrder(), importOrder: newOrder(),
		tombstones: newTombstones(cfg),
	}
}

// connected begins a link. What was left of the peer's links before is lost; if the peer has restarted nobody reads for its old life any more.
//
// I8: that a new incarnation said hello is proof of the restart, and so frees what is exported to its predecessor.
func (l *Ledger) connected(name Link) {
	if name.Peer == l.cfg.Node || name.Incarnation == 0 || name.Incarnation == l.cfg.Incarnation {
		l.stale(EvConnected, Malformed)
		return
	}
	p, known := l.byPeer[name.Peer]
	if !known {
		p = int32(len(l.peers))
		l.peers = append(l.peers, peer{node: name.Peer})
		l.byPeer[name.Peer] = p
	}
	before := l.peers[p]
	restart := known && before.incarnation != name.Incarnation
	if known && !restart && name.Epoch <= before.epoch {
		l.stale(EvConnected, WrongLink)
		return
	}
	for i := range l.linkOrder.all() {
		switch k := &l.links[i]; {
		case k.name.Peer != name.Peer:
		case restart:
			l.restarted(i)
		case k.up:
			l.lose(i)
		}
	}
	if restart {
		l.forgetLife(before.incarnation)
	}
	l.peers[p] = peer{name.Peer, name.Incarnation, name.Epoch}
	i := l.spareLink
	if i == none {
		i = int32(len(l.links))
		l.links = append(l.links, link{})
	} else {
		l.spareLink = l.links[i].next
	}
	l.links[i] = link{name: name, used: true, up: true, next: none}
	l.linkOrder.add(i)
	l.byLink[name] = i
}

// lost takes a suspicion. It frees nothing: the peer may be reading still.
func (l *Ledger) lost(name Link) {
	switch i, known := l.byLink[name]; {
	case !known:
		l.stale(EvLost, WrongLink)
	case !l.links[i].up:
		l.stale(EvLost, Repeated)
	default:
		l.lose(i)
	}
}

// lose ends all talk over a link, stops the imports that come over it and asks for its fence, which alone ends its exports and the reads that are out.
func (l *Ledger) lose(i int32) {
	l.links[i].up = false
	l.stats.Fences++
	l.emit(Effect{Kind: FxFence, Link: l.links[i].name})
	l.stopImports(i)
}

// restarted ends the exports over a link whose peer is proved to have ended. Reads from it that are out still need their end, or the fence.
func (l *Ledger) restarted(i int32) {
	l.links[i].dead = true
	if l.links[i].up {
		l.lose(i)
	}
	l.endExports(i)
}

// fenced forgets a link: nobody reads over it any more, in either direction (I4, I8).
func (l *Ledger) fenced(name Link) {
	i, known := l.byLink[name]
	if !known {
		l.stale(EvFenced, WrongLink)
		return
	}
	if l.links[i].up { // fenced before anybody suspected it
		l.links[i].up = false
		l.stopImports(i)
	}
	l.endExports(i)
	l.endReads(i)
	delete(l.byLink, name)
	l.linkOrder.remove(i)
	l.links[i] = link{next: l.spareLink}
	l.spareLink = i
}

// upLink returns the link of that name if it is up, or none.
func (l *Ledger) upLink(name Link) int32 {
	if i, ok := l.byLink[name]; ok && l.links[i].up {
		return i
	}
	return none
}

// send sends m, for an attempt of link i, if that is up.
func (l *Ledger) send(i int32, m Message) {
	k := &l.links[i]
	if !k.up {
		return
	}
	m.From, m.To, m.Epoch = l.cfg.Incarnation, k.name.Incarnation, k.name.Epoch
	l.emit(Effect{Kind: FxSend, Link: k.name, Message: m})
}

// message takes what a peer says, if it comes over a link that is up, from and for the lives at its ends, about an attempt that these two can share.
func (l *Ledger) message(name Link, m *Message) {
	i := l.upLink(name)
	reason := Reason(0)
	switch {
	case i == none || m.Epoch != name.Epoch:
		reason = WrongLink
	case m.From != name.Incarnation || m.To != l.cfg.Incarnation:
		reason = WrongIncarnation
	case !m.Attempt.Valid():
		reason = Malformed
	case m.Kind == MsgRelease && m.Attempt.Prefill == l.cfg.Incarnation:
		reason = l.released(i, m)
	case m.Kind == MsgOffer && m.Attempt.Prefill == name.Incarnation:
		reason = l.offered(i, m)
	case m.Kind == MsgRevoke && m.Attempt.Prefill == name.Incarnation:
		reason = l.revoked(i, m.Attempt)
	case m.Kind < MsgOffer || m.Kind > MsgRevoke:
		reason = Malformed
	default:
		reason = WrongIncarnation // an attempt of another prefill node, or another life of it
	}
	if reason != 0 {
		l.stale(EvMessage, reason)
	}
}

// cancel takes the gateway's word that an attempt is over, whatever has become of it here.
func (l *Ledger) cancel(a Attempt) {
	if !a.Valid() {
		l.stale(EvCancel, Malformed)
		return
	}
	isNew := true
	if i, ok := l.exportOf[a]; ok {
		isNew = l.giveUp(i)
	} else if i, ok := l.importOf[a]; ok {
		isNew = l.stop(i, verdict{status: Cancelled})
	} else if isNew = !l.closed(a); isNew {
		l.bury(a, verdict{status: Cancelled})
	}
	if !isNew {
		l.stale(EvCancel, Repeated)
	}
}

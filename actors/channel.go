package actors

import (
	"context"
	"errors"
	"hash/crc32"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

const (
	dialTimeout  = 10 * time.Second // for the data connection; the control connection is up already
	readTimeout  = 30 * time.Second // a read that has not landed after so long makes its link suspected
	fenceAttempt = 5 * time.Second  // how long one try of a fence may take before the log says that pages wait for it
)

// control is the control connection with a peer, as a channel uses it.
type control interface {
	Link() page.Link
	// SendPage sends a message about pages without waiting. What cannot be sent now is lost: the ledger says it again.
	SendPage(m *kvpool.Message)
	// SendDescriptors tells how to dial this node's transports over this link.
	SendDescriptors(map[string][]byte)
	// Disconnect ends the connection; it may be called again, and by both sides.
	Disconnect(why string)
}

// channelActor owns all that joins this node with one other: its control connection and the copies in flight on it. What belongs to one connection ends with that connection's fence; a
// peer that is back before the old one is fenced has two for a while.
type channelActor struct {
	node  *Node
	peer  page.Node
	self  *actor.PID
	links map[page.Link]*nodeLink
	gone  chan struct{} // closed when the actor has stopped, and the fences of what it had are under way
}

// nodeLink is one connection with another node.
type nodeLink struct {
	control control
	reads   bool // this node reads pages of the peer: it needs a data connection before the link is up
	serves  bool // the peer reads pages of this node
	up      bool // the pool knows it
	lost    bool // the pool was told that it is suspected, or would have been
	fencing bool
	conn    transport.Conn
	cancel  context.CancelFunc   // of the dial under way
	dialed  chan struct{}        // closed when no dial is under way any more; nil: none was
	made    transport.Conn       // what the dial made, to be read when dialed is closed: whoever fences closes it, whether or not conn was set
	pending map[uint64]time.Time // reads that are out, by job: since when
	landing *landing
	offered map[page.Attempt]struct{} // attempts whose pages the peer may read, or could

	// released counts the Releases of an attempt that the pool has not acted on. An offer that comes meanwhile is one that the pool made before: it must not open the pages again, which are about to be
	// given away.
	released map[page.Attempt]int
}

// Messages to a channel.
type (
	channelUp struct {
		control       control
		reads, serves bool
		offered       []string // names of the peer's transports, best first
	}
	channelDescriptors struct {
		link        page.Link
		descriptors map[string][]byte
	}
	channelHeard struct {
		link    page.Link
		message *kvpool.Message
	}
	channelLost struct {
		link  page.Link
		cause string // a word for metrics
		why   string
	}
	channelDialed struct {
		link page.Link
		conn transport.Conn
		name string
		err  error
	}
	channelSend struct {
		link    page.Link
		message *kvpool.Message
	}
	channelRead struct {
		link    page.Link
		job     uint64
		attempt page.Attempt
		src     page.Ref
		dst     page.Index
	}
	channelLanded struct {
		link page.Link
		job  uint64
	}
	// channelReleased: the pool has acted on a Release of attempt. What it offered before has come here before.
	channelReleased struct {
		link    page.Link
		attempt page.Attempt
	}
	channelFence  struct{ link page.Link }
	channelFenced struct{ link page.Link }
	channelTicked struct{}
)

func (a *channelActor) Receive(ctx actor.Context) {
	defer rethrow("channel")
	a.self = ctx.Self()
	switch m := ctx.Message().(type) {
	case *channelUp:
		a.connected(m)
	case *channelDescriptors:
		a.dial(m)
	case *channelDialed:
		a.dialDone(m)
	case *channelHeard:
		a.heard(m)
	case *channelSend:
		a.send(m)
	case *channelRead:
		a.read(m)
	case channelLanded:
		if l := a.links[m.link]; l != nil {
			delete(l.pending, m.job)
		}
	case channelReleased:
		a.released(m)
	case channelLost:
		a.suspect(m.link, m.cause, m.why)
	case channelFence:
		a.fence(m.link)
	case channelFenced:
		delete(a.links, m.link)
		a.node.tellPool(kvpool.Event{Kind: kvpool.EvFenced, Link: m.link})
	case channelTicked:
		a.tick()
	case *actor.Stopped: // also after a failure: nothing may land in memory that is about to be given back
		for link := range a.links {
			a.fence(link)
		}
		close(a.gone)
	}
}

// connected takes a connection whose hello is done. It is up for the pool when its pages can be read.
func (a *channelActor) connected(m *channelUp) {
	n, link := a.node, m.control.Link()
	l := &nodeLink{control: m.control, reads: m.reads && n.cluster.shares(m.offered), serves: m.serves, pending: map[uint64]time.Time{}, offered: map[page.Attempt]struct{}{},
		released: map[page.Attempt]int{}}
	a.links[link] = l
	if m.serves {
		l.control.SendDescriptors(n.cluster.descriptors(link))
	}
	if m.reads && !l.reads {
		n.log.Error("the peer offers no transport that this node has; the connection is of no use", zap.Stringer("link", link), zap.Strings("offered", m.offered), zap.Strings("mine", n.TransportNames()))
		l.control.Disconnect("no transport in common")
		return
	}
	if !l.reads {
		a.linkUp(link, l)
	}
}

func (a *channelActor) linkUp(link page.Link, l *nodeLink) {
	l.up = true
	a.node.tellPool(kvpool.Event{Kind: kvpool.EvConnected, Link: link})
	a.node.tell(a.node.scheduler, linkUp{link})
	a.node.log.Debug("pages can be handed over", zap.Stringer("link", link), zap.Bool("reads", l.reads), zap.Bool("serves", l.serves))
}

// dial makes the data connection by the first of this node's transports that the peer has too.
func (a *channelActor) dial(m *channelDescriptors) {
	l := a.links[m.link]
	if l == nil || !l.reads || l.lost || l.dialed != nil {
		return
	}
	n, self := a.node, a.self
	ctx, cancel := context.WithTimeout(a.node.cluster.closed, dialTimeout)
	l.cancel, l.dialed = cancel, make(chan struct{})
	n.cluster.background.Go(func() {
		defer cancel()
		done := &channelDialed{link: m.link, err: errors.New("the peer has sent no descriptor of a transport that this node has")}
		for _, t := range n.cluster.Transports {
			d, ok := m.descriptors[t.Name()]
			if !ok {
				continue
			}
			done.name = t.Name()
			if done.conn, done.err = t.Dial(ctx, m.link, n.selfLink(m.link), d, n.cluster.slab); done.err == nil {
				break
			}
			n.log.Warn("cannot dial a peer's pages", zap.Stringer("link", m.link), zap.String("transport", t.Name()), zap.Error(done.err))
		}
		l.made = done.conn
		close(l.dialed)
		n.tell(self, done)
	})
}

func (a *channelActor) dialDone(m *channelDialed) {
	l := a.links[m.link]
	switch {
	case l == nil || l.lost: // whoever fences the link waits for the dial, and closes what it made
	case m.err != nil:
		a.suspect(m.link, "data", "its pages cannot be read: "+m.err.Error())
	default:
		l.conn, l.landing = m.conn, newLanding()
		a.watch(m.link, m.conn)
		a.node.log.Debug("data connection made", zap.Stringer("link", m.link), zap.String("transport", m.name))
		a.linkUp(m.link, l)
	}
}

func (a *channelActor) watch(link page.Link, conn transport.Conn) {
	n, self := a.node, a.self
	n.cluster.background.Go(func() {
		<-conn.Lost()
		n.tell(self, channelLost{link, "data", "its data connection was lost"})
	})
}

// heard passes on what the peer's ledger says. Nothing is heard over a link that is not up: the peer says it again.
func (a *channelActor) heard(m *channelHeard) {
	l := a.links[m.link]
	if l == nil || !l.up || l.lost {
		return
	}
	ev := kvpool.Event{Kind: kvpool.EvMessage, Link: m.link, Message: *m.message}
	if m.message.Kind == kvpool.MsgRelease && l.serves {
		// The ledger may give the pages away when it hears this: not under the eyes of a peer that still reads.
		delete(l.offered, m.message.Attempt)
		l.released[m.message.Attempt]++
		a.node.cluster.exports.End(m.link, m.message.Attempt, func() { a.node.tellPool(ev) })
		return
	}
	a.node.tellPool(ev)
}

func (a *channelActor) released(m channelReleased) {
	l := a.links[m.link]
	if l == nil {
		return
	}
	if l.released[m.attempt]--; l.released[m.attempt] <= 0 {
		delete(l.released, m.attempt)
	}
}

func (a *channelActor) send(m *channelSend) {
	l := a.links[m.link]
	if l == nil || l.lost {
		return
	}
	if m.message.Kind == kvpool.MsgOffer {
		if l.released[m.message.Attempt] > 0 {
			return
		}
		refs := make([]page.Ref, len(m.message.Pages))
		for i := range refs {
			refs[i] = m.message.Pages[i].Ref
		}
		l.offered[m.message.Attempt] = struct{}{}
		a.node.cluster.exports.Offer(m.link, m.message.Attempt, refs)
	}
	l.control.SendPage(m.message)
}

// read starts a read. Its end goes to the pool from wherever it comes; what this actor keeps is since when it waits.
func (a *channelActor) read(m *channelRead) {
	l := a.links[m.link]
	if l == nil || l.conn == nil || l.fencing { // nothing was begun, so nothing will land
		a.node.tellPool(kvpool.Event{Kind: kvpool.EvRead, Job: m.job, Failed: true})
		return
	}
	began := time.Now()
	l.pending[m.job] = began
	n, self, landing := a.node, a.self, l.landing
	l.conn.Read(transport.Read{Attempt: m.attempt, Src: m.src, Dst: m.dst}, func(err error) {
		landing.add(func() {
			ev := kvpool.Event{Kind: kvpool.EvRead, Job: m.job, Failed: err != nil}
			if err == nil {
				ev.Checksum = crc32.Checksum(n.cluster.slab.Page(m.dst), castagnoli)
				n.metrics.transferred(n.layout.PageBytes(), time.Since(began))
			} else {
				n.metrics.transferFailures.Inc()
				n.log.Debug("a read has failed", zap.Stringer("attempt", m.attempt), zapRef(m.src), zap.Error(err))
			}
			n.tellPool(ev)
			n.tell(self, channelLanded{m.link, m.job})
		})
	})
}

// suspect tells the pool that a link is at its end; the pool asks for the fence. A link that the pool never knew is fenced at once.
func (a *channelActor) suspect(link page.Link, cause, why string) {
	l := a.links[link]
	if l == nil || l.lost {
		return
	}
	l.lost = true
	a.node.metrics.fences.WithLabelValues(cause).Inc()
	level := zap.DebugLevel // the loss of a control connection is told already
	if cause == "data" || cause == "stalled" {
		level = zap.WarnLevel
	}
	a.node.log.Log(level, "a connection is of no use any more", zap.Stringer("link", link), zap.String("why", why))
	if l.up {
		a.node.tellPool(kvpool.Event{Kind: kvpool.EvLost, Link: link})
		return
	}
	a.fence(link)
}

// fence ends a link for good: no read of this node's lands over it any more, and its peer can read nothing here any more. No timer makes it complete; it takes what it takes.
func (a *channelActor) fence(link page.Link) {
	l := a.links[link]
	if l == nil {
		a.node.tellPool(kvpool.Event{Kind: kvpool.EvFenced, Link: link}) // there is nothing of it
		return
	}
	if l.fencing {
		return
	}
	l.lost, l.fencing = true, true
	n, self := a.node, a.self
	n.cluster.background.Go(func() {
		l.control.Disconnect("fenced")
		if l.cancel != nil {
			l.cancel()
			<-l.dialed
		}
		if l.made != nil {
			if err := l.made.Close(); err != nil {
				n.log.Warn("closing a data connection", zap.Stringer("link", link), zap.Error(err))
			}
		}
		if l.landing != nil {
			l.landing.close()
		}
		for attempt := range l.offered {
			n.cluster.exports.End(link, attempt, func() {})
		}
		if l.serves && !n.cluster.fence(link, n.log) {
			return // the node was closed first
		}
		n.tell(self, channelFenced{link})
	})
}

// tick suspects links on which a read waits too long.
func (a *channelActor) tick() {
	now := time.Now()
	var late []page.Link
	for link, l := range a.links {
		for _, since := range l.pending {
			if !l.lost && now.Sub(since) > a.node.cluster.ReadTimeout {
				late = append(late, link)
				break
			}
		}
	}
	slices.SortFunc(late, func(x, y page.Link) int { return int(x.Epoch) - int(y.Epoch) })
	for _, link := range late {
		a.suspect(link, "stalled", "a read has not landed for too long")
	}
}

// castagnoli is the polynomial of page checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// landing runs what is to be done for pages that have landed on a goroutine of its own, in order, so that the transport's can read on.
type landing struct {
	work chan func()
	done chan struct{}
}

// landingQueue is how many pages may have landed and not be hashed before the transport waits.
const landingQueue = 1024

func newLanding() *landing {
	l := &landing{work: make(chan func(), landingQueue), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for f := range l.work {
			f()
		}
	}()
	return l
}

func (l *landing) add(f func()) { l.work <- f }

// close is called when nothing is added any more; it returns when all is done.
func (l *landing) close() {
	close(l.work)
	<-l.done
}

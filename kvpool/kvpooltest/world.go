package kvpooltest

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Sizes of a state. A state is a value without pointers, so that copying, comparing and hashing it need no code.
const (
	maxNodes    = 3
	maxPages    = 4 // of one node
	maxConns    = 6 // connections ever made
	maxMessages = 64
	maxReads    = 8
	maxAttempts = 3
	maxPrompt   = 3 // pages
	pageSize    = 2
)

// World is a small cluster with everything that may happen in it. The network is a set of messages that only grows.
type World struct {
	Name     string
	Nodes    []Node
	Requests []Request

	Crashes     int  // of any node: amnesia, a new incarnation, fresh memory
	Losses      int  // connections suspected though both ends are alive
	Connections int  // made after the first
	Cancel      bool // the gateway may cancel any time (else only what was refused or has failed)
	Revoke      bool // the prefill node may give up
	Failures    int  // reads that fail without a cause in the world
	Torn        bool // the halves of a page are read at different times
	Served      bool // the prefill node's process serves the bytes and asks MayRead (tcp); else its memory is read (RDMA)
	Flips       int  // pages of a prefill node whose bytes go bad while they are exported

	// LateReads breaks the assumption about fences: reads outlive the fence of the node that issued them. The checker must find harm.
	LateReads bool

	Want []string // situations that must be reached
}

// Node is one node's pool.
type Node struct {
	Pages         int
	PrefixCache   bool
	Scrub         bool
	ExportQuota   int
	MaxTombstones int
	Others        int // unrelated sequences that take a page, fill it with bytes of their own, and end; one at a time, so many in each life
}

// Request is a prompt that the gateway gives to two nodes, as one attempt.
type Request struct {
	Prefill, Decode int // nodes
	Tenant, Text    string
	Groups          []int // pages offered together
}

// bytes says what a page really holds.
type bytes uint8

const (
	zero   bytes = 0   // zeroed, or memory that is new
	torn   bytes = 250 // halves of different pages, or of a page and what followed it
	flip   bytes = 251 // went bad
	answer bytes = 252 // a prompt's page with tokens of an answer behind it, or those alone
	other  bytes = 253 // an unrelated sequence's
	// 1 and up: a page of a prompt
)

func checksum(b bytes) uint32 { return 0xc0de0000 | uint32(b) }

// side is what one end of a connection thinks of it.
type side uint8

const (
	unknown side = iota // no hello yet
	up
	lost // its fence is running
	fenced
)

type conn struct {
	nodes [2]uint8
	lives [2]uint8
	epoch uint8 // 0: no such connection
	sides [2]side
}

type node struct {
	ledger uint32
	life   uint8
	bytes  [maxPages]bytes
	scrubs [maxPages]bool  // FxScrub has been asked for
	checks [maxPages]uint8 // FxVerify of one page each: how many run
	other  ref             // the page of an unrelated sequence
	others uint8           // such sequences so far in this life
}

// read is one read in flight.
type read struct {
	used     bool
	attempt  uint8
	at       uint8 // page of the prompt
	conn     uint8
	src, dst ref
	half     uint8 // halves sampled
	first    bytes // what the first half held
	second   bytes
}

// told is the outcome that the gateway has told its client: the first, and only that.
type told uint8

const (
	nothing told = iota
	cancelled
	rejected
	failed
	done
)

type exporting uint8

const (
	notAsked exporting = iota
	open
	refused
	exported // ended
)

type importing uint8

const (
	notTold importing = iota
	expecting
	running
	finished
	ended
	rejectedThere
)

// attempt is what the gateway, the shells at both nodes, and nobody (ghost) know of it.
type attempt struct {
	// The gateway.
	submitted    bool
	pLife, dLife uint8 // as it knew them
	cancelled    bool  // Cancel is on its way to both
	told         told

	// The prefill node's scheduler and runner.
	p        exporting
	table    [maxPrompt]ref
	have     uint8 // pages sealed
	offered  uint8 // pages offered
	groups   uint8
	halted   bool // the ledger takes no more offers
	released bool // its sequence has ended there
	without  bool // the export has ended and was not done

	// The decode node's.
	d      importing
	landed [maxPrompt]ref // its table, when it runs
	spare  ref

	// Ghost.
	vouched bool // this life of the decode node has said Release
	stopped bool // this life of the decode node was told Cancel or Revoke
	sealed  bool // this life of the prefill node has sent the seal
	starts  uint8
}

type state struct {
	nodes    [maxNodes]node
	conns    [maxConns]conn
	messages [maxMessages]uint16 // 1 + number, ascending; 0: none
	reads    [maxReads]read
	attempts [maxAttempts]attempt

	crashes, losses, connections, failures, flips uint8
}

// net is a message on its way from one node to another.
type net struct {
	from, to uint8
	m        kvpool.Message
}

// cluster is a World made ready: the model that the search explores.
type cluster struct {
	*World
	ledgers *ledgers
	hashes  [][]page.Hash // of each request, its pages' chain hashes
	content [][]bytes     // of each request, what its pages hold
	domains []page.Domain
	pieces  map[string]bytes // what a page holds, by tenant and text up to its end

	mu      sync.RWMutex
	nets    []net
	byNet   map[string]uint16
	changes map[change]uint16

	seen *situations
}

// change is what a message's pages, or its attempt, become.
type change struct {
	message uint16
	to      numbering
	name    int
}

func newCluster(w *World) *cluster {
	c := &cluster{World: w, ledgers: newLedgers(), byNet: map[string]uint16{}, changes: map[change]uint16{}, pieces: map[string]bytes{}, seen: newSituations()}
	for _, r := range w.Requests {
		var hashes []page.Hash
		var content []bytes
		for from := 0; from < len(r.Text); from += pageSize {
			chain := kvpool.NewChain(kvpool.Key{}, r.Tenant, [32]byte{})
			chain.Add(letters(r.Text[:min(from+pageSize, len(r.Text))]))
			h := chain.Sum()
			piece := r.Tenant + " " + r.Text[:min(from+pageSize, len(r.Text))]
			if c.pieces[piece] == 0 {
				c.pieces[piece] = bytes(len(c.pieces) + 1)
			}
			hashes, content = append(hashes, h), append(content, c.pieces[piece])
		}
		c.hashes, c.content = append(c.hashes, hashes), append(c.content, content)
		c.domains = append(c.domains, kvpool.DomainOf(kvpool.Key{}, r.Tenant))
	}
	c.ledgers.names = w.namings()
	return c
}

// namings are the ways to name attempts anew under which the world stays as it is: those of equal requests change places. Where nodes fold tombstones into watermarks there is but one, since
// these compare numbers.
func (w *World) namings() (all []naming) {
	for _, n := range w.Nodes {
		if n.MaxTombstones != 0 {
			return []naming{{0, 1, 2}}
		}
	}
	for _, n := range []naming{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}} {
		same := true
		for t, to := range n {
			same = same && (int(to) == t || t < len(w.Requests) && int(to) < len(w.Requests) && reflect.DeepEqual(w.Requests[t], w.Requests[to]))
		}
		if same {
			all = append(all, n)
		}
	}
	return all
}

func letters(text string) []int32 {
	var t []int32
	for _, r := range text {
		t = append(t, int32(r))
	}
	return t
}

func (c *cluster) initial() state {
	var s state
	for i := range c.Nodes {
		s.nodes[i] = c.born(i, 1)
	}
	t := &turn{cluster: c, s: s}
	for i := range c.Nodes {
		for k := i + 1; k < len(c.Nodes); k++ {
			if c.talk(i, k) {
				n := t.connect(i, k)
				t.hello(n, 0)
				t.hello(n, 1)
			}
		}
	}
	if t.err != nil {
		panic(fmt.Sprintf("the world does not begin: %v", t.err))
	}
	return t.s
}

// talk: some request goes from one of two nodes to the other.
func (c *cluster) talk(i, k int) bool {
	for _, r := range c.Requests {
		if r.Prefill == i && r.Decode == k || r.Prefill == k && r.Decode == i {
			return true
		}
	}
	return false
}

func (c *cluster) born(i int, life uint8) node {
	return node{life: life, ledger: c.ledgers.fresh(config(i, life, c.Nodes[i]))}
}

func config(i int, life uint8, n Node) kvpool.Config {
	return kvpool.Config{
		Node: nodeName(i), Incarnation: incarnation(i, life), Pages: n.Pages, PrefixCache: n.PrefixCache, Scrub: n.Scrub,
		PageSize: pageSize, ExportQuota: n.ExportQuota, MaxTombstones: n.MaxTombstones,
	}
}

func nodeName(i int) page.Node { return page.Node(i + 1) }
func incarnation(i int, life uint8) page.Incarnation {
	return page.Incarnation(10*(i+1)) + page.Incarnation(life-1)
}
func (c *cluster) ledger(s *state, i int) *ledger { return c.ledgers.at(s.nodes[i].ledger) }
func (c *cluster) pages(t int) int                { return len(c.hashes[t]) }
func (c *cluster) lastIsPartial(t int) bool       { return len(c.Requests[t].Text)%pageSize != 0 }
func prefillSeq(t int) page.Seq                   { return page.Seq(10 + t) }
func decodeSeq(t int) page.Seq                    { return page.Seq(20 + t) }
func otherSeq(n uint8) page.Seq                   { return page.Seq(100 + uint64(n)) }

// name is the attempt's, for the life of the prefill node that the gateway had in mind.
func (c *cluster) name(s *state, t int) kvpool.Attempt {
	return kvpool.Attempt{Gateway: 0xa, Number: uint64(t + 1), Prefill: incarnation(c.Requests[t].Prefill, s.attempts[t].pLife)}
}

// attemptOf is the number of a named attempt.
func (c *cluster) attemptOf(a kvpool.Attempt) int { return int(a.Number) - 1 }

// full names a page of a node's present life.
func (c *cluster) full(s *state, i int, r ref) page.Ref {
	return page.Ref{Node: nodeName(i), Incarnation: incarnation(i, s.nodes[i].life), Page: page.Index(r.page), Generation: page.Generation(r.gen)}
}

// link is the name of a connection at one of its ends.
func (c *cluster) link(k *conn, end int) kvpool.Link {
	peer := k.nodes[1-end]
	return kvpool.Link{Peer: nodeName(int(peer)), Incarnation: incarnation(int(peer), k.lives[1-end]), Epoch: uint64(k.epoch)}
}

// end is which end of a connection a node is, if it is one in its present life.
func (s *state) end(k *conn, i int) (int, bool) {
	for e := range 2 {
		if k.epoch != 0 && int(k.nodes[e]) == i && k.lives[e] == s.nodes[i].life {
			return e, true
		}
	}
	return 0, false
}

// connOf is the connection that a node knows by a name.
func (c *cluster) connOf(s *state, i int, l kvpool.Link) (number, end int) {
	for n := range s.conns {
		if e, ok := s.end(&s.conns[n], i); ok && c.link(&s.conns[n], e) == l {
			return n, e
		}
	}
	return -1, 0
}

// live is the connection that a node has with another, as far as it knows.
func (s *state) live(i, peer int) (number, end int) {
	for n := len(s.conns) - 1; n >= 0; n-- {
		k := &s.conns[n]
		if e, ok := s.end(k, i); ok && int(k.nodes[1-e]) == peer && k.sides[e] == up {
			return n, e
		}
	}
	return -1, 0
}

// intern returns the number of a message.
func (c *cluster) intern(from, to int, m kvpool.Message) uint16 {
	key := string(kvpool.AppendMessage([]byte{byte(from), byte(to)}, &m))
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.byNet[key]
	if !ok {
		c.nets = append(c.nets, net{uint8(from), uint8(to), keepMessage(m)})
		id = uint16(len(c.nets))
		c.byNet[key] = id
	}
	return id
}

func (c *cluster) net(id uint16) net {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.nets[id-1]
}

// put adds a message to the network, if it is not there yet.
func (s *state) put(id uint16) {
	at := 0
	for at < maxMessages && s.messages[at] != 0 && s.messages[at] < id {
		at++
	}
	if at < maxMessages && s.messages[at] == id {
		return
	}
	if s.messages[maxMessages-1] != 0 {
		panic("kvpooltest: too many messages: raise maxMessages")
	}
	copy(s.messages[at+1:], s.messages[at:maxMessages-1])
	s.messages[at] = id
}

// renumbered is a message with the pages of one life of a node renumbered.
func (c *cluster) renumbered(id uint16, i int, life page.Incarnation, to *numbering) uint16 {
	n := c.net(id)
	if n.m.Kind != kvpool.MsgOffer || n.m.From != life {
		return id
	}
	return c.changed(change{message: id, to: *to}, func(m *kvpool.Message) {
		for k := range m.Pages {
			m.Pages[k].Ref.Page = page.Index(to[m.Pages[k].Ref.Page])
		}
	})
}

// changed is a message with something else in it.
func (c *cluster) changed(key change, do func(m *kvpool.Message)) uint16 {
	c.mu.RLock()
	other, known := c.changes[key]
	c.mu.RUnlock()
	if known {
		return other
	}
	n := c.net(key.message)
	m := keepMessage(n.m)
	do(&m)
	other = c.intern(int(n.from), int(n.to), m)
	c.mu.Lock()
	c.changes[key] = other
	c.mu.Unlock()
	return other
}

// Package transporttest shows of any transport that it keeps the contract of package transport: pages arrive exactly, what may not be read is not, every read ends once, and after a fence
// no byte moves. A transport's own tests call [Run], and [Main] from their TestMain, since some tests need a peer in a process of its own that can be killed.
package transporttest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// Kind says how to make the transport under test.
type Kind struct {
	// New makes what the nodes of one test have in common, and returns how to make the transport of a node. It must work in a child process too, if Processes is set.
	New func(t testing.TB) func() transport.Transport
	// NewSlab allocates memory that the transport can expose; nil: any memory will do.
	NewSlab func(t testing.TB, pages, pageBytes int) transport.Slab
	// OneSided: the exposing side does not see reads and cannot refuse them.
	OneSided bool
	// FenceAsksPeer: the exposing side's fence needs the peer's word, or its death.
	FenceAsksPeer bool
	// FearsDeath: the exposing side does not survive the death of a peer that reads, as is known and documented.
	FearsDeath bool
	// Processes: peers may be other processes.
	Processes bool
}

// patience is how long tests wait for what must come.
const patience = 30 * time.Second

// Run tests a transport.
func Run(t *testing.T, k Kind) {
	if k.NewSlab == nil {
		k.NewSlab = NewSlab
	}
	for _, c := range []struct {
		name string
		test func(*testing.T, Kind)
		skip bool
	}{
		{"PagesArriveExactly", pagesArriveExactly, false},
		{"ManyReadsAtOnce", manyReadsAtOnce, false},
		{"RefusesWhatIsNotExported", refusesWhatIsNotExported, k.OneSided},
		{"RefusesForeignReferences", refusesForeignReferences, false},
		{"RefusesForeignLinks", refusesForeignLinks, false},
		{"RefusesOtherPageSizes", refusesOtherPageSizes, false},
		{"RefusesBadSlabs", refusesBadSlabs, false},
		{"CloseWhileReading", closeWhileReading, false},
		{"FenceWhileReading", fenceWhileReading, false},
		{"ExposedCloseWhileReading", exposedCloseWhileReading, false},
		{"FenceWaitsForAServerThatStalls", fenceWaits, k.OneSided},
		{"FencedLinksStayFenced", fencedLinksStayFenced, false},
		{"ReadsAfterClose", readsAfterClose, false},
		{"ExposingPeerKilled", exposingPeerKilled, !k.Processes},
		{"ReadingPeerKilled", readingPeerKilled, !k.Processes || k.FearsDeath},
		{"ReadingPeerStops", readingPeerStops, !k.Processes},
	} {
		if c.skip {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, leaks) }) // runs last
			c.test(t, k)
		})
	}
}

// NewSlab maps memory outside the Go heap, until the test ends.
func NewSlab(t testing.TB, pages, pageBytes int) transport.Slab {
	b, err := unix.Mmap(-1, 0, pages*pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	return transport.Slab{Bytes: b, PageBytes: pageBytes}
}

// node is one node of a test.
type node struct {
	name page.Node
	life page.Incarnation
	tr   transport.Transport
	slab transport.Slab
}

// ref names generation 1 + index of a page.
func (n *node) ref(i page.Index) page.Ref {
	return page.Ref{Node: n.name, Incarnation: n.life, Page: i, Generation: page.Generation(i) + 1}
}

// link is the node as a peer's link of that epoch.
func (n *node) link(epoch uint64) page.Link {
	return page.Link{Peer: n.name, Incarnation: n.life, Epoch: epoch}
}

// attempt is an attempt for this prefill node.
func (n *node) attempt(number uint64) page.Attempt {
	return page.Attempt{Gateway: 99, Number: number, Prefill: n.life}
}

// prefill is a node that has filled pages, and exposes them.
type prefill struct {
	node
	exports *transport.Exports
	exposed transport.Exposed
}

// world is one prefill node and what decode nodes are made from.
type world struct {
	t   testing.TB
	k   Kind
	new func() transport.Transport
	p   *prefill
}

func newWorld(t testing.TB, k Kind, pages, pageBytes int) *world {
	w := &world{t: t, k: k, new: k.New(t)}
	w.p = newPrefill(t, k, w.new(), pages, pageBytes)
	return w
}

func newPrefill(t testing.TB, k Kind, tr transport.Transport, pages, pageBytes int) *prefill {
	p := &prefill{node: node{name: 1, life: 0x11, tr: tr, slab: k.NewSlab(t, pages, pageBytes)}, exports: transport.NewExports()}
	fillAll(p.slab)
	var err error
	if p.exposed, err = p.tr.Expose(p.slab, p.exports); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.exposed.Close(); err != nil {
			t.Errorf("close what is exposed: %v", err)
		}
	})
	return p
}

// offer exports every page to the peer of link for attempt.
func (p *prefill) offer(link page.Link, attempt page.Attempt) {
	var refs []page.Ref
	for i := range p.slab.Pages() {
		refs = append(refs, p.ref(page.Index(i)))
	}
	p.exports.Offer(link, attempt, refs)
}

// decode makes a decode node with its slab.
func (w *world) decode(name page.Node, pages int) *node {
	return &node{name: name, life: page.Incarnation(name) << 8, tr: w.new(), slab: NewSlab(w.t, pages, w.p.slab.PageBytes)}
}

// dial connects d to the prefill node, until the test ends.
func (w *world) dial(d *node, epoch uint64) transport.Conn {
	w.t.Helper()
	c, err := w.tryDial(d, epoch)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

func (w *world) tryDial(d *node, epoch uint64) (transport.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return d.tr.Dial(ctx, w.p.link(epoch), d.link(epoch), w.p.exposed.Descriptor(d.link(epoch)), d.slab)
}

func fence(t testing.TB, e transport.Exposed, link page.Link) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := e.Fence(ctx, link); err != nil {
		t.Fatalf("fence: %v", err)
	}
}

// read reads one page and waits for its end.
func read(c transport.Conn, attempt page.Attempt, src page.Ref, dst page.Index) error {
	end := make(chan error, 2)
	c.Read(transport.Read{Attempt: attempt, Src: src, Dst: dst}, func(err error) { end <- err })
	select {
	case err := <-end:
		return err
	case <-time.After(patience):
		return fmt.Errorf("a read did not end in %v", patience)
	}
}

// word is what page i holds at word w: no two words of a slab are alike.
func word(i, w int) uint64 {
	x := uint64(i)<<32 | uint64(w)
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

func fillAll(s transport.Slab) {
	for i := range s.Pages() {
		fill(s.Page(page.Index(i)), i)
	}
}

func fill(b []byte, i int) {
	var last [8]byte
	for w := 0; w*8 < len(b); w++ {
		binary.LittleEndian.PutUint64(last[:], word(i, w))
		copy(b[w*8:], last[:])
	}
}

// differs says where b is not what page i was filled with; "" if nowhere.
func differs(b []byte, i int) string {
	var want [8]byte
	for w := 0; w*8 < len(b); w++ {
		binary.LittleEndian.PutUint64(want[:], word(i, w))
		for j := w * 8; j < min(len(b), w*8+8); j++ {
			if b[j] != want[j-w*8] {
				return fmt.Sprintf("byte %d is %#x, must be %#x of page %d", j, b[j], want[j-w*8], i)
			}
		}
	}
	return ""
}

// all is whether every byte of b is v.
func all(b []byte, v byte) bool { return bytes.Count(b, []byte{v}) == len(b) }

func set(b []byte, v byte) {
	b[0] = v
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

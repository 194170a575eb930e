package transporttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

func pagesArriveExactly(t *testing.T, k Kind) {
	for _, pageBytes := range []int{8, 4096, 100_003, 1 << 20} {
		t.Run(fmt.Sprint(pageBytes), func(t *testing.T) {
			const pages = 6
			w := newWorld(t, k, pages, pageBytes)
			d := w.decode(2, 2*pages) // every other page is not to be written
			set(d.slab.Bytes, 0xee)
			c, attempt := w.dial(d, 1), w.p.attempt(1)
			w.p.offer(d.link(1), attempt)
			for i := range pages {
				if err := read(c, attempt, w.p.ref(page.Index(i)), page.Index(2*(pages-1-i))); err != nil {
					t.Fatal(err)
				}
			}
			for i := range pages {
				at := page.Index(2 * (pages - 1 - i))
				if why := differs(d.slab.Page(at), i); why != "" {
					t.Error(why)
				}
				if !all(d.slab.Page(at+1), 0xee) {
					t.Errorf("the page behind page %d was written", at)
				}
			}
		})
	}
}

func manyReadsAtOnce(t *testing.T, k Kind) {
	const pages, readers, rounds = 16, 8, 20
	w := newWorld(t, k, pages, 48<<10)
	d := w.decode(2, pages*readers)
	c := w.dial(d, 1)
	l := newLedger()
	var all, readersGone sync.WaitGroup
	for r := range readers {
		attempt := w.p.attempt(uint64(r + 1))
		w.p.offer(d.link(1), attempt)
		readersGone.Go(func() {
			for round := range rounds {
				var batch sync.WaitGroup
				for i := range pages {
					_, end := l.begin()
					batch.Add(1)
					all.Add(1)
					src, dst := (i*5+round)%pages, r*pages+i
					c.Read(transport.Read{Attempt: attempt, Src: w.p.ref(page.Index(src)), Dst: page.Index(dst)}, func(err error) {
						if err != nil {
							t.Error(err)
						} else if !bytes.Equal(d.slab.Page(page.Index(dst)), w.p.slab.Page(page.Index(src))) {
							t.Errorf("page %d does not hold what page %d of the peer holds", dst, src)
						}
						end(err)
						batch.Done()
						all.Done()
					})
				}
				batch.Wait()
			}
		})
	}
	readersGone.Wait()
	all.Wait()
	if ok := l.once(t); ok != pages*readers*rounds {
		t.Errorf("%d reads ended well, must be %d", ok, pages*readers*rounds)
	}
	if s := w.p.exposed.Stats(); !k.OneSided && (s.Served != pages*readers*rounds || s.Refused != 0 || s.BadDials != 0 || s.Malformed != 0) {
		t.Errorf("counted %+v", s)
	}
}

func refusesWhatIsNotExported(t *testing.T, k Kind) {
	w := newWorld(t, k, 4, 4096)
	d, other := w.decode(2, 4), w.decode(3, 4)
	c, foreign := w.dial(d, 1), w.dial(other, 1)
	live, ended, never := w.p.attempt(1), w.p.attempt(2), w.p.attempt(3)
	for _, a := range []page.Attempt{live, ended} {
		w.p.exports.Offer(d.link(1), a, []page.Ref{w.p.ref(0), w.p.ref(1)})
	}
	idle := false
	w.p.exports.End(d.link(1), ended, func() { idle = true })
	if !idle {
		t.Error("an attempt that nobody reads is not idle")
	}
	older, newer, outside := w.p.ref(1), w.p.ref(1), w.p.ref(1<<31)
	older.Generation--
	newer.Generation++
	for i, r := range []struct {
		name    string
		by      transport.Conn
		attempt page.Attempt
		src     page.Ref
	}{
		{"a page that was not offered", c, live, w.p.ref(2)},
		{"an ended attempt", c, ended, w.p.ref(0)},
		{"an attempt that never was", c, never, w.p.ref(0)},
		{"an older life of the page", c, live, older},
		{"a newer life of the page", c, live, newer},
		{"a page that is not in the slab", c, live, outside},
		{"another peer's attempt", foreign, live, w.p.ref(0)},
	} {
		before := w.p.exposed.Stats()
		set(d.slab.Bytes, 0xee)
		set(other.slab.Bytes, 0xee)
		if err := read(r.by, r.attempt, r.src, 3); !errors.Is(err, transport.ErrRefused) {
			t.Errorf("%s: %v, must be refused", r.name, err)
		}
		if !all(d.slab.Bytes, 0xee) || !all(other.slab.Bytes, 0xee) {
			t.Errorf("%s: bytes have come", r.name)
		}
		if after := w.p.exposed.Stats(); after.Refused != before.Refused+1 || after.Served != before.Served {
			t.Errorf("%s: counted %+v, before %+v", r.name, after, before)
		}
		if err := read(c, live, w.p.ref(page.Index(i%2)), 1); err != nil { // the connection goes on
			t.Errorf("after %s: %v", r.name, err)
		}
	}
}

// A reference to another node, or another life of it, is refused before it is sent.
func refusesForeignReferences(t *testing.T, k Kind) {
	w := newWorld(t, k, 2, 4096)
	d := w.decode(2, 2)
	c := w.dial(d, 1)
	w.p.offer(d.link(1), w.p.attempt(1))
	set(d.slab.Bytes, 0xee)
	life, who, outside := w.p.ref(0), w.p.ref(0), w.p.ref(2)
	life.Incarnation++
	who.Node++
	for _, r := range []page.Ref{life, who, outside} {
		if err := read(c, w.p.attempt(1), r, 1); !errors.Is(err, transport.ErrRefused) {
			t.Errorf("%v: %v, must be refused", r, err)
		}
	}
	if !all(d.slab.Bytes, 0xee) {
		t.Error("bytes have come")
	}
}

// Nobody dials in another's name, or with a descriptor that is none.
func refusesForeignLinks(t *testing.T, k Kind) {
	w := newWorld(t, k, 2, 4096)
	d := w.decode(2, 2)
	good := w.p.exposed.Descriptor(d.link(1))
	cut := append([]byte{}, good...)
	cut[5] ^= 1
	for _, c := range []struct {
		name       string
		self       page.Link
		descriptor []byte
		counted    uint64
	}{
		{"another node", page.Link{Peer: 3, Incarnation: d.life, Epoch: 1}, good, 1},
		{"another life", page.Link{Peer: d.name, Incarnation: d.life + 1, Epoch: 1}, good, 1},
		{"another epoch", d.link(2), good, 1},
		{"a wrong key", d.link(1), cut, 1},
		{"an empty descriptor", d.link(1), nil, 0},
		{"a short descriptor", d.link(1), good[:20], 0},
		{"a descriptor of another version", d.link(1), append([]byte{200}, good[1:]...), 0},
		{"a long descriptor", d.link(1), append(append([]byte{}, good...), make([]byte, 1<<16)...), 0},
	} {
		before := w.p.exposed.Stats()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		conn, err := d.tr.Dial(ctx, w.p.link(1), c.self, c.descriptor, d.slab)
		cancel()
		if err == nil {
			conn.Close()
			t.Errorf("%s may dial", c.name)
			continue
		}
		eventually(t, c.name+" is counted", func() bool { return w.p.exposed.Stats().BadDials == before.BadDials+c.counted })
	}
}

func refusesOtherPageSizes(t *testing.T, k Kind) {
	w := newWorld(t, k, 2, 4096)
	d := w.decode(2, 2)
	d.slab.PageBytes = 2048
	if c, err := w.tryDial(d, 1); err == nil {
		c.Close()
		t.Error("slabs with different pages are connected")
	} else if !strings.Contains(err.Error(), "4096") || !strings.Contains(err.Error(), "2048") {
		t.Errorf("the error does not tell the sizes: %v", err)
	}
}

func refusesBadSlabs(t *testing.T, k Kind) {
	tr := k.New(t)()
	whole := k.NewSlab(t, 4, 4096)
	for _, c := range []struct {
		name string
		slab transport.Slab
	}{
		{"empty", transport.Slab{PageBytes: 4096}},
		{"no page size", transport.Slab{Bytes: whole.Bytes, File: whole.File}},
		{"a part of a page", transport.Slab{Bytes: whole.Bytes, PageBytes: 3 * 4096, File: whole.File}},
	} {
		if e, err := tr.Expose(c.slab, transport.NewExports()); err == nil {
			e.Close()
			t.Errorf("%s: may be exposed", c.name)
		}
	}
}

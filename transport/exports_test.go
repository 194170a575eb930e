package transport

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

var (
	linkA = page.Link{Peer: 1, Incarnation: 10, Epoch: 1}
	linkB = page.Link{Peer: 1, Incarnation: 10, Epoch: 2}
	try1  = page.Attempt{Gateway: 7, Number: 1, Prefill: 3}
	try2  = page.Attempt{Gateway: 7, Number: 2, Prefill: 3}
)

func ref(i page.Index, g page.Generation) page.Ref {
	return page.Ref{Node: 2, Incarnation: 3, Page: i, Generation: g}
}

func TestOnlyWhatIsOffered(t *testing.T) {
	for _, c := range []struct {
		name    string
		link    page.Link
		attempt page.Attempt
		ref     page.Ref
		want    bool
	}{
		{"the page itself", linkA, try1, ref(4, 9), true},
		{"another page", linkA, try1, ref(5, 9), false},
		{"an older life of the page", linkA, try1, ref(4, 8), false},
		{"a later life of the page", linkA, try1, ref(4, 10), false},
		{"another attempt", linkA, try2, ref(4, 9), false},
		{"another connection of that peer", linkB, try1, ref(4, 9), false},
		{"another incarnation of this node", linkA, try1, page.Ref{Node: 2, Incarnation: 4, Page: 4, Generation: 9}, false},
		{"the zero reference", linkA, try1, page.Ref{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := NewExports()
			e.Offer(linkA, try1, []page.Ref{ref(4, 9)})
			if got := e.Begin(c.link, c.attempt, c.ref); got != c.want {
				t.Errorf("may be read: %v, want %v", got, c.want)
			}
		})
	}
}

// A Release is passed on when the last read that it may have raced with is over, and nothing is read in between.
func TestEndWaitsForReads(t *testing.T) {
	e := NewExports()
	e.Offer(linkA, try1, []page.Ref{ref(0, 1), ref(1, 1)})
	if !e.Begin(linkA, try1, ref(0, 1)) || !e.Begin(linkA, try1, ref(1, 1)) {
		t.Fatal("an offered page is refused")
	}
	idle := 0
	e.End(linkA, try1, func() { idle++ })
	e.End(linkA, try1, func() { idle++ })
	e.Offer(linkA, try1, []page.Ref{ref(2, 1)})
	if e.Begin(linkA, try1, ref(0, 1)) || e.Begin(linkA, try1, ref(2, 1)) {
		t.Error("a page of an ended attempt may be read")
	}
	e.Done(linkA, try1)
	if idle != 0 {
		t.Error("idle, with a read under way")
	}
	e.Done(linkA, try1)
	if idle != 2 {
		t.Errorf("told %d times that it is idle, asked 2 times", idle)
	}
	defer func() {
		if recover() == nil {
			t.Error("a read that has not begun may end")
		}
	}()
	e.Done(linkA, try1)
}

// twin is Exports as a list of facts.
type twin struct {
	pages   map[exportKey]map[page.Ref]bool
	reading map[exportKey]int
	waiting map[exportKey]int // Ends that have not been told
	told    int
}

func (w *twin) settle(k exportKey) {
	if w.reading[k] == 0 {
		w.told += w.waiting[k]
		w.waiting[k] = 0
	}
}

func TestExportsAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, told := NewExports(), 0
		w := &twin{map[exportKey]map[page.Ref]bool{}, map[exportKey]int{}, map[exportKey]int{}, 0}
		key := func() exportKey {
			return exportKey{rapid.SampledFrom([]page.Link{linkA, linkB}).Draw(t, "link"), rapid.SampledFrom([]page.Attempt{try1, try2}).Draw(t, "attempt")}
		}
		aRef := func() page.Ref {
			return ref(page.Index(rapid.IntRange(0, 2).Draw(t, "page")), page.Generation(rapid.IntRange(1, 2).Draw(t, "generation")))
		}
		t.Repeat(map[string]func(*rapid.T){
			"offer": func(*rapid.T) {
				k, r := key(), aRef()
				e.Offer(k.link, k.attempt, []page.Ref{r})
				if w.waiting[k] == 0 {
					if w.pages[k] == nil {
						w.pages[k] = map[page.Ref]bool{}
					}
					w.pages[k][r] = true
				}
			},
			"begin": func(*rapid.T) {
				k, r := key(), aRef()
				got := e.Begin(k.link, k.attempt, r)
				if got != w.pages[k][r] {
					t.Fatalf("may %v of %v be read over %v: %v", r, k.attempt, k.link, got)
				}
				if got {
					w.reading[k]++
				}
			},
			"done": func(*rapid.T) {
				k := key()
				if w.reading[k] == 0 {
					t.Skip("no read")
				}
				e.Done(k.link, k.attempt)
				w.reading[k]--
				w.settle(k)
			},
			"end": func(*rapid.T) {
				k := key()
				e.End(k.link, k.attempt, func() { told++ })
				w.waiting[k]++
				w.pages[k] = nil
				w.settle(k)
			},
			"": func(*rapid.T) {
				if told != w.told {
					t.Fatalf("told %d times, must be %d", told, w.told)
				}
			},
		})
	})
}

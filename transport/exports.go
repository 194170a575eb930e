package transport

import (
	"sync"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Exports says which pages which peer may read now. The channel to a peer keeps it, as the ledger's effects tell; the serving side asks it for each page.
//
// A peer's Release must reach the ledger only when no read of that attempt is under way here, or the page could be given away under the eyes of a peer that lies: End tells when that is so.
type Exports struct {
	mu   sync.Mutex
	open map[exportKey]*export
}

type exportKey struct {
	link    page.Link
	attempt page.Attempt
}

type export struct {
	pages   map[page.Ref]struct{}
	reading int
	ended   []func() // it has been ended; to be called when reading is 0
}

// NewExports returns Exports in which nothing may be read.
func NewExports() *Exports { return &Exports{open: map[exportKey]*export{}} }

// Offer lets the peer of link read refs for attempt, beside what it may read already. An attempt that has been ended while reads were under way stays ended.
func (e *Exports) Offer(link page.Link, attempt page.Attempt, refs []page.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := exportKey{link, attempt}
	x := e.open[k]
	if x == nil {
		x = &export{pages: map[page.Ref]struct{}{}}
		e.open[k] = x
	}
	if x.ended != nil {
		return
	}
	for _, r := range refs {
		x.pages[r] = struct{}{}
	}
}

// Begin asks for leave to read ref now. If it is given, Done must be called when its bytes have been read.
func (e *Exports) Begin(link page.Link, attempt page.Attempt, ref page.Ref) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := e.open[exportKey{link, attempt}]
	if x == nil || x.ended != nil {
		return false
	}
	if _, ok := x.pages[ref]; !ok {
		return false
	}
	x.reading++
	return true
}

// Done ends a read that Begin allowed.
func (e *Exports) Done(link page.Link, attempt page.Attempt) {
	e.mu.Lock()
	k := exportKey{link, attempt}
	x := e.open[k]
	if x == nil || x.reading == 0 {
		e.mu.Unlock()
		panic("transport: a read ends that has not begun")
	}
	x.reading--
	var calls []func()
	if x.reading == 0 && x.ended != nil {
		calls = x.ended
		delete(e.open, k)
	}
	e.mu.Unlock()
	for _, f := range calls {
		f()
	}
}

// End lets nothing more of attempt be read over link. idle is called, at once or later from another goroutine, when no read of it is under way.
func (e *Exports) End(link page.Link, attempt page.Attempt, idle func()) {
	e.mu.Lock()
	k := exportKey{link, attempt}
	x := e.open[k]
	if x != nil && x.reading > 0 {
		x.ended = append(x.ended, idle)
		x.pages = nil
		e.mu.Unlock()
		return
	}
	delete(e.open, k)
	e.mu.Unlock()
	idle()
}

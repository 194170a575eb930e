// Package peer holds what the transports have in common: how a dialling node proves which link it is, which links may be served here and which have been fenced, and the reads of a
// connection, each of which ends once.
package peer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Registry knows what is being served for which link, and which links are served no more. The zero value is ready.
type Registry struct {
	mu     sync.Mutex
	fenced map[life]uint64 // the highest epoch that has been fenced: epochs of a pair of lives ascend
	served map[*Entry]struct{}
	closed bool
}

// life is one life of one peer.
type life struct {
	peer        page.Node
	incarnation page.Incarnation
}

// Entry is one thing that serves a link: a connection, most often.
type Entry struct {
	link  page.Link
	once  sync.Once
	end   func()
	ended chan struct{}
}

// Enter admits something that serves link, unless the link has been fenced. end is called once, from any goroutine, when it must end; Leave must be called when it has.
func (r *Registry) Enter(link page.Link, end func()) (*Entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch, ok := r.fenced[life{link.Peer, link.Incarnation}]; r.closed || ok && link.Epoch <= epoch {
		return nil, false
	}
	if r.served == nil {
		r.served = map[*Entry]struct{}{}
	}
	e := &Entry{link: link, end: end, ended: make(chan struct{})}
	r.served[e] = struct{}{}
	return e, true
}

// Leave says that e serves nothing any more.
func (r *Registry) Leave(e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.served, e)
	close(e.ended)
}

// Serving is how much is served for link.
func (r *Registry) Serving(link page.Link) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for e := range r.served {
		if e.link == link {
			n++
		}
	}
	return n
}

// Fence forbids link and its earlier epochs, ends what serves them and waits until all of it has left. An error means that something is still there.
func (r *Registry) Fence(ctx context.Context, link page.Link) error {
	r.mu.Lock()
	if r.fenced == nil {
		r.fenced = map[life]uint64{}
	}
	k := life{link.Peer, link.Incarnation}
	r.fenced[k] = max(r.fenced[k], link.Epoch)
	left := r.choose(func(l page.Link) bool {
		return l.Peer == link.Peer && l.Incarnation == link.Incarnation && l.Epoch <= link.Epoch
	})
	r.mu.Unlock()
	return wait(ctx, left)
}

// Close forbids every link, ends what is served and waits until all of it has left.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	left := r.choose(func(page.Link) bool { return true })
	r.mu.Unlock()
	return wait(ctx, left)
}

func (r *Registry) choose(which func(page.Link) bool) []*Entry {
	var found []*Entry
	for e := range r.served {
		if which(e.link) {
			found = append(found, e)
		}
	}
	return found
}

func wait(ctx context.Context, left []*Entry) error {
	for _, e := range left {
		e.once.Do(e.end)
	}
	var errs []error
	for _, e := range left {
		select {
		case <-e.ended:
			continue
		default:
		}
		select {
		case <-e.ended:
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("transport: link %v is still being served: %w", e.link, context.Cause(ctx)))
		}
	}
	return errors.Join(errs...)
}

package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kvasir-engine/kvasir/actors/remote"
)

// maxDialed bounds the processes that one process connects with by itself.
const maxDialed = 1024

// dialing are the addresses that a process connects with: all that somebody has named and not taken back. A connection with an address that nobody names any more stays, and is not made anew when it
// is lost: to be named says whom to dial, not who lives.
type dialing struct {
	links *remote.Links
	ctx   context.Context // of all dials

	mu    sync.Mutex
	own   map[string]bool     // where this process listens
	named map[string][]string // addresses, by who has named them
	dials map[string]context.CancelFunc
}

func newDialing(ctx context.Context, links *remote.Links) *dialing {
	return &dialing{links: links, ctx: ctx, own: map[string]bool{}, named: map[string][]string{}, dials: map[string]context.CancelFunc{}}
}

// never: addr is this process's own.
func (d *dialing) never(addr string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own[addr] = true
}

// name: these are all the addresses that by names now. The error is of those that cannot be dialed.
func (d *dialing) name(by string, addresses []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.named[by] = addresses; len(addresses) == 0 {
		delete(d.named, by)
	}
	wanted := map[string]bool{}
	for _, all := range d.named {
		for _, addr := range all {
			wanted[addr] = true
		}
	}
	for addr, stop := range d.dials {
		if !wanted[addr] {
			stop()
			delete(d.dials, addr)
		}
	}
	var errs []error
	for _, addr := range addresses {
		if err := d.dial(addr); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *dialing) dial(addr string) error {
	if _, ok := d.dials[addr]; ok || addr == "" || d.own[addr] || d.ctx.Err() != nil {
		return nil
	}
	if len(d.dials) >= maxDialed {
		return fmt.Errorf("actors: %s is not connected with: %d others are", addr, maxDialed)
	}
	ctx, stop := context.WithCancel(d.ctx)
	if err := d.links.Dial(ctx, addr); err != nil {
		stop()
		return err
	}
	d.dials[addr] = stop
	return nil
}

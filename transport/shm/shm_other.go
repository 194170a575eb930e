//go:build !linux

package shm

import (
	"context"
	"errors"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// ErrNotHere is what everything here returns on other systems than Linux.
var ErrNotHere = errors.New("shm: shared memory between nodes needs Linux; use tcp")

// Transport cannot be made on this system.
type Transport struct{}

// New returns ErrNotHere.
func New(Config) (*Transport, error) { return nil, ErrNotHere }

// NewSlab returns ErrNotHere.
func NewSlab(pages, pageBytes int) (transport.Slab, error) { return transport.Slab{}, ErrNotHere }

// Free returns ErrNotHere.
func Free(transport.Slab) error { return ErrNotHere }

// Name is "shm".
func (*Transport) Name() string { return "shm" }

// Expose returns ErrNotHere.
func (*Transport) Expose(transport.Slab, *transport.Exports) (transport.Exposed, error) {
	return nil, ErrNotHere
}

// Dial returns ErrNotHere.
func (*Transport) Dial(context.Context, page.Link, page.Link, []byte, transport.Slab) (transport.Conn, error) {
	return nil, ErrNotHere
}

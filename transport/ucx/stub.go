//go:build !ucx || !cgo

package ucx

import (
	"context"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// Transport cannot be made in this build.
type Transport struct{}

// New returns ErrNotBuilt.
func New(Config) (*Transport, error) { return nil, ErrNotBuilt }

// Name is "ucx".
func (*Transport) Name() string { return "ucx" }

// Expose returns ErrNotBuilt.
func (*Transport) Expose(transport.Slab, *transport.Exports) (transport.Exposed, error) {
	return nil, ErrNotBuilt
}

// Dial returns ErrNotBuilt.
func (*Transport) Dial(context.Context, page.Link, page.Link, []byte, transport.Slab) (transport.Conn, error) {
	return nil, ErrNotBuilt
}

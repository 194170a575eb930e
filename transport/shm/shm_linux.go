package shm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

const (
	defaultCopiers = 2
	maxCopiers     = 64
	dialTimeout    = 30 * time.Second
	// closeTimeout is how long Close waits for peers to unmap.
	closeTimeout = 5 * time.Second
)

// Transport is shm.
type Transport struct{ c Config }

// New returns a transport.
func New(c Config) (*Transport, error) {
	if c.Copiers == 0 {
		c.Copiers = defaultCopiers
	}
	if c.Copiers < 1 || c.Copiers > maxCopiers {
		return nil, fmt.Errorf("shm: Copiers is %d, must be 1 to %d", c.Copiers, maxCopiers)
	}
	return &Transport{c}, nil
}

// Name is "shm".
func (*Transport) Name() string { return "shm" }

type exposed struct {
	gate    *peer.Gate
	address string
	slab    transport.Slab
}

// Expose offers slab, which must be from NewSlab, to be mapped by peers. Exports is not asked: see the package's comment.
func (t *Transport) Expose(slab transport.Slab, _ *transport.Exports) (transport.Exposed, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	if slab.File == nil {
		return nil, errors.New("shm: the slab cannot be shared: allocate it with shm.NewSlab")
	}
	if err := checkFile(slab.File, int64(len(slab.Bytes))); err != nil {
		return nil, fmt.Errorf("shm: the slab cannot be shared: allocate it with shm.NewSlab: %w", err)
	}
	name := peer.NewKey()
	address := fmt.Sprintf("@kvasir-%x", name[:8])
	if t.c.Directory != "" {
		address = filepath.Join(t.c.Directory, fmt.Sprintf("kvasir-%x", name[:8]))
	}
	ln, err := net.Listen("unix", address)
	if err != nil {
		return nil, fmt.Errorf("shm: listen for peers: %w", err)
	}
	e := &exposed{address: address, slab: slab}
	e.gate = peer.NewGate(peer.GateOptions{Name: "shm", Listener: ln, MaxPerLink: 1, Serve: e.serve, Fence: func(v *peer.Visitor) {
		v.Raw.SetWriteDeadline(time.Now()) // a welcome that nobody takes holds nothing up
	}})
	return e, nil
}

// Descriptor is the socket's name and the link's key.
func (e *exposed) Descriptor(link page.Link) []byte { return e.gate.Descriptor(link, e.address) }

func (e *exposed) Fence(ctx context.Context, link page.Link) error {
	if err := e.gate.Fence(ctx, link); err != nil {
		return fmt.Errorf("shm: fence %v: the peer has not unmapped its view and is alive: %w", link, err)
	}
	return nil
}

// Close asks every peer to unmap and waits a few seconds. An error says which have not and live; memory that is freed then stays with them, and is nobody else's.
func (e *exposed) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := e.gate.Shut(ctx); err != nil {
		return fmt.Errorf("shm: close: %w", err)
	}
	return nil
}

func (e *exposed) Stats() transport.Stats {
	return transport.Stats{BadDials: e.gate.BadDials.Load(), Malformed: e.gate.Malformed.Load()}
}

// Dial maps what the peer has exposed.
func (t *Transport) Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (transport.Conn, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	d, err := peer.ParseDescriptor(descriptor)
	if err != nil {
		return nil, fmt.Errorf("shm: dial %v: %w", link, err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "unix", d.Address)
	if err != nil {
		return nil, fmt.Errorf("shm: dial %v: %w", link, err)
	}
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) }) // ends whatever is waited for
	far, err := receive(raw.(*net.UnixConn), d.Key, self, slab.PageBytes)
	if !stop() && err == nil {
		err = errors.Join(context.Cause(ctx), far.unmap())
	}
	if err != nil {
		letGo(raw.(*net.UnixConn))
		return nil, fmt.Errorf("shm: dial %v: %w", link, err)
	}
	return newConn(link, slab, far, raw.(*net.UnixConn), t.c.Copiers), nil
}

// A welcome is 8 bytes page size, 8 bytes slab size.
func welcome(s transport.Slab) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.PageBytes))
	return binary.LittleEndian.AppendUint64(b, uint64(len(s.Bytes)))
}

func parseWelcome(b []byte, pageBytes int) (bytes int64, err error) {
	if len(b) != 16 {
		return 0, fmt.Errorf("a welcome of %d bytes, must be 16", len(b))
	}
	theirs, size := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if theirs != uint64(pageBytes) {
		return 0, fmt.Errorf("the peer's pages have %d bytes, ours %d", theirs, pageBytes)
	}
	if size == 0 || size%theirs != 0 || size > 1<<46 {
		return 0, fmt.Errorf("a slab of %d bytes does not hold whole pages", size)
	}
	return int64(size), nil
}

//go:build ucx && cgo

package ucx

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// Transport is ucx.
type Transport struct {
	net     peer.Net
	options []string // of UCX, name and value by turns
	how     mode
}

// New returns a transport, or an error that names the field that is wrong.
func New(c Config) (*Transport, error) {
	if c.Transports == "" {
		c.Transports = "posix"
	}
	if c.Devices == "" {
		c.Devices = "lo"
	}
	how, err := modeOf(c.Transports, c.Trial)
	if err != nil {
		return nil, err
	}
	t := &Transport{how: how, net: peer.Net{Name: "ucx", Listen: c.Listen, Advertise: c.Advertise, TLS: c.TLS}}
	if err := t.net.Prepare(); err != nil {
		return nil, err
	}
	t.options = []string{
		"TLS", c.Transports, "NET_DEVICES", c.Devices,
		// UCX's tcp is 20 times slower on one machine with its own values.
		"TCP_SNDBUF", "4m", "TCP_RCVBUF", "4m", "TCP_TX_SEG_SIZE", "64k", "TCP_RX_SEG_SIZE", "64k",
		// A longer queue: where cores are few, each turn of either thread then moves more.
		"POSIX_FIFO_SIZE", "256", "SYSV_FIFO_SIZE", "256",
	}
	return t, nil
}

// Name is "ucx".
func (*Transport) Name() string { return "ucx" }

type exposed struct {
	t       *Transport
	slab    transport.Slab
	gate    *peer.Gate
	address string
}

// Expose lets peers read slab. Exports is not asked: see the package's comment.
func (t *Transport) Expose(slab transport.Slab, _ *transport.Exports) (transport.Exposed, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	w, err := openWorker(t.options...) // now is the time to hear that a device is missing
	if err != nil {
		return nil, fmt.Errorf("ucx: %w", err)
	}
	w.free()
	e := &exposed{t: t, slab: slab}
	if e.gate, e.address, err = t.net.Open(peer.GateOptions{MaxPerLink: 1, Serve: e.serve}); err != nil {
		return nil, err
	}
	return e, nil
}

// serve gives a link a worker of its own, for as long as its connection lasts.
func (e *exposed) serve(v *peer.Visitor) error {
	w, err := openWorker(e.t.options...)
	if err != nil {
		return err
	}
	defer w.free()
	address, key, err := w.expose(e.slab)
	if err != nil {
		return err
	}
	if err := v.Welcome(welcome{e.slab.PageBytes, len(e.slab.Bytes), uint64(uintptr(unsafe.Pointer(&e.slab.Bytes[0]))), address, key}.encode()); err != nil {
		return err
	}
	var b [1]byte
	if _, err := io.ReadFull(v.Conn, b[:]); err != nil {
		return err // the end, most often
	}
	return fmt.Errorf("%w: the reading side has nothing to say", peer.ErrMalformed)
}

// Descriptor is the address of the tcp connection and the link's key.
func (e *exposed) Descriptor(link page.Link) []byte { return e.gate.Descriptor(link, e.address) }

func (e *exposed) Fence(ctx context.Context, link page.Link) error {
	if err := e.gate.Fence(ctx, link); err != nil {
		return fmt.Errorf("ucx: fence %v: %w", link, err)
	}
	return nil
}

func (e *exposed) Close() error { return e.gate.Shut(context.Background()) }

func (e *exposed) Stats() transport.Stats {
	return transport.Stats{BadDials: e.gate.BadDials.Load(), Malformed: e.gate.Malformed.Load()}
}

// Dial connects to what the peer has exposed.
func (t *Transport) Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (transport.Conn, error) {
	c, err := t.dial(ctx, link, self, descriptor, slab)
	if err != nil {
		return nil, fmt.Errorf("ucx: dial %v: %w", link, err)
	}
	return c, nil
}

func (t *Transport) dial(ctx context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (*conn, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	d, err := peer.ParseDescriptor(descriptor)
	if err != nil {
		return nil, err
	}
	call, err := t.net.Dial(ctx, d, self)
	if err != nil {
		return nil, err
	}
	far, err := parseWelcome(call.Welcome, slab.PageBytes)
	if err != nil {
		call.Raw.Close()
		return nil, err
	}
	w, err := openWorker(t.options...)
	if err != nil {
		call.Raw.Close()
		return nil, err
	}
	c, err := newConn(ctx, link, slab, far, w, t.how, call)
	if err != nil {
		w.free()
		call.Raw.Close()
		return nil, err
	}
	return c, nil
}

// welcome is what the exposing side says of a link's worker: 8 bytes each page size, slab size, slab address, length of the worker's address; that, and the memory key.
type welcome struct {
	pageBytes, slabBytes int
	base                 uint64
	address, key         []byte
}

const welcomeBytes = 32

func (w welcome) encode() []byte {
	b := make([]byte, 0, welcomeBytes+len(w.address)+len(w.key))
	for _, v := range []uint64{uint64(w.pageBytes), uint64(w.slabBytes), w.base, uint64(len(w.address))} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(append(b, w.address...), w.key...)
}

func parseWelcome(b []byte, pageBytes int) (welcome, error) {
	if len(b) < welcomeBytes {
		return welcome{}, fmt.Errorf("a welcome of %d bytes, at least %d", len(b), welcomeBytes)
	}
	le := binary.LittleEndian
	theirs, size, base, n := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	if theirs != uint64(pageBytes) {
		return welcome{}, fmt.Errorf("the peer's pages have %d bytes, ours %d", theirs, pageBytes)
	}
	rest := b[welcomeBytes:]
	if size == 0 || size%theirs != 0 || size > 1<<46 || n == 0 || n >= uint64(len(rest)) {
		return welcome{}, fmt.Errorf("a slab of %d bytes, an address of %d bytes of %d", size, n, len(rest))
	}
	return welcome{pageBytes, int(size), base, rest[:n], rest[n:]}, nil
}

func dupNonblocking(fd int) (int, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	return dup, unix.SetNonblock(dup, true)
}

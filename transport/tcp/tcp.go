// Package tcp reads pages of other nodes over connections of its own: several parallel streams a link, plain or in TLS.
//
// The node that has the pages serves them itself. For each page it asks [transport.Exports] just before the page is handed to the kernel, so a page without a live export to that link and attempt
// never leaves. Bytes go from the slab to the socket, and from the socket into the slab, without another copy in user space; TLS adds its own. Without TLS whoever is on the way can read and
// change the bytes: the offer's keyed checksum finds the change, nothing hides the content.
//
// A connection proves which link it is by the key in the link's descriptor (package peer), and under TLS by a certificate too; the key is bound to the TLS session.
//
// What a fence is. At the exposing side: the sockets of the link are closed and the goroutines that serve them have ended; nothing of the link can be dialled again. What the
// kernel has taken it still may send: that is a copy. At the reading side (Close): the sockets are closed and the goroutines that read from them have ended, so that no byte lands.
// Neither waits for the peer, so one that stalls blocks neither.
package tcp

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

const (
	defaultStreams = 2
	maxStreams     = 64
)

// Config says how nodes reach each other. The zero value is for nodes on one machine.
type Config struct {
	// Listen is where to expose, host:port; "" is a free port of 127.0.0.1.
	Listen string
	// Advertise is what peers dial, host or host:port; "" is what is listened on. It must be given where that is every address of the machine.
	Advertise string
	// Streams is how many connections a link has, 1 to 64; 0 is 2.
	Streams int
	// TLS is for both sides: both show a certificate and check the other's. ServerName "" is the host that is dialled. nil is no TLS.
	TLS *tls.Config
}

// Transport is tcp.
type Transport struct {
	net     peer.Net
	streams int
}

// New returns a transport, or an error that names the field that is wrong.
func New(c Config) (*Transport, error) {
	if c.Streams == 0 {
		c.Streams = defaultStreams
	}
	if c.Streams < 1 || c.Streams > maxStreams {
		return nil, fmt.Errorf("tcp: Streams is %d, must be 1 to %d", c.Streams, maxStreams)
	}
	t := &Transport{net: peer.Net{Name: "tcp", Listen: c.Listen, Advertise: c.Advertise, TLS: c.TLS}, streams: c.Streams}
	if err := t.net.Prepare(); err != nil {
		return nil, err
	}
	return t, nil
}

// Name is "tcp".
func (*Transport) Name() string { return "tcp" }

type exposed struct {
	*server
	gate    *peer.Gate
	address string
}

// Expose listens, and serves slab as far as exports allows.
func (t *Transport) Expose(slab transport.Slab, exports *transport.Exports) (transport.Exposed, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	e := &exposed{server: &server{slab: slab, exports: exports}}
	var err error
	if e.gate, e.address, err = t.net.Open(peer.GateOptions{MaxPerLink: maxStreams, Serve: e.serve}); err != nil {
		return nil, err
	}
	return e, nil
}

// Descriptor is the address and the link's key.
func (e *exposed) Descriptor(link page.Link) []byte { return e.gate.Descriptor(link, e.address) }

func (e *exposed) Fence(ctx context.Context, link page.Link) error {
	if err := e.gate.Fence(ctx, link); err != nil {
		return fmt.Errorf("tcp: fence %v: %w", link, err)
	}
	return nil
}

func (e *exposed) Close() error { return e.gate.Shut(context.Background()) }

func (e *exposed) Stats() transport.Stats {
	return transport.Stats{Served: e.served.Load(), Refused: e.refused.Load(), BadDials: e.gate.BadDials.Load(), Malformed: e.gate.Malformed.Load()}
}

// Dial opens the streams of link.
func (t *Transport) Dial(ctx context.Context, link, self page.Link, descriptor []byte, slab transport.Slab) (transport.Conn, error) {
	if err := slab.Check(); err != nil {
		return nil, err
	}
	d, err := peer.ParseDescriptor(descriptor)
	if err != nil {
		return nil, fmt.Errorf("tcp: dial %v: %w", link, err)
	}
	var streams []stream
	for range t.streams {
		c, err := t.net.Dial(ctx, d, self)
		if err == nil {
			streams = append(streams, stream{conn: c.Conn, raw: c.Raw})
			err = checkWelcome(c.Welcome, slab)
		}
		if err != nil {
			for _, s := range streams {
				s.raw.Close()
			}
			return nil, fmt.Errorf("tcp: dial %v at %s: %w", link, d.Address, err)
		}
	}
	return newConn(link, slab, streams), nil
}

// A welcome is the page size, 8 bytes.
func welcome(s transport.Slab) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(s.PageBytes))
}

func checkWelcome(b []byte, slab transport.Slab) error {
	if len(b) != 8 {
		return fmt.Errorf("a welcome of %d bytes, must be 8", len(b))
	}
	if n := binary.LittleEndian.Uint64(b); n != uint64(slab.PageBytes) {
		return fmt.Errorf("the peer's pages have %d bytes, ours %d", n, slab.PageBytes)
	}
	return nil
}

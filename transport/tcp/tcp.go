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
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

const (
	defaultStreams = 2
	maxStreams     = 64
	// dialTimeout bounds a dial whose context has no deadline.
	dialTimeout = 30 * time.Second
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
type Transport struct{ c Config }

// New returns a transport, or an error that names the field that is wrong.
func New(c Config) (*Transport, error) {
	if c.Streams == 0 {
		c.Streams = defaultStreams
	}
	if c.Streams < 1 || c.Streams > maxStreams {
		return nil, fmt.Errorf("tcp: Streams is %d, must be 1 to %d", c.Streams, maxStreams)
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.TLS != nil {
		if c.TLS.RootCAs == nil || c.TLS.ClientCAs == nil || len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate == nil {
			return nil, errors.New("tcp: TLS needs Certificates, RootCAs and ClientCAs: both ends check each other")
		}
		c.TLS = c.TLS.Clone()
		c.TLS.MinVersion = tls.VersionTLS13
		c.TLS.ClientAuth = tls.RequireAndVerifyClientCert
		c.TLS.DynamicRecordSizingDisabled = true // pages are long
		c.TLS.NextProtos = []string{"kvasir-pages"}
	}
	return &Transport{c}, nil
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
	ln, err := net.Listen("tcp", t.c.Listen)
	if err != nil {
		return nil, fmt.Errorf("tcp: listen for peers: %w", err)
	}
	address, err := advertised(ln.Addr().(*net.TCPAddr), t.c.Advertise)
	if err != nil {
		ln.Close()
		return nil, err
	}
	e := &exposed{server: &server{slab: slab, exports: exports}, address: address}
	o := peer.GateOptions{Name: "tcp", Listener: ln, MaxPerLink: maxStreams, Serve: e.serve}
	if t.c.TLS != nil {
		o.Secure = func(ctx context.Context, conn net.Conn) (net.Conn, []byte, error) {
			return secure(ctx, tls.Server(conn, t.c.TLS))
		}
	}
	e.gate = peer.NewGate(o)
	return e, nil
}

// advertised is the address that peers dial.
func advertised(listen *net.TCPAddr, advertise string) (string, error) {
	host, port := advertise, fmt.Sprint(listen.Port)
	if h, p, err := net.SplitHostPort(advertise); err == nil {
		host, port = h, p
	}
	if host == "" {
		if listen.IP.IsUnspecified() {
			return "", fmt.Errorf("tcp: Listen is every address of this machine (%v): Advertise must name the one that peers dial", listen)
		}
		host = listen.IP.String()
	}
	return net.JoinHostPort(host, port), nil
}

func secure(ctx context.Context, conn *tls.Conn) (net.Conn, []byte, error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, nil, err
	}
	state := conn.ConnectionState()
	binding, err := state.ExportKeyingMaterial("EXPORTER-kvasir-link", nil, 32)
	return conn, binding, err
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
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var streams []stream
	for range t.c.Streams {
		s, err := t.open(ctx, self, d, slab)
		if err != nil {
			for _, s := range streams {
				s.raw.Close()
			}
			return nil, fmt.Errorf("tcp: dial %v at %s: %w", link, d.Address, err)
		}
		streams = append(streams, s)
	}
	return newConn(link, slab, streams), nil
}

// open opens one stream and proves which link it is.
func (t *Transport) open(ctx context.Context, self page.Link, d peer.Descriptor, slab transport.Slab) (s stream, err error) {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "tcp", d.Address)
	if err != nil {
		return s, err
	}
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) }) // ends whatever is waited for
	defer func() {
		if !stop() && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			raw.Close()
		}
	}()
	s = stream{conn: raw, raw: raw}
	secret := peer.Secret{Name: "tcp"}
	if t.c.TLS != nil {
		c := t.c.TLS.Clone()
		if c.ServerName == "" {
			c.ServerName, _, _ = net.SplitHostPort(d.Address)
		}
		if s.conn, secret.Binding, err = secure(ctx, tls.Client(raw, c)); err != nil {
			return s, err
		}
	}
	welcome, err := peer.Dial(s.conn, secret, d.Key, self)
	if err != nil {
		return s, err
	}
	if len(welcome) != 8 {
		return s, fmt.Errorf("a welcome of %d bytes, must be 8", len(welcome))
	}
	if n := binary.LittleEndian.Uint64(welcome); n != uint64(slab.PageBytes) {
		return s, fmt.Errorf("the peer's pages have %d bytes, ours %d", n, slab.PageBytes)
	}
	return s, nil
}

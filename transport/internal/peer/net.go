package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// dialTimeout bounds a dial whose context has no deadline.
const dialTimeout = 30 * time.Second

// Net is how nodes reach each other over tcp.
type Net struct {
	Name      string // of the transport
	Listen    string // host:port; "" is a free port of 127.0.0.1
	Advertise string // host or host:port that peers dial; "" is what is listened on
	TLS       *tls.Config
}

// Prepare checks n and completes what is not given. Errors name the field.
func (n *Net) Prepare() error {
	if n.Listen == "" {
		n.Listen = "127.0.0.1:0"
	}
	if n.TLS == nil {
		return nil
	}
	if n.TLS.RootCAs == nil || n.TLS.ClientCAs == nil || len(n.TLS.Certificates) == 0 && n.TLS.GetCertificate == nil {
		return fmt.Errorf("%s: TLS needs Certificates, RootCAs and ClientCAs: both ends check each other", n.Name)
	}
	n.TLS = n.TLS.Clone()
	n.TLS.MinVersion = tls.VersionTLS13
	n.TLS.ClientAuth = tls.RequireAndVerifyClientCert
	n.TLS.DynamicRecordSizingDisabled = true // pages are long
	n.TLS.NextProtos = []string{"kvasir-pages"}
	return nil
}

// Open listens, and returns a gate and the address that peers dial. Of o, Serve, Fence and MaxPerLink are the caller's.
func (n *Net) Open(o GateOptions) (*Gate, string, error) {
	ln, err := net.Listen("tcp", n.Listen)
	if err != nil {
		return nil, "", fmt.Errorf("%s: listen for peers: %w", n.Name, err)
	}
	address, err := n.advertised(ln.Addr().(*net.TCPAddr))
	if err != nil {
		ln.Close()
		return nil, "", err
	}
	o.Name, o.Listener = n.Name, ln
	if n.TLS != nil {
		o.Secure = func(ctx context.Context, conn net.Conn) (net.Conn, []byte, error) {
			return secure(ctx, tls.Server(conn, n.TLS))
		}
	}
	return NewGate(o), address, nil
}

func (n *Net) advertised(listen *net.TCPAddr) (string, error) {
	host, port := n.Advertise, fmt.Sprint(listen.Port)
	if h, p, err := net.SplitHostPort(n.Advertise); err == nil {
		host, port = h, p
	}
	if host == "" {
		if listen.IP.IsUnspecified() {
			return "", fmt.Errorf("%s: Listen is every address of this machine (%v): Advertise must name the one that peers dial", n.Name, listen)
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

// Call is a connection to a peer that has welcomed us.
type Call struct {
	Conn    net.Conn // encrypted, if there is TLS
	Raw     net.Conn
	Welcome []byte
}

// Dial connects, proves which link this is, and returns what the peer says to that.
func (n *Net) Dial(ctx context.Context, d Descriptor, self page.Link) (c Call, err error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "tcp", d.Address)
	if err != nil {
		return c, err
	}
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) }) // ends whatever is waited for
	c, err = n.greet(ctx, raw, d, self)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
	}
	return c, err
}

func (n *Net) greet(ctx context.Context, raw net.Conn, d Descriptor, self page.Link) (c Call, err error) {
	c, s := Call{Conn: raw, Raw: raw}, Secret{Name: n.Name}
	if n.TLS != nil {
		config := n.TLS.Clone()
		if config.ServerName == "" {
			config.ServerName, _, _ = net.SplitHostPort(d.Address)
		}
		if c.Conn, s.Binding, err = secure(ctx, tls.Client(raw, config)); err != nil {
			return c, errors.Join(errors.New("no TLS with the peer"), err)
		}
	}
	c.Welcome, err = Dial(c.Conn, s, d.Key, self)
	return c, err
}

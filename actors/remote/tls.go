package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// TLS is what a process proves itself by, and what others must prove themselves by: certificates that one authority has signed.
type TLS struct {
	certificate tls.Certificate
	authorities *x509.CertPool
}

// LoadTLS reads the PEM files of the flags --tls-cert (the certificate, and those between it and the authority), --tls-key (its private key) and --tls-ca (the authorities whose
// certificates are believed). The certificate must be one that peers with the same authorities would believe now, as a client and as a server.
func LoadTLS(cert, key, ca string) (*TLS, error) {
	for _, f := range []struct{ flag, file string }{{"--tls-cert", cert}, {"--tls-key", key}, {"--tls-ca", ca}} {
		if f.file == "" {
			return nil, fmt.Errorf("%s is missing: --tls-cert, --tls-key and --tls-ca belong together", f.flag)
		}
	}
	read := func(flag, file string) ([]byte, error) {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		return b, nil
	}
	certPEM, err := read("--tls-cert", cert)
	if err != nil {
		return nil, err
	}
	keyPEM, err := read("--tls-key", key)
	if err != nil {
		return nil, err
	}
	caPEM, err := read("--tls-ca", ca)
	if err != nil {
		return nil, err
	}
	t := &TLS{authorities: x509.NewCertPool()}
	if t.certificate, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		return nil, fmt.Errorf("--tls-cert %s with --tls-key %s: %w", cert, key, err)
	}
	if !t.authorities.AppendCertsFromPEM(caPEM) {
		return nil, fmt.Errorf("--tls-ca %s: there is no certificate in it", ca)
	}
	if err := t.verifyOwn(); err != nil {
		return nil, fmt.Errorf("--tls-cert %s would not be believed by peers with --tls-ca %s: %w", cert, ca, err)
	}
	return t, nil
}

func (t *TLS) verifyOwn() error {
	between := x509.NewCertPool()
	for _, der := range t.certificate.Certificate[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return err
		}
		between.AddCert(c)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := t.certificate.Leaf.Verify(x509.VerifyOptions{Roots: t.authorities, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			return err
		}
	}
	return nil
}

func (t *TLS) client() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{t.certificate}, RootCAs: t.authorities, MinVersion: tls.VersionTLS13}
}

func (t *TLS) server() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{t.certificate}, ClientCAs: t.authorities, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
}

// Config is for other connections between the same processes, of either side: both show a certificate and check the other's.
func (t *TLS) Config() *tls.Config {
	c := t.server()
	c.RootCAs = t.authorities
	return c
}

// MayUse says whether an address may be listened on, or dialed: nil if so. Without TLS anybody who reaches the address could say that he is a node, and read and change what is said; so it must be
// a loopback address, which is this machine, unless insecure asks for it in so many words.
func MayUse(addr string, withTLS, insecure bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%w; write host:port", err)
	}
	if withTLS || insecure || host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	if host == "" {
		host = "every address of this machine"
	}
	return fmt.Errorf("%s is not a loopback address, and there is no TLS: give --tls-cert, --tls-key and --tls-ca (`kvasir certs` makes some to try), or --insecure where the network is private", host)
}

// connInfo is what is known of an accepted connection.
type connInfo struct {
	credentials.CommonAuthInfo
	conn     net.Conn
	identity string
}

// AuthType implements credentials.AuthInfo.
func (*connInfo) AuthType() string { return "kvasir" }

// abort ends the connection under all its streams.
func (i *connInfo) abort() { _ = i.conn.Close() }

// serverCredentials accepts connections, with TLS or without, and counts those that fail before a stream is there.
type serverCredentials struct{ links *Links }

// errServerOnly: a client has credentials of its own.
var errServerOnly = errors.New("remote: credentials of a server")

func (s *serverCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if s.links.cfg.TLS == nil {
		return s.plain(raw)
	}
	conn, info, err := credentials.NewTLS(s.links.cfg.TLS.server()).ServerHandshake(raw)
	if err != nil {
		s.links.refusedConnection(raw.RemoteAddr().String(), &refusal{cause: causeTLS, text: err.Error()})
		return nil, nil, err
	}
	state := info.(credentials.TLSInfo)
	return conn, &connInfo{CommonAuthInfo: state.CommonAuthInfo, conn: raw, identity: identity(&state.State)}, nil
}

// preface is how every HTTP/2 client begins (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// plain looks whether the other side speaks HTTP/2, which gRPC would do too but not tell.
func (s *serverCredentials) plain(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	begin := make([]byte, len(preface))
	if err := raw.SetReadDeadline(time.Now().Add(s.links.cfg.HelloTimeout)); err != nil {
		return nil, nil, err
	}
	n, err := io.ReadFull(raw, begin)
	if err == nil && string(begin) != preface {
		err = errors.New("not an HTTP/2 client")
	}
	if err != nil {
		_ = raw.Close()
		s.links.refusedConnection(raw.RemoteAddr().String(), &refusal{cause: causePreface, text: fmt.Sprintf("%v; it began with %.24q", err, begin[:n])})
		return nil, nil, err
	}
	if err := raw.SetReadDeadline(time.Time{}); err != nil {
		return nil, nil, err
	}
	return &replayed{Conn: raw, begin: bytes.NewReader(begin)}, &connInfo{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}, conn: raw}, nil
}

// replayed is a connection whose first bytes were read already.
type replayed struct {
	net.Conn
	begin *bytes.Reader
}

func (r *replayed) Read(b []byte) (int, error) {
	if r.begin.Len() > 0 {
		return r.begin.Read(b)
	}
	return r.Conn.Read(b)
}

func (s *serverCredentials) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errServerOnly
}

func (s *serverCredentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "kvasir"}
}

func (s *serverCredentials) Clone() credentials.TransportCredentials {
	return &serverCredentials{links: s.links}
}

func (s *serverCredentials) OverrideServerName(string) error { return errServerOnly }

// identityOf is who is at the other end of a client's stream.
func identityOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return ""
	}
	return identity(&info.State)
}

func identity(state *tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 {
		return ""
	}
	switch c := state.PeerCertificates[0]; {
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.URIs) > 0:
		return c.URIs[0].String()
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	default:
		return c.Subject.CommonName
	}
}

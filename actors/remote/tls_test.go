package remote

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/internal/certs"
)

// authority makes certificates for hosts "a" and "b", both at 127.0.0.1.
func authority(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if _, err := certs.Make(dir, []string{"a,127.0.0.1", "b,127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustLoad(t *testing.T, dir, name string) *TLS {
	t.Helper()
	tls, err := LoadTLS(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem"), filepath.Join(dir, certs.CACert))
	if err != nil {
		t.Fatal(err)
	}
	return tls
}

func TestMutualTLS(t *testing.T) {
	dir := authority(t)
	a := start(t, hello(1), func(c *Config) { c.TLS = mustLoad(t, dir, "a") })
	b := start(t, hello(2), func(c *Config) { c.TLS = mustLoad(t, dir, "b") })
	bOfA, aOfB := meet(t, a, b)
	if bOfA.Identity() != "b" || aOfB.Identity() != "a" {
		t.Errorf("identities %q and %q", bOfA.Identity(), aOfB.Identity())
	}
	if err := bOfA.Send(poll(1)); err != nil {
		t.Fatal(err)
	}
	b.next(t, "message")
}

// Whoever cannot prove that he belongs to the cluster is refused, counted, and told of; and those who do are not disturbed.
func TestRefusedHandshakes(t *testing.T) {
	dir := authority(t)
	a := start(t, hello(1), func(c *Config) { c.TLS = mustLoad(t, dir, "a") })
	refused := func(want int) error {
		t.Helper()
		err := receive(t, a.refused)
		if got := count(a.metrics.refused.WithLabelValues("tls")); got != want {
			t.Errorf("%d are counted, want %d", got, want)
		}
		return err
	}

	stranger := start(t, hello(2), func(c *Config) {
		c.TLS, c.RedialLeast, c.RedialMost = mustLoad(t, authority(t), "b"), time.Hour, time.Hour
	})
	stranger.dial(t, a.addr)
	if err := receive(t, stranger.failed); !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("the stranger hears %v", err)
	}
	refused(1)

	plain := start(t, hello(2), func(c *Config) { c.RedialLeast, c.RedialMost = time.Hour, time.Hour })
	plain.dial(t, a.addr)
	receive(t, plain.failed)
	if err := refused(2); !strings.Contains(err.Error(), "does not look like a TLS handshake") {
		t.Errorf("of a plain client: %v", err)
	}

	// A stranger who does not look whom he talks to is stopped by his certificate.
	careless := start(t, hello(2), func(c *Config) {
		c.TLS, c.RedialLeast, c.RedialMost = mustLoad(t, authority(t), "b"), time.Hour, time.Hour
		c.TLS.authorities = mustLoad(t, dir, "a").authorities
	})
	careless.dial(t, a.addr)
	receive(t, careless.failed)
	if err := refused(3); !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("of a foreign certificate: %v", err)
	}

	garbage(t, a.addr, "\x00\x01 this is no handshake")
	refused(4)

	friend := start(t, hello(2), func(c *Config) { c.TLS = mustLoad(t, dir, "b") })
	meet(t, friend, a)
}

// Without TLS, who does not speak HTTP/2 is refused and counted too, a client with TLS among them.
func TestRefusedWithoutTLS(t *testing.T) {
	a := start(t, hello(1), nil)
	garbage(t, a.addr, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if err := receive(t, a.refused); !strings.Contains(err.Error(), "not an HTTP/2 client") || !strings.Contains(err.Error(), "GET / HTTP/1.1") {
		t.Errorf("%v", err)
	}
	careful := start(t, hello(2), func(c *Config) {
		c.TLS, c.RedialLeast, c.RedialMost = mustLoad(t, authority(t), "b"), time.Hour, time.Hour
	})
	careful.dial(t, a.addr)
	receive(t, careful.failed)
	receive(t, a.refused)
	if got := count(a.metrics.refused.WithLabelValues("not_http2")); got != 2 {
		t.Errorf("%d are counted, want 2", got)
	}
}

// garbage sends text to addr and waits until the other side has closed.
func garbage(t *testing.T, addr, text string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, _ = io.Copy(io.Discard, c)
}

func TestLoadTLSRefuses(t *testing.T) {
	dir, other := authority(t), authority(t)
	at := func(dir, name string) string { return filepath.Join(dir, name) }
	empty := at(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cert, key, ca, want string }{
		{"", "k", "c", "--tls-cert is missing"},
		{"c", "", "c", "--tls-key is missing"},
		{"c", "k", "", "--tls-ca is missing"},
		{at(dir, "none.pem"), at(dir, "a-key.pem"), at(dir, "ca.pem"), "--tls-cert: open " + at(dir, "none.pem")},
		{at(dir, "a.pem"), at(dir, "none.pem"), at(dir, "ca.pem"), "--tls-key: open"},
		{at(dir, "a.pem"), at(dir, "a-key.pem"), at(dir, "none.pem"), "--tls-ca: open"},
		{at(dir, "a.pem"), at(dir, "b-key.pem"), at(dir, "ca.pem"), "does not match"},
		{at(dir, "a.pem"), at(dir, "a-key.pem"), empty, "there is no certificate in it"},
		{at(dir, "a.pem"), at(dir, "a-key.pem"), at(other, "ca.pem"), "would not be believed by peers with --tls-ca " + at(other, "ca.pem")},
	} {
		if _, err := LoadTLS(c.cert, c.key, c.ca); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c, err, c.want)
		}
	}
}

func TestMayUse(t *testing.T) {
	for _, c := range []struct {
		addr          string
		tls, insecure bool
		want          string
	}{
		{"127.0.0.1:80", false, false, ""},
		{"127.8.9.1:80", false, false, ""},
		{"[::1]:80", false, false, ""},
		{"localhost:80", false, false, ""},
		{"10.0.0.1:80", true, false, ""},
		{"10.0.0.1:80", false, true, ""},
		{"10.0.0.1:80", false, false, "10.0.0.1 is not a loopback address, and there is no TLS"},
		{":80", false, false, "every address of this machine is not a loopback address"},
		{"0.0.0.0:80", false, false, "not a loopback address"},
		{"node-1.example:80", false, false, "not a loopback address"},
		{"10.0.0.1", true, true, "write host:port"},
	} {
		err := MayUse(c.addr, c.tls, c.insecure)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	a := start(t, hello(1), nil)
	if err := a.Dial(t.Context(), "10.0.0.1:80"); err == nil || !strings.Contains(err.Error(), "--tls-cert") {
		t.Errorf("dial: %v", err)
	}
	b, err := New(Config{Self: hello(2), Handler: newRecorder()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Listen("0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "--tls-cert") {
		t.Errorf("listen: %v", err)
	}
}

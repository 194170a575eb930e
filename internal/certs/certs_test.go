package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func mustMake(t *testing.T, dir string, hosts ...string) []string {
	t.Helper()
	wrote, err := Make(dir, hosts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range wrote {
		wrote[i] = filepath.Base(wrote[i])
	}
	return wrote
}

func load(t *testing.T, dir, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, CACert))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		t.Fatal("no authority")
	}
	return pair, pool
}

// Two processes with certificates that were made at different times believe each other, by every name of the one that listens.
func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "certs")
	if got := mustMake(t, dir, "p1.example,127.0.0.1,::1,kvasir://node/1", "127.0.0.2"); !slices.Equal(got, []string{"ca.pem", "ca-key.pem", "p1.example.pem", "p1.example-key.pem", "127.0.0.2.pem", "127.0.0.2-key.pem"}) {
		t.Errorf("wrote %v", got)
	}
	if got := mustMake(t, dir, "*.later.example"); !slices.Equal(got, []string{"_.later.example.pem", "_.later.example-key.pem"}) {
		t.Errorf("then wrote %v", got)
	}
	server, pool := load(t, dir, "p1.example")
	client, _ := load(t, dir, "_.later.example")
	if key, ok := server.PrivateKey.(*ecdsa.PrivateKey); !ok || key.Curve != elliptic.P256() || server.Leaf.URIs[0].String() != "kvasir://node/1" {
		t.Errorf("key %T, URIs %v", server.PrivateKey, server.Leaf.URIs)
	}
	for _, name := range []string{"p1.example", "127.0.0.1", "::1"} {
		a, b := net.Pipe()
		s := tls.Server(a, &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})
		c := tls.Client(b, &tls.Config{Certificates: []tls.Certificate{client}, RootCAs: pool, ServerName: name})
		go func() {
			_, _ = io.WriteString(s, "hello")
			_ = s.Close()
		}()
		if got, err := io.ReadAll(c); err != nil || string(got) != "hello" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		_ = c.Close()
	}
	for _, f := range []struct {
		name string
		mode fs.FileMode
	}{{"ca-key.pem", 0o600}, {"p1.example-key.pem", 0o600}, {"p1.example.pem", 0o644}} {
		if info, err := os.Stat(filepath.Join(dir, f.name)); err != nil || info.Mode().Perm()&^f.mode != 0 {
			t.Errorf("%s: %v, %v; want %v at most", f.name, info.Mode(), err, f.mode)
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	dir := t.TempDir()
	mustMake(t, dir, "a")
	before := snapshot(t, dir)
	lonely := t.TempDir()
	if err := os.WriteFile(filepath.Join(lonely, CACert), []byte(before[CACert]), 0o644); err != nil {
		t.Fatal(err)
	}
	keyOnly := t.TempDir()
	if err := os.WriteFile(filepath.Join(keyOnly, CAKey), []byte(before[CAKey]), 0o600); err != nil {
		t.Fatal(err)
	}
	mixed := t.TempDir()
	mustMake(t, mixed, "b")
	if err := os.WriteFile(filepath.Join(mixed, CACert), []byte(before[CACert]), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir   string
		hosts []string
		want  string
	}{
		{dir, nil, "no host is named"},
		{dir, []string{"b", "a"}, "a.pem exists, and is not overwritten"},
		{dir, []string{"c", "c"}, "two hosts would have the file c.pem"},
		{dir, []string{"ca"}, "would be the authority's"},
		{dir, []string{""}, `host "" is no`},
		{dir, []string{"d,e f"}, `host "e f" is no`},
		{dir, []string{"-x"}, `host "-x" is no`},
		{dir, []string{"../x"}, `host "../x" is no`},
		{lonely, []string{"b"}, "without its key the authority signs nothing"},
		{keyOnly, []string{"b"}, "an authority has both"},
		{mixed, []string{"c"}, "is not an authority whose key is"},
	} {
		if wrote, err := Make(c.dir, c.hosts); err == nil || !strings.Contains(err.Error(), c.want) || len(wrote) != 0 {
			t.Errorf("%v: wrote %v, %v; want %q", c.hosts, wrote, err, c.want)
		}
	}
	after := snapshot(t, dir)
	if len(after) != len(before) {
		t.Errorf("%d files are there, want %d", len(after), len(before))
	}
	for name, data := range before {
		if after[name] != data {
			t.Errorf("%s has changed", name)
		}
	}
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

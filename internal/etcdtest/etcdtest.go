// Package etcdtest runs a real etcd for tests.
package etcdtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Server is an etcd of one member in a directory of the test's.
type Server struct {
	// Endpoint is where it serves clients, "host:port", also after a restart.
	Endpoint string

	t      testing.TB
	binary string
	peers  string
	dir    string
	leash  io.Closer // etcd is killed when this is closed, and so when this process ends, however that comes
	ended  chan error
}

// etcdAndLeash starts etcd, and kills it when standard input ends.
const etcdAndLeash = `"$@" & read _; kill -9 $!; wait $!`

// Start runs an etcd until the test ends. Without etcd on this machine the test is skipped.
func Start(t testing.TB) *Server {
	t.Helper()
	binary, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("there is no etcd on this machine (Debian: etcd-server)")
	}
	s := &Server{t: t, binary: binary, Endpoint: freePort(t), peers: freePort(t), dir: filepath.Join(t.TempDir(), "etcd")}
	s.run()
	t.Cleanup(func() { s.Kill() })
	return s
}

func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run starts etcd and returns when it answers.
func (s *Server) run() {
	s.t.Helper()
	client, peers := "http://"+s.Endpoint, "http://"+s.peers
	cmd := exec.Command("sh", "-c", etcdAndLeash, "sh", s.binary, "--data-dir", s.dir, "--name", "test", "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "test="+peers, "--log-level", "error")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	leash, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.leash, s.ended = leash, make(chan error, 1)
	go func() { s.ended <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for !s.healthy(ctx) {
		if ctx.Err() != nil {
			s.Kill() // then nothing is written to said any more
			s.t.Fatalf("etcd does not answer:\n%s", &said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *Server) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/health", s.Endpoint), nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Kill ends etcd as kill -9 does. It may be called again.
func (s *Server) Kill() {
	if s.leash == nil {
		return
	}
	_ = s.leash.Close()
	<-s.ended
	s.leash = nil
}

// Restart runs it again after Kill: with what it had, or with forget as an etcd that knows nothing.
func (s *Server) Restart(forget bool) {
	s.t.Helper()
	if forget {
		if err := os.RemoveAll(s.dir); err != nil {
			s.t.Fatal(err)
		}
	}
	s.run()
}

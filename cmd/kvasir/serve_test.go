package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir"
)

// patient is how long tests wait for what must happen soon. No test depends on how soon.
const patient = 30 * time.Second

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patient); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

var urlForm = regexp.MustCompile(`http://[0-9.:\[\]]+`)

// servedBench is a server in this process, over a fake engine.
type servedBench struct {
	*bench
	t       *testing.T
	signals chan<- os.Signal
	ended   chan int // exit status
}

// startServing serves eng. Loading ends once loaded is closed; nil: at once.
func startServing(t *testing.T, eng *fakeEngine, loaded <-chan struct{}, args ...string) *servedBench {
	t.Helper()
	s := &servedBench{bench: newBench(eng, ""), t: t, ended: make(chan int, 1)}
	notified := make(chan chan<- os.Signal, 1)
	s.notify = func(c chan<- os.Signal, _ ...os.Signal) { notified <- c }
	open := s.open
	s.open = func(ctx context.Context, cfg kvasir.Config) (engine, error) {
		if loaded != nil {
			<-loaded
		}
		return open(ctx, cfg)
	}
	go func() { s.ended <- s.run(append([]string{"serve", "--port", "0"}, args...)) }()
	select {
	case s.signals = <-notified:
	case status := <-s.ended:
		t.Fatalf("ended with status %d: %s", status, s.stderr.String())
	}
	s.logged("loading")
	if loaded == nil {
		s.logged("serving")
	}
	return s
}

func (s *servedBench) logged(what string) {
	s.t.Helper()
	eventually(s.t, "the log says "+what, func() bool { return strings.Contains(s.stderr.String(), "  "+what) })
}

func (s *servedBench) url() string { return urlForm.FindString(s.stderr.String()) }

func (s *servedBench) get(path string) (code int, body string) {
	s.t.Helper()
	resp, err := http.Get(s.url() + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (s *servedBench) status() int {
	s.t.Helper()
	select {
	case status := <-s.ended:
		return status
	case <-time.After(patient):
		s.t.Fatalf("the server does not end:\n%s", s.stderr.String())
		return 0
	}
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })

func TestServeAnswersWith503WhileLoading(t *testing.T) {
	loaded := make(chan struct{})
	eng := &fakeEngine{handler: hello}
	s := startServing(t, eng, loaded)
	for _, path := range []string{"/health", "/ready", "/v1/models"} {
		if code, body := s.get(path); code != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"loading"`) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	close(loaded)
	s.logged("serving")
	if code, body := s.get("/health"); code != 200 || body != "hello" {
		t.Errorf("after loading: %d %s", code, body)
	}
	s.signals <- syscall.SIGTERM
	if status := s.status(); status != 0 || !eng.closed {
		t.Errorf("exit status %d, engine closed %v", status, eng.closed)
	}
}

// A body that never comes holds no connection for ever while the engine is loading.
func TestLoadingWaitsForNoBody(t *testing.T) {
	srv := httptest.NewServer(loading(50 * time.Millisecond))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
	conn.SetReadDeadline(time.Now().Add(patient))
	got, err := io.ReadAll(conn) // to the end of the connection
	if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 503 ") {
		t.Errorf("%q, %v; want status 503 and the end", got, err)
	}
}

func TestServeStopsWhileLoading(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	s := startServing(t, &fakeEngine{}, never)
	s.signals <- syscall.SIGTERM
	if status := s.status(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

func TestServeFailsWhenTheEngineCannotBeOpened(t *testing.T) {
	b := newBench(nil, "")
	b.open = func(context.Context, kvasir.Config) (engine, error) {
		return nil, errors.New("kvasir: m.gguf: no magic")
	}
	if status := b.run([]string{"serve", "--port", "0"}); status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	wants(t, "standard error", b.stderr.String(), "kvasir: m.gguf: no magic")
}

// The order of a drain: HTTP answers while the engine waits for its answers, and the engine is closed when no connection needs it any more.
func TestServeDrains(t *testing.T) {
	drained, draining := make(chan struct{}), make(chan struct{})
	release := make(chan struct{})
	eng := &fakeEngine{drain: func(ctx context.Context) error {
		close(draining)
		select {
		case <-drained:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	answered := make(chan struct{})
	eng.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/slow" {
			io.WriteString(w, "hello")
			return
		}
		io.WriteString(w, "begin ")
		w.(http.Flusher).Flush()
		<-release
		io.WriteString(w, "end")
		close(answered)
	})
	eng.onClose = func() {
		select {
		case <-answered:
		default:
			t.Error("the engine was closed under an answer")
		}
	}
	s := startServing(t, eng, nil)
	slow, err := http.Get(s.url() + "/slow")
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Body.Close()
	s.signals <- syscall.SIGTERM
	<-draining
	if code, body := s.get("/ready"); code != 200 || body != "hello" {
		t.Errorf("while draining: %d %s", code, body)
	}
	close(drained)
	url := s.url()
	eventually(t, "no new connection is taken", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	close(release)
	if body, err := io.ReadAll(slow.Body); err != nil || string(body) != "begin end" {
		t.Errorf("the answer under way: %q, %v", body, err)
	}
	if status := s.status(); status != 0 {
		t.Errorf("exit status %d:\n%s", status, s.stderr.String())
	}
	if !eng.closed {
		t.Error("the engine was not closed")
	}
}

func TestServeReportsWhatTheDrainCutOff(t *testing.T) {
	eng := &fakeEngine{handler: hello, drain: func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("kvasir: 3 sequences had not ended: %w", ctx.Err())
	}}
	s := startServing(t, eng, nil, "--drain-timeout", "1ms")
	s.signals <- os.Interrupt
	if status := s.status(); status != statusFailed {
		t.Errorf("exit status %d, want %d", status, statusFailed)
	}
	wants(t, "standard error", s.stderr.String(), "--drain-timeout", "1ms", "3 sequences had not ended")
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	never, draining := make(chan struct{}), make(chan struct{})
	defer close(never)
	eng := &fakeEngine{handler: hello, drain: func(context.Context) error {
		close(draining)
		<-never
		return nil
	}}
	s := startServing(t, eng, nil)
	s.signals <- os.Interrupt
	<-draining
	s.signals <- os.Interrupt
	if status := s.status(); status != statusFailed {
		t.Errorf("exit status %d, want %d", status, statusFailed)
	}
	wants(t, "standard error", s.stderr.String(), "ended at once")
}

func TestServeEndsWithTheEngine(t *testing.T) {
	eng := &fakeEngine{handler: hello, failed: make(chan struct{}), health: fmt.Errorf("runner: %w: a page fault", kvasir.ErrEngineFailed)}
	s := startServing(t, eng, nil)
	close(eng.failed)
	if status := s.status(); status != statusFailed {
		t.Errorf("exit status %d, want %d", status, statusFailed)
	}
	wants(t, "standard error", s.stderr.String(), "the engine failed", "a page fault")
	if _, err := http.Get(s.url() + "/health"); err == nil {
		t.Error("HTTP still answers")
	}
}

func TestServeWarnsOfOpenDoors(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("secret tenant\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		warn bool
	}{
		{nil, false},
		{[]string{"--host", "localhost"}, false},
		{[]string{"--host", "0.0.0.0"}, true},
		{[]string{"--host", "0.0.0.0", "--api-keys", keys}, false},
	}
	for _, tt := range tests {
		s := startServing(t, &fakeEngine{handler: hello}, nil, tt.args...)
		if warned := strings.Contains(s.stderr.String(), "--api-keys"); warned != tt.warn {
			t.Errorf("%q: warned %v, want %v:\n%s", tt.args, warned, tt.warn, s.stderr.String())
		}
		s.signals <- syscall.SIGTERM
		s.status()
	}
}

func TestServeRefusesBadKeys(t *testing.T) {
	b := newBench(&fakeEngine{}, "")
	missing := filepath.Join(t.TempDir(), "keys")
	if status := b.run([]string{"serve", "--port", "0", "--api-keys", missing}); status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	wants(t, "standard error", b.stderr.String(), "--api-keys", missing)
}

func TestAPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := newBench(nil, "")
	b.open = func(context.Context, kvasir.Config) (engine, error) {
		t.Error("the model is loaded before the port is known to be free")
		return nil, errors.New("not reached")
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	if status := b.run([]string{"serve", "--port", port}); status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	wants(t, "standard error", b.stderr.String(), "--port "+port+" is taken", "127.0.0.1")
}

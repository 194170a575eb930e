package transporttest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// childVariable is set in the environment of a test binary that runs as somebody's peer.
const childVariable = "KVASIR_TRANSPORT_CHILD"

// Main is what TestMain calls where Kind.Processes is set: the test binary starts itself again to have a peer that can be killed.
func Main(m *testing.M, k Kind) int {
	if k.NewSlab == nil {
		k.NewSlab = NewSlab
	}
	switch role := os.Getenv(childVariable); role {
	case "":
		return m.Run()
	case "expose", "read":
		return child(role, k)
	default:
		panic("transporttest: no such role: " + role)
	}
}

// hello is what parent and child tell each other, a JSON line each.
type hello struct {
	Descriptor []byte
}

const (
	childPages     = 8
	childPageBytes = 256 << 10
	childName      = 2
)

// child plays one node until it is killed, or its standard input ends.
func child(role string, k Kind) int {
	t := &childT{}
	defer t.end()
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	if role == "expose" {
		p := newPrefill(t, k, k.New(t)(), childPages, childPageBytes)
		link := (&node{name: childName, life: childName << 8}).link(1)
		p.offer(link, p.attempt(1))
		out.Encode(hello{p.exposed.Descriptor(link)})
		io.Copy(io.Discard, in)
		return 0
	}
	var h hello
	if err := json.NewDecoder(in).Decode(&h); err != nil {
		t.Fatal(err)
	}
	d := &node{name: childName, life: childName << 8, tr: k.New(t)(), slab: NewSlab(t, childPages, childPageBytes)}
	p := &prefill{node: node{name: 1, life: 0x11, slab: d.slab}}
	c, err := d.tr.Dial(context.Background(), p.link(1), d.link(1), h.Descriptor, d.slab)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	f := startTraffic(c, p, p.attempt(1), d.slab)
	for f.landed.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	out.Encode(hello{})
	f.gone.Wait()
	return 0
}

// childT is the part of testing.TB that a child needs.
type childT struct {
	testing.TB
	cleanups []func()
}

func (t *childT) Helper()          {}
func (t *childT) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }
func (t *childT) TempDir() string  { return os.TempDir() }
func (t *childT) Fatal(args ...any) {
	json.NewEncoder(os.Stderr).Encode(args)
	os.Exit(1)
}
func (t *childT) Errorf(format string, args ...any) {}

func (t *childT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// process is a peer in a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func start(t *testing.T, role string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, in, json.NewDecoder(out)}
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait() // an error of its own end, or that it has been waited for
}

// hears waits for the child's next word.
func (p *process) hears(t *testing.T) (h hello) {
	t.Helper()
	if err := p.out.Decode(&h); err != nil {
		t.Fatalf("the child says nothing: %v", err)
	}
	return h
}

// The node that has the pages is killed while they are read: the reads end, each once, and nothing comes behind.
func exposingPeerKilled(t *testing.T, k Kind) {
	far := start(t, "expose")
	descriptor := far.hears(t).Descriptor
	w := &world{t: t, k: k, new: k.New(t), p: &prefill{node: node{name: 1, life: 0x11, slab: transport.Slab{Bytes: make([]byte, childPages*childPageBytes), PageBytes: childPageBytes}}}}
	d := w.decode(childName, 2*childPages)
	c, err := d.tr.Dial(context.Background(), w.p.link(1), d.link(1), descriptor, d.slab)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f := startTraffic(c, w.p, w.p.attempt(1), d.slab)
	eventually(t, "pages come", func() bool { return f.landed.Load() > 20 })
	far.kill()
	mustBeLost(t, c)
	f.gone.Wait()
	c.Close()
	f.check(t)
	set(d.slab.Bytes, 0xee)
	staysAs(t, d.slab, 0xee)
}

// The node that reads is killed: the fence against it is soon complete.
func readingPeerKilled(t *testing.T, k Kind) {
	w, far, link := readingPeer(t, k)
	far.kill()
	fence(t, w.p.exposed, link)
}

// The node that reads stops and says nothing: it holds a fence up only where its word is needed, and there only until it is dead.
func readingPeerStops(t *testing.T, k Kind) {
	w, far, link := readingPeer(t, k)
	if err := far.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !k.FenceAsksPeer {
		fence(t, w.p.exposed, link)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := w.p.exposed.Fence(ctx, link); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fence against a peer that may still read: %v", err)
	}
	fenced := make(chan error, 1)
	go func() { fenced <- w.p.exposed.Fence(context.Background(), link) }()
	far.kill()
	select {
	case err := <-fenced:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the fence is not complete though the peer is dead")
	}
}

func readingPeer(t *testing.T, k Kind) (*world, *process, page.Link) {
	w := newWorld(t, k, childPages, childPageBytes)
	d := &node{name: childName, life: childName << 8}
	w.p.offer(d.link(1), w.p.attempt(1))
	far := start(t, "read")
	json.NewEncoder(far.in).Encode(hello{w.p.exposed.Descriptor(d.link(1))})
	far.hears(t)
	return w, far, d.link(1)
}

package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// event is one call of a handler.
type event struct {
	what  string // "connected", "message", "lost"
	peer  *Peer
	m     any
	trace wire.Trace
	cause error
}

// recorder is a handler that hands on what it hears.
type recorder struct {
	events chan event
	hold   chan struct{} // if not nil, each message waits for it
}

func newRecorder() *recorder { return &recorder{events: make(chan event, 1<<16)} }

func (r *recorder) Connected(p *Peer) { r.events <- event{what: "connected", peer: p} }

func (r *recorder) Message(p *Peer, m any, trace wire.Trace) {
	if r.hold != nil {
		<-r.hold
	}
	r.events <- event{what: "message", peer: p, m: m, trace: trace}
}

func (r *recorder) Lost(p *Peer, cause error) { r.events <- event{what: "lost", peer: p, cause: cause} }

// next is the next call, which must be of the kind that is said.
func (r *recorder) next(t *testing.T, what string) event {
	t.Helper()
	select {
	case e := <-r.events:
		if e.what != what {
			t.Fatalf("heard %s (%+v %v), want %s", e.what, e.m, e.cause, what)
		}
		return e
	case <-time.After(patience):
		t.Fatalf("%s was never heard", what)
	}
	panic("unreachable")
}

// hello is that of a node that goes together with every other made by it.
func hello(id page.Node) Hello {
	return Hello{
		Kind: Node, ID: id, Incarnation: page.Incarnation(0xa0 + id), Prefill: true, Decode: true, Layout: [32]byte{1}, PageSize: 16, PoolPages: 64, MaxModelLen: 1024,
		Kernels: "avx2", Model: "tiny", ModelDigest: [32]byte{2}, Transports: []string{"tcp"},
	}
}

func gateway(id page.Node) Hello {
	return Hello{Kind: Gateway, ID: id, Incarnation: page.Incarnation(0xb0 + id)}
}

// party is one process.
type party struct {
	*Links
	*recorder
	addr    string
	refused chan error
	failed  chan error
}

// start makes a process that listens on a loopback port.
func start(t *testing.T, self Hello, change func(*Config)) *party {
	t.Helper()
	p := &party{recorder: newRecorder(), refused: make(chan error, 1<<10), failed: make(chan error, 1<<10)}
	cfg := Config{
		Self: self, Handler: p.recorder, RedialLeast: time.Millisecond, RedialMost: 20 * time.Millisecond,
		OnRefused: func(_ string, err error) {
			select {
			case p.refused <- err:
			default:
			}
		},
		OnDialFailed: func(_ string, err error) {
			select {
			case p.failed <- err:
			default:
			}
		},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if p.Links, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	addr, err := p.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = addr.String()
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func (p *party) dial(t *testing.T, addr string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if err := p.Dial(ctx, addr); err != nil {
		t.Fatal(err)
	}
	return cancel
}

// meet connects a to b and returns each as the other's peer.
func meet(t *testing.T, a, b *party) (bOfA, aOfB *Peer) {
	t.Helper()
	a.dial(t, b.addr)
	return a.next(t, "connected").peer, b.next(t, "connected").peer
}

func receive(t *testing.T, errs chan error) error {
	t.Helper()
	select {
	case err := <-errs:
		return err
	case <-time.After(patience):
		t.Fatal("no error was told")
	}
	panic("unreachable")
}

// eventually waits for what other goroutines do.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func poll(n int) *handoff.Message {
	return &handoff.Message{Kind: handoff.MsgPoll, Attempt: page.Attempt{Gateway: 1, Number: 2, Prefill: 3}, Have: n}
}

func count(c prometheus.Collector) int { return int(testutil.ToFloat64(c)) }

func TestMessagesBothWays(t *testing.T) {
	a, b := start(t, hello(1), nil), start(t, gateway(1), nil)
	bOfA, aOfB := meet(t, a, b)

	if h := bOfA.Hello(); h.Kind != Gateway || h.ID != 1 || h.Incarnation != 0xb1 || h.Address != b.addr {
		t.Errorf("hello of the gateway: %+v", h)
	}
	if h := aOfB.Hello(); h.Kind != Node || h.Layout != hello(1).Layout || h.PoolPages != 64 || h.Model != "tiny" || h.Address != a.addr {
		t.Errorf("hello of the node: %+v", h)
	}
	if bOfA.Link() != aOfB.Self() || aOfB.Link() != bOfA.Self() || aOfB.Link().Epoch == 0 {
		t.Errorf("links: %v and %v, %v and %v", bOfA.Link(), aOfB.Self(), aOfB.Link(), bOfA.Self())
	}
	if !bOfA.Dialed() || aOfB.Dialed() || bOfA.Address() != b.addr {
		t.Errorf("dialed: %v %v, %v", bOfA.Dialed(), aOfB.Dialed(), bOfA.Address())
	}

	const n = 500
	for i := range n {
		if err := errors.Join(bOfA.SendTraced(poll(i), wire.Trace{"traceparent": fmt.Sprint(i)}), aOfB.Send(poll(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		if e := b.next(t, "message"); e.m.(*handoff.Message).Have != i || e.trace["traceparent"] != fmt.Sprint(i) || e.peer != aOfB {
			t.Fatalf("message %d to the gateway: %+v %v", i, e.m, e.trace)
		}
		if e := a.next(t, "message"); e.m.(*handoff.Message).Have != i || e.trace != nil {
			t.Fatalf("message %d to the node: %+v %v", i, e.m, e.trace)
		}
	}
	eventually(t, "all is acknowledged", func() bool { return bOfA.Flushed() && aOfB.Flushed() })
	if got := count(b.metrics.messages.WithLabelValues("poll", "in")); got != n {
		t.Errorf("%d messages are counted, want %d", got, n)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if e := a.next(t, "lost"); !errors.Is(e.cause, ErrClosed) {
		t.Errorf("the closer hears %v", e.cause)
	}
	if e := b.next(t, "lost"); !errors.Is(e.cause, ErrPeerClosed) || !strings.Contains(e.cause.Error(), "closed here") {
		t.Errorf("the peer hears %v", e.cause)
	}
	if err := a.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if err := bOfA.Send(poll(0)); !errors.Is(err, ErrClosed) {
		t.Errorf("send after the end: %v", err)
	}
}

// A prompt of a million tokens passes, a message that no peer takes does not, and the connection outlives it.
func TestLargeMessages(t *testing.T) {
	a, b := start(t, gateway(1), nil), start(t, hello(1), func(c *Config) { c.MaxMessageBytes = 4 << 20 })
	bOfA, _ := meet(t, a, b)
	submit := func(tokens int) *handoff.Message {
		prompt := make([]int32, tokens)
		for i := range prompt {
			prompt[i] = int32(i % 150_000)
		}
		return &handoff.Message{Kind: handoff.MsgSubmit, Role: handoff.Local, Spec: &handoff.Spec{Prompt: prompt}}
	}
	large := submit(1_000_000)
	if err := bOfA.Send(large); err != nil {
		t.Fatal(err)
	}
	if err := bOfA.Send(submit(4 << 20)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "submit has 1") {
		t.Errorf("too large: %v", err)
	}
	if err := bOfA.Send(poll(1)); err != nil {
		t.Fatal(err)
	}
	got := b.next(t, "message").m.(*handoff.Message)
	if string(handoff.AppendMessage(nil, got)) != string(handoff.AppendMessage(nil, large)) {
		t.Error("the prompt came otherwise")
	}
	if e := b.next(t, "message"); e.m.(*handoff.Message).Have != 1 {
		t.Errorf("then came %+v", e.m)
	}
	if count(a.metrics.tooLarge) != 1 {
		t.Errorf("%d are counted", count(a.metrics.tooLarge))
	}
}

// A handler that is slow makes its sender busy, and nothing grows: what waits is within the window of one side and the queue of the other.
func TestSlowReader(t *testing.T) {
	a := start(t, hello(1), func(c *Config) { c.QueueMessages = 10 })
	b := start(t, hello(2), func(c *Config) {
		c.WindowMessages, c.LostAfter, c.PingEvery = 5, time.Second, 20*time.Millisecond
	})
	b.hold = make(chan struct{})
	bOfA, _ := meet(t, a, b)

	sent := 0
	busy := time.Now().Add(1500 * time.Millisecond) // longer than b would wait for a silent peer: a slow one is not silent
	for time.Now().Before(busy) {
		switch err := bOfA.Send(poll(sent)); {
		case err == nil:
			sent++
		case !errors.Is(err, ErrBusy):
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if sent != 5+10 {
		t.Errorf("%d messages were taken, want the window of 5 and the queue of 10", sent)
	}
	if count(a.metrics.busy) == 0 {
		t.Error("busy is not counted")
	}
	close(b.hold)
	for i := range sent {
		if e := b.next(t, "message"); e.m.(*handoff.Message).Have != i {
			t.Fatalf("message %d: %+v", i, e.m)
		}
	}
	eventually(t, "all is acknowledged", bOfA.Flushed)
}

// The window in bytes holds as well.
func TestSlowReaderOfLargeMessages(t *testing.T) {
	a := start(t, hello(1), func(c *Config) { c.MaxMessageBytes, c.QueueBytes = 2048, 5000 })
	b := start(t, hello(2), func(c *Config) { c.MaxMessageBytes, c.WindowBytes = 2048, 4000 })
	b.hold = make(chan struct{})
	bOfA, _ := meet(t, a, b)
	message := &handoff.Message{Kind: handoff.MsgEnd, Reason: handoff.ReasonStop, Why: strings.Repeat("x", 1000)}
	sent := 0
	for quiet := 0; quiet < 100; time.Sleep(time.Millisecond) {
		if err := bOfA.Send(message); err == nil {
			sent, quiet = sent+1, 0
		} else {
			quiet++
		}
	}
	if sent != 3+4 {
		t.Errorf("%d messages of about 1030 bytes were taken, want 3 for the window of 4000 and 4 for the queue of 5000", sent)
	}
	close(b.hold)
	for range sent {
		b.next(t, "message")
	}
}

// A new connection has a new epoch, and nothing of the old one arrives over it.
func TestReconnect(t *testing.T) {
	a, b := start(t, hello(1), nil), start(t, hello(2), func(c *Config) { c.WindowMessages = 3 })
	b.hold = make(chan struct{}, 1000)
	bOfA, aOfB := meet(t, a, b)
	for i := range 50 { // of which b may take 3
		if err := bOfA.Send(poll(i)); err != nil {
			t.Fatal(err)
		}
	}
	b.hold <- struct{}{}
	if e := b.next(t, "message"); e.m.(*handoff.Message).Have != 0 {
		t.Fatalf("first came %+v", e.m)
	}
	aOfB.Close()
	if e := a.next(t, "lost"); e.peer != bOfA || !errors.Is(e.cause, ErrPeerClosed) {
		t.Errorf("a hears %v", e.cause)
	}
	bOfA2 := a.next(t, "connected").peer
	if bOfA2.Link().Epoch <= bOfA.Link().Epoch || bOfA2.Link().Incarnation != bOfA.Link().Incarnation {
		t.Errorf("link %v after %v", bOfA2.Link(), bOfA.Link())
	}
	if err := bOfA2.Send(poll(1000)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		b.hold <- struct{}{}
	}
	heard := 0
	e := <-b.events
	for ; e.what == "message" && e.peer == aOfB; e = <-b.events { // what was under way in the handler
		heard++
	}
	if heard > 1 || e.what != "lost" || e.peer != aOfB || !errors.Is(e.cause, ErrClosed) {
		t.Errorf("b hears %d messages more and then %s %v", heard, e.what, e.cause)
	}
	if e := b.next(t, "connected"); e.peer.Link().Epoch != bOfA2.Link().Epoch {
		t.Errorf("b has epoch %v", e.peer.Link())
	}
	if e := b.next(t, "message"); e.m.(*handoff.Message).Have != 1000 {
		t.Errorf("over the new connection comes %+v", e.m)
	}
	if err := bOfA.Send(poll(0)); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("send over the old connection: %v", err)
	}
}

// Nodes that do not go together say why, on both sides.
func TestIncompatible(t *testing.T) {
	other := hello(2)
	other.Layout, other.PageSize, other.PoolPages = [32]byte{7}, 32, 8
	a, b := start(t, hello(1), nil), start(t, other, nil)
	a.dial(t, b.addr)
	atA, atB := receive(t, a.refused), receive(t, b.refused)
	for _, err := range []error{atA, atB} {
		for _, want := range []string{"incompatible", "layout hash", "01000000", "07000000", "page size", "16", "32", "node 1", "node 2"} {
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in: %v", want, err)
			}
		}
	}
	if !strings.Contains(atA.Error(), "by the peer") || strings.Contains(atB.Error(), "by the peer") {
		t.Errorf("who refused: %v / %v", atA, atB)
	}
	if count(a.metrics.refused.WithLabelValues("incompatible")) == 0 || count(b.metrics.refused.WithLabelValues("incompatible")) == 0 {
		t.Error("not counted")
	}
	select {
	case e := <-a.events:
		t.Errorf("a hears %s", e.what)
	case e := <-b.events:
		t.Errorf("b hears %s", e.what)
	default:
	}
}

// Both dial each other: they end with one connection, and it stays.
func TestBothDial(t *testing.T) {
	a, b := start(t, hello(1), nil), start(t, hello(2), nil)
	a.dial(t, b.addr)
	b.dial(t, a.addr)
	last := func(r *recorder) (up *Peer) {
		for {
			select {
			case e := <-r.events:
				if up = e.peer; e.what == "lost" {
					up = nil
				}
			case <-time.After(300 * time.Millisecond):
				return up
			}
		}
	}
	ofA, ofB := last(a.recorder), last(b.recorder)
	if ofA == nil || ofB == nil || ofA.Link() != ofB.Self() || ofA.Dialed() == ofB.Dialed() {
		t.Fatalf("a is connected with %v, b with %v", ofA, ofB)
	}
	if err := ofA.Send(poll(1)); err != nil {
		t.Fatal(err)
	}
	b.next(t, "message")
	ofA.Close() // and then there is one again
	if a.next(t, "lost").peer != ofA || b.next(t, "lost").peer != ofB {
		t.Error("another one was lost")
	}
	if ofA, ofB = last(a.recorder), last(b.recorder); ofA == nil || ofB == nil || ofA.Link() != ofB.Self() {
		t.Fatalf("a is connected with %v, b with %v", ofA, ofB)
	}
}

// A process that starts again is lost and connected in its new life. While the old life is alive, a second process with its number is refused.
func TestRestart(t *testing.T) {
	b := start(t, hello(2), nil)
	a := start(t, hello(1), nil)
	_, aOfB := meet(t, a, b)

	newer := hello(1)
	newer.Incarnation = 0xfff
	second := start(t, newer, nil)
	second.dial(t, b.addr)
	if err := receive(t, second.refused); !strings.Contains(err.Error(), "node_in_use") || !strings.Contains(err.Error(), "a1") || !strings.Contains(err.Error(), "fff") {
		t.Errorf("the second process hears %v", err)
	}
	_ = a.Close()
	if e := b.next(t, "lost"); e.peer != aOfB {
		t.Errorf("%v was lost", e.peer)
	}
	if e := b.next(t, "connected"); e.peer.Link().Incarnation != 0xfff {
		t.Errorf("%v is connected", e.peer)
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	a := start(t, hello(1), nil)
	stop := a.dial(t, addr)
	for range 3 { // it goes on
		if err := receive(t, a.failed); !strings.Contains(err.Error(), "refused") {
			t.Errorf("%v", err)
		}
	}
	stop()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Dial(context.Background(), addr); !errors.Is(err, ErrClosed) {
		t.Errorf("dial after Close: %v", err)
	}
}

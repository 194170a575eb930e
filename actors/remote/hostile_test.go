package remote

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// raw is a peer that sends whatever a test wants, over gRPC in memory.
type raw struct {
	t *testing.T
	pb.LinkClient
	s grpc.BidiStreamingClient[pb.Frame, pb.Frame]
}

// target is a process that listens in memory, and raw peers of it can be made.
func target(t *testing.T, change func(*Config)) (*party, func() *raw) {
	t.Helper()
	p := &party{recorder: newRecorder(), refused: make(chan error, 1<<10)}
	cfg := Config{Self: hello(1), Handler: p.recorder, OnRefused: func(_ string, err error) { p.refused <- err }}
	if change != nil {
		change(&cfg)
	}
	var err error
	if p.Links, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 16)
	if err := p.Serve(listener); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, func() *raw {
		cc, err := grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cc.Close() })
		r := &raw{t: t, LinkClient: pb.NewLinkClient(cc)}
		if r.s, err = r.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func (r *raw) send(frames ...*pb.Frame) {
	r.t.Helper()
	for _, f := range frames {
		if err := r.s.Send(f); err != nil && err != io.EOF {
			r.t.Fatal(err)
		}
	}
}

// until is the next frame that is wants.
func (r *raw) until(is func(*pb.Frame) bool) *pb.Frame {
	r.t.Helper()
	for {
		f, err := r.s.Recv()
		if err != nil {
			r.t.Fatal(err)
		}
		if is(f) {
			return f
		}
	}
}

func (r *raw) goodbye() *pb.Goodbye {
	r.t.Helper()
	return r.until(func(f *pb.Frame) bool { return f.GetGoodbye() != nil }).GetGoodbye()
}

// greet does the hellos.
func (r *raw) greet(h Hello, epoch uint64) {
	r.t.Helper()
	r.send(helloOf(h, epoch))
	r.until(func(f *pb.Frame) bool { return f.GetHello() != nil })
	r.send(accept)
}

var accept = &pb.Frame{Frame: &pb.Frame_Accept{Accept: &pb.Accept{}}}

func helloOf(h Hello, epoch uint64) *pb.Frame {
	h.Protocol = Protocol
	return &pb.Frame{Frame: &pb.Frame_Hello{Hello: h.encode(epoch, 1<<20, credit{100, 1 << 20}.encode())}}
}

// payloadOf is the message poll(have) with a sequence number.
func payloadOf(sequence uint64, have int) *pb.Frame {
	p, err := wire.Encode(poll(have), nil)
	if err != nil {
		panic(err)
	}
	p.Sequence = sequence
	return batch(p)
}

func batch(ps ...*pb.Payload) *pb.Frame {
	return &pb.Frame{Frame: &pb.Frame_Batch{Batch: &pb.Batch{Payloads: ps}}}
}

// unknownFrame is a frame of a kind that a newer version may have, and unknownPayload a message.
func unknownFrame() *pb.Frame { return parse(&pb.Frame{}, 100) }

func unknownPayload(sequence uint64) *pb.Frame {
	return batch(parse(&pb.Payload{Sequence: sequence}, 101))
}

func parse[M proto.Message](m M, field protowire.Number) M {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	b = protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), []byte("new"))
	if err := proto.Unmarshal(b, m); err != nil {
		panic(err)
	}
	return m
}

// What the protocol does not allow ends the connection, with a goodbye that says what it was, and is counted.
func TestBreaches(t *testing.T) {
	ack := func(sequence uint64) *pb.Frame {
		return &pb.Frame{Frame: &pb.Frame_Ack{Ack: &pb.Ack{Sequence: sequence}}}
	}
	missing := batch(&pb.Payload{Sequence: 1, Message: &pb.Payload_Offer{Offer: &pb.Offer{}}})
	long := batch(parse(&pb.Payload{Sequence: 1, Trace: map[string]string{"": strings.Repeat("x", 2100)}}, 100))
	for _, c := range []struct {
		name   string
		frames []*pb.Frame
		want   string
	}{
		{"a gap", []*pb.Frame{payloadOf(1, 1), payloadOf(3, 3)}, "message 3 follows 1"},
		{"no number", []*pb.Frame{payloadOf(0, 1)}, "message 0 follows 0"},
		{"an ack of what was not sent", []*pb.Frame{ack(1)}, "message 1 is acknowledged, 0 were sent"},
		{"a second hello", []*pb.Frame{helloOf(hello(2), 9)}, "Frame_Hello after the hellos"},
		{"a second accept", []*pb.Frame{accept}, "Frame_Accept after the hellos"},
		{"a field that is missing", []*pb.Frame{missing}, "Offer.envelope is missing"},
		{"a long message", []*pb.Frame{long}, "a message of 21"},
		{"beyond the credit", []*pb.Frame{payloadOf(1, 1), payloadOf(2, 2), payloadOf(3, 3), payloadOf(4, 4)}, "message 4 exceeds the credit: 4 messages of 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dial := target(t, func(c *Config) { c.MaxMessageBytes, c.WindowMessages = 2048, 3 })
			p.hold = make(chan struct{})
			r := dial()
			r.greet(hello(2), 1)
			p.next(t, "connected")
			r.send(c.frames...)
			if g := r.goodbye(); g.GetCause() != pb.Cause_CAUSE_MALFORMED || !strings.Contains(g.GetText(), c.want) {
				t.Errorf("goodbye %v, want %q", g, c.want)
			}
			close(p.hold)
			for e := range p.events {
				if e.what == "lost" {
					break
				}
			}
			if count(p.metrics.lost.WithLabelValues("malformed")) != 1 {
				t.Error("not counted")
			}
			other := dial() // which is not disturbed
			other.greet(hello(3), 1)
			p.next(t, "connected")
		})
	}
}

// What the hellos must not be is refused before anything is told of.
func TestRefusedHellos(t *testing.T) {
	bad := hello(2)
	bad.PageSize = 0
	old := &pb.Frame{Frame: &pb.Frame_Hello{Hello: &pb.Hello{Protocol: 77}}}
	for _, c := range []struct {
		name  string
		frame *pb.Frame
		cause pb.Cause
		want  string
	}{
		{"no hello", accept, pb.Cause_CAUSE_MALFORMED, "Frame_Accept in place of Hello"},
		{"an unknown frame", unknownFrame(), pb.Cause_CAUSE_MALFORMED, "in place of Hello"},
		{"a payload", payloadOf(1, 1), pb.Cause_CAUSE_MALFORMED, "Frame_Batch in place of Hello"},
		{"a bad hello", helloOf(bad, 1), pb.Cause_CAUSE_MALFORMED, "page size is 0"},
		{"another version", old, pb.Cause_CAUSE_INCOMPATIBLE, "protocol version"},
		{"itself", helloOf(hello(1), 1), pb.Cause_CAUSE_INCOMPATIBLE, "both are node 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dial := target(t, nil)
			r := dial()
			r.send(c.frame)
			if g := r.goodbye(); g.GetCause() != c.cause || !strings.Contains(g.GetText(), c.want) {
				t.Errorf("goodbye %v, want %q", g, c.want)
			}
			if err := receive(t, p.refused); !strings.Contains(err.Error(), c.want) {
				t.Errorf("told of %v", err)
			}
			if len(p.events) != 0 {
				t.Errorf("the handler hears %v", (<-p.events).what)
			}
		})
	}
}

// A greater epoch takes the place of a smaller one; an equal or smaller one is refused, and told which one was seen.
func TestEpochs(t *testing.T) {
	p, dial := target(t, nil)
	first := dial()
	first.greet(hello(2), 5)
	one := p.next(t, "connected").peer
	for _, epoch := range []uint64{5, 4} {
		r := dial()
		r.send(helloOf(hello(2), epoch))
		if g := r.goodbye(); g.GetCause() != pb.Cause_CAUSE_EPOCH || g.GetLastEpoch() != 5 {
			t.Errorf("epoch %d: %v", epoch, g)
		}
		receive(t, p.refused)
	}
	first.send(payloadOf(1, 1)) // which is not disturbed
	p.next(t, "message")

	second := dial()
	second.greet(hello(2), 6)
	if g := first.goodbye(); g.GetCause() != pb.Cause_CAUSE_REPLACED {
		t.Errorf("the first connection hears %v", g)
	}
	if e := p.next(t, "lost"); e.peer != one {
		t.Errorf("%v was lost", e.peer)
	}
	two := p.next(t, "connected").peer
	if two.Link().Epoch != 6 {
		t.Errorf("%v is connected", two)
	}
	second.send(payloadOf(1, 2))
	if e := p.next(t, "message"); e.peer != two {
		t.Errorf("%v speaks", e.peer)
	}

	// The epoch is remembered when nobody is connected any more.
	if err := second.s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	p.next(t, "lost")
	r := dial()
	r.send(helloOf(hello(2), 6))
	if g := r.goodbye(); g.GetCause() != pb.Cause_CAUSE_EPOCH || g.GetLastEpoch() != 6 {
		t.Errorf("%v", g)
	}
	if got := count(p.metrics.refused.WithLabelValues("epoch")); got != 3 {
		t.Errorf("%d are counted, want 3", got)
	}
}

// A dialer whose epochs are too small learns it, and connects.
func TestDialerCatchesUp(t *testing.T) {
	p, dial := target(t, nil)
	early := dial()
	early.greet(hello(2), 1<<40)
	p.next(t, "connected")
	_ = early.s.CloseSend()
	p.next(t, "lost")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q, err := New(Config{Self: hello(1), Handler: p.recorder, Logger: nil})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if err := q.Serve(listener); err != nil {
		t.Fatal(err)
	}
	// The same registry of epochs, at an address that can be dialed.
	q.registry = p.registry
	d := start(t, hello(2), nil)
	d.dial(t, listener.Addr().String())
	if e := d.next(t, "connected"); e.peer.Link().Epoch != 1<<40+1 {
		t.Errorf("connected with epoch %v", e.peer.Link())
	}
	p.next(t, "connected")
}

// Twice the same number is one message; an unknown message is acknowledged and dropped, and an unknown frame disturbs nobody.
func TestDuplicatesAndUnknown(t *testing.T) {
	p, dial := target(t, nil)
	r := dial()
	r.greet(hello(2), 1)
	p.next(t, "connected")
	r.send(payloadOf(1, 1), payloadOf(1, 1), unknownFrame(), unknownPayload(2), payloadOf(2, 7), payloadOf(3, 3), payloadOf(1, 1), payloadOf(4, 4))
	for _, want := range []int{1, 3, 4} {
		if e := p.next(t, "message"); e.m.(*handoff.Message).Have != want {
			t.Errorf("came %+v, want %d", e.m, want)
		}
	}
	r.until(func(f *pb.Frame) bool { return f.GetAck().GetSequence() == 4 })
	if got := count(p.metrics.duplicates); got != 3 {
		t.Errorf("%d duplicates are counted, want 3", got)
	}
	for _, what := range []string{"message", "frame"} {
		if got := count(p.metrics.unknown.WithLabelValues(what)); got != 1 {
			t.Errorf("%d unknown %ss are counted, want 1", got, what)
		}
	}
}

// Who sends nothing is not waited for, before the hellos are done and after.
func TestSilence(t *testing.T) {
	p, dial := target(t, func(c *Config) { c.HelloTimeout = 50 * time.Millisecond })
	dial() // no hello at all
	if err := receive(t, p.refused); !strings.Contains(err.Error(), "broken") {
		t.Errorf("told of %v", err)
	}
	r := dial()
	r.send(helloOf(hello(2), 1)) // and then nothing
	if err := receive(t, p.refused); !strings.Contains(err.Error(), "broken") {
		t.Errorf("told of %v", err)
	}

	p, dial = target(t, func(c *Config) { c.PingEvery, c.LostAfter = 20*time.Millisecond, 100*time.Millisecond })
	r = dial()
	r.greet(hello(2), 2)
	p.next(t, "connected")
	if g := r.goodbye(); g.GetCause() != pb.Cause_CAUSE_SILENT {
		t.Errorf("goodbye %v", g)
	}
	if e := p.next(t, "lost"); !strings.Contains(e.cause.Error(), "nothing was heard for") {
		t.Errorf("lost for %v", e.cause)
	}
}

func TestTooMany(t *testing.T) {
	p, dial := target(t, func(c *Config) { c.MaxPeers = 2 })
	dial().greet(hello(2), 1)
	dial().greet(gateway(2), 1)
	p.next(t, "connected")
	p.next(t, "connected")
	r := dial()
	r.send(helloOf(hello(3), 1))
	if g := r.goodbye(); g.GetCause() != pb.Cause_CAUSE_TOO_MANY || !strings.Contains(g.GetText(), "2 peers are connected") {
		t.Errorf("%v", g)
	}
	dial().greet(hello(2), 2) // takes the place of its own
	p.next(t, "lost")
	p.next(t, "connected")
}

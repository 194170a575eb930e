package remote

import (
	"io"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// memory is a stream whose frames a test has written down.
type memory struct {
	frames []*pb.Frame
	before func() // called before each frame is handed out

	mu   sync.Mutex
	sent []*pb.Frame
	over chan struct{} // ends the stream
	once sync.Once
}

func (m *memory) Recv() (*pb.Frame, error) {
	if m.before != nil {
		m.before()
	}
	if len(m.frames) > 0 {
		f := m.frames[0]
		m.frames = m.frames[1:]
		return f, nil
	}
	<-m.over
	return nil, io.EOF
}

func (m *memory) Send(f *pb.Frame) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, f)
	return nil
}

func (m *memory) end() { m.once.Do(func() { close(m.over) }) }

// program reads frames of a peer from bytes, most of them nearly right.
func program(b []byte) (frames []*pb.Frame) {
	arg := func() int {
		if len(b) == 0 {
			return 0
		}
		v := b[0]
		b = b[1:]
		return int(v)
	}
	next := uint64(1)
	for instance := 0; len(b) > 0; instance++ {
		switch op := arg(); op % 12 {
		case 0:
			frames = append(frames, helloOf(hello(2), uint64(arg())))
		case 1:
			frames = append(frames, accept)
		case 2, 3:
			frames = append(frames, payloadOf(next, instance))
			next++
		case 4: // three together, of which one may come twice
			a, b := payloadOf(next, instance).GetBatch().GetPayloads()[0], payloadOf(next+1, 100+instance).GetBatch().GetPayloads()[0]
			frames = append(frames, [...]*pb.Frame{batch(a, b), batch(a, a, b), batch(b, a), batch(a, b, a)}[arg()%4])
			next += 2
		case 5: // any number near the next
			frames = append(frames, payloadOf(next+uint64(arg())-128, instance))
		case 6:
			frames = append(frames, unknownPayload(next))
			next++
		case 7:
			frames = append(frames, &pb.Frame{Frame: &pb.Frame_Ack{Ack: &pb.Ack{Sequence: uint64(arg()), Credit: &pb.Credit{Messages: uint64(arg()), Bytes: uint64(arg())}}}})
		case 8:
			frames = append(frames, &pb.Frame{Frame: &pb.Frame_Ping{Ping: &pb.Ping{Nonce: uint64(arg())}}}, &pb.Frame{Frame: &pb.Frame_Pong{Pong: &pb.Pong{Nonce: uint64(arg())}}})
		case 9:
			frames = append(frames, goodbye(cause(arg()%int(causeBroken)), "\xff bye", uint64(arg())))
		case 10: // any bytes that are a frame
			n := min(arg(), len(b))
			var f pb.Frame
			if proto.Unmarshal(b[:n], &f) == nil {
				frames = append(frames, &f)
			}
			b = b[n:]
		case 11:
			frames = append(frames, batch(&pb.Payload{Sequence: next, Message: &pb.Payload_Poll{Poll: &pb.Poll{Have: uint64(arg()) << 56}}}))
		}
	}
	return frames
}

// twin says which messages a peer that sends frames may get through at most, in this order: payloads after the hellos with the next number, until something is not allowed.
func twin(frames []*pb.Frame) (through []int) {
	if len(frames) < 2 || frames[0].GetHello() == nil || frames[1].GetAccept() == nil {
		return nil
	}
	next := uint64(1)
	var payloads []*pb.Payload
	for _, f := range frames[2:] {
		payloads = append(payloads, f.GetBatch().GetPayloads()...)
	}
	for _, p := range payloads {
		m, _, err := wire.Decode(p)
		switch {
		case p.GetSequence() > next || p.GetSequence() == 0 || err != nil && err != wire.ErrUnknown:
			return through
		case p.GetSequence() < next:
			continue
		case err == nil:
			through = append(through, haveOf(m))
		}
		next++
	}
	return through
}

func haveOf(m any) int {
	if h, ok := m.(*handoff.Message); ok {
		return h.Have
	}
	return -1
}

// FuzzHostilePeer: whatever frames a peer sends, in whatever order, nothing panics or stays behind, no message is delivered twice or out of order, and what waits stays within the window.
func FuzzHostilePeer(f *testing.F) {
	f.Add(false, []byte{0, 1, 1, 2, 2, 2, 6, 2, 7, 0, 1, 1, 8, 1, 1})
	f.Add(true, []byte{0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
	f.Add(false, []byte{0, 1, 1, 2, 5, 127, 5, 127, 2, 5, 129, 2})
	f.Add(false, []byte{0, 1, 1, 2, 9, 2, 1, 2})
	f.Add(false, []byte{0, 1, 1, 2, 11, 0, 2})
	f.Add(false, []byte{1, 0, 2, 2})
	f.Add(false, []byte{0, 1, 1, 10, 2, 0x08, 1, 10, 4, 0x3a, 2, 0x08, 1})
	f.Fuzz(func(t *testing.T, hold bool, b []byte) {
		const window = 4
		frames := program(b)
		through := twin(frames)
		h := newRecorder()
		if hold {
			h.hold = make(chan struct{})
		}
		l, err := New(Config{Self: hello(1), Handler: h, WindowMessages: window, MaxMessageBytes: 1024, WindowBytes: 1024})
		if err != nil {
			t.Fatal(err)
		}
		s := &memory{frames: frames, over: make(chan struct{})}
		s.before = func() {
			c := l.registry.connected(peerKey{Node, 2}, hello(2).Incarnation)
			if c == nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			size := 0
			for _, r := range c.in.queue {
				size += r.size
			}
			if len(c.in.queue) > window || size > 1024 {
				t.Errorf("%d messages of %d bytes wait", len(c.in.queue), size)
			}
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = l.serve(s, "memory", "", s.end)
			s.end()
		}()
		if hold {
			time.AfterFunc(time.Millisecond, func() { close(h.hold) })
		}
		time.AfterFunc(2*time.Millisecond, s.end)
		<-served
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		close(h.events)
		state := "new"
		for e := range h.events {
			switch {
			case e.what == "connected" && state == "new", e.what == "lost" && state == "connected":
				state = e.what
			case e.what == "message" && state == "connected" && len(through) > 0 && haveOf(e.m) == through[0]:
				through = through[1:]
			default:
				t.Fatalf("%s in state %q, with %+v; may come: %v", e.what, state, e.m, through)
			}
		}
		if state == "connected" {
			t.Error("never lost")
		}
	})
}

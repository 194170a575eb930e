package remote

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/kvasir-engine/kvasir/actors/wire"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

var (
	// ErrBusy: the queue to the peer is full. The message is not sent; whoever sent it tries again later, as it does with what had no answer.
	ErrBusy = errors.New("remote: the queue to the peer is full")
	// ErrTooLarge: the message is longer than this side sends or the peer takes.
	ErrTooLarge = errors.New("remote: message too large")
)

// credit is a limit on, or a count of, the payloads of one direction since the connection began.
type credit struct{ messages, bytes uint64 }

func (c credit) encode() *pb.Credit { return &pb.Credit{Messages: c.messages, Bytes: c.bytes} }

func decodeCredit(c *pb.Credit) credit { return credit{c.GetMessages(), c.GetBytes()} }

// outbound is the sending half of a connection: payloads that wait, and how far the peer lets them go. It has no lock of its own.
type outbound struct {
	maxMessage int    // bytes
	room       credit // what may wait
	queue      []*pb.Payload
	sizes      []int  // of each
	waiting    credit // in the queue
	pushed     uint64 // sequence number of the last
	sent       credit
	allowed    credit // by the peer
	acked      uint64
}

// push queues p as the next payload.
func (o *outbound) push(p *pb.Payload) error {
	p.Sequence = o.pushed + 1
	size := proto.Size(p)
	switch {
	case size > o.maxMessage:
		return fmt.Errorf("%w: %s has %d bytes, at most %d can be sent", ErrTooLarge, wire.Name(p), size, o.maxMessage)
	case o.waiting.messages >= o.room.messages || o.waiting.bytes+uint64(size) > o.room.bytes:
		return ErrBusy
	}
	o.pushed++
	o.queue, o.sizes = append(o.queue, p), append(o.sizes, size)
	o.waiting.messages++
	o.waiting.bytes += uint64(size)
	return nil
}

// next takes the next payload from the queue, if there is one and it is within the peer's credit, and tells its size. It must fit into room bytes, unless batchBytes of them are left: then it is alone.
func (o *outbound) next(room int) (*pb.Payload, int) {
	if len(o.queue) == 0 {
		return nil, 0
	}
	p, size := o.queue[0], o.sizes[0]
	after := credit{o.sent.messages + 1, o.sent.bytes + uint64(size)}
	if after.messages > o.allowed.messages || after.bytes > o.allowed.bytes || size > room && room < batchBytes {
		return nil, 0
	}
	o.queue[0] = nil
	o.queue, o.sizes = o.queue[1:], o.sizes[1:]
	if len(o.queue) == 0 {
		o.queue, o.sizes = nil, nil
	}
	o.sent = after
	o.waiting.messages--
	o.waiting.bytes -= uint64(size)
	return p, size
}

// ack takes the peer's acknowledgement and credit. An older one than seen before changes nothing.
func (o *outbound) ack(a *pb.Ack) error {
	if a.GetSequence() > o.sent.messages {
		return fmt.Errorf("message %d is acknowledged, %d were sent", a.GetSequence(), o.sent.messages)
	}
	c := decodeCredit(a.GetCredit())
	o.acked = max(o.acked, a.GetSequence())
	o.allowed = credit{max(o.allowed.messages, c.messages), max(o.allowed.bytes, c.bytes)}
	return nil
}

// received is a message that waits for its handler. Of an unknown kind it is nil.
type received struct {
	message any
	trace   wire.Trace
	name    string
	size    int
}

// inbound is the receiving half of a connection: messages that wait for the handler, and what has been promised to the peer. It has no lock of its own.
type inbound struct {
	window  credit
	granted credit // what the peer was told
	queue   []received
	taken   credit // taken.messages is the last sequence number too
	handled credit
	acked   uint64
}

func newInbound(window credit) inbound { return inbound{window: window, granted: window} }

// errDuplicate: a payload that was taken before.
var errDuplicate = errors.New("duplicate")

// take queues a payload of size bytes, whose message is m. An error but errDuplicate is the peer's breach of the protocol.
func (in *inbound) take(sequence uint64, r received) error {
	switch {
	case sequence != 0 && sequence <= in.taken.messages:
		return errDuplicate
	case sequence != in.taken.messages+1:
		return fmt.Errorf("message %d follows %d", sequence, in.taken.messages)
	}
	after := credit{in.taken.messages + 1, in.taken.bytes + uint64(r.size)}
	if after.messages > in.granted.messages || after.bytes > in.granted.bytes {
		return fmt.Errorf("message %d exceeds the credit: %d messages of %d, %d bytes of %d", sequence, after.messages, in.granted.messages, after.bytes, in.granted.bytes)
	}
	in.taken = after
	in.queue = append(in.queue, r)
	return nil
}

// pop takes the first message from the queue. It counts until done is told of it.
func (in *inbound) pop() (received, bool) {
	if len(in.queue) == 0 {
		return received{}, false
	}
	r := in.queue[0]
	in.queue[0] = received{}
	if in.queue = in.queue[1:]; len(in.queue) == 0 {
		in.queue = nil
	}
	return r, true
}

// done: the handler has handled r.
func (in *inbound) done(r received) {
	in.handled.messages++
	in.handled.bytes += uint64(r.size)
}

// ack is what the peer should be told now: nil if it has been told, or if more is about to be handled and it has enough credit until then.
func (in *inbound) ack() *pb.Ack {
	fresh := credit{in.handled.messages + in.window.messages, in.handled.bytes + in.window.bytes}
	little := fresh.messages-in.granted.messages < in.window.messages/4+1 && fresh.bytes-in.granted.bytes < in.window.bytes/4+1
	if in.acked == in.handled.messages || len(in.queue) > 0 && little {
		return nil
	}
	in.granted, in.acked = fresh, in.handled.messages
	return &pb.Ack{Sequence: in.acked, Credit: fresh.encode()}
}

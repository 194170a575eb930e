package remote

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/kvasir-engine/kvasir/actors/wire"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// stream is a gRPC stream of frames, seen from either side.
type stream interface {
	Send(*pb.Frame) error
	Recv() (*pb.Frame, error)
}

// linger is how long the end of a connection may take that the peer is told of.
const linger = 500 * time.Millisecond

// conn is one connection after its hellos. Four goroutines serve it: the reader and the writer of its stream, one that calls the handler, and a watch that pings and notices silence. fail ends
// all of them.
type conn struct {
	links  *Links
	peer   *Peer
	stream stream
	abort  func() // ends the stream at once, so that Send and Recv return
	after  *conn  // Connected is not called before that one's Lost has returned

	release func() // of a dialer, when run has returned

	wake    chan struct{} // for the writer: there is something to send
	arrived chan struct{} // for the caller of the handler: there is something to handle
	ended   chan struct{} // closed by fail
	written chan struct{} // closed when the writer has ended
	read    chan struct{} // closed when the reader has ended
	done    chan struct{} // closed when Lost has returned

	mu      sync.Mutex
	out     outbound
	in      inbound
	lostFor error // why, once ended is closed
	heard   time.Time
	nonce   uint64    // of the latest ping
	pingAt  time.Time // when it was sent, if it has no answer yet; else zero
	pingDue bool
	pong    uint64 // nonce of the peer's latest ping
	pongDue bool
	rtt     time.Duration
}

func newConn(l *Links, p *Peer, theirs *pb.Hello, s stream, abort func()) *conn {
	cfg := &l.cfg
	c := &conn{
		links: l, peer: p, stream: s, abort: abort,
		wake: make(chan struct{}, 1), arrived: make(chan struct{}, 1),
		ended: make(chan struct{}), written: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}),
		out: outbound{
			maxMessage: int(min(uint64(cfg.MaxMessageBytes), theirs.GetMaxMessageBytes(), theirs.GetCredit().GetBytes())),
			room:       credit{uint64(cfg.QueueMessages), uint64(cfg.QueueBytes)},
			allowed:    decodeCredit(theirs.GetCredit()),
		},
		in:    newInbound(cfg.window()),
		heard: time.Now(),
	}
	p.conn = c
	return c
}

func (c *conn) key() peerKey { return peerKey{c.peer.hello.Kind, c.peer.hello.ID} }

// run serves the connection until it has ended and its Lost has returned.
func (c *conn) run() {
	var all sync.WaitGroup
	all.Go(c.readFrames)
	all.Go(c.writeFrames)
	all.Go(c.watch)
	c.handle()
	all.Wait()
}

// fail ends the connection, if it has not ended, and says why.
func (c *conn) fail(cause error) {
	c.mu.Lock()
	if c.lostFor != nil {
		c.mu.Unlock()
		return
	}
	c.lostFor = cause
	close(c.ended)
	c.mu.Unlock()
	c.links.registry.remove(c)
}

// send queues a payload.
func (c *conn) send(p *pb.Payload) error {
	c.mu.Lock()
	if c.lostFor != nil {
		defer c.mu.Unlock()
		return c.lostFor
	}
	err := c.out.push(p)
	c.mu.Unlock()
	switch {
	case err == nil:
		signal(c.wake)
	case errors.Is(err, ErrBusy):
		c.links.metrics.busy.Inc()
	case errors.Is(err, ErrTooLarge):
		c.links.metrics.tooLarge.Inc()
	}
	return err
}

// readFrames takes frames until the stream ends.
func (c *conn) readFrames() {
	defer close(c.read)
	for {
		f, err := c.stream.Recv()
		if err != nil {
			c.fail(streamEnd(err))
			return
		}
		if isClosed(c.ended) {
			continue // until the stream has ended too
		}
		if err := c.take(f); err != nil {
			c.fail(err)
		}
	}
}

// streamEnd says why a stream ended.
func streamEnd(err error) error {
	switch code := status.Code(err); {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the stream ended", ErrPeerClosed)
	case code == codes.Internal || code == codes.ResourceExhausted: // bytes that are no frame, or too many of them
		return fmt.Errorf("%w: %v", ErrMalformed, err)
	default:
		return fmt.Errorf("%w: %v", ErrBroken, err)
	}
}

// take acts on one frame. An error ends the connection.
func (c *conn) take(f *pb.Frame) error {
	if b := f.GetBatch(); b != nil {
		for _, p := range b.GetPayloads() {
			if err := c.takePayload(p); err != nil {
				return err
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now()
	switch f := f.GetFrame().(type) {
	case *pb.Frame_Ack:
		if err := c.out.ack(f.Ack); err != nil {
			return fmt.Errorf("%w: %v", ErrMalformed, err)
		}
		signal(c.wake)
	case *pb.Frame_Ping:
		c.pong, c.pongDue = f.Ping.GetNonce(), true
		signal(c.wake)
	case *pb.Frame_Pong:
		if !c.pingAt.IsZero() && f.Pong.GetNonce() == c.nonce {
			c.rtt, c.pingAt = c.heard.Sub(c.pingAt), time.Time{}
			c.links.metrics.rtt.Observe(c.rtt.Seconds())
		}
	case *pb.Frame_Goodbye:
		c.links.raiseEpoch(f.Goodbye.GetLastEpoch())
		return fmt.Errorf("%w (%v): %s", ErrPeerClosed, decodeCause(f.Goodbye.GetCause()), cut(f.Goodbye.GetText()))
	case *pb.Frame_Batch:
	case nil:
		c.links.metrics.unknown.WithLabelValues("frame").Inc()
	default:
		return fmt.Errorf("%w: %T after the hellos", ErrMalformed, f)
	}
	return nil
}

// takePayload queues a message for the handler.
func (c *conn) takePayload(p *pb.Payload) error {
	m := c.links.metrics
	r := received{name: wire.Name(p), size: proto.Size(p)}
	if most := c.links.cfg.MaxMessageBytes; r.size > most {
		return fmt.Errorf("%w: a message of %d bytes, at most %d are taken", ErrMalformed, r.size, most)
	}
	var err error
	r.message, r.trace, err = wire.Decode(p)
	switch {
	case errors.Is(err, wire.ErrUnknown):
		m.unknown.WithLabelValues("message").Inc()
	case err != nil:
		return fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	c.mu.Lock()
	err = c.in.take(p.GetSequence(), r)
	c.mu.Unlock()
	switch {
	case errors.Is(err, errDuplicate):
		m.duplicates.Inc()
		return nil
	case err != nil:
		return fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	m.messages.WithLabelValues(r.name, "in").Inc()
	m.bytes.WithLabelValues("in").Add(float64(r.size))
	signal(c.arrived)
	return nil
}

// handle calls the handler: Connected, each message in turn, and Lost at the end.
func (c *conn) handle() {
	defer close(c.done)
	if c.after != nil {
		<-c.after.done
		c.after = nil
	}
	h := c.links.cfg.Handler
	h.Connected(c.peer)
	for {
		c.mu.Lock()
		r, ok := c.in.pop()
		if errors.Is(c.lostFor, ErrClosed) {
			ok = false // this side does not want to hear more
		}
		c.mu.Unlock()
		if !ok {
			select {
			case <-c.arrived:
				continue
			case <-c.ended:
			}
			c.mu.Lock()
			cause, more := c.lostFor, len(c.in.queue) > 0
			c.mu.Unlock()
			if more && !errors.Is(cause, ErrClosed) {
				continue // what came before the end
			}
			c.links.lost(c.peer, cause)
			h.Lost(c.peer, cause)
			return
		}
		if r.message != nil {
			h.Message(c.peer, r.message, r.trace)
		}
		c.mu.Lock()
		c.in.done(r)
		c.mu.Unlock()
		signal(c.wake)
	}
}

// writeFrames sends frames until the connection ends, and then says goodbye.
func (c *conn) writeFrames() {
	defer close(c.written)
	for {
		f := c.next()
		if f == nil {
			select {
			case <-c.wake:
			case <-c.ended:
				c.sayGoodbye()
				return
			}
			continue
		}
		if err := c.stream.Send(f); err != nil {
			c.fail(fmt.Errorf("%w: %v", ErrBroken, err))
			return // Recv tells why, and the watch ends the stream
		}
	}
}

// next is the frame to be sent now, nil if there is none.
func (c *conn) next() *pb.Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lostFor != nil {
		return nil
	}
	if c.pongDue {
		c.pongDue = false
		return &pb.Frame{Frame: &pb.Frame_Pong{Pong: &pb.Pong{Nonce: c.pong}}}
	}
	if c.pingDue {
		c.pingDue, c.pingAt = false, time.Now()
		c.nonce++
		return &pb.Frame{Frame: &pb.Frame_Ping{Ping: &pb.Ping{Nonce: c.nonce}}}
	}
	if a := c.in.ack(); a != nil {
		return &pb.Frame{Frame: &pb.Frame_Ack{Ack: a}}
	}
	return c.nextBatch()
}

// batchBytes is how long a frame grows by payloads that wait together. One payload may be longer.
const batchBytes = 64 << 10

// nextBatch is the frame of the payloads that may be sent now. The lock is held.
func (c *conn) nextBatch() *pb.Frame {
	var batch pb.Batch
	for bytes := 0; ; {
		p, size := c.out.next(batchBytes - bytes)
		if p == nil {
			break
		}
		bytes += size
		c.links.metrics.messages.WithLabelValues(wire.Name(p), "out").Inc()
		c.links.metrics.bytes.WithLabelValues("out").Add(float64(size))
		batch.Payloads = append(batch.Payloads, p)
	}
	if len(batch.Payloads) == 0 {
		return nil
	}
	return &pb.Frame{Frame: &pb.Frame_Batch{Batch: &batch}}
}

// sayGoodbye tells the peer why this side ends the connection, where it does.
func (c *conn) sayGoodbye() {
	why := lossCause(c.lostFor)
	if causes[why].pb != pb.Cause_CAUSE_UNSPECIFIED {
		_ = c.stream.Send(goodbye(why, c.lostFor.Error(), 0)) // the stream may be broken by now; nothing depends on it
	}
	if s, ok := c.stream.(interface{ CloseSend() error }); ok {
		_ = s.CloseSend()
	}
}

// lossCause is the cause that a loss has in metrics.
func lossCause(err error) cause {
	for _, c := range []struct {
		err   error
		cause cause
	}{{ErrClosed, causeClosed}, {ErrReplaced, causeReplaced}, {ErrMalformed, causeMalformed}, {ErrSilent, causeSilent}, {ErrPeerClosed, causePeer}} {
		if errors.Is(err, c.err) {
			return c.cause
		}
	}
	return causeBroken
}

// watch pings, notices silence, and sees to it that an ended connection does not linger.
func (c *conn) watch() {
	tick := time.NewTicker(c.links.cfg.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.ended:
			late := time.AfterFunc(linger, c.abort)
			<-c.written
			<-c.read
			late.Stop()
			return
		case now := <-tick.C:
			c.mu.Lock()
			silent := now.Sub(c.heard)
			if c.pingAt.IsZero() {
				c.pingDue = true
			}
			c.mu.Unlock()
			signal(c.wake)
			if silent > c.links.cfg.LostAfter {
				c.fail(fmt.Errorf("%w: nothing was heard for %v", ErrSilent, silent.Round(time.Millisecond)))
			}
		}
	}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// toText is s as protobuf takes a string.
func toText(s string) string { return strings.ToValidUTF8(s, "?") }

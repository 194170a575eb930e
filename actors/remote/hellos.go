package remote

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"

	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// The hellos of the acceptor.

type linkServer struct {
	pb.UnimplementedLinkServer
	links *Links
}

// Connect serves one connection from its first frame to its last.
func (s *linkServer) Connect(stream grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error {
	from, _ := peer.FromContext(stream.Context())
	info, ok := from.AuthInfo.(*connInfo)
	if !ok {
		panic("remote: a connection without the credentials of this package")
	}
	return s.links.serve(stream, from.Addr.String(), info.identity, info.abort)
}

// serve accepts a connection and returns when all has been written to it. The caller must then end the stream, so that its reader ends.
func (l *Links) serve(s stream, address, identity string, abort func()) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.all.Add(1) // Close, which comes later, waits
	l.mu.Unlock()
	defer l.all.Done()

	late := time.AfterFunc(l.cfg.HelloTimeout, abort)
	c, no := l.accept(s, address, identity, abort)
	late.Stop()
	if no != nil {
		l.refusedConnection(address, no)
		if no.byPeer || no.cause == causeBroken {
			return nil
		}
		return s.Send(no.goodbye())
	}
	l.all.Go(c.run)
	<-c.written
	return nil
}

// accept exchanges hellos with a dialer.
func (l *Links) accept(s stream, address, identity string, abort func()) (*conn, *refusal) {
	theirs, hello, no := l.recvHello(s)
	if no != nil {
		return nil, no
	}
	self := l.self()
	if err := Compatible(&self, hello); err != nil {
		return nil, &refusal{cause: causeIncompatible, text: err.Error()}
	}
	if no := l.registry.judge(peerKey{hello.Kind, hello.ID}, hello.Incarnation, theirs.GetEpoch()); no != nil {
		return nil, no
	}
	if err := s.Send(l.helloFrame(&self, theirs.GetEpoch())); err != nil {
		return nil, &refusal{cause: causeBroken, text: err.Error()}
	}
	f, no := recvFrame(s)
	if no != nil {
		return nil, no
	}
	if f.GetAccept() == nil {
		return nil, &refusal{cause: causeMalformed, text: fmt.Sprintf("%T in place of Accept", f.GetFrame())}
	}
	p := &Peer{links: l, hello: hello, epoch: theirs.GetEpoch(), identity: identity, address: address}
	c := newConn(l, p, theirs, s, abort)
	return c, l.begin(c)
}

// recvFrame takes a frame of the hellos, or says why there is none.
func recvFrame(s stream) (*pb.Frame, *refusal) {
	f, err := s.Recv()
	if err != nil {
		end := streamEnd(err)
		no := &refusal{cause: lossCause(end), text: end.Error()}
		if no.cause != causeMalformed {
			no.cause = causeBroken
		}
		return nil, no
	}
	if g := f.GetGoodbye(); g != nil {
		return nil, &refusal{cause: decodeCause(g.GetCause()), text: cut(g.GetText()), lastEpoch: g.GetLastEpoch(), byPeer: true}
	}
	return f, nil
}

func (l *Links) recvHello(s stream) (*pb.Hello, *Hello, *refusal) {
	f, no := recvFrame(s)
	if no != nil {
		return nil, nil, no
	}
	theirs := f.GetHello()
	if theirs == nil {
		return nil, nil, &refusal{cause: causeMalformed, text: fmt.Sprintf("%T in place of Hello", f.GetFrame())}
	}
	hello, err := decodeHello(theirs)
	if err != nil {
		return nil, nil, &refusal{cause: causeMalformed, text: err.Error()}
	}
	return theirs, hello, nil
}

func (l *Links) helloFrame(self *Hello, epoch uint64) *pb.Frame {
	return &pb.Frame{Frame: &pb.Frame_Hello{Hello: self.encode(epoch, l.cfg.MaxMessageBytes, l.cfg.window().encode())}}
}

// The hellos of the dialer.

// dial connects once. What it returns is one of: the connection; another one with the same peer, which is up, so that this one is not wanted; an error.
func (l *Links) dial(ctx context.Context, addr string) (c, instead *conn, err error) {
	cc, err := l.client(addr)
	if err != nil {
		return nil, nil, err
	}
	// The stream outlives ctx, so that the peer can be told of the end.
	streamContext, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := func() {
		cancel()
		_ = cc.Close()
	}
	early := context.AfterFunc(ctx, cancel)
	late := time.AfterFunc(l.cfg.HelloTimeout, cancel)
	c, instead, err = l.greet(streamContext, cc, addr, cancel)
	early()
	if !late.Stop() && err != nil && ctx.Err() == nil {
		err = fmt.Errorf("remote: no hello within %v: %w", l.cfg.HelloTimeout, err)
	}
	if c == nil {
		release()
		return nil, instead, err
	}
	c.release = release
	return c, nil, nil
}

// greet exchanges hellos with the acceptor at the other end of cc.
func (l *Links) greet(ctx context.Context, cc *grpc.ClientConn, addr string, abort func()) (c, instead *conn, err error) {
	s, err := pb.NewLinkClient(cc).Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	self, epoch := l.self(), l.nextEpoch()
	_ = s.Send(l.helloFrame(&self, epoch)) // Recv knows better why it fails
	theirs, hello, no := l.recvHello(s)
	if no == nil {
		c, instead, no = l.answer(s, &self, theirs, hello, epoch, addr, abort)
	}
	switch {
	case c != nil || instead != nil:
		return c, instead, nil
	case no.cause == causeBroken:
		return nil, nil, no.asError()
	case no.byPeer && no.cause == causeEpoch:
		l.raiseEpoch(no.lastEpoch)
	}
	return nil, nil, no
}

// answer accepts the acceptor's hello, or refuses it.
func (l *Links) answer(s grpc.BidiStreamingClient[pb.Frame, pb.Frame], self *Hello, theirs *pb.Hello, hello *Hello, epoch uint64, addr string, abort func()) (c, instead *conn, no *refusal) {
	refuse := func(no *refusal) *refusal {
		_ = s.Send(no.goodbye())
		_ = s.CloseSend()
		_, _ = s.Recv() // until the acceptor has taken it
		return no
	}
	if err := Compatible(self, hello); err != nil {
		return nil, nil, refuse(&refusal{cause: causeIncompatible, text: err.Error()})
	}
	if theirs.GetEpoch() != epoch {
		return nil, nil, refuse(&refusal{cause: causeMalformed, text: fmt.Sprintf("epoch %d was proposed, the hello has %d", epoch, theirs.GetEpoch())})
	}
	if instead := l.registry.connected(peerKey{hello.Kind, hello.ID}, hello.Incarnation); instead != nil {
		refuse(&refusal{cause: causeConnected, text: "connected already"})
		return nil, instead, nil
	}
	p := &Peer{links: l, hello: hello, epoch: epoch, address: addr, dialed: true, identity: identityOf(s.Context())}
	c = newConn(l, p, theirs, s, abort)
	if no := l.begin(c); no != nil {
		return nil, nil, refuse(no)
	}
	if err := s.Send(&pb.Frame{Frame: &pb.Frame_Accept{Accept: &pb.Accept{}}}); err != nil {
		c.fail(fmt.Errorf("%w: %v", ErrBroken, err))
	}
	return c, nil, nil
}

// client is a gRPC client of addr that connects once.
func (l *Links) client(addr string) (*grpc.ClientConn, error) {
	var creds credentials.TransportCredentials = insecure.NewCredentials()
	if l.cfg.TLS != nil {
		creds = credentials.NewTLS(l.cfg.TLS.client())
	}
	cc, err := grpc.NewClient("passthrough:///"+addr, append([]grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(l.frameBytes()), grpc.MaxCallSendMsgSize(l.frameBytes())),
		grpc.WithDisableServiceConfig(), grpc.WithNoProxy(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTime}),
	}, l.cfg.DialOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("remote: dial %s: %w", addr, err)
	}
	return cc, nil
}

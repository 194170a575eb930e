package remote

import (
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// rawAcceptor serves connections as a test wants.
type rawAcceptor struct {
	pb.UnimplementedLinkServer
	connect func(grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error
}

func (r *rawAcceptor) Connect(s grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error {
	return r.connect(s)
}

func listenRaw(t *testing.T, connect func(grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	pb.RegisterLinkServer(s, &rawAcceptor{connect: connect})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return l.Addr().String()
}

// A dialer is no more trusting than an acceptor, and goes on dialing.
func TestHostileAcceptor(t *testing.T) {
	for _, c := range []struct {
		name    string
		connect func(s grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error
		want    string
	}{
		{"no answer", func(s grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error { <-s.Context().Done(); return nil }, "no hello within 200ms"},
		{"an end", func(grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error { return nil }, "the stream ended"},
		{"an error", func(grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error {
			return status.Error(codes.Unavailable, "mood")
		}, "mood"},
		{"no hello", func(s grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error { return s.Send(payloadOf(1, 1)) }, "Frame_Batch in place of Hello"},
		{"another epoch", func(s grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error {
			_ = s.Send(helloOf(hello(2), 1<<50))
			_, _ = s.Recv()
			f, _ := s.Recv()
			if f.GetGoodbye().GetCause() != pb.Cause_CAUSE_MALFORMED {
				return status.Errorf(codes.Internal, "the dialer says %v", f)
			}
			return nil
		}, "was proposed, the hello has 1125899906842624"},
		{"an epoch that nobody has used", func(s grpc.BidiStreamingServer[pb.Frame, pb.Frame]) error {
			return s.Send(goodbye(causeEpoch, "epoch", 1<<64-1))
		}, "by the peer (epoch)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := start(t, hello(1), func(cfg *Config) {
				if cfg.HelloTimeout = patience; c.name == "no answer" {
					cfg.HelloTimeout = 200 * time.Millisecond
				}
			})
			stop := a.dial(t, listenRaw(t, c.connect))
			for range 2 {
				if err := receive(t, a.failed); !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			}
			stop()
			b := start(t, hello(2), nil)
			if bOfA, _ := meet(t, a, b); bOfA.Link().Epoch > 1000 {
				t.Errorf("the epoch is %d", bOfA.Link().Epoch)
			}
		})
	}
}

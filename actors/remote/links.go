package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/kvasir-engine/kvasir/internal/outage"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// Links are the connections of this process with its peers. It is a prometheus.Collector of what happens to them.
type Links struct {
	cfg      Config
	metrics  *metrics
	registry *registry
	logs     seldom

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	all    sync.WaitGroup // goroutines that Close waits for

	mu      sync.Mutex
	address string // where this process listens, for hellos
	epoch   uint64 // the greatest that was proposed or seen
	server  *grpc.Server
	serving bool
	closed  bool
}

// New makes Links that are connected with nobody yet. Close must be called when they are not wanted any more.
func New(cfg Config) (*Links, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	l := &Links{cfg: cfg, metrics: newMetrics(), registry: newRegistry(cfg.MaxPeers), address: cfg.Self.Address, logs: seldom{last: map[cause]time.Time{}}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, nil
}

// Listen takes connections at addr, "host:port", and returns the address with its real port. Without TLS only loopback addresses are allowed, unless Insecure.
func (l *Links) Listen(addr string) (net.Addr, error) {
	if err := MayUse(addr, l.cfg.TLS != nil, l.cfg.Insecure); err != nil {
		return nil, fmt.Errorf("remote: listen on %s: %w", addr, err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	return listener.Addr(), l.Serve(listener)
}

// Serve takes connections from listener, which is closed by Close. It does not wait. It may be called once.
func (l *Links) Serve(listener net.Listener) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.serving {
		_ = listener.Close()
		if l.closed {
			return ErrClosed
		}
		return errors.New("remote: this process listens already")
	}
	l.serving = true
	if l.address == "" {
		l.address = listener.Addr().String()
	}
	l.server = grpc.NewServer(append([]grpc.ServerOption{
		grpc.Creds(&serverCredentials{links: l}),
		grpc.MaxRecvMsgSize(l.frameBytes()), grpc.MaxSendMsgSize(l.frameBytes()),
		grpc.MaxConcurrentStreams(8),
		grpc.ConnectionTimeout(l.cfg.HelloTimeout),
		grpc.WaitForHandlers(true),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: time.Minute, Time: keepaliveTime, Timeout: keepaliveTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveTime / 2, PermitWithoutStream: true}),
	}, l.cfg.ServerOptions...)...)
	pb.RegisterLinkServer(l.server, &linkServer{links: l})
	pb.RegisterDescribeServer(l.server, &describeServer{links: l})
	server := l.server
	l.all.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			l.cfg.Logger.Error("peers are not listened to any more", zap.Error(err))
		}
	})
	return nil
}

// keepaliveTime is how often gRPC itself looks whether an idle connection is alive. Pings of our own are faster.
const keepaliveTime = 10 * time.Second

// frameBytes is the longest frame: the longest payload, and what is round it.
func (l *Links) frameBytes() int { return l.cfg.MaxMessageBytes + 1<<16 }

// window is what a peer may send ahead of the handler.
func (c *Config) window() credit { return credit{uint64(c.WindowMessages), uint64(c.WindowBytes)} }

// Close ends all connections, each with its Lost, and waits until nothing of them is left. It may be called again. It must not be called by the Handler.
func (l *Links) Close() error {
	l.mu.Lock()
	l.closed = true
	server := l.server
	l.mu.Unlock()
	l.cancel()
	for _, c := range l.registry.all() {
		c.fail(ErrClosed)
		<-c.written // so that the peer hears a goodbye
	}
	if server != nil {
		stop(server)
	}
	l.all.Wait()
	return nil
}

// stop ends a server: when its streams have been flushed, or when that takes too long.
func stop(server *grpc.Server) {
	late := time.AfterFunc(linger, server.Stop)
	defer late.Stop()
	server.GracefulStop()
}

// Dial connects with the process at addr, "host:port", and connects anew whenever the connection is lost, with back-off, until ctx ends or Close. It does not wait: the Handler is told. While the two are
// connected because the other side has dialed, it does nothing. A connection that is up when ctx ends stays up, and is not made anew when it is lost.
func (l *Links) Dial(ctx context.Context, addr string) error {
	if err := MayUse(addr, l.cfg.TLS != nil, l.cfg.Insecure); err != nil {
		return fmt.Errorf("remote: dial %s: %w", addr, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.all.Go(func() { l.keepDialing(ctx, addr) })
	return nil
}

func (l *Links) keepDialing(ctx context.Context, addr string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	wait := l.cfg.RedialLeast
	var out outage.Outage
	for ctx.Err() == nil {
		c, instead, err := l.dial(ctx, addr)
		if err == nil {
			out.Over(time.Now())
			wait = l.cfg.RedialLeast
		}
		switch {
		case c != nil:
			c.run()
			c.release()
		case instead != nil:
			select {
			case <-instead.ended:
			case <-ctx.Done():
			}
		case ctx.Err() == nil:
			l.dialFailed(addr, err, &out)
		}
		sleep(ctx, time.Duration((0.5+rand.Float64())*float64(wait)))
		wait = min(2*wait, l.cfg.RedialMost)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// nextEpoch is greater than any that this process has proposed or seen.
func (l *Links) nextEpoch() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
	return l.epoch
}

// raiseEpoch: epoch has been used with a peer. What cannot be honest is not believed.
func (l *Links) raiseEpoch(epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch < maxEpoch/2 {
		l.epoch = max(l.epoch, epoch)
	}
}

// self is this process's hello.
func (l *Links) self() Hello {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.cfg.Self
	h.Address = l.address
	return h
}

// begin enters a connection whose hellos are done, and ends the one whose place it takes.
func (l *Links) begin(c *conn) *refusal {
	before, after, no := l.registry.add(c)
	if no != nil {
		return no
	}
	c.after = after
	l.raiseEpoch(c.peer.epoch)
	if before != nil {
		before.fail(fmt.Errorf("%w: epoch %d", ErrReplaced, c.peer.epoch))
	}
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		c.fail(ErrClosed) // Close may have looked before it was entered
	}
	l.metrics.connected.WithLabelValues(c.peer.hello.Kind.String()).Inc()
	l.cfg.Logger.Info("peer connected", c.peer.fields()...)
	self := l.self()
	for _, w := range Warnings(&self, c.peer.hello) {
		l.cfg.Logger.Warn(w)
	}
	return nil
}

// lost counts and logs the end of a connection.
func (l *Links) lost(p *Peer, why error) {
	l.metrics.connected.WithLabelValues(p.hello.Kind.String()).Dec()
	l.metrics.lost.WithLabelValues(lossCause(why).String()).Inc()
	l.cfg.Logger.Info("peer lost", zap.Stringer("peer", p), zap.Error(why))
}

// refusedConnection counts and logs a connection that the acceptor has refused, or its dialer.
func (l *Links) refusedConnection(address string, why *refusal) {
	if why.cause != causeConnected && l.logs.allow(why.cause) {
		l.cfg.Logger.Warn("peer refused", zap.String("address", address), zap.Error(why))
	}
	l.refused(address, why)
}

// refused counts a connection that was refused, by whichever side.
func (l *Links) refused(address string, why *refusal) {
	l.metrics.refused.WithLabelValues(why.cause.String()).Inc()
	if l.cfg.OnRefused != nil {
		l.cfg.OnRefused(address, why)
	}
}

// dialFailed counts and logs a dial that came to nothing. A process that is not up yet, or not any more, is no reason to worry at first: a warning is what lasts, and what was refused.
func (l *Links) dialFailed(addr string, err error, out *outage.Outage) {
	var no *refusal
	if errors.As(err, &no) {
		l.refused(addr, no)
	}
	if lasted, say := out.Failed(time.Now(), reason(no)); say && (no == nil || no.cause != causeConnected) {
		level := zap.InfoLevel
		if no != nil || lasted >= outage.Every {
			level = zap.WarnLevel
		}
		l.cfg.Logger.Log(level, "a peer cannot be connected with; it is dialed again until it can", zap.String("address", addr), zap.Duration("for", lasted), zap.Error(err))
	}
	if l.cfg.OnDialFailed != nil {
		l.cfg.OnDialFailed(addr, err)
	}
}

// reason is what makes a failure of a dial another one than the one before: the texts have numbers in them that change.
func reason(no *refusal) string {
	if no == nil {
		return "unreachable"
	}
	return no.cause.String()
}

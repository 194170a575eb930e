package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir"
)

const (
	serveSequences    = 64 // computed together, unless --max-num-seqs says otherwise
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	// lastBytes is how long clients have to take what is left of their answers once all of these are computed.
	lastBytes = 10 * time.Second
)

// httpFlags say how clients are served.
type httpFlags struct {
	Host string `default:"127.0.0.1" placeholder:"ADDRESS" help:"Address to listen at; 0.0.0.0 or :: is every one (default: 127.0.0.1)."`
	// Not KVASIR_PORT: Kubernetes sets that to tcp://... for a Service named kvasir.
	Port         *int          `env:"KVASIR_HTTP_PORT" placeholder:"PORT" help:"Port to listen at; 0 picks a free one (default: 8080)."`
	APIKeys      string        `name:"api-keys" placeholder:"FILE" help:"File with the API keys that are let in, one a line: KEY or KEY TENANT (default: everyone is let in)."`
	CORSOrigin   string        `name:"cors-origin" placeholder:"ORIGIN" help:"Origin whose web pages may call the API, or * (default: none)."`
	DrainTimeout time.Duration `default:"30s" placeholder:"TIME" help:"How long answers may go on after SIGTERM or Ctrl-C (default: 30s)."`
}

type serveCmd struct {
	httpFlags   `group:"HTTP"`
	engineFlags `group:"Engine"`
	nodeFlags   `group:"Cluster"`
	logFlags    `group:"Log"`
	traceFlags  `group:"Log"`
}

// Help is the second paragraph of the command's help.
func (*serveCmd) Help() string {
	return envHelp + " Only --port has another name, KVASIR_HTTP_PORT. A node of a cluster (--disaggregation-mode) listens for HTTP only if --port is given."
}

// Run serves until a signal comes or the engine fails.
func (c *serveCmd) Run(a *app) error {
	cfg, err := c.config(64)
	if err != nil {
		return err
	}
	if cfg.Node, err = c.node(); err != nil {
		return err
	}
	log, err := c.logger(a.err)
	if err != nil {
		return err
	}
	cfg.Logger = log
	list, closing, err := c.membership(log)
	if err != nil {
		return err
	}
	defer closing()
	service := "kvasir"
	if cfg.Node != nil {
		service += "-" + cfg.Node.Mode
		cfg.Node.Membership = list
	}
	provider, flush, err := c.provider(service)
	if err != nil {
		return err
	}
	defer flush()
	cfg.TracerProvider = provider
	return c.serve(a, log, cfg.Node == nil, "loading", func(ctx context.Context) (engine, error) { return a.load(ctx, cfg) })
}

// serve answers clients by the engine that open makes, until a signal comes or the engine fails. Without always it listens only if --port was given.
func (c *httpFlags) serve(a *app, log *zap.Logger, always bool, doing string, open func(context.Context) (engine, error)) error {
	if c.DrainTimeout < 0 {
		return usage("--drain-timeout is %v; it must be 0s or more", c.DrainTimeout)
	}
	opts, err := c.options()
	if err != nil {
		return err
	}
	var l net.Listener
	if c.Port != nil || always {
		if l, err = c.listen(); err != nil {
			return err
		}
		if c.APIKeys == "" && !loopback(l.Addr()) {
			log.Warn("everyone who reaches this address is let in; --api-keys says who may", zap.Stringer("address", l.Addr()))
		}
	}
	s := newServing(l, log, c.DrainTimeout)
	s.doing = doing
	// Two: a second signal must not be lost while the first is worked on.
	signals := make(chan os.Signal, 2)
	a.notify(signals, os.Interrupt, syscall.SIGTERM)
	return s.run(open, opts, signals)
}

func (c *httpFlags) options() (opts []kvasir.HandlerOption, err error) {
	if c.APIKeys != "" {
		keys, err := kvasir.LoadAPIKeys(c.APIKeys)
		if err != nil {
			return nil, fmt.Errorf("--api-keys: %w", err)
		}
		opts = append(opts, kvasir.WithAPIKeys(keys))
	}
	if c.CORSOrigin != "" {
		opts = append(opts, kvasir.WithCORSOrigin(c.CORSOrigin))
	}
	return opts, nil
}

// listen takes the port before anything slow is done.
func (c *httpFlags) listen() (net.Listener, error) {
	port := 8080
	if c.Port != nil {
		port = *c.Port
	}
	if err := check(bound{"port", float64(port), 0, 65535}); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(port)))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--port %d is taken: another program listens at %s; name another port, or 0 for a free one", port, c.Host)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--port %d may not be used by this user; take one over 1023", port)
	}
	return nil, fmt.Errorf("--host %s: cannot listen there: %w", c.Host, err)
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// serving is a server's life: loading, serving, draining.
type serving struct {
	log     *zap.Logger
	drain   time.Duration
	doing   string // before there is an engine
	url     string // empty: there is no HTTP
	http    *http.Server
	handler atomic.Pointer[http.Handler]
	stopped chan error // why the HTTP server stopped
}

// newServing answers connections from now on: with 503 until there is an engine. Without l it answers none.
func newServing(l net.Listener, log *zap.Logger, drain time.Duration) *serving {
	s := &serving{log: log, drain: drain, stopped: make(chan error, 1)}
	h := loading(readHeaderTimeout)
	s.handler.Store(&h)
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          zap.NewStdLog(log),
	}
	if l != nil {
		s.url = "http://" + l.Addr().String()
		go func() { s.stopped <- s.http.Serve(l) }()
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*s.handler.Load()).ServeHTTP(w, r)
}

// loading answers while there is no engine. The http.Server reads bodies that this leaves unread; they have readTimeout to come.
func loading(readTimeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			// Writers without deadlines go without.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"error":{"message":"the model is being loaded","type":"server_error","param":null,"code":"loading"}}`+"\n")
	})
}

func (s *serving) run(open func(context.Context) (engine, error), opts []kvasir.HandlerOption, signals <-chan os.Signal) error {
	defer s.http.Close()
	if s.url != "" {
		s.log.Info(s.doing+"; requests are answered with 503 until this is done", zap.String("url", s.url))
	} else {
		s.log.Info(s.doing)
	}
	eng, err := s.load(open, signals)
	if err != nil || eng == nil {
		return err
	}
	s.ready(eng, opts)
	select {
	case sig := <-signals:
		return s.shutdown(eng, sig, signals)
	case <-eng.Failed():
		return s.failed(eng)
	case err := <-s.stopped:
		return errors.Join(fmt.Errorf("the HTTP server stopped: %w", err), eng.Close())
	}
}

// ready says what is served, and where.
func (s *serving) ready(eng engine, opts []kvasir.HandlerOption) {
	m := eng.Model()
	fields := []zap.Field{zap.String("model", m.Name), zap.Int("context", m.ContextLength)}
	if addr := eng.NodeAddr(); addr != "" {
		s.log.Info("this node of the cluster is ready; Ctrl-C ends it", append(fields, zap.String("node", addr))...)
	}
	if s.url != "" {
		h := eng.Handler(opts...)
		s.handler.Store(&h)
		s.log.Info("serving OpenAI's API; Ctrl-C ends it", append([]zap.Field{zap.String("url", s.url)}, fields...)...)
	}
}

// load opens the engine. Without an engine and an error, a signal came first.
func (s *serving) load(open func(context.Context) (engine, error), signals <-chan os.Signal) (engine, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type opened struct {
		eng engine
		err error
	}
	done := make(chan opened, 1)
	go func() {
		eng, err := open(ctx)
		done <- opened{eng, err}
	}()
	select {
	case o := <-done:
		return o.eng, o.err
	case sig := <-signals:
		s.log.Info("stopped while "+s.doing, zap.Stringer("signal", sig))
		return nil, nil
	case err := <-s.stopped:
		return nil, fmt.Errorf("the HTTP server stopped: %w", err)
	}
}

// shutdown lets the answers under way end, and returns as soon as another signal comes.
func (s *serving) shutdown(eng engine, sig os.Signal, signals <-chan os.Signal) error {
	s.log.Info("draining: new requests are refused; a second signal ends at once", zap.Stringer("signal", sig), zap.Duration("drain_timeout", s.drain))
	done := make(chan error, 1)
	go func() { done <- s.end(eng) }()
	select {
	case err := <-done:
		if err == nil {
			s.log.Info("drained: every answer was finished")
		}
		return err
	case sig := <-signals:
		return fmt.Errorf("%v: ended at once; answers under way were cut off", sig)
	case <-eng.Failed():
		return s.failed(eng)
	}
}

// end drains the engine while HTTP still answers, if only to refuse, then ends HTTP, then closes the engine.
func (s *serving) end(eng engine) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	err := eng.Drain(ctx)
	if err != nil {
		err = fmt.Errorf("--drain-timeout of %v is over and answers were cut off: %w", s.drain, err)
		err = errors.Join(err, eng.Close()) // tells the requests that are left
	}
	return errors.Join(err, s.endHTTP(), eng.Close())
}

// endHTTP lets the clients take the last bytes of their answers.
func (s *serving) endHTTP() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastBytes)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return fmt.Errorf("clients that did not read their answers were cut off: %w", errors.Join(err, s.http.Close()))
	}
	return nil
}

// failed ends the process's life after a part of the engine failed: its supervisor starts another, with fresh memory. The engine is not closed, since nobody
// knows what still works in it; what it holds ends with the process.
func (s *serving) failed(eng engine) error {
	why := eng.Health()
	if why == nil {
		why = kvasir.ErrEngineFailed
	}
	s.log.Error("the engine failed", zap.Error(why))
	return errors.Join(fmt.Errorf("%w; start kvasir again", why), s.endHTTP())
}

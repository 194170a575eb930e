package kvasir

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors"
	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/server"
)

// GatewayConfig says which nodes a gateway sends requests to. Nodes or Membership is required; the zero value of every other field stands for the default that is named.
type GatewayConfig struct {
	// Nodes are the addresses of prefill and decode nodes, "host:port". What each is it says itself.
	Nodes []string
	// Membership is a list in which further nodes are found, while the gateway runs. nil: none. The caller closes it after the gateway.
	Membership Membership
	// ServedModelName is the name clients use. Empty: the nodes'.
	ServedModelName string
	// Security says who the nodes must be.
	Security Security
	// DecodeLocalPrefill is the longest prompt, in tokens, that a decode node computes itself where no prefill node can be reached. 0: none.
	DecodeLocalPrefill int
	// LostAfter is the silence after which a node is taken to be lost; what it was doing is given up when it has stayed lost for as long again. 0: 5 seconds.
	LostAfter time.Duration
	// RequestTimeout bounds a request, from its arrival to its last token. 0: 10 minutes.
	RequestTimeout time.Duration

	// Logger receives what operators should know; prompts and answers never. nil: nothing is logged.
	Logger *zap.Logger
	// TracerProvider receives a span for each request, whose context goes to the nodes. nil: no traces.
	TracerProvider trace.TracerProvider
	// Registry receives the gateway's metrics. nil: a registry of its own, which Handler serves at /metrics.
	Registry *prometheus.Registry
}

// Gateway answers requests by nodes of a cluster. It has no model and keeps nothing that cannot be made again; several may serve one cluster. All methods may be called from many goroutines.
type Gateway struct {
	front
	log      *zap.Logger
	registry *prometheus.Registry
	gateway  *actors.Gateway
}

// OpenGateway connects with the nodes, and returns when the first of them has told vocabulary and chat template; or with ctx's error. What it returns must be closed.
func OpenGateway(ctx context.Context, cfg GatewayConfig) (*Gateway, error) {
	switch {
	case len(cfg.Nodes) == 0 && cfg.Membership == nil:
		return nil, errors.New("kvasir: Nodes is empty; a gateway needs the address of at least one node (--prefill, --decode), or a list of nodes (--etcd)")
	case cfg.DecodeLocalPrefill < 0:
		return nil, fmt.Errorf("kvasir: DecodeLocalPrefill (--decode-local-prefill) is %d; it must not be negative", cfg.DecodeLocalPrefill)
	case cfg.RequestTimeout < 0:
		return nil, fmt.Errorf("kvasir: RequestTimeout (--request-timeout) is %v; it must not be negative", cfg.RequestTimeout)
	}
	if err := validateLostAfter(cfg.LostAfter); err != nil {
		return nil, err
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = 10 * time.Minute
	}
	g := &Gateway{log: cfg.Logger, registry: cfg.Registry}
	g.traces = cfg.TracerProvider
	if g.log == nil {
		g.log = zap.NewNop()
	}
	if g.registry == nil {
		g.registry = newRegistry()
	}
	tls, err := cfg.Security.tls()
	if err != nil {
		return nil, fmt.Errorf("kvasir: %w", err)
	}
	key, err := cfg.Security.key()
	if err != nil {
		return nil, err
	}
	g.gateway, err = actors.StartGateway(ctx, actors.GatewayConfig{
		Remote: remote.Config{TLS: tls, Insecure: cfg.Security.Insecure, LostAfter: cfg.LostAfter, PingEvery: cfg.LostAfter / pingsBeforeLost}, Nodes: cfg.Nodes, Discover: discover(cfg.Membership), Key: key, Timeout: cfg.RequestTimeout,
		Handoff: handoff.GatewayConfig{LocalPrompts: int64(cfg.DecodeLocalPrefill), NodeGrace: int64(cfg.LostAfter)}, Logger: g.log, Registerer: g.registry,
	})
	if err != nil {
		return nil, err
	}
	if err := g.learn(cfg.ServedModelName); err != nil {
		return nil, errors.Join(err, g.gateway.Close())
	}
	return g, nil
}

// learn makes what stands between clients and tokens, from what the first node has told.
func (g *Gateway) learn(name string) error {
	hello := g.gateway.Hello()
	file, err := gguf.Parse("the nodes' vocabulary", g.gateway.Vocabulary())
	if err != nil {
		return err
	}
	if err := g.loadVocabulary(file, g.log); err != nil {
		return err
	}
	if name == "" {
		name = hello.Model
	}
	g.info = ModelInfo{Name: name, VocabSize: g.tok.Size(), ContextLength: hello.MaxModelLen, Created: time.Now()}
	g.submit = func(spec actors.Spec) (answering, error) {
		s, err := g.gateway.Submit(spec)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil
}

// Health is nil while the gateway works.
func (g *Gateway) Health() error { return g.gateway.Health() }

// Ready is nil while new requests are taken and there are nodes to serve them.
func (g *Gateway) Ready() error { return g.gateway.Ready() }

// Failed is closed if the gateway fails. All requests have been told then; open another to go on.
func (g *Gateway) Failed() <-chan struct{} { return g.gateway.Failed() }

// Handler is the OpenAI-compatible HTTP API, as Engine.Handler.
func (g *Gateway) Handler(opts ...HandlerOption) http.Handler {
	return newHandler(g, g.log, g.registry, g.traces, opts)
}

// Registry has the gateway's metrics.
func (g *Gateway) Registry() *prometheus.Registry { return g.registry }

// Drain refuses new requests and waits for those under way until ctx ends. The error says how many choices are left then.
func (g *Gateway) Drain(ctx context.Context) error {
	if left, err := g.gateway.Drain(ctx); err != nil {
		return fmt.Errorf("kvasir: %d choices had not ended: %w", left, err)
	}
	return nil
}

// Shutdown is Drain, then Close.
func (g *Gateway) Shutdown(ctx context.Context) error { return errors.Join(g.Drain(ctx), g.Close()) }

// Close ends all requests with ErrClosed. Closing twice is harmless.
func (g *Gateway) Close() error { return g.gateway.Close() }

// newHandler serves HTTP for an engine or a gateway.
func newHandler(e server.Engine, log *zap.Logger, registry *prometheus.Registry, traces trace.TracerProvider, opts []HandlerOption) http.Handler {
	cfg := server.Config{Logger: log, Gatherer: registry, Registerer: registry}
	for _, opt := range opts {
		opt(&cfg)
	}
	h := server.New(e, cfg)
	if traces == nil {
		return h
	}
	return otelhttp.NewHandler(h, "http", otelhttp.WithTracerProvider(traces), otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithFilter(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/") }))
}

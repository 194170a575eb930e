package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

const (
	defaultMaxBodyBytes = 32 << 20
	// A client that takes nothing for writeTimeout, or sends a body for longer than readTimeout, loses its connection.
	writeTimeout = 30 * time.Second
	readTimeout  = 2 * time.Minute
	// maxConcurrentPrompts bounds how many prompts of one request the engine sees at a time.
	maxConcurrentPrompts = 16
)

// Config holds what a server may be given. The zero value serves everyone, with neither logs nor metrics.
type Config struct {
	Logger       *zap.Logger           // nil: none
	Gatherer     prometheus.Gatherer   // what GET /metrics shows; nil: no /metrics
	Registerer   prometheus.Registerer // takes the HTTP metrics (kvasir_http_...); nil: none
	APIKeys      *Keys                 // who may call /v1/...; nil: everyone, as tenant "default"
	MaxBodyBytes int64                 // longest request body; 0: 32 MiB
	CORSOrigin   string                // value of Access-Control-Allow-Origin ("*" or one origin); empty: no CORS headers
}

// New returns the HTTP API over e.
//
// The handler sets read and write deadlines on the connection itself, so that long streams work whatever timeouts the http.Server has, a client that
// stopped reading is let go after 30 seconds, and one whose body does not come after 2 minutes.
func New(e Engine, cfg Config) http.Handler {
	s := &server{
		engine:       e,
		log:          cfg.Logger,
		keys:         cfg.APIKeys,
		maxBody:      cfg.MaxBodyBytes,
		cors:         cfg.CORSOrigin,
		metrics:      newMetrics(cfg.Registerer),
		fingerprint:  fingerprint(e.Model()),
		writeTimeout: writeTimeout,
		readTimeout:  readTimeout,
		now:          time.Now,
	}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	if s.maxBody == 0 {
		s.maxBody = defaultMaxBodyBytes
	}
	s.routes = map[string]route{
		"/v1/chat/completions": {"POST", s.chat},
		"/v1/completions":      {"POST", s.completions},
		"/v1/models":           {"GET", s.listModels},
		"/health":              {"GET", s.health},
		"/ready":               {"GET", s.ready},
	}
	if cfg.Gatherer != nil {
		h := promhttp.HandlerFor(cfg.Gatherer, promhttp.HandlerOpts{ErrorLog: zap.NewStdLog(s.log)})
		s.routes["/metrics"] = route{"GET", func(w *response, r *http.Request) error { h.ServeHTTP(w, r); return nil }}
	}
	return s
}

// handler answers r. An error is answered by the caller, in OpenAI's shape, if the answer has not begun.
type handler func(w *response, r *http.Request) error

type route struct {
	method string // GET stands for HEAD too
	handle handler
}

type server struct {
	engine      Engine
	log         *zap.Logger
	keys        *Keys
	maxBody     int64
	cors        string
	metrics     *metrics
	routes      map[string]route
	fingerprint string

	writeTimeout time.Duration
	readTimeout  time.Duration
	now          func() time.Time
}

const modelPath = "/v1/models/"

// find returns the route of a path, and its name in logs and metrics.
func (s *server) find(path string) (route, string, bool) {
	if rt, ok := s.routes[path]; ok {
		return rt, path, true
	}
	if len(path) > len(modelPath) && strings.HasPrefix(path, modelPath) {
		return route{"GET", s.getModel}, modelPath + "{model}", true
	}
	return route{}, "other", false
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	begin := s.now()
	w := newResponse(rw, s.writeTimeout)
	if r.Body != http.NoBody {
		// The http.Server reads the rest of a body that a refusal left, and would wait for it for ever.
		_ = w.control.SetReadDeadline(time.Now().Add(s.readTimeout))
	}
	rt, name, found := s.find(r.URL.Path)
	s.metrics.inFlight.Inc()
	defer s.metrics.inFlight.Dec()
	defer func() {
		s.metrics.requests.WithLabelValues(name, fmt.Sprint(w.code())).Inc()
		s.log.Debug("http request", zap.String("method", r.Method), zap.String("path", name), zap.Int("code", w.code()),
			zap.String("id", w.Header().Get(requestIDHeader)), zap.Duration("took", s.now().Sub(begin)))
	}()
	defer s.recover(w, name)

	if err := s.serve(w, r, rt, found); err != nil {
		s.fail(w, r, err)
	}
}

func (s *server) serve(w *response, r *http.Request, rt route, found bool) error {
	if s.cors != "" {
		if done := s.crossOrigin(w, r); done {
			return nil
		}
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") && s.keys != nil {
		tenant, ok := s.keys.tenantOf(r)
		if !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			return unauthorized()
		}
		r = r.WithContext(context.WithValue(r.Context(), tenantKey{}, tenant))
	}
	if !found {
		return notFound(r)
	}
	if r.Method != rt.method && !(rt.method == "GET" && r.Method == "HEAD") {
		allow := rt.method
		if allow == "GET" {
			allow = "GET, HEAD"
		}
		w.Header().Set("Allow", allow)
		return methodNotAllowed(r, allow)
	}
	return rt.handle(w, r)
}

// crossOrigin adds the headers that let pages of s.cors read answers, and answers the browser's question beforehand (the preflight).
func (s *server) crossOrigin(w *response, r *http.Request) (done bool) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", s.cors)
	h.Set("Access-Control-Expose-Headers", requestIDHeader+", Retry-After")
	if s.cors != "*" {
		h.Add("Vary", "Origin")
	}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	// "*" would not cover Authorization, so the names asked for are given back.
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// recover turns a panic of a handler into a 500. Where an answer has begun the connection is cut instead, so that the client sees that it is not whole.
// The panic's value is logged only where it is the runtime's own, for others might quote a prompt.
func (s *server) recover(w *response, name string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.metrics.panics.Inc()
	what := fmt.Sprintf("%T", p)
	if e, ok := p.(runtime.Error); ok {
		what = e.Error()
	}
	s.log.Error("panic in an HTTP handler", zap.String("path", name), zap.String("panic", what), zap.ByteString("stack", debug.Stack()))
	if w.begun() {
		panic(http.ErrAbortHandler)
	}
	w.fail(internal())
}

type tenantKey struct{}

// tenant is who asks: the owner of the API key, or "default".
func tenant(r *http.Request) string {
	if t, ok := r.Context().Value(tenantKey{}).(string); ok {
		return t
	}
	return defaultTenant
}

// fingerprint names what answers, so that clients that keep seeds notice a change of model.
func fingerprint(m ModelInfo) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", m.Name, m.ContextLength, m.VocabSize))
	return "fp_" + hex.EncodeToString(sum[:5])
}

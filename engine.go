package kvasir

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors"
	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/sched"
	"github.com/kvasir-engine/kvasir/server"
	"github.com/kvasir-engine/kvasir/transport"
)

// ModelInfo describes the model that an engine serves.
type ModelInfo = server.ModelInfo

// protocolVersion is part of the layout hash: nodes that differ in it never exchange pages.
const protocolVersion = 1

// Engine serves one model. All methods may be called from many goroutines.
type Engine struct {
	front
	cfg      Config
	log      *zap.Logger
	registry *prometheus.Registry

	file  *gguf.File
	dev   gpu.Device
	model *model.Model
	node  *actors.Node

	shared    *transport.Slab // pages that other processes of this machine can read; nil: none
	announced *announcement   // nil: this node is in no list

	closeOnce sync.Once
}

// Open loads the model and starts the engine. What it returns must be closed.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Engine{front: front{traces: cfg.TracerProvider}, cfg: cfg, log: cfg.Logger, registry: cfg.Registry}
	if e.registry == nil {
		e.registry = newRegistry()
	}
	if err := e.load(); err != nil {
		return nil, errors.Join(err, e.release())
	}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, e.release())
	}
	return e, nil
}

// newRegistry has the metrics of the process itself.
func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// load reads the model file: weights onto the device, vocabulary, chat template.
func (e *Engine) load() (err error) {
	var name string
	if e.file, name, err = openModel(e.cfg); err != nil {
		return err
	}
	if err := e.loadVocabulary(e.file, e.log); err != nil {
		return err
	}
	if e.dev, err = host.New(e.cfg.Threads); err != nil {
		return err
	}
	e.model, err = model.Load(e.file, e.dev, model.Options{MaxRows: e.cfg.MaxNumBatchedTokens, MaxLogits: e.cfg.MaxNumSeqs, Progress: e.cfg.Progress})
	if err != nil {
		return err
	}
	if have, want := e.tok.Size(), e.model.Config().Vocab; have > want {
		return fmt.Errorf("kvasir: %s: the vocabulary has %d tokens but the embedding only %d rows", e.file.Name(), have, want)
	}
	e.info = ModelInfo{Name: name, VocabSize: e.model.Config().Vocab, Created: time.Now()}
	return nil
}

// start sizes the pool and starts the node.
func (e *Engine) start() error {
	free := freeMemory()
	layout, p, lowered, err := planNode(e.cfg, e.model.Config(), free)
	if err != nil {
		return err
	}
	if lowered {
		e.log.Warn("the model's context does not fit a quarter of the free memory; requests may be shorter only (set --max-model-len or --max-total-tokens to decide yourself)",
			zap.Int("context", e.model.Config().ContextLength), zap.Int("max_model_len", p.maxModelLen), zap.Int64("free_mib", free>>20))
	}
	e.info.ContextLength = p.maxModelLen
	cfg := actors.Config{
		Device: e.dev, Model: e.model, Layout: layout, LayoutHash: layoutHash(e.model, layout, e.dev.KernelSet()),
		Sched: sched.Config{PageSize: layout.PageSize, TotalPages: p.pages, MaxModelLen: p.maxModelLen, MaxNumSeqs: e.cfg.MaxNumSeqs,
			MaxBatchedTokens: e.cfg.MaxNumBatchedTokens, MaxPrefillChunk: e.cfg.MaxPrefillChunk, MaxQueue: e.cfg.MaxQueue, TargetStepNanos: e.cfg.TargetITL.Nanoseconds()},
		PrefixCache: !e.cfg.DisablePrefixCache, Scrub: e.cfg.Scrub, Logger: e.log,
		Registerer: e.registry, Labels: prometheus.Labels{"model_name": e.info.Name},
	}
	if _, err := rand.Read(cfg.Key[:]); err != nil {
		return fmt.Errorf("kvasir: draw a key for the names of cached pages: %w", err)
	}
	if e.cfg.Node != nil {
		if err := e.cluster(&cfg); err != nil {
			return err
		}
	}
	if e.node, err = actors.Start(cfg); err != nil {
		return err
	}
	e.submit = func(spec actors.Spec) (answering, error) {
		s, err := e.node.Submit(spec)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	e.announce()
	e.log.Debug("ready", zap.String("model", e.info.Name), zap.String("arch", e.model.Config().Arch), zap.Int("max_model_len", p.maxModelLen),
		zap.Int("pool_tokens", p.tokens(layout)), zap.Int("pages", p.pages), zap.Int("page_size", layout.PageSize),
		zap.Int64("kv_bytes", int64(p.pages)*int64(layout.PageBytes())), zap.Int64("weights_bytes", e.model.WeightBytes()))
	return nil
}

// layoutHash is SHA-256 over everything that must be equal for a page to mean the same on two nodes.
func layoutHash(m *model.Model, l gpu.KVLayout, kernels string) [32]byte {
	h := sha256.New()
	digest := m.Digest() // rope is among the metadata it covers
	h.Write(digest[:])
	for _, v := range []int{protocolVersion, l.Layers, l.KVHeads, l.HeadDim, l.PageSize, int(l.Type)} {
		binary.Write(h, binary.LittleEndian, int64(v))
	}
	h.Write([]byte(kernels))
	return [32]byte(h.Sum(nil))
}

// Health is nil while the engine works. After a failure of one of its parts (an error that is ErrEngineFailed) it never does again.
func (e *Engine) Health() error { return e.node.Health() }

// Ready is nil while new requests are taken.
func (e *Engine) Ready() error { return e.node.Ready() }

// Failed is closed if a part of the engine fails. All requests have been told then; open another Engine to go on.
func (e *Engine) Failed() <-chan struct{} { return e.node.Failed() }

// Handler is the OpenAI-compatible HTTP API, with /health, /ready and /metrics. Without options it answers everyone, as tenant "default".
func (e *Engine) Handler(opts ...HandlerOption) http.Handler {
	return newHandler(e, e.log, e.registry, e.traces, opts)
}

// A HandlerOption says how Handler differs from what it is without.
type HandlerOption func(*server.Config)

// APIKeys are the keys that may call /v1/..., each with the tenant it speaks for.
type APIKeys = server.Keys

// LoadAPIKeys reads a file with one key a line: "KEY" or "KEY TENANT". Empty lines and what follows a # are skipped.
func LoadAPIKeys(path string) (*APIKeys, error) { return server.LoadKeys(path) }

// WithAPIKeys lets only those call /v1/... who send one of keys.
func WithAPIKeys(keys *APIKeys) HandlerOption {
	return func(c *server.Config) { c.APIKeys = keys }
}

// WithCORSOrigin lets pages of this origin ("https://example.com", or "*" for any) call the API from a browser.
func WithCORSOrigin(origin string) HandlerOption {
	return func(c *server.Config) { c.CORSOrigin = origin }
}

// Registry has the engine's metrics.
func (e *Engine) Registry() *prometheus.Registry { return e.registry }

// Drain refuses new requests and waits for those under way until ctx ends. A node is taken out of the list of nodes first. The error says how many sequences are left then. Nobody is cut off before Close.
func (e *Engine) Drain(ctx context.Context) error {
	e.unannounce()
	if left, err := e.node.Drain(ctx); err != nil {
		return fmt.Errorf("kvasir: %d sequences had not ended: %w", left, err)
	}
	return nil
}

// Shutdown is Drain, then Close.
func (e *Engine) Shutdown(ctx context.Context) error { return errors.Join(e.Drain(ctx), e.Close()) }

// Close ends all requests with ErrClosed and frees everything. Closing twice is harmless.
func (e *Engine) Close() error { return e.release() }

func (e *Engine) release() error {
	e.unannounce()
	var errs []error
	if e.node != nil {
		errs = append(errs, e.node.Close())
	}
	errs = append(errs, e.freeShared())
	e.closeOnce.Do(func() {
		if e.model != nil {
			errs = append(errs, e.model.Close())
		}
		if e.dev != nil {
			errs = append(errs, e.dev.Close())
		}
		if e.file != nil {
			errs = append(errs, e.file.Close())
		}
	})
	return errors.Join(errs...)
}

// CPUKernels names the set of kernels that engines on this machine compute with.
func CPUKernels() (string, error) {
	dev, err := host.New(1)
	if err != nil {
		return "", err
	}
	return dev.KernelSet(), dev.Close()
}

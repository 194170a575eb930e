package kvasir

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/gpu"
)

// Config says what an engine is made of. The zero value serves the built-in model with defaults that suit the machine.
type Config struct {
	// Model is the path of a GGUF file. Empty: the built-in model.
	Model string
	// ServedModelName is the name clients use. Empty: the file's name without .gguf, or "kvasir-mini".
	ServedModelName string
	// Threads that compute. 0: one a CPU.
	Threads int

	// PageSize is the number of token slots of a KV page: a power of two, 16 to 128. 0: 16.
	PageSize int
	// KVCacheDType is the type of keys and values: "f16" or "f32". Empty: "f16".
	KVCacheDType string
	// MaxModelLen bounds prompt and answer together, in tokens. 0: the model's context, lowered (with a warning) to what the pool holds.
	MaxModelLen int
	// MaxTotalTokens is the size of the page pool in tokens. 0: room for MaxNumSeqs requests of full length, within a quarter of the free memory.
	MaxTotalTokens int
	// MaxNumSeqs bounds the sequences that are computed together. 0: 64.
	MaxNumSeqs int
	// MaxNumBatchedTokens is the token budget of one step. 0: 512.
	MaxNumBatchedTokens int
	// MaxPrefillChunk bounds the prompt tokens of one sequence in a step. 0: the whole budget.
	MaxPrefillChunk int
	// TargetITL is how long answers that grow should wait for each next token at most (inter-token latency): while there are some, prompts are computed in smaller pieces, as
	// the steps of this machine turn out to need it, though never in less than a page a step. It makes first tokens come later, and changes no answer. 0: no target; a step has as many prompt tokens
	// as MaxNumBatchedTokens and MaxPrefillChunk allow.
	TargetITL time.Duration
	// MaxQueue bounds the sequences that wait. 0: 1024.
	MaxQueue int
	// DisablePrefixCache turns off the reuse of pages between requests with a common beginning (of one tenant).
	DisablePrefixCache bool
	// Scrub zeroes pages when they are freed.
	Scrub bool

	// Node makes the engine a node of a cluster. nil: it works alone.
	Node *NodeConfig

	// Logger receives what operators should know; prompts and answers never. nil: nothing is logged.
	Logger *zap.Logger
	// Registry receives the engine's metrics. nil: a registry of its own, which Handler serves at /metrics.
	Registry *prometheus.Registry
	// TracerProvider receives a span for each request, and at a node of a cluster for each part of one. nil: no traces.
	TracerProvider trace.TracerProvider
	// Progress is called while a model is loaded, with bytes done and in all. nil: not called.
	Progress func(done, total int64)
}

// maxBatchedTokens bounds a step: the activations of a batch are allocated when the model is loaded.
const maxBatchedTokens = 1 << 17

// withDefaults fills in what does not depend on the model, and refuses what cannot be.
func (c Config) withDefaults() (Config, error) {
	positive := func(name string, v *int, def int) error {
		if *v < 0 {
			return fmt.Errorf("kvasir: %s is %d; it must not be negative", name, *v)
		}
		if *v == 0 {
			*v = def
		}
		return nil
	}
	for _, f := range []struct {
		name string
		v    *int
		def  int
	}{
		{"Threads", &c.Threads, 0}, {"PageSize", &c.PageSize, 16}, {"MaxModelLen", &c.MaxModelLen, 0}, {"MaxTotalTokens", &c.MaxTotalTokens, 0},
		{"MaxNumSeqs", &c.MaxNumSeqs, 64}, {"MaxNumBatchedTokens", &c.MaxNumBatchedTokens, 512}, {"MaxPrefillChunk", &c.MaxPrefillChunk, 0},
		{"MaxQueue", &c.MaxQueue, 1024},
	} {
		if err := positive(f.name, f.v, f.def); err != nil {
			return c, err
		}
	}
	if c.TargetITL < 0 {
		return c, fmt.Errorf("kvasir: TargetITL is %v; it must not be negative", c.TargetITL)
	}
	if c.PageSize < 16 || c.PageSize > 128 || c.PageSize&(c.PageSize-1) != 0 {
		return c, fmt.Errorf("kvasir: PageSize is %d; it must be 16, 32, 64 or 128", c.PageSize)
	}
	if c.MaxNumBatchedTokens < c.MaxNumSeqs {
		return c, fmt.Errorf("kvasir: MaxNumBatchedTokens is %d and MaxNumSeqs %d; a step must have room for one token of each sequence", c.MaxNumBatchedTokens, c.MaxNumSeqs)
	}
	if c.MaxNumBatchedTokens > maxBatchedTokens {
		return c, fmt.Errorf("kvasir: MaxNumBatchedTokens is %d; it must be at most %d", c.MaxNumBatchedTokens, maxBatchedTokens)
	}
	if _, err := parseKVType(c.KVCacheDType); err != nil {
		return c, err
	}
	if c.Node != nil {
		if err := c.Node.validate(); err != nil {
			return c, err
		}
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return c, nil
}

func parseKVType(s string) (gpu.Type, error) {
	switch strings.ToLower(s) {
	case "", "auto", "f16", "fp16", "float16", "half":
		return gpu.F16, nil
	case "f32", "fp32", "float32", "float":
		return gpu.F32, nil
	}
	return 0, fmt.Errorf("kvasir: KVCacheDType is %q; it must be f16 or f32", s)
}

// pool is the size of a node's page pool.
type pool struct {
	maxModelLen int
	pages       int
}

func (p pool) tokens(l gpu.KVLayout) int { return p.pages * l.PageSize }

// planPool decides how many pages there are and how long a request may be, from the model's context, the configuration (with defaults) and the bytes of memory
// that are free. What the configuration names is taken as it is, and refused if a prompt that fits the context could not fit the pool; what it leaves open
// is made to fit. lowered says that the model's context was cut.
func planPool(c Config, l gpu.KVLayout, context int, free int64) (p pool, lowered bool, err error) {
	size := l.PageSize
	up := func(tokens int) int { return (tokens + size - 1) / size }
	p.maxModelLen = context
	if c.MaxModelLen > 0 {
		if c.MaxModelLen > context {
			return p, false, fmt.Errorf("kvasir: MaxModelLen (--max-model-len) is %d, but the model's context is %d tokens", c.MaxModelLen, context)
		}
		p.maxModelLen = c.MaxModelLen
	}
	budget := int(free / 4 / int64(l.PageBytes()))
	switch {
	case c.MaxTotalTokens > 0:
		p.pages = c.MaxTotalTokens / size // a part of a page holds nothing
	default:
		p.pages = min(c.MaxNumSeqs*up(p.maxModelLen), budget)
	}
	if p.pages*size >= p.maxModelLen {
		return p, false, nil
	}
	switch {
	case c.MaxTotalTokens > 0:
		return p, false, fmt.Errorf("kvasir: the pool holds %d tokens (MaxTotalTokens, --max-total-tokens), less than the %d that one request may have (MaxModelLen, --max-model-len); "+
			"raise --max-total-tokens to %d or lower --max-model-len to %d", p.pages*size, p.maxModelLen, up(p.maxModelLen)*size, p.pages*size)
	case c.MaxModelLen > 0:
		// The operator asked for this length: it needs more than a quarter of the free memory, so be it, if there is that much.
		p.pages = up(p.maxModelLen)
		if need := int64(p.pages) * int64(l.PageBytes()); need > free {
			return p, false, fmt.Errorf("kvasir: one request of %d tokens (MaxModelLen, --max-model-len) needs %d MiB of KV memory, but only %d MiB are free; "+
				"lower --max-model-len to %d", p.maxModelLen, need>>20, free>>20, free/int64(l.PageBytes())*int64(size))
		}
		return p, false, nil
	case p.pages < 1:
		return p, false, fmt.Errorf("kvasir: a page of %d tokens needs %d KiB of KV memory, more than a quarter of the %d MiB that are free; "+
			"set MaxModelLen (--max-model-len)", size, l.PageBytes()>>10, free>>20)
	default:
		p.maxModelLen = p.pages * size
		return p, true, nil
	}
}

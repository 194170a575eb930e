package kvasir

import (
	"path/filepath"
	"strings"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/model/builtin"
	"github.com/kvasir-engine/kvasir/model/gguf"
)

// Plan is the sum that decides whether an engine may start: what its model needs, and what there is. Sizes are in bytes unless they say tokens.
type Plan struct {
	Model string `json:"model"` // the name clients use
	Arch  string `json:"arch"`

	WeightBytes int64 `json:"weight_bytes"` // of all weights
	StepBytes   int64 `json:"step_bytes"`   // of the weights that a step reads, whatever its batch

	KVCacheDType string `json:"kv_cache_dtype"` // type of keys and values
	TokenBytes   int    `json:"kv_token_bytes"` // keys and values of one token, over all layers
	PageSize     int    `json:"page_size"`      // tokens of a page
	PageBytes    int    `json:"page_bytes"`
	Pages        int    `json:"pages"`
	PoolTokens   int    `json:"pool_tokens"` // Pages*PageSize
	PoolBytes    int64  `json:"pool_bytes"`  // Pages*PageBytes

	ContextLength int   `json:"context_length"` // the model's own, in tokens
	MaxModelLen   int   `json:"max_model_len"`  // prompt and answer of one request together, in tokens
	FreeBytes     int64 `json:"free_bytes"`     // memory that is free now

	// Refusal is why an engine would not start; nil if it would. It names the numbers and the flags that would change them.
	Refusal error `json:"-"`
}

// NewPlan makes the plan that Open would start an engine by, from the metadata of the model file alone. An error means that there can be no plan, since the configuration
// or the file cannot be used. An engine that is really started finds a little less memory free (its activations are allocated first), which changes only what the
// configuration leaves open.
func NewPlan(cfg Config) (Plan, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Plan{}, err
	}
	file, name, err := openModel(cfg)
	if err != nil {
		return Plan{}, err
	}
	defer file.Close() // it was only read
	m, err := model.Inspect(file)
	if err != nil {
		return Plan{}, err
	}
	free := freeMemory()
	layout, pool, _, refusal := planNode(cfg, m.Config, free)
	return Plan{
		Model: name, Arch: m.Arch, WeightBytes: m.WeightBytes, StepBytes: m.StepBytes,
		KVCacheDType: strings.ToLower(layout.Type.String()), TokenBytes: layout.TokenBytes(), PageSize: layout.PageSize, PageBytes: layout.PageBytes(),
		Pages: pool.pages, PoolTokens: pool.tokens(layout), PoolBytes: int64(pool.pages) * int64(layout.PageBytes()),
		ContextLength: m.ContextLength, MaxModelLen: pool.maxModelLen, FreeBytes: free, Refusal: refusal,
	}, nil
}

// planNode decides the layout of KV pages and the size of the pool: the one place that says whether a node may start. See planPool.
func planNode(c Config, m model.Config, free int64) (l gpu.KVLayout, p pool, lowered bool, err error) {
	kv, err := parseKVType(c.KVCacheDType)
	if err != nil {
		return l, p, false, err
	}
	l = m.Layout(c.PageSize, kv)
	p, lowered, err = planPool(c, l, m.ContextLength, free)
	return l, p, lowered, err
}

// openModel opens the model file, or the built-in one, and says what clients call it.
func openModel(c Config) (file *gguf.File, name string, err error) {
	if c.Model == "" {
		name = builtin.Name
		file, err = gguf.Parse("the built-in model", builtin.GGUF)
	} else {
		name = strings.TrimSuffix(filepath.Base(c.Model), ".gguf")
		file, err = gguf.Open(c.Model)
	}
	if c.ServedModelName != "" {
		name = c.ServedModelName
	}
	return file, name, err
}

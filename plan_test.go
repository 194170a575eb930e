package kvasir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// An engine opens exactly when its plan has no refusal, and then with the plan's context.
func TestThePlanIsWhatOpenDoes(t *testing.T) {
	for _, cfg := range []Config{
		{}, {MaxModelLen: 100}, {MaxTotalTokens: 4096}, {MaxTotalTokens: 512}, {MaxTotalTokens: 512, MaxModelLen: 512}, {MaxTotalTokens: 511, MaxModelLen: 511, PageSize: 32},
		{MaxModelLen: 1025}, {KVCacheDType: "f32", MaxNumSeqs: 2, ServedModelName: "another"},
	} {
		plan, err := NewPlan(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Open(t.Context(), cfg)
		if (err == nil) != (plan.Refusal == nil) || err != nil && err.Error() != plan.Refusal.Error() {
			t.Errorf("%+v: planned %v, opened %v", cfg, plan.Refusal, err)
		}
		if err != nil {
			continue
		}
		if m := e.Model(); m.ContextLength != plan.MaxModelLen || m.Name != plan.Model || e.model.WeightBytes() != plan.WeightBytes {
			t.Errorf("%+v: planned %+v, opened %+v", cfg, plan, m)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPlanNeedsAFile(t *testing.T) {
	_, err := NewPlan(Config{Model: filepath.Join(t.TempDir(), "missing.gguf")})
	mention(t, err, "missing.gguf")
	_, err = NewPlan(Config{PageSize: 20})
	mention(t, err, "PageSize")
}

// A pool of 681,280 tokens under a context of 1,048,576 once went into production, where prompts between the two were refused.
func TestAPoolUnderTheContextIsRefusedBeforeTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.gguf")
	if err := os.WriteFile(path, longModel(1_048_576), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(Config{Model: path, MaxTotalTokens: 681_280})
	if err != nil {
		t.Fatal(err)
	}
	mention(t, plan.Refusal, "681280", "1048576", "raise --max-total-tokens to 1048576", "lower --max-model-len to 681280")
	if plan.PoolTokens != 681_280 || plan.MaxModelLen != 1_048_576 || plan.ContextLength != 1_048_576 || plan.Pages != 42_580 || plan.TokenBytes != 2*2*32*2 {
		t.Errorf("the numbers that the refusal is about: %+v", plan)
	}
	for _, cured := range []Config{{Model: path, MaxTotalTokens: 1_048_576}, {Model: path, MaxTotalTokens: 681_280, MaxModelLen: 681_280}} {
		if plan, err := NewPlan(cured); err != nil || plan.Refusal != nil {
			t.Errorf("%+v: %v, %v", cured, err, plan.Refusal)
		}
	}
}

// longModel is a model of one layer, two heads and this context, without a vocabulary: enough to plan for, not to run.
func longModel(context uint32) []byte {
	f := (&gguftest.File{}).Key("general.architecture", "llama").Key("llama.block_count", uint32(1)).Key("llama.context_length", context).
		Key("llama.embedding_length", uint32(64)).Key("llama.feed_forward_length", uint32(64)).Key("llama.attention.head_count", uint32(2)).
		Key("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	zeros := make([]byte, 64*64*4)
	matrix := func(name string) { f.Tensor(name, gpu.F32, zeros, 64, 64) }
	vector := func(name string) { f.Tensor(name, gpu.F32, zeros[:64*4], 64) }
	matrix("token_embd.weight")
	for _, name := range strings.Fields("attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down") {
		matrix("blk.0." + name + ".weight")
	}
	vector("blk.0.attn_norm.weight")
	vector("blk.0.ffn_norm.weight")
	vector("output_norm.weight")
	return f.Bytes()
}

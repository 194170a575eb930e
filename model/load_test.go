package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/gguf"
)

func newDevice(t testing.TB) gpu.Device {
	t.Helper()
	dev, err := host.New(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

func mustLoad(t testing.TB, f *modelFile, o Options) *Model {
	t.Helper()
	m, err := Load(f.parse(t), newDevice(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestErrorsOfLoadSayWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	for _, c := range []struct {
		name   string
		arch   string
		change func(f *modelFile)
		want   []string
	}{
		{"unknown architecture", "llama", func(f *modelFile) { f.keys["general.architecture"] = "mamba" }, []string{`"mamba"`, "llama, qwen2"}},
		{"no architecture", "llama", func(f *modelFile) { delete(f.keys, "general.architecture") }, []string{"general.architecture is missing"}},
		{"key missing", "llama", func(f *modelFile) { delete(f.keys, "llama.block_count") }, []string{"llama.block_count is missing", "whole number"}},
		{"key of another type", "llama", func(f *modelFile) { f.keys["llama.embedding_length"] = "many" }, []string{"llama.embedding_length", "whole number"}},
		{"no heads", "llama", func(f *modelFile) { f.keys["llama.attention.head_count"] = uint32(0) }, []string{"llama.attention.head_count", "from 1"}},
		{"too many layers", "llama", func(f *modelFile) { f.keys["llama.block_count"] = uint32(1025) }, []string{"llama.block_count is 1025", "1 to 1024"}},
		{"too many heads", "llama", func(f *modelFile) { f.keys["llama.attention.head_count"] = uint32(1 << 30) },
			[]string{"llama.attention.head_count is 1073741824", "1 to 4096"}},
		{"too many key heads", "llama", func(f *modelFile) { f.keys["llama.attention.head_count_kv"] = uint32(1 << 31) },
			[]string{"llama.attention.head_count_kv is 2147483648", "1 to 4096"}},
		{"heads too wide", "llama", func(f *modelFile) { f.keys["llama.attention.key_length"] = uint32(1<<31 - 1) },
			[]string{"llama.attention.key_length is 2147483647", "1 to 4096"}},
		{"values too wide", "llama", func(f *modelFile) { f.keys["llama.attention.value_length"] = uint32(4097) },
			[]string{"llama.attention.value_length is 4097", "1 to 4096"}},
		{"heads too wide without a key", "llama", func(f *modelFile) {
			f.keys["llama.embedding_length"], f.keys["llama.attention.head_count"] = uint32(1<<17), uint32(2)
			f.keys["llama.attention.head_count_kv"] = uint32(2)
		}, []string{"llama.embedding_length is 131072", "llama.attention.head_count 2", "65536 dimensions", "4096"}},
		{"too wide", "llama", func(f *modelFile) { f.keys["llama.embedding_length"] = uint32(1<<17 + 1) }, []string{"llama.embedding_length is 131073", "1 to 131072"}},
		{"feed-forward too wide", "qwen2", func(f *modelFile) { f.keys["qwen2.feed_forward_length"] = uint32(1<<31 - 1) },
			[]string{"qwen2.feed_forward_length is 2147483647", "1 to 524288"}},
		{"too many tokens", "llama", func(f *modelFile) { f.remove("token_embd.weight"); f.add("token_embd.weight", 1, 1<<21+1) },
			[]string{"token_embd.weight", "2097153", "2097152"}},
		{"keys wider than the tensors", "llama", func(f *modelFile) { f.keys["llama.attention.key_length"] = uint32(4096) },
			[]string{"blk.0.attn_q.weight has shape [16 16]", "must be [16 16384]"}},
		{"rotary dimensions out of bounds", "llama", func(f *modelFile) { f.keys["llama.rope.dimension_count"] = uint32(1<<31 - 1) },
			[]string{"llama.rope.dimension_count is 2147483647", "1 to 4096"}},
		{"epsilon missing", "qwen2", func(f *modelFile) { delete(f.keys, "qwen2.attention.layer_norm_rms_epsilon") },
			[]string{"qwen2.attention.layer_norm_rms_epsilon", "missing"}},
		{"heads that cannot be grouped", "llama", func(f *modelFile) { f.keys["llama.attention.head_count_kv"] = uint32(3) }, []string{"head_count_kv is 3", "divide", "4"}},
		{"values of another size", "llama", func(f *modelFile) { f.keys["llama.attention.value_length"] = uint32(8) }, []string{"4", "8", "equal"}},
		{"experts", "llama", func(f *modelFile) { f.keys["llama.expert_count"] = uint32(8) }, []string{"8 experts", "dense"}},
		{"unknown scaling", "llama", func(f *modelFile) { f.keys["llama.rope.scaling.type"] = "longrope" }, []string{"llama.rope.scaling.type", `"longrope"`, "none, linear and yarn"}},
		{"negative scaling", "llama", func(f *modelFile) { f.keys["llama.rope.scaling.factor"] = float32(-2) }, []string{"llama.rope.scaling.factor", "-2", "positive"}},
		{"too many rotary dimensions", "llama", func(f *modelFile) { f.keys["llama.rope.dimension_count"] = uint32(6) }, []string{"llama.rope.dimension_count is 6", "up to 4"}},
		{"rope factors of another shape", "llama", func(f *modelFile) { f.add("rope_freqs.weight", 3) }, []string{"rope_freqs.weight", "[3]", "[2]"}},
		{"rope factor below zero", "llama", func(f *modelFile) {
			f.add("rope_freqs.weight", 2)
			f.tensor("rope_freqs.weight").Data[7] |= 0x80
		}, []string{"rope_freqs.weight", "factor 1", "positive"}},
		{"no embedding", "llama", func(f *modelFile) { f.remove("token_embd.weight") }, []string{"token_embd.weight is missing", "[16, "}},
		{"tensor missing", "llama", func(f *modelFile) { f.remove("blk.1.ffn_down.weight") }, []string{"blk.1.ffn_down.weight is missing", "[24 16]"}},
		{"bias missing", "qwen2", func(f *modelFile) { f.remove("blk.0.attn_k.bias") }, []string{"blk.0.attn_k.bias is missing", "[8]"}},
		{"tensor of another shape", "llama", func(f *modelFile) { f.remove("blk.0.attn_k.weight"); f.add("blk.0.attn_k.weight", 16, 16) },
			[]string{"blk.0.attn_k.weight has shape [16 16]", "must be [16 8]"}},
		{"tensor of another type", "llama", func(f *modelFile) {
			x := f.tensor("blk.0.attn_q.weight")
			x.Type, x.Data = 26, make([]byte, 4*16*16)
		}, []string{"blk.0.attn_q.weight", "I32", "Q8_0"}},
		{"tensor that nobody knows", "llama", func(f *modelFile) { f.add("blk.0.attn_q_norm.weight", 4) }, []string{"blk.0.attn_q_norm.weight", "llama", "another kind of model"}},
		{"more layers than the keys say", "qwen2", func(f *modelFile) { f.keys["qwen2.block_count"] = uint32(1) }, []string{"blk.1.attn_norm.weight", "qwen2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tinyFile(c.arch)
			c.change(f)
			_, err := Load(f.parse(t), newDevice(t), Options{})
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range append(c.want, "tiny.gguf") {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
		})
	}
}

func TestUnusableOptionsAreRefused(t *testing.T) {
	if _, err := Load(tinyFile("llama").parse(t), newDevice(t), Options{MaxRows: -1}); err == nil {
		t.Error("MaxRows -1 was accepted")
	}
}

func TestConfigIsWhatTheFileSays(t *testing.T) {
	f := tinyFile("llama")
	f.keys["llama.rope.dimension_count"] = uint32(2)
	m := mustLoad(t, f, Options{})
	c := m.Config()
	c.Rope.Freqs = nil
	want := Config{Arch: "llama", Name: "tiny", Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 4, Embed: 16, FeedForward: 24, Vocab: 11, ContextLength: 64,
		Eps: 1e-5, AttnScale: 0.5, Rope: gpu.Rope{Style: gpu.RopeNorm, Scale: 1}}
	if c.Arch != want.Arch || c.Name != want.Name || c.Layers != want.Layers || c.Heads != want.Heads || c.KVHeads != want.KVHeads || c.HeadDim != want.HeadDim ||
		c.Embed != want.Embed || c.FeedForward != want.FeedForward || c.Vocab != want.Vocab || c.ContextLength != want.ContextLength || c.Eps != want.Eps ||
		c.AttnScale != want.AttnScale || c.Rope.Style != want.Rope.Style || c.Rope.Scale != want.Rope.Scale {
		t.Errorf("config %+v, want %+v", c, want)
	}
	if got, want := m.Layout(32, gpu.F16), (gpu.KVLayout{Layers: 2, KVHeads: 2, HeadDim: 4, PageSize: 32, Type: gpu.F16}); got != want {
		t.Errorf("layout %v, want %v", got, want)
	}
	if got := mustLoad(t, tinyFile("qwen2"), Options{}).Config().Rope.Style; got != gpu.RopeNeox {
		t.Errorf("qwen2 turns pairs in style %v", got)
	}
}

func TestRotarySpeeds(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  map[string]any
		want  []float64
		scale float64
	}{
		{"plain", nil, []float64{1, 0.01}, 1},
		{"base", map[string]any{"llama.rope.freq_base": float32(1e6)}, []float64{1, 1e-3}, 1},
		{"none", map[string]any{"llama.rope.scaling.type": "none", "llama.rope.scaling.factor": float32(4)}, []float64{1, 0.01}, 1},
		{"linear", map[string]any{"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": float32(4)}, []float64{0.25, 0.0025}, 1},
		{"linear, as old files say it", map[string]any{"llama.rope.scale_linear": float32(4)}, []float64{0.25, 0.0025}, 1},
		// In 64 tokens pair 0 turns 10 times, pair 1 never a whole time.
		{"yarn", map[string]any{"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": float32(4), "llama.rope.scaling.yarn_beta_fast": float32(8)},
			[]float64{1, 0.0025}, 1 + 0.1*math.Log(4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tinyFile("llama")
			for k, v := range c.keys {
				f.keys[k] = v
			}
			r := mustLoad(t, f, Options{}).Config().Rope
			for i, want := range c.want {
				if math.Abs(r.Freqs[i]/want-1) > 1e-6 {
					t.Errorf("speeds %v, want %v", r.Freqs, c.want)
				}
			}
			if math.Abs(float64(r.Scale)-c.scale) > 1e-6 {
				t.Errorf("scale %v, want %v", r.Scale, c.scale)
			}
		})
	}
}

func TestProgressEndsAtTheSizeOfTheWeights(t *testing.T) {
	var last, calls int64
	m := mustLoad(t, tinyFile("llama"), Options{Progress: func(done, total int64) {
		if done <= last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		calls++
	}})
	want := int64(0)
	for _, x := range tinyFile("llama").tensors {
		want += int64(len(x.Data))
	}
	if last != want || m.WeightBytes() != want || calls == 0 {
		t.Errorf("progress ended at %d, the model has %d bytes, the file %d", last, m.WeightBytes(), want)
	}
}

func TestDigestChangesWithWhatIsComputed(t *testing.T) {
	digestOf := func(change func(f *modelFile)) [32]byte {
		f := tinyFile("llama")
		change(f)
		return mustLoad(t, f, Options{}).Digest()
	}
	plain := digestOf(func(*modelFile) {})
	if digestOf(func(f *modelFile) { f.keys["general.name"] = "another name" }) != plain {
		t.Error("the name of a model changes its digest")
	}
	for name, change := range map[string]func(f *modelFile){
		"epsilon":     func(f *modelFile) { f.keys["llama.attention.layer_norm_rms_epsilon"] = float32(1e-6) },
		"rotary base": func(f *modelFile) { f.keys["llama.rope.freq_base"] = float32(5e5) },
		"heads": func(f *modelFile) {
			f.keys["llama.attention.head_count"], f.keys["llama.attention.head_count_kv"] = uint32(2), uint32(1)
		},
		"a byte":           func(f *modelFile) { f.tensor("blk.1.ffn_up.weight").Data[100]++ },
		"an output matrix": func(f *modelFile) { f.add("output.weight", 16, 11) },
		"order of tensors": func(f *modelFile) { slices.Reverse(f.tensors) },
		"tensors exchanged": func(f *modelFile) {
			f.tensor("blk.0.ffn_up.weight").Name, f.tensor("blk.0.ffn_gate.weight").Name = "blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"
		},
	} {
		if digestOf(change) == plain {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

func TestDigestSamplesLargeTensorsFromEndToEnd(t *testing.T) {
	of := func(data []byte) [32]byte {
		return digest(Config{}, []gguf.Tensor{{Name: "x", Dims: []int{len(data)}, Data: data}})
	}
	plain := of(make([]byte, 1<<20))
	for _, at := range []int{0, 4095, 1<<20 - 1, 1<<20 - 4096, (1<<20 - 4096) / 15 * 7} {
		data := make([]byte, 1<<20)
		data[at] = 1
		if of(data) == plain {
			t.Errorf("byte %d is in no sample", at)
		}
	}
}

func TestForwardRefusesBatchesThatCannotBe(t *testing.T) {
	m := mustLoad(t, tinyFile("llama"), Options{MaxRows: 8, MaxLogits: 2})
	seq := newSequence(t, m, 16, gpu.F32, 32) // pages 1, 0
	rows := func(positions ...int32) (r []gpu.Row) {
		for _, p := range positions {
			r = append(r, gpu.Row{Pos: p})
		}
		return r
	}
	for _, c := range []struct {
		name string
		b    Batch
		want string
	}{
		{"token below the vocabulary", Batch{Tokens: []int32{-1}, Rows: rows(0)}, "token -1"},
		{"token above the vocabulary", Batch{Tokens: []int32{0, 11}, Rows: rows(0, 1)}, "token 11 of row 1"},
		{"fewer tokens than rows", Batch{Tokens: []int32{1}, Rows: rows(0, 1)}, "1 tokens for 2 rows"},
		{"too many rows", Batch{Tokens: make([]int32, 9), Rows: rows(0, 1, 2, 3, 4, 5, 6, 7, 8)}, "9 rows, at most 8"},
		{"too many logits", Batch{Tokens: make([]int32, 3), Rows: rows(0, 1, 2), Logits: []int32{0, 1, 2}}, "3 rows, at most 2"},
		{"logits of no row", Batch{Tokens: []int32{1}, Rows: rows(0), Logits: []int32{1}}, "logits of row 1 of 1"},
		{"position without a page", Batch{Tokens: []int32{1}, Rows: rows(32)}, "no page for position 32"},
		{"position below zero", Batch{Tokens: []int32{1}, Rows: rows(-1)}, "position -1"},
		{"sequence without a table", Batch{Tokens: []int32{1}, Rows: []gpu.Row{{Seq: 1}}}, "sequence 1"},
		{"positions with a gap", Batch{Tokens: []int32{1, 2}, Rows: rows(3, 5)}, "position 5 of sequence 0 follows 3"},
		{"page outside of the slab", Batch{Tokens: []int32{1}, Rows: rows(0), Tables: gpu.Tables{[]page.Index{2}}}, "page 2"},
	} {
		if c.b.Tables == nil {
			c.b.Tables = gpu.Tables{seq.table}
		}
		if _, err := m.Forward(&c.b, seq.slab); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not say %q", c.name, err, c.want)
		}
	}
	other := *seq.slab
	other.Layout.HeadDim = 8
	if _, err := m.Forward(&Batch{Tokens: []int32{1}, Rows: rows(0), Tables: gpu.Tables{seq.table}}, &other); err == nil {
		t.Error("a slab of another layout was accepted")
	}
}

func TestForwardGivesLogitsOfTheRowsAskedFor(t *testing.T) {
	m := mustLoad(t, tinyFile("qwen2"), Options{})
	tokens := []int32{1, 2, 3, 4}
	all := newSequence(t, m, 16, gpu.F32, 16).extend(t, tokens...)
	seq := newSequence(t, m, 16, gpu.F32, 16)
	b := &Batch{Tokens: tokens, Rows: []gpu.Row{{Pos: 0}, {Pos: 1}, {Pos: 2}, {Pos: 3}}, Tables: gpu.Tables{seq.table}, Logits: []int32{3, 1}}
	logits, err := m.Forward(b, seq.slab)
	if err != nil {
		t.Fatal(err)
	}
	if logits.Rows != 2 || logits.Cols != 11 {
		t.Fatalf("logits are %dx%d", logits.Rows, logits.Cols)
	}
	got := [][]float32{make([]float32, 11), make([]float32, 11)}
	m.dev.Download(got[0], logits, 0, 1)
	m.dev.Download(got[1], logits, 1, 1)
	mustEqualBits(t, "rows 3 and 1", got, [][]float32{all[3], all[1]})

	b.Logits = nil
	if logits, err = m.Forward(b, seq.slab); err != nil || logits.Rows != 0 {
		t.Errorf("no rows asked for: %d rows, error %v", logits.Rows, err)
	}
}

// Biases that a llama may have count, wherever they are.
func TestOptionalBiasesOfLlamaAreUsed(t *testing.T) {
	logits := func(bias string, n int) []float32 {
		f := tinyFile("llama")
		if bias != "" {
			f.add(bias, n)
		}
		return newSequence(t, mustLoad(t, f, Options{}), 16, gpu.F32, 16).extend(t, 5, 6, 7)[2]
	}
	plain := logits("", 0)
	for bias, n := range map[string]int{"attn_q": 16, "attn_k": 8, "attn_v": 8, "attn_output": 16, "ffn_gate": 24, "ffn_up": 24, "ffn_down": 16} {
		if slices.Equal(logits("blk.1."+bias+".bias", n), plain) {
			t.Errorf("%s.bias changes nothing", bias)
		}
	}
}

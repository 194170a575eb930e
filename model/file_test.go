package model

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// modelFile is a model file that a test builds: its keys (string, uint32 or float32) and its tensors.
type modelFile struct {
	keys    map[string]any
	tensors []gguf.Tensor
}

// tinyFile is a complete model of the architecture with 11 tokens, 2 layers, 4 heads of 4 dimensions over 2 KV heads, and small regular weights.
func tinyFile(arch string) *modelFile {
	f := &modelFile{keys: map[string]any{
		"general.architecture":                     arch,
		"general.name":                             "tiny",
		arch + ".block_count":                      uint32(2),
		arch + ".context_length":                   uint32(64),
		arch + ".embedding_length":                 uint32(16),
		arch + ".feed_forward_length":              uint32(24),
		arch + ".attention.head_count":             uint32(4),
		arch + ".attention.head_count_kv":          uint32(2),
		arch + ".attention.layer_norm_rms_epsilon": float32(1e-5),
	}}
	f.add("token_embd.weight", 16, 11)
	for _, blk := range []string{"blk.0.", "blk.1."} {
		f.add(blk+"attn_norm.weight", 16)
		f.add(blk+"attn_q.weight", 16, 16)
		f.add(blk+"attn_k.weight", 16, 8)
		f.add(blk+"attn_v.weight", 16, 8)
		f.add(blk+"attn_output.weight", 16, 16)
		f.add(blk+"ffn_norm.weight", 16)
		f.add(blk+"ffn_gate.weight", 16, 24)
		f.add(blk+"ffn_up.weight", 16, 24)
		f.add(blk+"ffn_down.weight", 24, 16)
		if arch == "qwen2" {
			f.add(blk+"attn_q.bias", 16)
			f.add(blk+"attn_k.bias", 8)
			f.add(blk+"attn_v.bias", 8)
		}
	}
	f.add("output_norm.weight", 16)
	return f
}

// add appends a tensor of F32, whose elements depend on its name.
func (f *modelFile) add(name string, dims ...int) {
	n, seed := 1, 0
	for _, d := range dims {
		n *= d
	}
	for _, c := range name {
		seed = seed*31 + int(c)
	}
	t := gguf.Tensor{Name: name, Type: gpu.F32, Dims: dims}
	for i := range n {
		x := float32(math.Sin(float64(seed%1000 + i*i)))
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(x))
	}
	f.tensors = append(f.tensors, t)
}

// tensor finds a tensor to be changed.
func (f *modelFile) tensor(name string) *gguf.Tensor {
	for i := range f.tensors {
		if f.tensors[i].Name == name {
			return &f.tensors[i]
		}
	}
	panic("no tensor " + name)
}

func (f *modelFile) remove(name string) {
	f.tensors = slices.DeleteFunc(f.tensors, func(t gguf.Tensor) bool { return t.Name == name })
}

// parse encodes the file and reads it.
func (f *modelFile) parse(t testing.TB) *gguf.File {
	t.Helper()
	var w gguftest.File
	for _, k := range slices.Sorted(maps.Keys(f.keys)) {
		w.Key(k, f.keys[k])
	}
	for _, x := range f.tensors {
		var dims []uint64
		for _, d := range x.Dims {
			dims = append(dims, uint64(d))
		}
		w.Tensor(x.Name, x.Type, x.Data, dims...)
	}
	file, err := gguf.Parse("tiny.gguf", w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

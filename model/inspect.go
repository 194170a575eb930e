package model

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf"
)

// Inspection is what a file tells of its model before its weights are read.
type Inspection struct {
	Config
	// WeightBytes is the size of all weights.
	WeightBytes int64
	// StepBytes is the size of the weights that every step reads, whatever its batch: all but the embedding table, of which a step reads a row a token, unless that
	// also makes the logits.
	StepBytes int64
}

// Inspect checks the keys and tensors of a file as Load does, all but the types that a device can compute with, and touches no weight: it takes no longer for a large model.
func Inspect(f *gguf.File) (Inspection, error) {
	arch, err := findArchitecture(f.Arch())
	if err != nil {
		return Inspection{}, fmt.Errorf("model: %s: %w", f.Name(), err)
	}
	l := &loader{file: f, dev: paper{}, arch: arch.name, used: map[string]bool{}}
	config, _ := arch.load(l)
	l.rejectUnused()
	if l.err != nil {
		return Inspection{}, fmt.Errorf("model: %s: %w", f.Name(), l.err)
	}
	in := Inspection{Config: config}
	for _, t := range f.Tensors() {
		in.WeightBytes += int64(len(t.Data))
	}
	in.StepBytes = in.WeightBytes
	if _, ok := f.Tensor("output.weight"); ok {
		embed, _ := f.Tensor("token_embd.weight")
		in.StepBytes -= int64(len(embed.Data))
	}
	return in, nil
}

// paper is a device that has weights in name only, and can do nothing with them.
type paper struct{ gpu.Device }

// Load implements gpu.Device.
func (paper) Load(name string, t gpu.Type, rows, cols int, _ []byte) (gpu.Weight, error) {
	return gpu.Weight{Name: name, Type: t, Rows: rows, Cols: cols}, nil
}

// Layout is the layout of the model's KV pages.
func (c Config) Layout(pageSize int, kv gpu.Type) gpu.KVLayout {
	return gpu.KVLayout{Layers: c.Layers, KVHeads: c.KVHeads, HeadDim: c.HeadDim, PageSize: pageSize, Type: kv}
}

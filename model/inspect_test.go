package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kvasir-engine/kvasir/gpu"
)

func TestInspectSaysWhatLoadSays(t *testing.T) {
	for _, arch := range []string{"llama", "qwen2"} {
		f := tinyFile(arch)
		m := mustLoad(t, f, Options{MaxRows: 1})
		in, err := Inspect(f.parse(t))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m.Config(), in.Config); diff != "" {
			t.Errorf("%s: -Load +Inspect\n%s", arch, diff)
		}
		if in.WeightBytes != m.WeightBytes() || in.StepBytes != in.WeightBytes {
			t.Errorf("%s: %d bytes of weights, %d a step; the loaded model has %d", arch, in.WeightBytes, in.StepBytes, m.WeightBytes())
		}
		if got, want := in.Layout(32, gpu.F32), m.Layout(32, gpu.F32); got != want {
			t.Errorf("%s: %v, want %v", arch, got, want)
		}
	}
}

// An embedding table that does not make the logits is not read as a whole.
func TestAStepReadsNoEmbeddingTableOfItsOwn(t *testing.T) {
	f := tinyFile("llama")
	f.add("output.weight", 16, 11)
	in, err := Inspect(f.parse(t))
	if err != nil {
		t.Fatal(err)
	}
	if in.WeightBytes-in.StepBytes != 16*11*4 {
		t.Errorf("%d of %d bytes a step; all but %d are", in.StepBytes, in.WeightBytes, 16*11*4)
	}
}

func TestInspectRefusesWhatLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *modelFile)
		want   string
	}{
		"architecture":   {func(f *modelFile) { f.keys["general.architecture"] = "mamba" }, `"mamba"`},
		"missing tensor": {func(f *modelFile) { f.remove("blk.1.ffn_down.weight") }, "blk.1.ffn_down.weight is missing"},
		"unknown tensor": {func(f *modelFile) { f.add("blk.0.more.weight", 4) }, "blk.0.more.weight"},
	} {
		f := tinyFile("llama")
		c.change(f)
		if _, err := Inspect(f.parse(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

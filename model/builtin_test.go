package model

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
)

const builtinPath = "builtin/kvasir-mini-q8_0.gguf"

// The answers are llama.cpp's, which rounds activations to 8 bits and moves the logits a little by it, as the kernels here do in their own way. So a recorded token is the
// best one, or tied with the best within that noise. One token is, in a name that the story makes up: exact arithmetic prefers the other there too. Where the name comes again
// it may be tied once more.
func TestBuiltInModelGivesTheRecordedAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/kvasir-mini-q8_0.answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Answers []struct {
			User   string  `json:"user"`
			Prompt []int32 `json:"prompt_ids"`
			Answer []int32 `json:"answer_ids"`
		} `json:"answers"`
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Answers) != 10 {
		t.Fatalf("%d answers recorded, not 10", len(recorded.Answers))
	}
	m := openModel(t, builtinPath, 0, Options{})
	for _, kv := range []gpu.Type{gpu.F16, gpu.F32} {
		for _, a := range recorded.Answers {
			t.Run(kv.String()+"/"+a.User, func(t *testing.T) {
				seq := newSequence(t, m, 32, kv, 1024)
				logits := seq.extend(t, slices.Concat(a.Prompt, a.Answer)...)
				ties := 0
				for i, token := range a.Answer {
					row := logits[len(a.Prompt)-1+i]
					best := argmax(row)
					if best == token {
						continue
					}
					ties++
					if gap := row[best] - row[token]; gap > 0.05 || ties > 2 {
						t.Errorf("token %d of the answer: %d is recorded, but its logit is %v below that of %d", i, token, gap, best)
					}
				}
			})
		}
	}
}

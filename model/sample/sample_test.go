package sample

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kvasir-engine/kvasir/request"
	"pgregory.net/rapid"
)

var (
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	ninf = float32(math.Inf(-1))
)

func mustNew(t testing.TB, s request.Sampling, vocab int, seed uint64, prompt ...int32) *Sampler {
	t.Helper()
	sm, err := New(s, vocab, 0, seed, prompt)
	if err != nil {
		t.Fatal(err)
	}
	return sm
}

// drawn returns every token that comes up in many draws, in order of id.
func drawn(sm *Sampler, logits []float32) []int32 {
	var ids []int32
	for position := range 2000 {
		if id := sm.Sample(logits, position).ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestGreedy(t *testing.T) {
	tests := []struct {
		name     string
		sampling request.Sampling
		logits   []float32
		prompt   []int32
		answer   []int32
		want     int32
	}{
		{name: "the largest", logits: []float32{1, 3, 2}, want: 1},
		{name: "the first of equals", logits: []float32{1, 3, 3}, want: 1},
		{name: "all negative", logits: []float32{-5, -3, -4}, want: 1},
		{name: "top-k, top-p, min-p change nothing", sampling: request.Sampling{TopK: 1, TopP: 0.1, MinP: 1}, logits: []float32{1, 2, 2}, want: 1},
		{name: "NaN and infinities are not chosen", logits: []float32{nan, inf, ninf, -7}, want: 3},
		{name: "nothing finite", logits: []float32{nan, inf, ninf, nan}, want: None},
		{name: "bias lifts a token", sampling: request.Sampling{LogitBias: map[int32]float32{2: 5}}, logits: []float32{3, 2, 1}, want: 2},
		{name: "bias of -100 bans a token", sampling: request.Sampling{LogitBias: map[int32]float32{0: -100}}, logits: []float32{3, 2, 1}, want: 1},
		{name: "repetition divides a positive logit", sampling: request.Sampling{RepetitionPenalty: 2}, logits: []float32{3, 2, 1}, prompt: []int32{0}, want: 1},
		{name: "repetition multiplies a negative logit", sampling: request.Sampling{RepetitionPenalty: 2}, logits: []float32{-3, -4, -7}, prompt: []int32{0}, want: 1},
		{name: "repetition counts a token once", sampling: request.Sampling{RepetitionPenalty: 2}, logits: []float32{9, 4, 1}, prompt: []int32{0, 0, 0}, answer: []int32{0}, want: 0},
		{name: "repetition below 1 rewards", sampling: request.Sampling{RepetitionPenalty: 0.5}, logits: []float32{3, 2, 1}, answer: []int32{1}, want: 1},
		{name: "a very small repetition penalty does not overflow", sampling: request.Sampling{RepetitionPenalty: 1e-300}, logits: []float32{3, 2, 1}, answer: []int32{1}, want: 1},
		{name: "presence knows the answer only", sampling: request.Sampling{PresencePenalty: 2}, logits: []float32{3, 2, 1}, prompt: []int32{0}, want: 0},
		{name: "presence is taken off once", sampling: request.Sampling{PresencePenalty: 1.5}, logits: []float32{4, 2, 1}, answer: []int32{0, 0, 0}, want: 0},
		{name: "frequency is taken off each time", sampling: request.Sampling{FrequencyPenalty: 1.5}, logits: []float32{4, 2, 1}, answer: []int32{0, 0}, want: 1},
		{name: "a negative frequency penalty rewards", sampling: request.Sampling{FrequencyPenalty: -1}, logits: []float32{4, 2, 1}, answer: []int32{1, 1, 1}, want: 1},
		{name: "bias comes before repetition", sampling: request.Sampling{LogitBias: map[int32]float32{0: 8}, RepetitionPenalty: 3}, logits: []float32{1, 4, 0}, prompt: []int32{0}, want: 1},
		{name: "repetition comes before presence", sampling: request.Sampling{RepetitionPenalty: 2, PresencePenalty: 1}, logits: []float32{8, 3.25, 0}, answer: []int32{0}, want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sm := mustNew(t, tt.sampling, len(tt.logits), 1, tt.prompt...)
			for _, id := range tt.answer {
				sm.Accept(id)
			}
			if got := sm.Sample(tt.logits, 7).ID; got != tt.want {
				t.Errorf("chose %d, want %d", got, tt.want)
			}
		})
	}
}

func TestCutsDecideWhichTokensCanBeDrawn(t *testing.T) {
	// Probabilities 0.1, 0.2, 0.4, 0.2, 0.1.
	logits := []float32{0, float32(math.Ln2), float32(2 * math.Ln2), float32(math.Ln2), 0}
	tests := []struct {
		name     string
		sampling request.Sampling
		want     []int32
	}{
		{"none", request.Sampling{Temperature: 1}, []int32{0, 1, 2, 3, 4}},
		{"top-k", request.Sampling{Temperature: 1, TopK: 3}, []int32{1, 2, 3}},
		{"top-k with a tie keeps the lower id", request.Sampling{Temperature: 1, TopK: 2}, []int32{1, 2}},
		{"top-k over the vocabulary", request.Sampling{Temperature: 1, TopK: 50}, []int32{0, 1, 2, 3, 4}},
		{"top-p reached by one token", request.Sampling{Temperature: 1, TopP: 0.3}, []int32{2}},
		{"top-p keeps the token that reaches it", request.Sampling{Temperature: 1, TopP: 0.5}, []int32{1, 2}},
		{"top-p of 1 keeps all", request.Sampling{Temperature: 1, TopP: 1}, []int32{0, 1, 2, 3, 4}},
		{"top-p after temperature", request.Sampling{Temperature: 0.25, TopP: 0.8}, []int32{2}},
		{"top-p of what top-k left", request.Sampling{Temperature: 1, TopK: 2, TopP: 0.65}, []int32{2}},
		{"min-p", request.Sampling{Temperature: 1, MinP: 0.4}, []int32{1, 2, 3}},
		{"min-p of 1 keeps the most likely", request.Sampling{Temperature: 1, MinP: 1}, []int32{2}},
		{"min-p after top-k", request.Sampling{Temperature: 1, TopK: 2, MinP: 0.1}, []int32{1, 2}},
		{"a very low temperature is greedy", request.Sampling{Temperature: 5e-324}, []int32{2}},
		{"a very high temperature is even", request.Sampling{Temperature: 1e308, TopP: 0.999}, []int32{0, 1, 2, 3, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, drawn(mustNew(t, tt.sampling, len(logits), 3), logits)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnusableLogitsAreNeverDrawn(t *testing.T) {
	logits := []float32{nan, 1, inf, ninf, 1, nan}
	for _, s := range []request.Sampling{
		{Temperature: 1},
		{Temperature: 1, TopK: 4},
		{Temperature: 1, TopP: 0.9999},
		{Temperature: 1, MinP: 0.001},
	} {
		if diff := cmp.Diff([]int32{1, 4}, drawn(mustNew(t, s, len(logits), 3), logits)); diff != "" {
			t.Errorf("%+v: %s", s, diff)
		}
		none := []float32{nan, ninf, inf, nan, nan, ninf}
		if got := mustNew(t, s, len(none), 3).Sample(none, 0).ID; got != None {
			t.Errorf("%+v: chose %d from a row without a finite logit", s, got)
		}
	}
}

func TestLogprobsAreTheModelsOwn(t *testing.T) {
	logits := []float32{float32(math.Log(0.1)), float32(math.Log(0.2)), float32(math.Log(0.3)), float32(math.Log(0.4)), nan}
	sm := mustNew(t, request.Sampling{
		Logprobs: true, TopLogprobs: 2, LogitBias: map[int32]float32{0: 100}, RepetitionPenalty: 1.5,
	}, len(logits), 1, 0)
	got := sm.Sample(logits, 0)
	if got.ID != 0 || math.Abs(float64(got.Logprob)-math.Log(0.1)) > 1e-6 {
		t.Errorf("got token %d with %v, want token 0 with %v", got.ID, got.Logprob, math.Log(0.1))
	}
	if len(got.Top) != 2 || got.Top[0].ID != 3 || got.Top[1].ID != 2 || math.Abs(float64(got.Top[1].Logprob)-math.Log(0.3)) > 1e-6 {
		t.Errorf("alternatives %v, want tokens 3 and 2 with their log-probabilities", got.Top)
	}
}

func TestSampleLeavesLogitsAsTheyCame(t *testing.T) {
	logits := []float32{3, -2, 1, ninf}
	was := slices.Clone(logits)
	sm := mustNew(t, request.Sampling{
		Temperature: 1, LogitBias: map[int32]float32{0: 1, 1: 0.1}, RepetitionPenalty: 1.1, FrequencyPenalty: 0.3,
	}, len(logits), 1, 0, 1, 3)
	sm.Accept(1)
	sm.Sample(logits, 0)
	if diff := cmp.Diff(was, logits); diff != "" {
		t.Error(diff)
	}
}

func TestSampleAgreesWithTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocab := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(500, 1600)).Draw(t, "vocab")
		token := rapid.Int32Range(0, int32(vocab-1))
		s := request.Sampling{
			Temperature:       rapid.SampledFrom([]float64{0, 0.01, 0.7, 1, 3, 1e6}).Draw(t, "temperature"),
			TopK:              rapid.SampledFrom([]int{0, 0, 1, 2, 5, 40, 5000}).Draw(t, "top_k"),
			TopP:              rapid.SampledFrom([]float64{0, 0, 0.1, 0.5, 0.95, 0.999999, 1}).Draw(t, "top_p"),
			MinP:              rapid.SampledFrom([]float64{0, 0, 0.05, 0.5, 1e-9, 1}).Draw(t, "min_p"),
			RepetitionPenalty: rapid.SampledFrom([]float64{0, 1, 1.3, 0.8}).Draw(t, "repetition_penalty"),
			PresencePenalty:   rapid.SampledFrom([]float64{0, 1, -0.7}).Draw(t, "presence_penalty"),
			FrequencyPenalty:  rapid.SampledFrom([]float64{0, 0.3, -0.1}).Draw(t, "frequency_penalty"),
			LogitBias:         rapid.MapOfN(token, rapid.Float32Range(-100, 100), 0, 3).Draw(t, "logit_bias"),
			Logprobs:          rapid.Bool().Draw(t, "logprobs"),
		}
		if s.Logprobs {
			s.TopLogprobs = rapid.IntRange(0, request.MaxTopLogprobs).Draw(t, "top_logprobs")
		}
		prompt := rapid.SliceOfN(token, 0, 6).Draw(t, "prompt")
		seed := rapid.Uint64().Draw(t, "seed")
		choice := rapid.IntRange(0, 3).Draw(t, "choice")

		sm, err := New(s, vocab, choice, seed, prompt)
		if err != nil {
			t.Fatal(err)
		}
		tw := &twin{s: s, choice: choice, seed: seed, prompt: prompt}
		// Few distinct values make ties; a seeded row of all kinds is drawn cheaply for large vocabularies.
		kinds := rapid.SliceOfN(rapid.OneOf(
			rapid.Float32Range(-30, 30), rapid.SampledFrom([]float32{0, 1, 1, 2, nan, ninf, inf, -1e30, 1e30})), 1, 40).Draw(t, "kinds")
		mix := rapid.Uint64().Draw(t, "mix")
		for step := range 4 {
			position := len(prompt) + step
			logits := make([]float32, vocab)
			for i := range logits {
				logits[i] = kinds[int(uniform(mix, step, i)*float64(len(kinds)))]
			}
			was := slices.Clone(logits)
			want, got := tw.sample(logits, position), sm.Sample(logits, position)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("step %d: %s", step, diff)
			}
			for i := range logits {
				if math.Float32bits(logits[i]) != math.Float32bits(was[i]) {
					t.Fatalf("logit %d changed from %v to %v", i, was[i], logits[i])
				}
			}
			if got.ID == None {
				return
			}
			sm.Accept(got.ID)
			tw.accepted = append(tw.accepted, got.ID)
		}
	})
}

func TestRebuiltSamplerGoesOnAlike(t *testing.T) {
	s := request.Sampling{Temperature: 0.9, TopP: 0.9, RepetitionPenalty: 1.2, FrequencyPenalty: 0.5}
	prompt := []int32{1, 2, 3}
	logits := make([]float32, 64)
	for i := range logits {
		logits[i] = float32(4 * uniform(9, 9, i))
	}
	first := mustNew(t, s, len(logits), 42, prompt...)
	var answer []int32
	for i := range 40 {
		id := first.Sample(logits, len(prompt)+i).ID
		first.Accept(id)
		answer = append(answer, id)
	}
	for cut := range answer {
		rebuilt := mustNew(t, s, len(logits), 42, prompt...)
		for _, id := range answer[:cut] {
			rebuilt.Accept(id)
		}
		if got := rebuilt.Sample(logits, len(prompt)+cut).ID; got != answer[cut] {
			t.Errorf("rebuilt after %d tokens chose %d, want %d", cut, got, answer[cut])
		}
	}
}

func TestNewRefusesAndAcceptPanics(t *testing.T) {
	if _, err := New(request.Sampling{TopP: 2}, 10, 0, 0, nil); !errors.Is(err, request.ErrInvalid) {
		t.Errorf("error %v, want an invalid request", err)
	}
	if _, err := New(request.Sampling{RepetitionPenalty: 2}, 10, 0, 0, []int32{10}); err == nil {
		t.Error("a prompt token outside the vocabulary was taken")
	}
	defer func() {
		if recover() == nil {
			t.Error("Accept took a token outside the vocabulary")
		}
	}()
	mustNew(t, request.Sampling{}, 10, 0).Accept(10)
}

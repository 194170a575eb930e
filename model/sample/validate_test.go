package sample

import (
	"math"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/request"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		field string // at fault; empty: none
		s     request.Sampling
	}{
		{"", request.Sampling{}},
		{"", request.Sampling{Temperature: 2, TopK: 40, TopP: 1, MinP: 1, RepetitionPenalty: 1.1, PresencePenalty: 2, FrequencyPenalty: -2}},
		{"", request.Sampling{Temperature: 1e9}},
		{"", request.Sampling{LogitBias: map[int32]float32{0: -100, 99: 100}, Logprobs: true, TopLogprobs: request.MaxTopLogprobs}},
		{"temperature", request.Sampling{Temperature: -0.1}},
		{"temperature", request.Sampling{Temperature: math.NaN()}},
		{"temperature", request.Sampling{Temperature: math.Inf(1)}},
		{"top_p", request.Sampling{TopP: -0.1}},
		{"top_p", request.Sampling{TopP: 1.1}},
		{"top_p", request.Sampling{TopP: math.NaN()}},
		{"top_k", request.Sampling{TopK: -1}},
		{"min_p", request.Sampling{MinP: 1.5}},
		{"min_p", request.Sampling{MinP: math.NaN()}},
		{"repetition_penalty", request.Sampling{RepetitionPenalty: -1}},
		{"repetition_penalty", request.Sampling{RepetitionPenalty: math.Inf(1)}},
		{"presence_penalty", request.Sampling{PresencePenalty: 2.1}},
		{"presence_penalty", request.Sampling{PresencePenalty: math.NaN()}},
		{"frequency_penalty", request.Sampling{FrequencyPenalty: -2.1}},
		{"logit_bias", request.Sampling{LogitBias: map[int32]float32{100: 1}}},
		{"logit_bias", request.Sampling{LogitBias: map[int32]float32{-1: 1}}},
		{"logit_bias", request.Sampling{LogitBias: map[int32]float32{1: 101}}},
		{"logit_bias", request.Sampling{LogitBias: map[int32]float32{1: nan}}},
		{"top_logprobs", request.Sampling{Logprobs: true, TopLogprobs: request.MaxTopLogprobs + 1}},
		{"top_logprobs", request.Sampling{Logprobs: true, TopLogprobs: -1}},
		{"top_logprobs", request.Sampling{TopLogprobs: 1}},
	}
	for _, tt := range tests {
		got := Validate(tt.s, 100)
		switch {
		case tt.field == "" && got != nil:
			t.Errorf("%+v was refused: %v", tt.s, got)
		case tt.field == "":
		case got == nil:
			t.Errorf("%+v was taken", tt.s)
		case got.Field != tt.field || got.Limit != request.LimitInput || !strings.Contains(got.Why, tt.field):
			t.Errorf("%+v: rejection %+v does not speak of %s", tt.s, *got, tt.field)
		}
	}
}

func TestValidateNamesTheLowestTokenAtFault(t *testing.T) {
	bias := map[int32]float32{}
	for id := int32(100); id < 200; id++ {
		bias[id] = 1
	}
	for range 20 {
		if got := Validate(request.Sampling{LogitBias: bias}, 100); got == nil || !strings.Contains(got.Why, "token 100;") {
			t.Fatalf("rejection %v does not name token 100", got)
		}
	}
}

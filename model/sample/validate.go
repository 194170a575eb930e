package sample

import (
	"math"
	"slices"

	"github.com/kvasir-engine/kvasir/request"
)

// Validate says whether s can be used with a vocabulary of vocab tokens: nil if so, else a rejection that names the field as
// OpenAI's API spells it. Zero values are "unset" as [request.Sampling] documents them. Temperature has no upper bound but
// must be finite.
func Validate(s request.Sampling, vocab int) *request.Rejection {
	ranges := []struct {
		field    string
		value    float64
		min, max float64
	}{
		{"temperature", s.Temperature, 0, math.MaxFloat64},
		{"top_p", s.TopP, 0, 1},
		{"min_p", s.MinP, 0, 1},
		{"repetition_penalty", s.RepetitionPenalty, 0, math.MaxFloat64},
		{"presence_penalty", s.PresencePenalty, -2, 2},
		{"frequency_penalty", s.FrequencyPenalty, -2, 2},
	}
	for _, r := range ranges {
		switch {
		case r.value >= r.min && r.value <= r.max:
		case r.max == math.MaxFloat64:
			return request.Invalid(r.field, "%s must be a finite number not below %g, not %g.", r.field, r.min, r.value)
		default: // NaN comes here too: it compares false with everything
			return request.Invalid(r.field, "%s must be between %g and %g, not %g.", r.field, r.min, r.max, r.value)
		}
	}
	if s.TopK < 0 {
		return request.Invalid("top_k", "top_k must not be negative, but is %d; 0 keeps all tokens.", s.TopK)
	}
	if s.TopLogprobs < 0 || s.TopLogprobs > request.MaxTopLogprobs {
		return request.Invalid("top_logprobs", "top_logprobs must be between 0 and %d, not %d.", request.MaxTopLogprobs, s.TopLogprobs)
	}
	if s.TopLogprobs > 0 && !s.Logprobs {
		return request.Invalid("top_logprobs", "top_logprobs needs logprobs to be true.")
	}
	return validateBias(s.LogitBias, vocab)
}

// validateBias speaks of the lowest id at fault, so that the same request always gets the same answer.
func validateBias(bias map[int32]float32, vocab int) *request.Rejection {
	ids := make([]int32, 0, len(bias))
	for id := range bias {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if id < 0 || int(id) >= vocab {
			return request.Invalid("logit_bias", "logit_bias names token %d; this model has tokens 0 to %d.", id, vocab-1)
		}
		if b := bias[id]; !(b >= -100 && b <= 100) {
			return request.Invalid("logit_bias", "logit_bias of token %d must be between -100 and 100, not %g.", id, b)
		}
	}
	return nil
}

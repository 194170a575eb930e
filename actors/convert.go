package actors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
)

// handoffSpec is what nodes are told of one choice of a request.
func handoffSpec(s *Spec, id string, choice int) (*handoff.Spec, error) {
	sampling, err := json.Marshal(s.Sampling)
	if err != nil {
		return nil, fmt.Errorf("actors: encode the sampling parameters: %w", err)
	}
	return &handoff.Spec{
		Request: id, Choice: uint32(choice), Tenant: s.Tenant, Domain: s.Tenant, Prompt: s.Prompt, MaxTokens: s.MaxTokens,
		StopTokens: s.StopTokens, Sampling: sampling, Seed: s.Seed, Details: s.Sampling.Logprobs,
	}, nil
}

// specOf is handoffSpec's inverse, at the node. What came over the wire is not trusted: the rejection names the field at fault.
func specOf(h *handoff.Spec, vocab int) (Spec, *request.Rejection) {
	s := Spec{Tenant: h.Domain, Prompt: h.Prompt, Choices: 1, MaxTokens: h.MaxTokens, StopTokens: h.StopTokens, Seed: h.Seed}
	if err := json.Unmarshal(h.Sampling, &s.Sampling); err != nil {
		return s, request.Invalid("sampling", "The sampling parameters cannot be read: %v.", err)
	}
	if r := sample.Validate(s.Sampling, vocab); r != nil {
		return s, r
	}
	if h.Choice >= request.MaxChoices {
		return s, request.Invalid("n", "choice %d was asked for; there can be %d.", h.Choice, request.MaxChoices)
	}
	if h.Details != s.Sampling.Logprobs {
		return s, request.Invalid("logprobs", "Details are %v and logprobs %v; they must agree.", h.Details, s.Sampling.Logprobs)
	}
	for i, id := range h.Prompt {
		if id < 0 || int(id) >= vocab {
			return s, request.Invalid("prompt", "prompt[%d] is token %d; the vocabulary has ids 0 to %d.", i, id, vocab-1)
		}
	}
	if len(h.Prompt) == 0 {
		return s, request.Invalid("prompt", "The prompt is empty.")
	}
	if h.MaxTokens < 0 {
		return s, request.Invalid("max_tokens", "max_tokens is %d; it must not be negative.", h.MaxTokens)
	}
	return s, nil
}

// A token's detail is its log-probability and those of its rivals: float32, then for each rival its id and float32, all in 4 bytes, little endian.

func appendDetail(b []byte, t *sample.Result) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, math.Float32bits(t.Logprob))
	for _, r := range t.Top {
		b = le.AppendUint32(le.AppendUint32(b, uint32(r.ID)), math.Float32bits(r.Logprob))
	}
	return b
}

// readDetail completes t. A detail that none could have written leaves it without log-probabilities.
func readDetail(b []byte, t *sample.Result) {
	le := binary.LittleEndian
	if len(b) < 4 || (len(b)-4)%8 != 0 || (len(b)-4)/8 > request.MaxTopLogprobs {
		return
	}
	t.Logprob = math.Float32frombits(le.Uint32(b))
	for b = b[4:]; len(b) > 0; b = b[8:] {
		t.Top = append(t.Top, request.TopToken{ID: int32(le.Uint32(b)), Logprob: math.Float32frombits(le.Uint32(b[4:]))})
	}
}

package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/kvasir-engine/kvasir/request"
)

// None is the ID of a [Result] for a row without any finite logit: the model's output cannot be used.
const None int32 = -1

// keepCandidates is how much scratch a sampler keeps between tokens (256 KiB). There are as many samplers as running sequences, and the
// few tokens of a flat distribution that need more are slow for other reasons.
const keepCandidates = 8192

// Result is what [Sampler.Sample] chose.
type Result struct {
	ID      int32              // the token, or None
	Logprob float32            // its log-probability (natural logarithm); 0 unless Sampling.Logprobs
	Top     []request.TopToken // the Sampling.TopLogprobs most likely tokens, most likely first, without Bytes; the caller's to keep
}

// A Sampler chooses the tokens of one choice of one request. It is not safe for concurrent use.
type Sampler struct {
	sampling request.Sampling
	vocab    int
	choice   int
	seed     uint64
	invTemp  float64 // 1/temperature; 0: greedy

	bias  []biased      // by id
	seen  []seenToken   // tokens that penalties speak of, in the order they were first seen
	place map[int32]int // where a token is in seen; nil where no penalty is set

	changed    []change    // logits changed while Sample runs, with what they were
	candidates []candidate // tokens that the cuts choose from
	room       []candidate // for sorting candidates
	blocks     []float64   // sums of weights, see sumWeights
}

type biased struct {
	id    int32
	value float32
}

type seenToken struct {
	id       int32
	answered int // occurrences in the answer
}

type change struct {
	id  int32
	was float32
}

// New returns a sampler for one choice of a request whose prompt has the given tokens. The seed is used in place of s.Seed, so that the
// caller can draw one where the client gave none. A request that [Validate] refuses is the returned error.
//
// The prompt is read here and not kept.
func New(s request.Sampling, vocab int, choice int, seed uint64, prompt []int32) (*Sampler, error) {
	if r := Validate(s, vocab); r != nil {
		return nil, r
	}
	sm := &Sampler{sampling: s, vocab: vocab, choice: choice, seed: seed}
	if s.Temperature > 0 {
		sm.invTemp = min(1/s.Temperature, math.MaxFloat64)
	}
	for id, value := range s.LogitBias {
		sm.bias = append(sm.bias, biased{id, value})
	}
	slices.SortFunc(sm.bias, func(a, b biased) int { return int(a.id) - int(b.id) })

	if sm.repeats() || s.PresencePenalty != 0 || s.FrequencyPenalty != 0 {
		sm.place = make(map[int32]int)
	}
	if sm.repeats() {
		for i, id := range prompt {
			if id < 0 || int(id) >= vocab {
				return nil, fmt.Errorf("sample: token %d at place %d of the prompt is not in the vocabulary of %d", id, i, vocab)
			}
			sm.see(id)
		}
	}
	return sm, nil
}

// repeats says whether a repetition penalty is set.
func (s *Sampler) repeats() bool {
	return s.sampling.RepetitionPenalty != 0 && s.sampling.RepetitionPenalty != 1
}

// see makes sure that the token is in s.seen.
func (s *Sampler) see(id int32) *seenToken {
	at, ok := s.place[id]
	if !ok {
		at = len(s.seen)
		s.place[id] = at
		s.seen = append(s.seen, seenToken{id: id})
	}
	return &s.seen[at]
}

// Accept tells that the token is part of the answer now, which counts for the penalties.
//
// Preconditions:
//   - id is in the vocabulary
func (s *Sampler) Accept(id int32) {
	if id < 0 || int(id) >= s.vocab {
		panic(fmt.Sprintf("sample: Accept(%d) with a vocabulary of %d", id, s.vocab))
	}
	if s.place != nil {
		s.see(id).answered++
	}
}

// Sample chooses the token at the given position of the sequence (prompt tokens count) from a row of logits. Its ID is [None], which is not to
// be accepted, where no logit is finite.
// The same position gives the same token again; nothing is remembered until Accept.
//
// Logits are changed while Sample runs and are as they came when it returns, so choices that share a prompt can share its row. Once its
// scratch has grown, greedy sampling and a plain temperature allocate nothing but a Result's Top.
//
// Preconditions:
//   - len(logits) is the size of the vocabulary
func (s *Sampler) Sample(logits []float32, position int) Result {
	if len(logits) != s.vocab {
		panic(fmt.Sprintf("sample: %d logits for a vocabulary of %d", len(logits), s.vocab))
	}
	var top []request.TopToken
	var logTotal float64
	if s.sampling.Logprobs {
		logTotal = s.logSumExp(logits)
		top = s.mostLikely(logits, logTotal)
	}

	s.adjust(logits)
	id := s.choose(logits, position)
	s.restore(logits)
	if cap(s.candidates) > keepCandidates {
		s.candidates, s.room = nil, nil
	}

	if id == None {
		return Result{ID: None}
	}
	result := Result{ID: id, Top: top}
	if s.sampling.Logprobs {
		result.Logprob = float32(float64(logits[id]) - logTotal)
	}
	return result
}

// choose returns the token, or None if no logit is finite.
func (s *Sampler) choose(logits []float32, position int) int32 {
	best := argmax(logits)
	if best == None || s.invTemp == 0 {
		return best
	}
	u := uniform(s.seed, s.choice, position)
	largest := logits[best]
	switch {
	case s.sampling.TopK > 0 && s.sampling.TopK < s.vocab:
		return s.drawFromTopK(logits, largest, u)
	case s.sampling.TopP > 0 && s.sampling.TopP < 1 || s.sampling.MinP > 0:
		return s.drawFromLikely(logits, largest, u)
	default:
		return s.drawFromAll(logits, largest, u)
	}
}

// argmax returns the first of the largest finite logits, or None. Nearly all logits are below the largest so far, so it looks at
// four at a time, which is twice as fast.
func argmax(logits []float32) int32 {
	id, best := None, float32(math.Inf(-1))
	for first := 0; first < len(logits); first += 4 {
		four := logits[first:min(first+4, len(logits))]
		if len(four) == 4 && !(four[0] > best || four[1] > best || four[2] > best || four[3] > best) {
			continue
		}
		for i, l := range four {
			if l > best && l <= math.MaxFloat32 {
				id, best = int32(first+i), l
			}
		}
	}
	return id
}

// adjust applies bias and penalties to the logits, and notes in s.changed what they were.
func (s *Sampler) adjust(logits []float32) {
	s.changed = s.changed[:0]
	for _, b := range s.bias {
		s.changed = append(s.changed, change{b.id, logits[b.id]})
		logits[b.id] += b.value
	}
	for _, t := range s.seen {
		was := logits[t.id]
		if !finite(was) {
			continue
		}
		s.changed = append(s.changed, change{t.id, was})
		logits[t.id] = float32(min(max(s.penalised(float64(was), t.answered), -math.MaxFloat32), math.MaxFloat32))
	}
}

func finite(l float32) bool { return l >= -math.MaxFloat32 && l <= math.MaxFloat32 }

// penalised is a seen token's logit after the repetition penalty of Keskar et al. 2019 (CTRL) and the two of OpenAI.
func (s *Sampler) penalised(logit float64, answered int) float64 {
	if s.repeats() {
		if logit > 0 {
			logit /= s.sampling.RepetitionPenalty
		} else {
			logit *= s.sampling.RepetitionPenalty
		}
	}
	if answered > 0 {
		logit -= s.sampling.PresencePenalty
		logit -= float64(s.sampling.FrequencyPenalty * float64(answered))
	}
	return logit
}

// restore undoes adjust. A token may have been changed twice, hence the reverse order.
func (s *Sampler) restore(logits []float32) {
	for _, c := range slices.Backward(s.changed) {
		logits[c.id] = c.was
	}
}

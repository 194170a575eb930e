package sample

import (
	"math"
	"slices"
)

// blockTokens is how many tokens, in the order of ids, are summed by themselves before their sum is added to the whole. It is part of
// the definition of a draw: another value rounds otherwise.
const blockTokens = 512

// sumWeights returns the sum of weight((logit-largest)*scale) over all tokens and leaves each block's sum in s.blocks.
func (s *Sampler) sumWeights(logits []float32, largest float32, scale float64) float64 {
	s.blocks = s.blocks[:0]
	total := 0.0
	for block := range slices.Chunk(logits, blockTokens) {
		sum := 0.0
		for _, l := range block {
			sum += weight((float64(l) - float64(largest)) * scale)
		}
		s.blocks = append(s.blocks, sum)
		total += sum
	}
	return total
}

// drawFromAll draws without any cut, in the order of ids. Weights are not stored but computed again in the one block
// where the draw falls.
func (s *Sampler) drawFromAll(logits []float32, largest float32, u float64) int32 {
	target := u * s.sumWeights(logits, largest, s.invTemp)
	before := 0.0
	for b, sum := range s.blocks {
		if before+sum <= target {
			before += sum
			continue
		}
		first, within := b*blockTokens, 0.0
		for i, l := range logits[first:min(first+blockTokens, len(logits))] {
			within += weight((float64(l) - float64(largest)) * s.invTemp)
			if before+within > target {
				return int32(first + i)
			}
		}
	}
	// Rounding let u times the total be the total: the last token that can be drawn.
	for i, l := range slices.Backward(logits) {
		if weight((float64(l)-float64(largest))*s.invTemp) > 0 {
			return int32(i)
		}
	}
	panic("sample: the largest logit has no weight")
}

// drawFromTopK draws from the K most likely tokens, and from fewer if top-p or min-p cut these further.
func (s *Sampler) drawFromTopK(logits []float32, largest float32, u float64) int32 {
	s.candidates = appendLargest(s.candidates[:0], logits, s.sampling.TopK)
	kept := s.candidates
	s.weigh(kept, largest)
	if p := s.sampling.TopP; p > 0 && p < 1 {
		total := 0.0
		for _, c := range kept {
			total += c.weight
		}
		kept, _ = cutTopP(kept, p*total)
	}
	return draw(cutMinP(kept, s.sampling.MinP), u)
}

// drawFromLikely draws with top-p, min-p or both, but without top-k.
//
// Only tokens within some distance of the largest logit are gathered and sorted. If they do not reach the weight that top-p asks for, the
// distance was too short, and is made longer; the result does not depend on it, being a beginning of the whole vocabulary's order.
func (s *Sampler) drawFromLikely(logits []float32, largest float32, u float64) int32 {
	farthest := 708.0 // beyond it a token has no weight
	if s.sampling.MinP > 0 {
		farthest = min(farthest, 1-math.Log(s.sampling.MinP)) // the 1 is for rounding: cutMinP is exact
	}
	if !(s.sampling.TopP > 0 && s.sampling.TopP < 1) {
		s.gather(logits, largest, farthest)
		return draw(cutMinP(s.candidates, s.sampling.MinP), u)
	}

	wanted := s.sampling.TopP * s.sumWeights(logits, largest, s.invTemp)
	for distance := 8.0; ; distance *= 4 {
		s.gather(logits, largest, min(distance, farthest))
		kept, reached := cutTopP(s.candidates, wanted)
		if reached || distance >= farthest {
			return draw(cutMinP(kept, s.sampling.MinP), u)
		}
	}
}

// gather fills s.candidates with the tokens whose logit, after temperature, is within distance of the largest, in order and weighed.
func (s *Sampler) gather(logits []float32, largest float32, distance float64) {
	s.candidates = s.candidates[:0]
	for i, l := range logits {
		if x := (float64(l) - float64(largest)) * s.invTemp; x >= -distance && x <= 0 {
			s.candidates = append(s.candidates, candidate{id: int32(i), logit: l})
		}
	}
	s.room = sortByLikelihood(s.candidates, s.room)
	s.weigh(s.candidates, largest)
}

func (s *Sampler) weigh(cs []candidate, largest float32) {
	for i := range cs {
		cs[i].weight = weight((float64(cs[i].logit) - float64(largest)) * s.invTemp)
	}
}

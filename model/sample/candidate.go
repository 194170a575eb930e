package sample

import (
	"cmp"
	"math"
	"slices"

	"github.com/kvasir-engine/kvasir/request"
)

// candidate is a token that may be chosen.
type candidate struct {
	id     int32
	logit  float32
	weight float64 // exp((logit - largest logit) / temperature)
}

// byLikelihood orders candidates by logit descending, then by id ascending.
func byLikelihood(a, b candidate) int {
	if a.logit != b.logit {
		return cmp.Compare(b.logit, a.logit)
	}
	return cmp.Compare(a.id, b.id)
}

// appendLargest appends the k first finite logits in the order of byLikelihood to dst, which must be empty. It keeps the best k so far
// as a heap with the last of them at the root, so most tokens cost one comparison.
func appendLargest(dst []candidate, logits []float32, k int) []candidate {
	for i, l := range logits {
		switch {
		case !finite(l):
		case len(dst) < k:
			dst = append(dst, candidate{id: int32(i), logit: l})
			if len(dst) == k {
				for root := k/2 - 1; root >= 0; root-- {
					siftDown(dst, root)
				}
			}
		case l > dst[0].logit: // an equal logit comes later in the order, since its id is higher
			dst[0] = candidate{id: int32(i), logit: l}
			siftDown(dst, 0)
		}
	}
	slices.SortFunc(dst, byLikelihood)
	return dst
}

// siftDown restores the heap below root: no node comes before its children in the order of byLikelihood.
func siftDown(heap []candidate, root int) {
	for {
		child := 2*root + 1
		if child >= len(heap) {
			return
		}
		if right := child + 1; right < len(heap) && byLikelihood(heap[right], heap[child]) > 0 {
			child = right
		}
		if byLikelihood(heap[root], heap[child]) > 0 {
			return
		}
		heap[root], heap[child] = heap[child], heap[root]
		root = child
	}
}

// cutTopP returns the shortest beginning whose weight reaches wanted, and whether any does; else all.
func cutTopP(sorted []candidate, wanted float64) (kept []candidate, reached bool) {
	sum := 0.0
	for i, c := range sorted {
		sum += c.weight
		if sum >= wanted {
			return sorted[:i+1], true
		}
	}
	return sorted, false
}

// cutMinP returns the candidates with at least minP of the largest weight, which is 1.
func cutMinP(sorted []candidate, minP float64) []candidate {
	for i, c := range sorted {
		if c.weight < minP {
			return sorted[:i]
		}
	}
	return sorted
}

// draw takes the first candidate at which the cumulative weight exceeds u times the whole.
func draw(sorted []candidate, u float64) int32 {
	total := 0.0
	for _, c := range sorted {
		total += c.weight
	}
	target, sum, last := u*total, 0.0, None
	for _, c := range sorted {
		if sum += c.weight; sum > target {
			return c.id
		}
		if c.weight > 0 {
			last = c.id
		}
	}
	return last // rounding let u times the total be the total
}

// logSumExp is the logarithm of the sum of exp(logit) over all tokens.
func (s *Sampler) logSumExp(logits []float32) float64 {
	best := argmax(logits)
	if best == None {
		return math.Inf(-1)
	}
	return float64(logits[best]) + math.Log(s.sumWeights(logits, logits[best], 1))
}

// mostLikely returns the alternatives that the client asked for, as the model sees them.
func (s *Sampler) mostLikely(logits []float32, logTotal float64) []request.TopToken {
	if s.sampling.TopLogprobs == 0 {
		return nil
	}
	s.candidates = appendLargest(s.candidates[:0], logits, s.sampling.TopLogprobs)
	top := make([]request.TopToken, len(s.candidates))
	for i, c := range s.candidates {
		top[i] = request.TopToken{ID: c.id, Logprob: float32(float64(c.logit) - logTotal)}
	}
	return top
}

// radixFrom is the number of candidates from which on a radix sort is the faster one.
const radixFrom = 1024

// sortByLikelihood sorts candidates whose ids ascend. It uses room as scratch and returns it, maybe grown.
func sortByLikelihood(cs, room []candidate) []candidate {
	if len(cs) < radixFrom {
		slices.SortFunc(cs, byLikelihood)
		return room
	}
	// Four stable passes of a byte each, least significant first, leave equal logits in the order of ids.
	room = slices.Grow(room[:0], len(cs))[:len(cs)]
	from, to := cs, room
	for shift := 0; shift < 32; shift += 8 {
		var start [257]int // start[b] is where the next candidate with byte b goes
		for _, c := range from {
			start[(descendingKey(c.logit)>>shift&0xff)+1]++
		}
		for b := 1; b < len(start); b++ {
			start[b] += start[b-1]
		}
		for _, c := range from {
			b := descendingKey(c.logit) >> shift & 0xff
			to[start[b]] = c
			start[b]++
		}
		from, to = to, from
	}
	return room
}

// descendingKey maps finite floats to integers in the reverse order; both zeros are equal.
func descendingKey(f float32) uint32 {
	key := math.Float32bits(f + 0) // -0 + 0 is 0
	if key>>31 == 0 {
		return 0x7fffffff - key
	}
	return key
}

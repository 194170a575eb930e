package sample

import (
	"cmp"
	"math"
	"slices"

	"github.com/kvasir-engine/kvasir/request"
)

// twin is the sampler as its documentation tells it, without any care for speed: it copies and sorts the whole vocabulary at each token.
type twin struct {
	s        request.Sampling
	choice   int
	seed     uint64
	prompt   []int32
	accepted []int32
}

func (t *twin) sample(logits []float32, position int) Result {
	changed := slices.Clone(logits)
	for id, b := range t.s.LogitBias {
		changed[id] += b
	}
	for id := range changed {
		changed[id] = t.penalised(changed[id], int32(id))
	}
	id := t.choose(changed, position)
	if id == None {
		return Result{ID: None}
	}
	r := Result{ID: id}
	if t.s.Logprobs {
		total := twinLogSumExp(logits)
		r.Logprob = float32(float64(logits[id]) - total)
		for _, c := range twinSorted(logits)[:min(t.s.TopLogprobs, len(twinSorted(logits)))] {
			r.Top = append(r.Top, request.TopToken{ID: c.id, Logprob: float32(float64(c.logit) - total)})
		}
	}
	return r
}

func (t *twin) penalised(logit float32, id int32) float32 {
	if math.IsNaN(float64(logit)) || math.IsInf(float64(logit), 0) {
		return logit
	}
	x := float64(logit)
	answered := 0
	for _, a := range t.accepted {
		if a == id {
			answered++
		}
	}
	if rp := t.s.RepetitionPenalty; rp != 0 && rp != 1 && (answered > 0 || slices.Contains(t.prompt, id)) {
		if x > 0 {
			x /= rp
		} else {
			x *= rp
		}
	}
	if answered > 0 {
		x -= t.s.PresencePenalty
		x -= float64(t.s.FrequencyPenalty * float64(answered))
	}
	return float32(min(max(x, -math.MaxFloat32), math.MaxFloat32))
}

// twinSorted is all finite logits in the documented order.
func twinSorted(logits []float32) []candidate {
	var all []candidate
	for id, l := range logits {
		if !math.IsNaN(float64(l)) && !math.IsInf(float64(l), 0) {
			all = append(all, candidate{id: int32(id), logit: l})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.logit, a.logit) })
	return all
}

// twinSum adds in the order of ids, in blocks.
func twinSum(byID []candidate) float64 {
	blocks := map[int32]float64{}
	for _, c := range byID {
		blocks[c.id/blockTokens] += c.weight
	}
	total := 0.0
	for b := int32(0); len(blocks) > 0; b++ {
		total += blocks[b]
		delete(blocks, b)
	}
	return total
}

func twinLogSumExp(logits []float32) float64 {
	all := twinSorted(logits)
	if len(all) == 0 {
		return math.Inf(-1)
	}
	largest := float64(all[0].logit)
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.id, b.id) })
	for i := range all {
		all[i].weight = weight(float64(all[i].logit) - largest)
	}
	return largest + math.Log(twinSum(all))
}

func (t *twin) choose(logits []float32, position int) int32 {
	all := twinSorted(logits)
	if len(all) == 0 {
		return None
	}
	if t.s.Temperature == 0 {
		return all[0].id
	}
	largest, scale := float64(all[0].logit), min(1/t.s.Temperature, math.MaxFloat64)
	for i := range all {
		all[i].weight = weight((float64(all[i].logit) - largest) * scale)
	}
	byID := slices.Clone(all)
	slices.SortFunc(byID, func(a, b candidate) int { return cmp.Compare(a.id, b.id) })
	u := uniform(t.seed, t.choice, position)

	topK := t.s.TopK > 0 && t.s.TopK < len(logits)
	topP := t.s.TopP > 0 && t.s.TopP < 1
	if !topK && !topP && t.s.MinP == 0 {
		return twinDrawByBlocks(byID, u*twinSum(byID))
	}
	total := twinSum(byID)
	if topK {
		all = all[:min(t.s.TopK, len(all))]
		total = 0
		for _, c := range all {
			total += c.weight
		}
	}
	if topP {
		sum, n := 0.0, 0
		for n < len(all) && (n == 0 || sum < t.s.TopP*total) {
			sum += all[n].weight
			n++
		}
		all = all[:n]
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.weight < t.s.MinP })
	return twinDraw(all, u)
}

func twinDraw(cs []candidate, u float64) int32 {
	total, sum := 0.0, 0.0
	for _, c := range cs {
		total += c.weight
	}
	for _, c := range cs {
		if sum += c.weight; sum > u*total {
			return c.id
		}
	}
	return cs[len(cs)-1].id
}

func twinDrawByBlocks(byID []candidate, target float64) int32 {
	before, within, last := 0.0, 0.0, byID[0].id
	for _, c := range byID {
		if c.id/blockTokens != last/blockTokens {
			before, within = before+within, 0
		}
		within += c.weight
		last = c.id
		if before+within > target {
			return c.id
		}
	}
	return last
}

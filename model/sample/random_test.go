package sample

import (
	"math"
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/request"
	"pgregory.net/rapid"
)

// The known answers of the Random123 library for philox4x32, 10 rounds.
func TestPhilox(t *testing.T) {
	tests := []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	}
	for _, tt := range tests {
		if got := philox4x32(tt.counter, tt.key); got != tt.want {
			t.Errorf("philox4x32(%x, %x) = %x, want %x", tt.counter, tt.key, got, tt.want)
		}
	}
}

func TestUniformDependsOnSeedChoiceAndPosition(t *testing.T) {
	seen := map[float64]bool{}
	for seed := range uint64(10) {
		for choice := range 10 {
			for position := range 10 {
				u := uniform(seed, choice, position)
				if u < 0 || u >= 1 || seen[u] {
					t.Fatalf("seed %d, choice %d, position %d: %v is out of [0, 1) or came before", seed, choice, position, u)
				}
				seen[u] = true
			}
		}
	}
}

func TestWeightIsTheExponential(t *testing.T) {
	for i := range 200_000 {
		x := -708 * uniform(5, 0, i)
		if i%2 == 0 {
			x /= 300
		}
		want := math.Exp(x)
		if got := weight(x); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("weight(%v) = %v, want %v", x, got, want)
		}
	}
	if weight(0) != 1 {
		t.Errorf("weight(0) = %v, want 1", weight(0))
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e-9, -708, -1e300} {
		if weight(x) != 0 {
			t.Errorf("weight(%v) = %v, want 0", x, weight(x))
		}
	}
}

// Pearson's chi-square of many draws against the distribution that the parameters define. Seeds are fixed, so this gives the same number
// each time; the bound is the 99.9 % point for the degrees of freedom (number of tokens less one).
func TestDrawsFollowTheDistribution(t *testing.T) {
	const draws = 20_000
	logits := []float32{0.5, -1, 2, 1.5, 0, -0.5, 1, 0.25}
	tests := []struct {
		name  string
		s     request.Sampling
		kept  []int32
		bound float64
	}{
		{"temperature 1", request.Sampling{Temperature: 1}, []int32{0, 1, 2, 3, 4, 5, 6, 7}, 24.3},
		{"temperature 0.5", request.Sampling{Temperature: 0.5}, []int32{0, 1, 2, 3, 4, 5, 6, 7}, 24.3},
		{"temperature 3", request.Sampling{Temperature: 3}, []int32{0, 1, 2, 3, 4, 5, 6, 7}, 24.3},
		{"top-k 4", request.Sampling{Temperature: 1, TopK: 4}, []int32{0, 2, 3, 6}, 16.3},
		{"top-p 0.7", request.Sampling{Temperature: 1, TopP: 0.7}, []int32{2, 3, 6}, 13.8},
		{"min-p 0.2", request.Sampling{Temperature: 1, MinP: 0.2}, []int32{0, 2, 3, 6}, 16.3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sm := mustNew(t, tt.s, len(logits), 2026)
			count := make([]int, len(logits))
			for position := range draws {
				count[sm.Sample(logits, position).ID]++
			}
			total := 0.0
			for _, id := range tt.kept {
				total += math.Exp(float64(logits[id]) / tt.s.Temperature)
			}
			chi, inKept := 0.0, 0
			for _, id := range tt.kept {
				expected := draws * math.Exp(float64(logits[id])/tt.s.Temperature) / total
				chi += (float64(count[id]) - expected) * (float64(count[id]) - expected) / expected
				inKept += count[id]
			}
			if inKept != draws {
				t.Errorf("%d of %d draws fell outside the kept tokens: %v", draws-inKept, draws, count)
			}
			if chi > tt.bound {
				t.Errorf("chi-square %.1f, bound %.1f: counts %v", chi, tt.bound, count)
			}
		})
	}
}

func TestSortByLikelihood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := append(rapid.SliceOfN(rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32), 1, 30).Draw(t, "kinds"),
			0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32)
		mix := rapid.Uint64().Draw(t, "mix")
		got := make([]candidate, rapid.SampledFrom([]int{0, 1, radixFrom - 1, radixFrom, 3000}).Draw(t, "n"))
		for i := range got {
			got[i] = candidate{id: int32(i), logit: kinds[int(uniform(mix, 0, i)*float64(len(kinds)))]}
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, byLikelihood)
		sortByLikelihood(got, nil)
		if !slices.Equal(want, got) {
			t.Fatal("not in the order of likelihood")
		}
	})
}

func TestSamplingDoesNotAllocate(t *testing.T) {
	logits := benchmarkRow(4096)
	for name, s := range map[string]request.Sampling{
		"greedy": {}, "temperature": {Temperature: 1}, "top-k": {Temperature: 1, TopK: 40}, "top-p": {Temperature: 1, TopP: 0.9},
		"penalties": {Temperature: 1, RepetitionPenalty: 1.1, LogitBias: map[int32]float32{4: 1}},
	} {
		sm := mustNew(t, s, len(logits), 1, 1, 2, 3)
		if n := testing.AllocsPerRun(50, func() { sm.Sample(logits, 7) }); n != 0 {
			t.Errorf("%s: %v allocations a token", name, n)
		}
	}
}

// benchmarkRow has the spread of a language model's logits: roughly normal, with a few tokens standing out.
func benchmarkRow(vocab int) []float32 {
	logits := make([]float32, vocab)
	for i := range logits {
		for k := range 6 {
			logits[i] += float32(2 * (uniform(1, k, i) - 0.5))
		}
		if i%(vocab/8) == 5 {
			logits[i] += 16
		}
	}
	return logits
}

func BenchmarkSample(b *testing.B) {
	logits := benchmarkRow(128 << 10)
	for _, bb := range []struct {
		name string
		s    request.Sampling
	}{
		{"greedy", request.Sampling{}},
		{"greedy+logprobs", request.Sampling{Logprobs: true, TopLogprobs: 20}},
		{"temperature", request.Sampling{Temperature: 1}},
		{"top-k=40", request.Sampling{Temperature: 1, TopK: 40}},
		{"top-p=0.9", request.Sampling{Temperature: 1, TopP: 0.9}},
		{"top-p=0.9, hot", request.Sampling{Temperature: 5, TopP: 0.9}},
		{"min-p=0.05", request.Sampling{Temperature: 1, MinP: 0.05}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			sm := mustNew(b, bb.s, len(logits), 1)
			b.ReportAllocs()
			position := 0
			for b.Loop() {
				sm.Sample(logits, position)
				position++
			}
		})
	}
}

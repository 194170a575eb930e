package tokenizer

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// mergeSlowly is the definition: find the best pair, join it, start again.
func mergeSlowly(merges map[uint64]merge, symbols []int32) []int32 {
	symbols = slices.Clone(symbols)
	for {
		best, at := merge{}, -1
		for i := range len(symbols) - 1 {
			if m, ok := merges[pair(symbols[i], symbols[i+1])]; ok && (at < 0 || m.rank < best.rank) {
				best, at = m, i
			}
		}
		if at < 0 {
			return symbols
		}
		symbols[at] = best.symbol
		symbols = slices.Delete(symbols, at+1, at+2)
	}
}

func TestMergingAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const letters = 4
		merges := map[uint64]merge{}
		spelling := []string{"a", "b", "c", "d"}
		symbols := map[string]int32{"a": 0, "b": 1, "c": 2, "d": 3}
		for rank := range rapid.IntRange(0, 30).Draw(t, "merges") {
			any := rapid.Int32Range(0, int32(len(spelling)-1))
			left, right := any.Draw(t, "left"), any.Draw(t, "right")
			if _, twice := merges[pair(left, right)]; twice {
				continue
			}
			text := spelling[left] + spelling[right]
			symbol, known := symbols[text] // two merges may make the same symbol
			if !known {
				symbol = int32(len(spelling))
				symbols[text] = symbol
				spelling = append(spelling, text)
			}
			merges[pair(left, right)] = merge{rank: int32(rank), symbol: symbol}
		}
		m := merger{merges: merges}
		for range 3 { // the merger is used again
			word := rapid.SliceOfN(rapid.Int32Range(0, letters-1), 0, 40).Draw(t, "word")
			got, want := m.merge(nil, word), mergeSlowly(merges, word)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: got %v, want %v", word, got, want)
			}
		}
	})
}

// A long run without a border is one piece. Looking for the best pair anew after each merge would take minutes here.
func TestALongPieceIsNotQuadratic(t *testing.T) {
	merges := map[uint64]merge{pair(0, 0): {rank: 0, symbol: 1}, pair(1, 1): {rank: 1, symbol: 2}}
	m := merger{merges: merges}
	got := m.merge(nil, make([]int32, 1<<17))
	if len(got) != 1<<15 || slices.ContainsFunc(got, func(s int32) bool { return s != 2 }) {
		t.Errorf("%d symbols, beginning with %v", len(got), got[:3])
	}
}

// Package stats sums up figures that were measured several times.
package stats

import (
	"math"
	"slices"
)

// Summary is what is told of a figure that was measured several times.
type Summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Summarize returns the zero Summary for no values.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	return Summary{Median: Percentile(values, 50), Min: slices.Min(values), Max: slices.Max(values)}
}

// Percentile is the value below which p percent of values lie, interpolated between the two nearest ranks (method 7 of Hyndman and Fan 1996, which is numpy's default). It is
// 0 for no values.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := p / 100 * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// Times is the summary in another unit.
func (s Summary) Times(x float64) Summary {
	return Summary{Median: s.Median * x, Min: s.Min * x, Max: s.Max * x}
}

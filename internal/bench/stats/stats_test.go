package stats

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPercentile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		p      float64
		want   float64
	}{
		{nil, 50, 0},
		{[]float64{7}, 99, 7},
		{[]float64{3, 1, 2}, 50, 2},
		{[]float64{4, 1, 3, 2}, 50, 2.5},
		{[]float64{0, 10}, 90, 9},
		{[]float64{10, 20, 30, 40, 50}, 90, 46}, // numpy.percentile([10, 20, 30, 40, 50], 90)
		{[]float64{1, 2}, 0, 1},
		{[]float64{1, 2}, 100, 2},
	} {
		if got := Percentile(c.values, c.p); got != c.want {
			t.Errorf("%v of %v is %v, want %v", c.p, c.values, got, c.want)
		}
	}
}

// A percentile leaves its share of the values at or below it, and grows with p.
func TestPercentileOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		before := slices.Clone(values)
		p, q := rapid.Float64Range(0, 100).Draw(t, "p"), rapid.Float64Range(0, 100).Draw(t, "q")
		x := Percentile(values, p)
		if !slices.Equal(values, before) {
			t.Fatal("the values were changed")
		}
		atMost := 0
		for _, v := range values {
			if v <= x {
				atMost++
			}
		}
		if float64(atMost) < p/100*float64(len(values)-1) {
			t.Errorf("%d of %d values are at most %v", atMost, len(values), x)
		}
		if y := Percentile(values, q); p < q && x > y {
			t.Errorf("percentile %v is %v, over the %v of %v", p, x, y, q)
		}
	})
}

func TestSummarize(t *testing.T) {
	if got, want := Summarize([]float64{5, 1, 3}), (Summary{Median: 3, Min: 1, Max: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Summarize(nil); got != (Summary{}) {
		t.Errorf("%+v of nothing", got)
	}
	if got, want := (Summary{Median: 2, Min: 1, Max: 4}).Times(10), (Summary{Median: 20, Min: 10, Max: 40}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

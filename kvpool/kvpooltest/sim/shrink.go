package sim

import (
	"math/bits"
	"slices"
)

// Shrink makes a failing run smaller, greedily: it leaves out kinds of fault, then faults and requests of the plan, first many at a time, while something still breaks. It makes
// at most so many runs, and returns the smallest that fails, with its result.
//
// Preconditions: Run(cfg) fails.
func Shrink(cfg Config, runs int) (Config, Result) {
	best := Run(cfg)
	smaller := func(try Config) bool {
		if runs <= 0 {
			return false
		}
		runs--
		r := Run(try)
		if r.Err == nil {
			return false
		}
		cfg, best = try, r
		return true
	}
	for left := cfg.Faults; left != 0; left &= left - 1 {
		try := cfg
		try.Faults &^= 1 << bits.TrailingZeros32(uint32(left))
		smaller(try)
	}
	drop := func(planned int, list func(*Config) *[]int) {
		for size := max(1, planned/2); ; size /= 2 {
			for from := 0; from < planned; from += size {
				try := cfg
				more := slices.Clone(*list(&cfg))
				for i := from; i < min(planned, from+size); i++ {
					if !slices.Contains(more, i) {
						more = append(more, i)
					}
				}
				if len(more) > len(*list(&cfg)) {
					slices.Sort(more)
					*list(&try) = more
					smaller(try)
				}
			}
			if size <= 1 {
				return
			}
		}
	}
	drop(best.PlannedFaults, func(c *Config) *[]int { return &c.DropFaults })
	drop(best.PlannedRequests, func(c *Config) *[]int { return &c.DropRequests })
	return cfg, best
}

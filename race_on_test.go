//go:build race

package kvasir

// raceEnabled: the race detector makes kernels about twenty times slower, so tables run on pairs of values instead of all combinations.
const raceEnabled = true

package sample

import "math/bits"

// Constants of Philox4x32 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
const (
	philoxM0     = 0xD2511F53
	philoxM1     = 0xCD9E8D57
	philoxW0     = 0x9E3779B9
	philoxW1     = 0xBB67AE85
	philoxRounds = 10
)

// philox4x32 is the counter-based generator Philox4x32-10: a keyed bijection of 128-bit counters.
func philox4x32(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range philoxRounds {
		hi0, lo0 := bits.Mul32(philoxM0, counter[0])
		hi1, lo1 := bits.Mul32(philoxM1, counter[2])
		counter = [4]uint32{hi1 ^ counter[1] ^ key[0], lo1, hi0 ^ counter[3] ^ key[1], lo0}
		key[0] += philoxW0
		key[1] += philoxW1
	}
	return counter
}

// uniform is the random number in [0, 1) of a position of a choice: the upper 53 bits of the first 64 that Philox gives.
func uniform(seed uint64, choice, position int) float64 {
	p, c := uint64(position), uint64(choice)
	out := philox4x32(
		[4]uint32{uint32(p), uint32(p >> 32), uint32(c), uint32(c >> 32)},
		[2]uint32{uint32(seed), uint32(seed >> 32)})
	return float64((uint64(out[1])<<32|uint64(out[0]))>>11) * 0x1p-53
}

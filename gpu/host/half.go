package host

import (
	"encoding/binary"
	"math"
)

// halfToFloat converts IEEE 754 half precision exactly.
func halfToFloat(h uint16) float32 {
	if m := uint32(h & 0x7fff); m-0x400 < 0x7800 { // normal
		return math.Float32frombits(uint32(h&0x8000)<<16 | (m<<13 + (127-15)<<23))
	}
	return specialHalf(h)
}

// specialHalf converts zeros, subnormals, infinities and what is no number.
func specialHalf(h uint16) float32 {
	sign, m := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	if m >= 0x7c00 {
		quiet := uint32(0)
		if m > 0x7c00 {
			quiet = 0x400000 // as processors do it
		}
		return math.Float32frombits(sign | 0x7f800000 | quiet | (m&0x3ff)<<13)
	}
	return math.Float32frombits(sign | math.Float32bits(float32(m)*0x1p-24)) // a whole multiple of 2^-24
}

// floatToHalf rounds to nearest, ties to even. Magnitudes over the largest half become infinity.
func floatToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // not a number: keep it quiet, and what fits of its payload
		return sign | 0x7e00 | uint16(b>>13&0x1ff)
	case b >= 0x47800000: // 65536 and more
		return sign | 0x7c00
	case b >= 0x38800000: // normal in half precision; a carry out of the mantissa rightly grows the exponent, up to infinity
		return sign | uint16((b-(127-15)<<23+0xfff+b>>13&1)>>13)
	}
	// Subnormal: adding 0.5 aligns the value so that the float32 addition itself rounds to a multiple of 2^-24.
	return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
}

func decodeHalf(dst []float32, src []byte) {
	for len(dst) >= 4 && len(src) >= 8 {
		h := binary.LittleEndian.Uint64(src)
		dst[0] = halfToFloat(uint16(h))
		dst[1] = halfToFloat(uint16(h >> 16))
		dst[2] = halfToFloat(uint16(h >> 32))
		dst[3] = halfToFloat(uint16(h >> 48))
		dst, src = dst[4:], src[8:]
	}
	for i := range dst {
		dst[i] = halfToFloat(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func encodeHalf(dst []byte, src []float32) {
	dst = dst[:2*len(src)]
	for i, f := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], floatToHalf(f))
	}
}

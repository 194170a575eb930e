package host

import (
	"encoding/binary"
	"math"
)

// Decoders of a row's encoding; the formats are those of ggml (ggml-common.h). Each decodes len(dst) elements.

func decodeF32(dst []float32, src []byte) {
	src = src[:4*len(dst)]
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// decodeBF16: the upper halves of float32.
func decodeBF16(dst []float32, src []byte) {
	for len(dst) >= 4 && len(src) >= 8 {
		b := binary.LittleEndian.Uint64(src)
		dst[0] = math.Float32frombits(uint32(b) << 16)
		dst[1] = math.Float32frombits(uint32(b) &^ 0xffff)
		dst[2] = math.Float32frombits(uint32(b>>32) << 16)
		dst[3] = math.Float32frombits(uint32(b>>32) &^ 0xffff)
		dst, src = dst[4:], src[8:]
	}
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

// decodeQ8_0: blocks of 32 elements: scale (half), 32 int8.
func decodeQ8_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 34 {
		scale := halfToFloat(binary.LittleEndian.Uint16(src))
		d, q := (*[32]float32)(dst), (*[32]byte)(src[2:])
		for i, v := range q {
			d[i] = float32(int8(v)) * scale
		}
		dst, src = dst[32:], src[34:]
	}
}

// decodeQ4_0: blocks of 32 elements: scale (half), 16 bytes that hold element i low and element i+16 high, each 8 too large.
func decodeQ4_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 18 {
		scale := halfToFloat(binary.LittleEndian.Uint16(src))
		d, q := (*[32]float32)(dst), (*[16]byte)(src[2:])
		for i, v := range q {
			d[i] = float32(int32(v&15)-8) * scale
			d[i+16] = float32(int32(v>>4)-8) * scale
		}
		dst, src = dst[32:], src[18:]
	}
}

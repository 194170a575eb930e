package host

import (
	"encoding/binary"
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
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

// decode decodes quantised elements, rounding each product and sum.
func (read blockReader) decode(dst []float32, src []byte) {
	for i := range len(dst) / recordElems {
		b := read(src, i)
		d := (*[recordElems]float32)(dst[i*recordElems:])
		for half, part := range b.parts {
			scale := b.scale * float32(part)
			for e := 16 * half; e < 16*half+16; e++ {
				d[e] = float32(float32(b.values[e])*scale) - b.minimum
			}
		}
	}
}

// goDecoders are the decoders in plain Go.
func goDecoders() map[gpu.Type]func(dst []float32, src []byte) {
	decoders := map[gpu.Type]func([]float32, []byte){gpu.F32: decodeF32, gpu.F16: decodeHalf, gpu.BF16: decodeBF16}
	for t, read := range blockReaders() {
		decoders[t] = read.decode
	}
	return decoders
}

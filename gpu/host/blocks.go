package host

import (
	"encoding/binary"

	"github.com/kvasir-engine/kvasir/gpu"
)

// Readers of blocks of quantised weights; the formats are those of ggml (ggml-common.h).

func blockReaders() map[gpu.Type]blockReader {
	return map[gpu.Type]blockReader{
		gpu.Q8_0: readQ8_0,
		gpu.Q4_0: readQ4_0,
	}
}

func half(b []byte) float32 { return halfToFloat(binary.LittleEndian.Uint16(b)) }

// readQ8_0: scale (half), 32 int8.
func readQ8_0(row []byte, i int) (b block) {
	src := (*[34]byte)(row[34*i:])
	b.scale, b.parts = half(src[:]), [2]int32{1, 1}
	for e := range b.values {
		b.values[e] = int8(src[2+e])
	}
	return b
}

// readQ4_0: scale (half), 16 bytes that hold element e low and element e+16 high, each 8 too large.
func readQ4_0(row []byte, i int) (b block) {
	src := (*[18]byte)(row[18*i:])
	b.scale, b.parts = half(src[:]), [2]int32{1, 1}
	for e, v := range src[2:] {
		b.values[e], b.values[e+16] = int8(v&15)-8, int8(v>>4)-8
	}
	return b
}

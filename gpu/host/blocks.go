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
		gpu.Q4_1: readQ4_1,
		gpu.Q5_0: readQ5_0,
		gpu.Q5_1: readQ5_1,
		gpu.Q4_K: readQ4_K,
		gpu.Q5_K: readQ5_K,
		gpu.Q6_K: readQ6_K,
	}
}

// half is the half at the start of b.
func half(b []byte) float32 { return halfToFloat(binary.LittleEndian.Uint16(b)) }

// single are the parts of a block whose elements have no whole scales.
func single() [2]int32 { return [2]int32{1, 1} }

// readQ8_0: scale (half), 32 int8.
func readQ8_0(row []byte, i int) (b block) {
	src := (*[34]byte)(row[34*i:])
	b.scale, b.parts = half(src[:]), single()
	for e := range b.values {
		b.values[e] = int8(src[2+e])
	}
	return b
}

// readNibbles takes elements of 4 bit: that of byte e low and element e+16 high.
func (b *block) readNibbles(src *[16]byte) {
	for e, v := range src {
		b.values[e], b.values[e+16] = int8(v&15), int8(v>>4)
	}
}

// readFifthBits adds the highest bits of elements of 5 bit: bit e of four bytes is element e's.
func (b *block) readFifthBits(src []byte) {
	bits := binary.LittleEndian.Uint32(src)
	for e := range b.values {
		b.values[e] |= int8(bits >> e & 1 << 4)
	}
}

// lower takes n from all elements.
func (b *block) lower(n int8) {
	for e := range b.values {
		b.values[e] -= n
	}
}

// readQ4_0: scale (half), nibbles, each 8 too large.
func readQ4_0(row []byte, i int) (b block) {
	src := (*[18]byte)(row[18*i:])
	b.scale, b.parts = half(src[:]), single()
	b.readNibbles((*[16]byte)(src[2:]))
	b.lower(8)
	return b
}

// readQ4_1: scale and negative minimum (halves), nibbles.
func readQ4_1(row []byte, i int) (b block) {
	src := (*[20]byte)(row[20*i:])
	b.scale, b.minimum, b.parts = half(src[:]), -half(src[2:]), single()
	b.readNibbles((*[16]byte)(src[4:]))
	return b
}

// readQ5_0: scale (half), fifth bits, nibbles; elements are 16 too large.
func readQ5_0(row []byte, i int) (b block) {
	src := (*[22]byte)(row[22*i:])
	b.scale, b.parts = half(src[:]), single()
	b.readNibbles((*[16]byte)(src[6:]))
	b.readFifthBits(src[2:])
	b.lower(16)
	return b
}

// readQ5_1: scale and negative minimum (halves), fifth bits, nibbles.
func readQ5_1(row []byte, i int) (b block) {
	src := (*[24]byte)(row[24*i:])
	b.scale, b.minimum, b.parts = half(src[:]), -half(src[2:]), single()
	b.readNibbles((*[16]byte)(src[8:]))
	b.readFifthBits(src[4:])
	return b
}

// readSmallScales reads the start of a block of 256 of Q4_K and Q5_K: factors of scales and of minima (halves), and 8 of each in 6 bits, which are packed into 12 bytes.
func (b *block) readSmallScales(src *[16]byte, part int) {
	packed := src[4:]
	var scale, minimum byte
	if part < 4 {
		scale, minimum = packed[part]&63, packed[part+4]&63
	} else {
		scale = packed[part+4]&15 | packed[part-4]>>6<<4
		minimum = packed[part+4]>>4 | packed[part]>>6<<4
	}
	b.scale, b.minimum, b.parts = half(src[:])*float32(scale), half(src[2:])*float32(minimum), single()
}

// readHalfBytes reads elements of a part of 32: parts 0 and 1 are the low and high halves of 32 bytes, and so on.
func (b *block) readHalfBytes(src []byte, part int) {
	for e, v := range src[part/2*32:][:32] {
		b.values[e] = int8(v >> (part % 2 * 4) & 15)
	}
}

// readQ4_K: scales and minima, 128 bytes of half bytes.
func readQ4_K(row []byte, i int) (b block) {
	src, part := (*[144]byte)(row[i/8*144:]), i%8
	b.readSmallScales((*[16]byte)(src[:]), part)
	b.readHalfBytes(src[16:], part)
	return b
}

// readQ5_K: scales and minima, 32 bytes whose bit p is the fifth of an element of part p, 128 bytes of half bytes.
func readQ5_K(row []byte, i int) (b block) {
	src, part := (*[176]byte)(row[i/8*176:]), i%8
	b.readSmallScales((*[16]byte)(src[:]), part)
	b.readHalfBytes(src[48:], part)
	for e, v := range src[16:48] {
		b.values[e] |= int8(v >> part & 1 << 4)
	}
	return b
}

// readQ6_K: for each 128 elements 64 bytes of half bytes, of which the low ones are two parts of 32 and the high ones the next two; likewise 32 bytes with the high two
// bits of four parts; 16 scales (int8), one for each 16 elements; their factor (half). Elements are 32 too large.
func readQ6_K(row []byte, i int) (b block) {
	src, part := (*[210]byte)(row[i/8*210:]), i%8
	low, high := src[part/4*64+part%2*32:], src[128+part/4*32:]
	for e := range b.values {
		b.values[e] = int8(low[e]>>(part/2%2*4)&15|high[e]>>(part%4*2)&3<<4) - 32
	}
	b.scale = half(src[208:])
	b.parts = [2]int32{int32(int8(src[192+2*part])), int32(int8(src[193+2*part]))}
	return b
}

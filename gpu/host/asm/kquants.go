package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Types whose blocks have 256 elements: 8 parts of 32, with scales in few bits of their own. ggml-common.h has their layouts.

// allColumns transposes 32 bytes of each row.
func (s *strip) allColumns(offset int) []reg.VecVirtual {
	a, b := s.columns(offset), s.columns(offset+16)
	return append(a[:], b[:]...)
}

// keep puts vectors into local memory.
func (s *strip) keep(first int, v []reg.VecVirtual) {
	for i := range v {
		VMOVDQA(v[i], s.kept(first+i))
	}
}

// smallScales are the scales and minima of the parts of Q4_K and Q5_K, from the first 16 bytes of a block: two halves, then 8 scales and 8 minima of 6 bits. They are
// kept as float32: those of part j as vectors first+2j and first+2j+1.
func (s *strip) smallScales(first int) {
	h := s.columns(0)
	scale := s.lowHalves(h[0])
	VPSRLD(Imm(16), h[0], h[0])
	minimum := s.lowHalves(h[0])
	// The bytes of a lane of h[1] are scales 0 to 3, those of h[2] minima 0 to 3, in their low 6 bits; h[3] has the low 4 bits of scales 4 to 7 and, above them, of
	// minima 4 to 7, and the bits that h[1] and h[2] have left are the high 2 of these.
	late := func(low, high reg.VecVirtual) reg.VecVirtual {
		VPSRLW(Imm(2), high, high)
		VPAND(s.c.bits4and5, high, high)
		VPOR(low, high, high)
		return high
	}
	early := [2]reg.VecVirtual{YMM(), YMM()}
	VPAND(s.c.low6, h[1], early[0])
	VPAND(s.c.low6, h[2], early[1])
	lates := [2]reg.VecVirtual{late(s.low(h[3]), h[1]), late(s.high(h[3]), h[2])}
	for i, factor := range []reg.VecVirtual{scale, minimum} {
		for part := range 8 {
			from, v := early[i], YMM()
			if part >= 4 {
				from = lates[i]
			}
			VPSHUFB(s.c.widenByte[part%4], from, v)
			VCVTDQ2PS(v, v)
			VMULPS(factor, v, v)
			VMOVAPS(v, s.kept(first+2*part+i))
		}
	}
}

// productQ4_K: sums of pairs as in Q4_0.
func productQ4_K(c *constants) {
	const scales, packed = 0, 16
	s := beginStrip(c, "Q4_K", "blocks of 256 elements", 24)
	s.smallScales(scales)
	for pair := range 4 { // low halves of 32 bytes are a part, high halves the next
		s.readOn(144 / 4)
		v := s.allColumns(16 + 32*pair)
		s.keep(packed, v)
		for half := range 2 {
			w := make([]reg.VecVirtual, 8)
			for k := range w {
				if half == 0 {
					w[k] = v[k]
					VPAND(c.lowNibbles, w[k], w[k])
				} else {
					w[k] = s.high(s.kept(packed + k))
				}
			}
			s.parts(w, 8, s.kept(scales+2*(2*pair+half)), s.kept(scales+2*(2*pair+half)+1))
		}
	}
	s.end(144)
}

// productQ5_K: sums of pairs as in Q5_0.
func productQ5_K(c *constants) {
	const scales, packed, fifth = 0, 16, 24
	s := beginStrip(c, "Q5_K", "blocks of 256 elements", 32)
	s.smallScales(scales)
	s.keep(fifth, s.allColumns(16)) // a byte has a bit for each part
	for pair := range 4 {
		s.readOn(176 / 4)
		v := s.allColumns(48 + 32*pair)
		s.keep(packed, v)
		for half := range 2 {
			w := make([]reg.VecVirtual, 8)
			for k := range w {
				if half == 0 {
					w[k] = v[k]
					VPAND(c.lowNibbles, w[k], w[k])
				} else {
					w[k] = s.high(s.kept(packed + k))
				}
				bit := YMM()
				VMOVDQA(s.kept(fifth+k), bit)
				shiftBytes(bit, 2*pair+half, 4)
				VPAND(c.sixteens, bit, bit)
				VPOR(bit, w[k], w[k])
			}
			s.parts(w, 4, s.kept(scales+2*(2*pair+half)), s.kept(scales+2*(2*pair+half)+1))
		}
	}
	s.end(176)
}

// shiftBytes moves bit from of each byte to place to; other bits may come from other bytes.
func shiftBytes(v reg.VecVirtual, from, to int) {
	switch {
	case from > to:
		VPSRLW(Imm(uint64(from-to)), v, v)
	case from < to:
		VPSLLW(Imm(uint64(to-from)), v, v)
	}
}

// parts multiplies a part with unsigned elements.
func (s *strip) parts(w []reg.VecVirtual, runs int, scale, minimum Mem) {
	s.eachRow(func(acc Mem) {
		product := s.unsignedDot(w, runs, s.onesFactor)
		s.scaled(product, scale)
		s.addTo(acc, product, minimum)
	})
}

// productQ6_K takes the elements as they are stored, from 0 to 63, with whole scales for each 16 of them. Sums of pairs are at most 2*63*127 = 16002, two of which fit in
// 16 bits. What elements are too large, 32, is taken away by the sums of x times the scales.
func productQ6_K(c *constants) {
	const scales, low, high, first, last, each, scale = 0, 4, 20, 28, 29, 30, 31
	s := beginStrip(c, "Q6_K", "blocks of 256 elements", 32)
	wholeScales := s.columns(192)
	s.keep(scales, wholeScales[:])
	s.keep(scale, []reg.VecVirtual{s.halves(208)})
	for half := range 2 {
		s.readOn(210 / 2)
		s.keep(low, s.allColumns(64*half))
		s.keep(low+8, s.allColumns(64*half+32))
		s.keep(high, s.allColumns(128+32*half))
		for quarter := range 4 {
			part := 4*half + quarter
			s.partScales(s.kept(scales+part/2), c.scaleOrders[part%2], first)
			w := make([]reg.VecVirtual, 8)
			for k := range w {
				bits := YMM()
				VMOVDQA(s.kept(high+k), bits)
				shiftBytes(bits, 2*quarter, 4)
				VPAND(c.bits4and5, bits, bits)
				if packed := s.kept(low + 8*(quarter%2) + k); quarter < 2 {
					w[k] = YMM()
					VMOVDQA(packed, w[k])
					VPAND(c.lowNibbles, w[k], w[k])
				} else {
					w[k] = s.high(packed)
				}
				VPOR(bits, w[k], w[k])
			}
			s.eachRow(func(acc Mem) {
				product := s.unsignedDot(w, 2, func(run int) Op { return s.kept(first + run/2) })
				offset := s.activations(recordSums)
				VPMADDWD(s.kept(each), offset, offset)
				VPSLLD(Imm(5), offset, offset)
				VPSUBD(offset, product, product)
				s.scaled(product, s.kept(scale))
				s.addTo(acc, product, nil)
			})
		}
	}
	s.end(210)
}

// partScales keeps the whole scales of the two halves of a part, as 16 bits: the first one twice in each lane, the last twice, and each once.
func (s *strip) partScales(scales Mem, orders [3]Mem, to int) {
	all := YMM()
	VMOVDQA(scales, all)
	for i, order := range orders {
		v := YMM()
		VPSHUFB(order, all, v) // into the high bytes
		VPSRAW(Imm(8), v, v)
		VMOVDQA(v, s.kept(to+i))
	}
}

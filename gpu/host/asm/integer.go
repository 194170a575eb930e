package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A record is 32 activations in 8 bit with what products need to know of them: package host's quantise.go tells.
const (
	recordBytes = 48
	recordScale = 32 // float32
	recordSums  = 36 // of the first and of the last 16 values, int16 each
	recordSum   = 40 // of all values, int32
	recordTotal = 44 // scale times sum, float32
)

// strip is a function in the making that multiplies 8 rows of weights with rows of activations. Lane i of its vectors belongs to row i: four neighbouring elements of
// each row are transposed into a vector, activations are broadcast, and so each output is one lane of one accumulator, which takes the blocks of 32 in ascending order.
type strip struct {
	c                *constants
	labels           *int
	w                [2]reg.Register // rows 0 and 4 at the block in progress
	ahead            reg.Register    // where weights are read that will be needed soon
	distance, triple reg.Register    // of a row, and of three
	x, local         reg.Register
	ones             reg.VecVirtual // int16
}

// beginStrip begins the function and its loop over blocks, of which locals vectors are kept in memory.
func beginStrip(c *constants, name, what string, locals int) *strip {
	attributes := attr.NOSPLIT
	if locals > 16 { // more than the stack is sure to have
		attributes = 0
	}
	functionWith(attributes, "asmProduct"+name, "func(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)",
		"adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: "+what+". "+
			"x holds a record for each row of the first 32 columns, then of the next.")
	s := &strip{c: c, labels: new(int), x: pointer("x"), distance: pointer("rowBytes"), triple: GP64(), local: GP64(), ones: YMM()}
	s.w[0], s.w[1], s.ahead = pointer("w"), GP64(), GP64()
	LEAQ(Mem{Base: s.distance, Index: s.distance, Scale: 2}, s.triple)
	LEAQ(Mem{Base: s.w[0], Index: s.distance, Scale: 4}, s.w[1])
	LEAQ(Mem{Base: s.w[0], Index: s.distance, Scale: 8, Disp: readAhead}, s.ahead)
	if locals > 0 { // vectors that cross no cache line
		LEAQ(AllocLocal(32*locals+32), s.local)
		ADDQ(Imm(31), s.local)
		ANDQ(I32(-32), s.local)
	}
	VPCMPEQD(s.ones, s.ones, s.ones)
	VPSRLW(Imm(15), s.ones, s.ones)
	Label("blocks")
	return s
}

// end ends the loop over blocks of this many bytes, and the function.
func (s *strip) end(blockBytes int) {
	for _, r := range s.w {
		ADDQ(Imm(uint64(blockBytes)), r)
	}
	blocks, err := Param("blocks").Resolve()
	if err != nil {
		panic(err)
	}
	DECQ(blocks.Addr)
	JNZ(LabelRef("blocks"))
	end()
}

// at is a place in row i of w.
func (s *strip) at(i, offset int) Mem {
	m := Mem{Base: s.w[i/4], Disp: offset}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = s.distance, 1
	case 2:
		m.Index, m.Scale = s.distance, 2
	case 3:
		m.Index, m.Scale = s.triple, 1
	}
	return m
}

// kept is a vector in local memory.
func (s *strip) kept(i int) Mem { return Mem{Base: s.local, Disp: 32 * i} }

// readAhead is how far ahead of the strip weights are asked for, where the next strip lies. Rows are short for a processor that has to guess what is read after them.
const readAhead = 8 << 10

// readOn asks for as many bytes as this many of each row are.
func (s *strip) readOn(bytes int) {
	const line = 64
	for at := 0; at < 8*bytes; at += line {
		PREFETCHT0(Mem{Base: s.ahead, Disp: at})
	}
	ADDQ(U32(8*bytes), s.ahead)
}

// columns transposes 16 bytes of each row: vector i of the result holds bytes [4i, 4i+4) of all rows.
func (s *strip) columns(offset int) [4]reg.VecVirtual {
	var r [4]reg.VecVirtual
	for i := range r {
		r[i] = YMM()
		VBROADCASTI128(s.at(i, offset), r[i])
		VINSERTI128(Imm(1), s.at(i+4, offset), r[i], r[i])
	}
	var t [4]reg.VecVirtual
	for i := range t {
		t[i] = YMM()
	}
	VPUNPCKLDQ(r[1], r[0], t[0])
	VPUNPCKHDQ(r[1], r[0], t[1])
	VPUNPCKLDQ(r[3], r[2], t[2])
	VPUNPCKHDQ(r[3], r[2], t[3])
	VPUNPCKLQDQ(t[2], t[0], r[0])
	VPUNPCKHQDQ(t[2], t[0], r[1])
	VPUNPCKLQDQ(t[3], t[1], r[2])
	VPUNPCKHQDQ(t[3], t[1], r[3])
	return r
}

// halves makes float32 of the halves at a place in each row.
func (s *strip) halves(offset int) reg.VecVirtual {
	x, v := XMM(), YMM()
	VPXOR(x, x, x)
	for i := range 8 {
		VPINSRW(Imm(uint64(i)), s.at(i, offset), x, x)
	}
	VCVTPH2PS(x, v)
	return v
}

// doubles are the four bytes at a place in each row.
func (s *strip) doubles(offset int) reg.VecVirtual {
	v, high := YMM(), XMM()
	VPBROADCASTD(s.at(0, offset), v)
	VMOVD(s.at(4, offset), high)
	for i := 1; i < 4; i++ {
		VPINSRD(Imm(uint64(i)), s.at(i, offset), v.AsX(), v.AsX())
		VPINSRD(Imm(uint64(i)), s.at(4+i, offset), high, high)
	}
	VINSERTI128(Imm(1), high, v, v)
	return v
}

// lowHalves makes float32 of the halves in the low half of each lane.
func (s *strip) lowHalves(v reg.VecVirtual) reg.VecVirtual {
	low, high, f := YMM(), XMM(), YMM()
	VPAND(s.c.lowWords, v, low)
	VEXTRACTI128(Imm(1), low, high)
	VPACKUSDW(high, low.AsX(), high)
	VCVTPH2PS(high, f)
	return f
}

// eachRow emits the loop over the rows of x for a block of 32: body adds a row's product to the accumulator. It leaves x at the next block.
func (s *strip) eachRow(body func(acc Mem)) {
	*s.labels++
	label := fmt.Sprint("rows", *s.labels)
	acc, rows := pointer("acc"), pointer("rows")
	Label(label)
	body(Mem{Base: acc})
	ADDQ(Imm(recordBytes), s.x)
	ADDQ(Imm(32), acc)
	DECQ(rows)
	JNZ(LabelRef(label))
}

// activations broadcasts four bytes of the record.
func (s *strip) activations(offset int) reg.VecVirtual {
	v := YMM()
	VPBROADCASTD(Mem{Base: s.x, Disp: offset}, v)
	return v
}

// pairs are the sums of pairs of products of unsigned bytes with activations 4k to 4k+3.
func (s *strip) pairs(unsigned reg.VecVirtual, k int) reg.VecVirtual {
	v := s.activations(4 * k)
	VPMADDUBSW(v, unsigned, v)
	return v
}

// sum adds vectors, as a tree.
func sum(add func(a, b reg.VecVirtual), v []reg.VecVirtual) reg.VecVirtual {
	for len(v) > 1 {
		for i := range len(v) / 2 {
			add(v[2*i+1], v[2*i])
			v[i] = v[2*i]
		}
		v = v[:len(v)/2]
	}
	return v[0]
}

func addWords(a, b reg.VecVirtual)   { VPADDW(a, b, b) }
func addDoubles(a, b reg.VecVirtual) { VPADDD(a, b, b) }

// unsignedDot is the integer product of a block with unsigned weights, of which runs sums of pairs fit in 16 bits together. They are widened by factor, which is the
// strip's ones or multiplies.
func (s *strip) unsignedDot(w []reg.VecVirtual, runs int, factor func(run int) Op) reg.VecVirtual {
	var whole []reg.VecVirtual
	for run := range len(w) / runs {
		total := s.pairs(w[run*runs], run*runs)
		for k := 1; k < runs; k++ {
			v := s.pairs(w[run*runs+k], run*runs+k)
			VPADDW(v, total, total)
		}
		VPMADDWD(factor(run), total, total)
		whole = append(whole, total)
	}
	return sum(addDoubles, whole)
}

// scaled turns an integer product into float32 times the activations' scale and the weights'.
func (s *strip) scaled(product reg.VecVirtual, weights Op) {
	VCVTDQ2PS(product, product)
	VMULPS(s.activations(recordScale), product, product)
	VMULPS(weights, product, product)
}

// addTo ends a product: acc = acc + product - minimum*total, the latter only where weights have minima.
func (s *strip) addTo(acc Mem, product reg.VecVirtual, minimum Op) {
	VADDPS(acc, product, product)
	if minimum != nil {
		m := s.activations(recordTotal)
		VMULPS(minimum, m, m)
		VSUBPS(m, product, product)
	}
	VMOVUPS(product, acc)
}

// nibbles splits bytes into their low and high halves.
func (s *strip) low(v reg.VecVirtual) reg.VecVirtual {
	w := YMM()
	VPAND(s.c.lowNibbles, v, w)
	return w
}

func (s *strip) high(v Op) reg.VecVirtual {
	w := YMM()
	VMOVDQU(v, w)
	VPSRLW(Imm(4), w, w)
	VPAND(s.c.lowNibbles, w, w)
	return w
}

func (s *strip) onesFactor(int) Op { return s.ones }

// productQ8_0 multiplies |w| with x*sign(w), so that the first factor is unsigned: |w| <= 128 and |x| <= 127, and so the sum of a pair is at most 32512.
func productQ8_0(c *constants) {
	s := beginStrip(c, "Q8_0", "blocks of 32 elements", 8)
	s.readOn(34)
	var w []reg.VecVirtual
	for _, offset := range []int{2, 18} {
		v := s.columns(offset)
		w = append(w, v[:]...)
		for i := range v {
			VMOVDQA(v[i], s.kept(len(w)-4+i))
			VPABSB(v[i], v[i])
		}
	}
	scale := s.halves(0)
	s.eachRow(func(acc Mem) {
		var total [2]reg.VecVirtual
		for k := range w {
			v := s.activations(4 * k)
			VPSIGNB(s.kept(k), v, v)
			VPMADDUBSW(v, w[k], v)
			VPMADDWD(s.ones, v, v)
			if k < 2 {
				total[k] = v
			} else {
				VPADDD(v, total[k%2], total[k%2])
			}
		}
		VPADDD(total[1], total[0], total[0])
		s.scaled(total[0], scale)
		s.addTo(acc, total[0], nil)
	})
	s.end(34)
}

// nibbleFormat is a type whose blocks of 32 hold the low four bits of element e and of e+16 in a byte.
type nibbleFormat struct {
	name                       string
	bytes                      int    // of a block, which begins with its scale, a half
	minimum, fifthBits, quants int    // offsets in the block; 0: it has none
	offset                     uint64 // elements are 2^offset too large; 0: they are not
}

// productNibbles takes the elements as they are stored, from 0 to 15 or 31, and then takes away what they are too large times the sum of x. Sums of pairs are at most
// 2*15*127 = 3810, eight of which fit in 16 bits, or 2*31*127 = 7874, of which four do.
func productNibbles(c *constants, f nibbleFormat) {
	s := beginStrip(c, f.name, "blocks of 32 elements", 0)
	s.readOn(f.bytes)
	packed := s.columns(f.quants)
	w := make([]reg.VecVirtual, 8)
	for i, v := range packed {
		w[i] = s.low(v)
		w[i+4] = s.high(v)
	}
	runs := 8
	if f.fifthBits > 0 {
		runs = 4
		bits := s.doubles(f.fifthBits)
		for k, v := range w {
			fifth := YMM()
			VPSHUFB(c.copyByte[k/2], bits, fifth)
			VPAND(c.selectBits[k%2], fifth, fifth)
			VPCMPEQB(c.selectBits[k%2], fifth, fifth)
			VPAND(c.sixteens, fifth, fifth)
			VPOR(fifth, v, v)
		}
	}
	scale := s.halves(0)
	var minimum Op
	if f.minimum > 0 {
		m := s.halves(f.minimum)
		VXORPS(c.signs, m, m) // it is added
		minimum = m
	}
	s.eachRow(func(acc Mem) {
		product := s.unsignedDot(w, runs, s.onesFactor)
		if f.offset > 0 {
			offset := s.activations(recordSum)
			VPSLLD(Imm(f.offset), offset, offset)
			VPSUBD(offset, product, product)
		}
		s.scaled(product, scale)
		s.addTo(acc, product, minimum)
	})
	s.end(f.bytes)
}

// quantise emits the encoding of activations.
func quantise(c *constants) {
	function("asmQuantise", "func(dst *byte, stride int, x *float32, blocks int)", "encodes blocks of 32 activations as records, which are stride bytes apart.")
	dst, stride, x, blocks := pointer("dst"), pointer("stride"), pointer("x"), pointer("blocks")
	ones8, ones16, order := YMM(), YMM(), YMM()
	VPCMPEQD(ones16, ones16, ones16)
	VPABSB(ones16, ones8)
	VPSRLW(Imm(15), ones16, ones16)
	VMOVDQU(c.packedOrder, order)
	Label("loop")
	var v, magnitudes []reg.VecVirtual
	for i := range 4 {
		f, m := YMM(), YMM()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, f)
		VPAND(c.magnitudes, f, m)
		v, magnitudes = append(v, f), append(magnitudes, m)
	}
	// The largest magnitude, compared as a whole number: what is not a number is larger than all that are.
	largest := sum(func(a, b reg.VecVirtual) { VPMAXSD(a, b, b) }, magnitudes)
	top, other := largest.AsX(), XMM()
	VEXTRACTI128(Imm(1), largest, other)
	VPMAXSD(other, top, top)
	VPSHUFD(Imm(0b01001110), top, other)
	VPMAXSD(other, top, top)
	VPSHUFD(Imm(0b10110001), top, other)
	VPMAXSD(other, top, top)
	scale, factor, spoilt, enough := XMM(), YMM(), XMM(), XMM()
	VMOVUPS(c.most, factor.AsX())
	VDIVPS(factor.AsX(), top, scale)
	VDIVPS(top, factor.AsX(), factor.AsX())
	VSUBPS(top, top, spoilt) // 0, or not a number if one of the activations is none or infinite
	VADDPS(spoilt, scale, scale)
	VCMPPS(Imm(0x15), c.least, top, enough) // not less than
	VPAND(enough, scale, scale)
	VPAND(enough, factor.AsX(), factor.AsX())
	VBROADCASTSS(factor.AsX(), factor)
	for i := range v {
		VMULPS(factor, v[i], v[i])
		VCVTPS2DQ(v[i], v[i])
	}
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	VPERMD(v[0], order, v[0])
	VMOVDQU(v[0], Mem{Base: dst})

	sums, swapped, second := YMM(), YMM(), XMM()
	VPMADDUBSW(v[0], ones8, sums)
	VPMADDWD(ones16, sums, sums)
	VPSHUFD(Imm(0b01001110), sums, swapped)
	VPADDD(swapped, sums, sums)
	VPSHUFD(Imm(0b10110001), sums, swapped)
	VPADDD(swapped, sums, sums)
	VEXTRACTI128(Imm(1), sums, second)
	both, total, first := XMM(), XMM(), sums.AsX()
	VPADDD(second, first, both)
	VCVTDQ2PS(both, total)
	VMULPS(scale, total, total)
	VPSLLD(Imm(16), second, second)
	VPBLENDW(Imm(0b10101010), second, first, first)
	VMOVSS(scale, Mem{Base: dst, Disp: recordScale})
	VMOVD(first, Mem{Base: dst, Disp: recordSums})
	VMOVD(both, Mem{Base: dst, Disp: recordSum})
	VMOVSS(total, Mem{Base: dst, Disp: recordTotal})
	ADDQ(Imm(128), x)
	ADDQ(stride, dst)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	end()
}

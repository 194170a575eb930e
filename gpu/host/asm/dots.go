package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// format is an encoding of weights that are multiplied in float32.
type format struct {
	name string
	size int                            // of an element, in bytes
	load func(at Mem, v reg.VecVirtual) // 8 elements as float32
}

// formats are all of them; those that keys and values can have come first.
func formats() []format {
	return []format{
		{"F32", 4, func(at Mem, v reg.VecVirtual) { VMOVUPS(at, v) }},
		{"F16", 2, func(at Mem, v reg.VecVirtual) { VCVTPH2PS(at, v) }},
		{"BF16", 2, func(at Mem, v reg.VecVirtual) {
			VPMOVZXWD(at, v)
			VPSLLD(Imm(16), v, v)
		}},
	}
}

// elements emits the decoding of 8 elements.
func (f format) elements(at Mem) reg.VecVirtual {
	v := YMM()
	f.load(at, v)
	return v
}

// decode emits the decoder of a format.
func decode(f format) {
	function("asmDecode"+f.name, "func(dst *float32, src *byte, blocks int)", "decodes blocks of 8 elements.")
	dst, src, blocks := pointer("dst"), pointer("src"), pointer("blocks")
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	Label("loop")
	VMOVUPS(f.elements(Mem{Base: src}), Mem{Base: dst})
	ADDQ(Imm(uint64(8*f.size)), src)
	ADDQ(Imm(32), dst)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	Label("done")
	end()
}

// dots emits the products of ws rows of weights with xs rows of activations: out[j*stride+i] = (row i of w) . (row j of x). Each has one accumulator of 8 lanes, which
// takes element e in lane e%8, in ascending order, by a fused multiply-add; the lanes are added as a tree at the end. Products of any shape and format so have the
// same bits, if the decoded weights have.
func dots(c *constants, f format, ws, xs int) {
	function(fmt.Sprintf("asmDots%s_%dx%d", f.name, ws, xs), "func(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)",
		fmt.Sprintf("multiplies rows of w, which are rowBytes apart, with rows of x: %d and %d rows of n elements%s.", ws, xs, f.condition()))
	acc := accumulators(ws, xs, zeroed)
	w, x := rows("w", ws, pointer("rowBytes"), 1), rows("x", xs, pointer("n"), 4)
	var next reg.Register
	if ws == 4 && f.name != "F32" {
		next = pointer("rowBytes")
		SHLQ(Imm(2), next)
	}
	multiply(c, f, acc, w, x, next)
	out, stride := pointer("out"), pointer("stride")
	SHLQ(Imm(2), stride)
	for j := range xs {
		store(acc, j, out)
		if j < xs-1 {
			ADDQ(stride, out)
		}
	}
	end()
}

// addDots emits a part of dots of float32: it takes the accumulators from memory and puts them back, those of a row of x beside each other. sumLanes ends the sums.
func addDots(c *constants, ws, xs int) {
	function(fmt.Sprintf("asmAddDots_%dx%d", ws, xs), "func(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)",
		fmt.Sprintf("multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: %d and %d rows.", ws, xs))
	at := pointer("acc")
	acc := accumulators(ws, xs, YMM)
	each := func(do func(v reg.VecVirtual, m Mem)) {
		for j := range xs {
			for i := range ws {
				do(acc[i][j], Mem{Base: at, Disp: 32 * (j*ws + i)})
			}
		}
	}
	each(func(v reg.VecVirtual, m Mem) { VMOVUPS(m, v) })
	multiply(c, formats()[0], acc, rows("w", ws, pointer("wStride"), 4), rows("x", xs, pointer("xStride"), 4), nil)
	at = pointer("acc")
	each(func(v reg.VecVirtual, m Mem) { VMOVUPS(v, m) })
	end()
}

// sumLanes emits the end of the sums of ws rows of w and any number of rows of x.
func sumLanes(ws int) {
	function(fmt.Sprintf("asmSumLanes_%d", ws), "func(out *float32, stride int, acc *float32, n int)",
		fmt.Sprintf("adds up the lanes of %d accumulators for each of n rows of out.", ws))
	out, stride, at, n := pointer("out"), pointer("stride"), pointer("acc"), pointer("n")
	SHLQ(Imm(2), stride)
	Label("loop")
	acc := accumulators(ws, 1, YMM)
	for i := range ws {
		VMOVUPS(Mem{Base: at, Disp: 32 * i}, acc[i][0])
	}
	store(acc, 0, out)
	ADDQ(Imm(uint64(32*ws)), at)
	ADDQ(stride, out)
	DECQ(n)
	JNZ(LabelRef("loop"))
	end()
}

func accumulators(ws, xs int, one func() reg.VecVirtual) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, ws)
	for i := range acc {
		for range xs {
			acc[i] = append(acc[i], one())
		}
	}
	return acc
}

// store writes the sums of row j of x to out.
func store(acc [][]reg.VecVirtual, j int, out reg.Register) {
	if len(acc) == 4 {
		VMOVUPS(reduce4(acc[0][j], acc[1][j], acc[2][j], acc[3][j]), Mem{Base: out})
	} else {
		VMOVSS(reduce(acc[0][j]), Mem{Base: out})
	}
}

// multiply emits the sums of products of n elements of the rows of w, in format f, and of x. next is nil, or how far it is to the rows of w after these.
func multiply(c *constants, f format, acc [][]reg.VecVirtual, w, x []reg.Register, next reg.Register) {
	ws, xs := len(w), len(x)
	left, at := pointer("n"), GP64() // at counts bytes of x
	XORQ(at, at)
	SHRQ(Imm(3), left)
	JZ(LabelRef("tail"))
	Label("loop")
	wsAt := func(i int) Mem {
		if f.name == "F32" { // rows of w and of x advance alike
			return Mem{Base: w[i], Index: at, Scale: 1}
		}
		return Mem{Base: w[i]}
	}
	loaded := make([]reg.VecVirtual, xs)
	for j := range loaded {
		loaded[j] = YMM()
		VMOVUPS(Mem{Base: x[j], Index: at, Scale: 1}, loaded[j])
	}
	for i := range ws {
		if next != nil { // rows are short for a processor that has to guess what is read after them
			PREFETCHT0(Mem{Base: w[i], Index: next, Scale: 1})
		}
		v := f.elements(wsAt(i))
		for j := range xs {
			VFMADD231PS(loaded[j], v, acc[i][j])
		}
	}
	if f.name != "F32" {
		for i := range ws {
			ADDQ(Imm(uint64(8*f.size)), w[i])
		}
	}
	ADDQ(Imm(32), at)
	DECQ(left)
	JNZ(LabelRef("loop"))
	Label("tail")
	if f.name == "F32" {
		n := pointer("n")
		mask := tailMask(c, n)
		TESTQ(n, n)
		JZ(LabelRef("reduce"))
		for i := range ws {
			v := YMM()
			VMASKMOVPS(wsAt(i), mask, v)
			for j := range xs {
				u := YMM()
				VMASKMOVPS(Mem{Base: x[j], Index: at, Scale: 1}, mask, u)
				VFMADD231PS(u, v, acc[i][j])
			}
		}
		Label("reduce")
	}
}

func (f format) condition() string {
	if f.name == "F32" {
		return ""
	}
	return ", a multiple of 8"
}

// rows loads a pointer and makes those to the rows that follow, distance*size bytes apart.
func rows(name string, n int, distance reg.Register, size uint8) []reg.Register {
	r := []reg.Register{pointer(name)}
	for len(r) < n {
		next := GP64()
		LEAQ(Mem{Base: r[len(r)-1], Index: distance, Scale: size}, next)
		r = append(r, next)
	}
	return r
}

// reduce adds the lanes of v: ((0+4)+(2+6)) + ((1+5)+(3+7)). v is destroyed.
func reduce(v reg.VecVirtual) reg.VecVirtual {
	low, high := v.AsX(), XMM()
	VEXTRACTF128(Imm(1), v, high)
	VADDPS(high, low, high)
	other := XMM()
	VMOVHLPS(high, high, other)
	VADDPS(other, high, high)
	VMOVSHDUP(high, other)
	VADDSS(other, high, high)
	return high.(reg.VecVirtual)
}

// reduce4 is reduce of four vectors, in the same order.
func reduce4(a, b, c, d reg.VecVirtual) reg.VecVirtual {
	fold := func(a, b reg.VecVirtual) reg.VecVirtual { // lanes i+(i+4) of a, then of b
		low := YMM()
		VPERM2F128(Imm(0x20), b, a, low)
		VPERM2F128(Imm(0x31), b, a, a)
		VADDPS(a, low, a)
		return a
	}
	ab, cd := fold(a, b), fold(c, d)
	low := YMM()
	VUNPCKLPS(cd, ab, low)
	VUNPCKHPS(cd, ab, ab)
	VADDPS(ab, low, ab) // per half: 0+2 of a, of c, 1+3 of a, of c; then b and d
	VPERMILPD(Imm(0b0101), ab, low)
	VADDPS(low, ab, ab) // a c a c, b d b d
	VEXTRACTF128(Imm(1), ab, low.AsX())
	VUNPCKLPS(low.AsX(), ab.AsX(), low.AsX())
	return low.AsX().(reg.VecVirtual)
}

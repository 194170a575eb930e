package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mix emits out += p*v for ps rows of weights p, pStride elements apart, and 8*vectors columns of n rows of v. An element of out takes the rows of v in ascending order,
// each by a fused multiply-add.
func mix(ps, vectors int) {
	function(fmt.Sprintf("asmMix_%dx%d", ps, vectors), "func(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)",
		fmt.Sprintf("adds n rows of v, each times an element of p, to out: %d rows of %d columns.", ps, 8*vectors))
	out, p := rows("out", ps, pointer("outStride"), 4), rows("p", ps, pointer("pStride"), 4)
	v, vStride, n := pointer("v"), pointer("vStride"), pointer("n")
	acc := make([][]reg.VecVirtual, ps)
	for j := range acc {
		for i := range vectors {
			a := YMM()
			VMOVUPS(Mem{Base: out[j], Disp: 32 * i}, a)
			acc[j] = append(acc[j], a)
		}
	}
	at := GP64()
	XORQ(at, at)
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	weights := make([]reg.VecVirtual, ps)
	for j := range weights {
		weights[j] = YMM()
		VBROADCASTSS(Mem{Base: p[j], Index: at, Scale: 4}, weights[j])
	}
	for i := range vectors {
		value := Op(Mem{Base: v, Disp: 32 * i})
		if ps > 1 {
			loaded := YMM()
			VMOVUPS(value, loaded)
			value = loaded
		}
		for j := range ps {
			VFMADD231PS(value, weights[j], acc[j][i])
		}
	}
	LEAQ(Mem{Base: v, Index: vStride, Scale: 4}, v)
	INCQ(at)
	CMPQ(at, n)
	JB(LabelRef("loop"))
	Label("done")
	for j := range acc {
		for i, a := range acc[j] {
			VMOVUPS(a, Mem{Base: out[j], Disp: 32 * i})
		}
	}
	end()
}

// mixTail is mix for fewer than 8 columns.
func mixTail(c *constants) {
	function("asmMixTail", "func(out *float32, columns int, p *float32, v *float32, vStride int, n int)",
		"adds n rows of v, each times an element of p, to out: less than 8 columns.")
	mask := tailMask(c, pointer("columns"))
	out, p, v, vStride, n := pointer("out"), pointer("p"), pointer("v"), pointer("vStride"), pointer("n")
	acc, value, weight := YMM(), YMM(), YMM()
	VMASKMOVPS(Mem{Base: out}, mask, acc)
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	VBROADCASTSS(Mem{Base: p}, weight)
	VMASKMOVPS(Mem{Base: v}, mask, value)
	VFMADD231PS(value, weight, acc)
	ADDQ(Imm(4), p)
	LEAQ(Mem{Base: v, Index: vStride, Scale: 4}, v)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
	VMASKMOVPS(acc, mask, Mem{Base: out})
	end()
}

// turn emits the transposition of 8 rows of src, by squares of 8 columns: element j of row i of dst is element i of row j of src.
func turn(f format) {
	function("asmTurn"+f.name, "func(dst *float32, dstBytes int, src *byte, srcBytes int, blocks int)",
		"turns 8 rows of src, which are srcBytes apart, of blocks of 8 columns, into rows of dst, dstBytes apart.")
	dst, dstBytes, src, srcBytes, blocks := pointer("dst"), pointer("dstBytes"), pointer("src"), pointer("srcBytes"), pointer("blocks")
	dst3, src3, dst4, src4 := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: dstBytes, Index: dstBytes, Scale: 2}, dst3)
	LEAQ(Mem{Base: srcBytes, Index: srcBytes, Scale: 2}, src3)
	LEAQ(Mem{Base: src, Index: srcBytes, Scale: 4}, src4)
	at := func(base, base4, distance, triple reg.Register, i int) Mem {
		m := Mem{Base: base}
		if i >= 4 {
			m.Base = base4
		}
		switch i % 4 {
		case 1:
			m.Index, m.Scale = distance, 1
		case 2:
			m.Index, m.Scale = distance, 2
		case 3:
			m.Index, m.Scale = triple, 1
		}
		return m
	}
	Label("loop")
	LEAQ(Mem{Base: dst, Index: dstBytes, Scale: 4}, dst4)
	var quarter [2][4]reg.VecVirtual // of the rows' halves: element i and i+4 of four rows
	for half := range quarter {
		var r, t [4]reg.VecVirtual
		for i := range r {
			r[i], t[i] = f.elements(at(src, src4, srcBytes, src3, 4*half+i)), YMM()
		}
		VUNPCKLPS(r[1], r[0], t[0])
		VUNPCKHPS(r[1], r[0], t[1])
		VUNPCKLPS(r[3], r[2], t[2])
		VUNPCKHPS(r[3], r[2], t[3])
		VUNPCKLPD(t[2], t[0], r[0])
		VUNPCKHPD(t[2], t[0], r[1])
		VUNPCKLPD(t[3], t[1], r[2])
		VUNPCKHPD(t[3], t[1], r[3])
		quarter[half] = r
	}
	for i := range 4 {
		v := YMM()
		VPERM2F128(Imm(0x20), quarter[1][i], quarter[0][i], v)
		VMOVUPS(v, at(dst, dst4, dstBytes, dst3, i))
		VPERM2F128(Imm(0x31), quarter[1][i], quarter[0][i], v)
		VMOVUPS(v, at(dst, dst4, dstBytes, dst3, i+4))
	}
	LEAQ(Mem{Base: dst, Index: dstBytes, Scale: 8}, dst)
	ADDQ(Imm(uint64(8*f.size)), src)
	ADDQ(Imm(uint64(8*f.size)), src4)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	end()
}

// exp replaces x by e^x: 2^n * e^r with |r| <= ln2/2, e^r by its Taylor polynomial, whose first term left out is below 6e-9. What is not a number stays so.
func exp(c *constants, x reg.VecVirtual) {
	n, p := YMM(), YMM()
	VMOVUPS(c.expHigh, n)
	VMINPS(x, n, x) // the order of operands decides what comes of NaN
	VMOVUPS(c.expLow, n)
	VMAXPS(x, n, x)
	VMULPS(c.log2e, x, n)
	VROUNDPS(Imm(0), n, n)
	VFMADD231PS(c.minusLn2High, n, x)
	VFMADD231PS(c.minusLn2Low, n, x)
	VMOVUPS(c.expCoefficients[0], p)
	for _, k := range c.expCoefficients[1:] {
		VFMADD213PS(k, x, p)
	}
	// 2^n in two factors, since it may be out of range where the product with p is not.
	VCVTPS2DQ(n, n)
	VPSRAD(Imm(1), n, x)
	VPSUBD(x, n, n)
	for _, v := range []reg.VecVirtual{x, n} {
		VPADDD(c.exponentBias, v, v)
		VPSLLD(Imm(23), v, v)
		VMULPS(v, p, p)
	}
	VMOVAPS(p, x)
}

// softmax emits the parts of a softmax, of which each works on a run of elements.
func softmax(c *constants) {
	function("asmScaleMax", "func(x *float32, n int, scale float32) float32", "does x *= scale and returns the largest of the results.")
	x, n, left := pointer("x"), pointer("n"), pointer("n")
	scale, highest := YMM(), YMM()
	VBROADCASTSS(paramAddr("scale"), scale)
	VMOVUPS(c.negativeInfinity, highest)
	whole(left, func() {
		v := YMM()
		VMULPS(Mem{Base: x}, scale, v)
		VMOVUPS(v, Mem{Base: x})
		VMAXPS(v, highest, highest)
		ADDQ(Imm(32), x)
	})
	mask := tailMask(c, n)
	TESTQ(n, n)
	JZ(LabelRef("reduce"))
	v, lowest := YMM(), YMM()
	VMASKMOVPS(Mem{Base: x}, mask, v)
	VMULPS(scale, v, v)
	VMASKMOVPS(v, mask, Mem{Base: x})
	VMOVUPS(c.negativeInfinity, lowest)
	VBLENDVPS(mask, v, lowest, v)
	VMAXPS(v, highest, highest)
	Label("reduce")
	other := XMM()
	top := highest.AsX()
	VEXTRACTF128(Imm(1), highest, other)
	VMAXPS(other, top, top)
	VMOVHLPS(top, top, other)
	VMAXPS(other, top, top)
	VMOVSHDUP(top, other)
	VMAXSS(other, top, top)
	Store(top, ReturnIndex(0))
	end()

	function("asmExpSum", "func(x *float32, n int, highest float32, sums *[8]float32)",
		"replaces x by e^(x-highest) and adds element i of these to sums[i%8], in ascending order.")
	x, n, left = pointer("x"), pointer("n"), pointer("n")
	sumsAt, sums, limit := pointer("sums"), YMM(), YMM()
	VMOVUPS(Mem{Base: sumsAt}, sums)
	VBROADCASTSS(paramAddr("highest"), limit)
	whole(left, func() {
		v := YMM()
		VMOVUPS(Mem{Base: x}, v)
		VSUBPS(limit, v, v)
		exp(c, v)
		VMOVUPS(v, Mem{Base: x})
		VADDPS(v, sums, sums)
		ADDQ(Imm(32), x)
	})
	mask = tailMask(c, n)
	TESTQ(n, n)
	JZ(LabelRef("store"))
	v = YMM()
	VMASKMOVPS(Mem{Base: x}, mask, v)
	VSUBPS(limit, v, v)
	exp(c, v)
	VANDPS(mask, v, v)
	VMASKMOVPS(v, mask, Mem{Base: x})
	VADDPS(v, sums, sums)
	Label("store")
	VMOVUPS(sums, Mem{Base: sumsAt})
	end()
}

// whole emits a loop over the whole vectors of left elements.
func whole(left reg.Register, body func()) {
	SHRQ(Imm(3), left)
	JZ(LabelRef("tail"))
	Label("loop")
	body()
	DECQ(left)
	JNZ(LabelRef("loop"))
	Label("tail")
}

func paramAddr(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

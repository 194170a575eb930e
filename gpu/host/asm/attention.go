package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mix emits out += p*v for ps rows of weights p, pStride elements apart, and 8*vectors columns of n rows of v. An element of out takes the rows of v in ascending order,
// each by a fused multiply-add.
func mix(f format, ps, vectors int) {
	function(fmt.Sprintf("asmMix%s_%dx%d", f.name, ps, vectors), "func(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)",
		fmt.Sprintf("adds n rows of v, each times an element of p, to out: %d rows of %d columns.", ps, 8*vectors))
	out, p := rows("out", ps, pointer("outStride"), 4), rows("p", ps, pointer("pStride"), 4)
	v, rowBytes, n := pointer("v"), pointer("rowBytes"), pointer("n")
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
		value := f.elements(Mem{Base: v, Disp: 8 * f.size * i})
		for j := range ps {
			VFMADD231PS(value, weights[j], acc[j][i])
		}
	}
	ADDQ(rowBytes, v)
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

// mixTail is mix for fewer than 8 columns of float32.
func mixTail(c *constants) {
	function("asmMixTail", "func(out *float32, columns int, p *float32, v *float32, rowBytes int, n int)",
		"adds n rows of v, each times an element of p, to out: less than 8 columns.")
	mask := tailMask(c, pointer("columns"))
	out, p, v, rowBytes, n := pointer("out"), pointer("p"), pointer("v"), pointer("rowBytes"), pointer("n")
	acc, value, weight := YMM(), YMM(), YMM()
	VMASKMOVPS(Mem{Base: out}, mask, acc)
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	VBROADCASTSS(Mem{Base: p}, weight)
	VMASKMOVPS(Mem{Base: v}, mask, value)
	VFMADD231PS(value, weight, acc)
	ADDQ(Imm(4), p)
	ADDQ(rowBytes, v)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
	VMASKMOVPS(acc, mask, Mem{Base: out})
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

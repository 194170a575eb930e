package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elementwise emits functions that make one element of each.
func elementwise(c *constants) {
	function("asmAdd", "func(x *float32, y *float32, n int)", "does x += y.")
	x, y := pointer("x"), pointer("y")
	each(c, x, []reg.Register{x, y}, func(v []reg.VecVirtual) reg.VecVirtual {
		VADDPS(v[1], v[0], v[0])
		return v[0]
	})

	function("asmScale", "func(x *float32, n int, factor float32)", "does x *= factor.")
	x = pointer("x")
	factor := YMM()
	VBROADCASTSS(paramAddr("factor"), factor)
	each(c, x, []reg.Register{x}, func(v []reg.VecVirtual) reg.VecVirtual {
		VMULPS(factor, v[0], v[0])
		return v[0]
	})

	function("asmScaleBy", "func(out *float32, x *float32, w *float32, n int, factor float32)", "sets out = (x * factor) * w. out may be x.")
	out, x, w := pointer("out"), pointer("x"), pointer("w")
	factor = YMM()
	VBROADCASTSS(paramAddr("factor"), factor)
	each(c, out, []reg.Register{x, w}, func(v []reg.VecVirtual) reg.VecVirtual {
		VMULPS(factor, v[0], v[0])
		VMULPS(v[1], v[0], v[0])
		return v[0]
	})

	function("asmSwiGLU", "func(gate *float32, up *float32, n int)", "does gate = gate / (1 + e^-gate) * up.")
	gate, up := pointer("gate"), pointer("up")
	each(c, gate, []reg.Register{gate, up}, func(v []reg.VecVirtual) reg.VecVirtual {
		e := YMM()
		VXORPS(c.signs, v[0], e)
		exp(c, e)
		VADDPS(c.one, e, e)
		VDIVPS(e, v[0], e)
		VMULPS(v[1], e, e)
		return e
	})
}

// each emits the loop over n elements of the inputs, whole vectors and then the tail, and the return.
func each(c *constants, out reg.Register, in []reg.Register, body func(v []reg.VecVirtual) reg.VecVirtual) {
	n, left, at := pointer("n"), pointer("n"), GP64()
	XORQ(at, at)
	v := make([]reg.VecVirtual, len(in))
	whole(left, func() {
		for i, p := range in {
			v[i] = YMM()
			VMOVUPS(Mem{Base: p, Index: at, Scale: 4}, v[i])
		}
		VMOVUPS(body(v), Mem{Base: out, Index: at, Scale: 4})
		ADDQ(Imm(8), at)
	})
	mask := tailMask(c, n)
	TESTQ(n, n)
	JZ(LabelRef("done"))
	for i, p := range in {
		v[i] = YMM()
		VMASKMOVPS(Mem{Base: p, Index: at, Scale: 4}, mask, v[i])
	}
	VMASKMOVPS(body(v), mask, Mem{Base: out, Index: at, Scale: 4})
	Label("done")
	end()
}

func encodeHalf() {
	function("asmEncodeHalf", "func(dst *byte, src *float32, blocks int)", "rounds blocks of 8 elements to the nearest half, ties to even.")
	dst, src, blocks := pointer("dst"), pointer("src"), pointer("blocks")
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	Label("loop")
	v := YMM()
	VMOVUPS(Mem{Base: src}, v)
	VCVTPS2PH(Imm(0), v, Mem{Base: dst})
	ADDQ(Imm(32), src)
	ADDQ(Imm(16), dst)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	Label("done")
	end()
}

// rotate emits the rotation of pairs (a, b) to (a*cos - b*sin, a*sin + b*cos), for whole vectors.
func rotate() {
	function("asmRotateNeox", "func(low *float32, high *float32, cos *float32, sin *float32, blocks int)", "turns blocks of 8 pairs, which lie in two runs.")
	low, high, cos, sin, blocks, at := pointer("low"), pointer("high"), pointer("cos"), pointer("sin"), pointer("blocks"), GP64()
	XORQ(at, at)
	indexed := func(p reg.Register) Mem { return Mem{Base: p, Index: at, Scale: 1} }
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	Label("loop")
	a, b, k, s, t, u := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVUPS(indexed(low), a)
	VMOVUPS(indexed(high), b)
	VMOVUPS(indexed(cos), k)
	VMOVUPS(indexed(sin), s)
	VMULPS(s, b, t)
	VMULPS(s, a, u)
	VFMSUB231PS(k, a, t) // a*cos - b*sin
	VFMADD231PS(k, b, u)
	VMOVUPS(t, indexed(low))
	VMOVUPS(u, indexed(high))
	ADDQ(Imm(32), at)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	Label("done")
	end()

	function("asmRotateNorm", "func(x *float32, cos *float32, sin *float32, blocks int)", "turns blocks of 4 pairs of neighbours.")
	x, cos, sin, blocks := pointer("x"), pointer("cos"), pointer("sin"), pointer("blocks")
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	Label("loop")
	a, b, k, s = YMM(), YMM(), YMM(), YMM()
	VPMOVZXDQ(Mem{Base: cos}, k) // each twice
	VMOVSLDUP(k, k)
	VPMOVZXDQ(Mem{Base: sin}, s)
	VMOVSLDUP(s, s)
	VMOVUPS(Mem{Base: x}, a)
	VPERMILPS(Imm(0b10110001), a, b) // neighbours swapped
	VMULPS(s, b, b)
	VFMADDSUB231PS(k, a, b) // even lanes a*cos - b*sin, odd ones plus
	VMOVUPS(b, Mem{Base: x})
	ADDQ(Imm(32), x)
	ADDQ(Imm(16), cos)
	ADDQ(Imm(16), sin)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	Label("done")
	end()
}

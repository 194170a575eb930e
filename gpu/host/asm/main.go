// Command asm writes the assembly of the kernel set "avx2" of package host, and the Go declarations for it. It is a module of its own, so that users of the engine
// do not download the assembler library. `go generate` in package host runs it; check.sh tells whether the committed files are what it writes.
//
// Rules that all functions keep: one call takes well under 100 microseconds, since assembly cannot be preempted (loops over rows are in Go); nothing is
// read or written outside of the arguments, not even to be ignored; VZEROUPPER comes before every return, because scalar code is many times slower while upper halves
// are dirty.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	Constraint(buildtags.Term("amd64"))
	c := newConstants()
	for _, f := range formats(c) {
		for xs := 1; xs <= f.rows; xs++ {
			dots(c, f, 4, xs)
			dots(c, f, 1, xs)
		}
		if f.name != "F32" {
			decode(f)
		}
	}
	for _, ws := range []int{1, 4} {
		for xs := 1; xs <= 3; xs++ {
			addDots(c, ws, xs)
		}
		sumLanes(ws)
	}
	quantise(c)
	productQ8_0(c)
	productQ4_0(c)
	encodeHalf()
	for _, f := range formats(c)[:2] {
		for _, shape := range [][2]int{{3, 4}, {2, 4}, {1, 8}, {1, 4}, {1, 1}} {
			mix(f, shape[0], shape[1])
		}
	}
	mixTail(c)
	softmax(c)
	elementwise(c)
	rotate()
	Generate()
}

// constants are vectors in memory.
type constants struct {
	masks                        Mem // 8 lanes of ones, then 8 of zeros
	two28th, signs4              Mem // for Q4_0
	one, negativeInfinity, signs Mem
	expHigh, expLow, log2e       Mem
	minusLn2High, minusLn2Low    Mem
	expCoefficients              []Mem // of the Taylor polynomial, the highest power first
	exponentBias                 Mem
	lowNibbles, lowWords         Mem
	magnitudes, most, least      Mem // of activations in 8 bit
	packedOrder                  Mem
}

func newConstants() *constants {
	c := &constants{}
	c.masks = GLOBL("avx2Masks", RODATA|NOPTR)
	for i := range 16 {
		v := uint32(0xffffffff)
		if i >= 8 {
			v = 0
		}
		DATA(4*i, U32(v))
	}
	float := func(name string, x float64) Mem { return lanes("avx2"+name, math.Float32bits(float32(x))) }
	c.two28th, c.signs4 = float("Two28th", 0x1p-28), lanes("avx2Signs4", 0xffffff88)
	c.one = float("One", 1)
	c.signs = lanes("avx2Signs", 1<<31)
	c.negativeInfinity = float("NegativeInfinity", math.Inf(-1))
	c.expHigh, c.expLow = float("ExpHigh", 100), float("ExpLow", -110)
	c.log2e = float("Log2E", math.Log2E)
	const ln2High = 0.693359375 // few bits, so that a multiple by a small whole number is exact
	c.minusLn2High, c.minusLn2Low = float("MinusLn2High", -ln2High), float("MinusLn2Low", ln2High-math.Ln2)
	factorial := 5040.0
	for i := 7; i >= 0; i-- {
		c.expCoefficients = append(c.expCoefficients, float("Exp"+string(rune('0'+i)), 1/factorial))
		factorial /= max(1, float64(i))
	}
	c.exponentBias = lanes("avx2ExponentBias", 127)
	c.lowNibbles, c.lowWords = lanes("avx2LowNibbles", 0x0f0f0f0f), lanes("avx2LowWords", 0xffff)
	c.magnitudes = lanes("avx2Magnitudes", 1<<31-1)
	c.most, c.least = float("Most", 127), float("Least", 0x1p-100)
	c.packedOrder = GLOBL("avx2PackedOrder", RODATA|NOPTR)
	for i, from := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(from))
	}
	return c
}

// lanes is 8 times the same 32 bits.
func lanes(name string, bits uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(bits))
	}
	return m
}

// function begins a function of the given signature.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
}

func pointer(name string) reg.Register { return Load(Param(name), GP64()) }

// end returns from the function.
func end() {
	VZEROUPPER()
	RET()
}

// tailMask is the mask of the first n%8 lanes. n is destroyed and becomes n%8.
func tailMask(c *constants, n reg.Register) reg.VecVirtual {
	ANDQ(Imm(7), n)
	negative, table, mask := GP64(), GP64(), YMM()
	MOVQ(n, negative)
	NEGQ(negative)
	LEAQ(c.masks, table)
	VMOVUPS(Mem{Base: table, Index: negative, Scale: 4, Disp: 32}, mask)
	return mask
}

func zeroed() reg.VecVirtual {
	v := YMM()
	VXORPS(v, v, v)
	return v
}

// Command asm writes the assembly of the kernel set "avx2" of package host, and the Go declarations for it. It is a module of its own, so that users of the engine
// do not download the assembler library. `go generate` in package host runs it; check.sh tells whether the committed files are what it writes.
//
// Rules that all functions keep: one call takes well under 100 microseconds, since assembly cannot be preempted (loops over rows are in Go); nothing is
// read or written outside of the arguments, not even to be ignored; VZEROUPPER comes before every return, because scalar code is many times slower while upper halves
// are dirty.
package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/buildtags"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	Constraint(buildtags.Term("amd64"))
	c := newConstants()
	for _, f := range formats() {
		for xs := 1; xs <= 3; xs++ {
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
	for _, f := range []nibbleFormat{
		{name: "Q4_0", bytes: 18, quants: 2, offset: 3},
		{name: "Q4_1", bytes: 20, minimum: 2, quants: 4},
		{name: "Q5_0", bytes: 22, fifthBits: 2, quants: 6, offset: 4},
		{name: "Q5_1", bytes: 24, minimum: 2, fifthBits: 4, quants: 8},
	} {
		productNibbles(c, f)
	}
	productQ4_K(c)
	productQ5_K(c)
	productQ6_K(c)
	encodeHalf()
	for _, shape := range [][2]int{{3, 4}, {2, 4}, {1, 8}, {1, 4}, {1, 1}} {
		mix(shape[0], shape[1])
	}
	mixTail(c)
	turn(formats()[0])
	turn(formats()[1])
	softmax(c)
	elementwise(c)
	rotate()
	Generate()
}

// constants are vectors in memory.
type constants struct {
	masks                        Mem // 8 lanes of ones, then 8 of zeros
	one, negativeInfinity, signs Mem
	expHigh, expLow, log2e       Mem
	minusLn2High, minusLn2Low    Mem
	expCoefficients              []Mem // of the Taylor polynomial, the highest power first
	exponentBias                 Mem
	lowNibbles, lowWords         Mem
	magnitudes, most, least      Mem // of activations in 8 bit
	packedOrder                  Mem
	sixteens, low6, bits4and5    Mem       // of bytes
	copyByte, widenByte          [4]Mem    // a byte of each lane to all of it, or to its low end
	selectBits                   [2]Mem    // bit 0 to 3 or 4 to 7 in the bytes of a lane
	scaleOrders                  [2][3]Mem // see partScales
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
	c.sixteens, c.low6, c.bits4and5 = lanes("avx2Sixteens", 0x10101010), lanes("avx2Low6", 0x3f3f3f3f), lanes("avx2Bits4And5", 0x30303030)
	const none = 0x80
	for i := range byte(4) {
		c.copyByte[i] = shuffle(fmt.Sprint("CopyByte", i), [4]byte{i, i, i, i})
		c.widenByte[i] = shuffle(fmt.Sprint("WidenByte", i), [4]byte{i, none, none, none})
	}
	for i := range byte(2) {
		c.selectBits[i] = lanes(fmt.Sprint("avx2SelectBits", i), 0x08040201<<(4*i))
		a, b := 2*i, 2*i+1
		c.scaleOrders[i] = [3]Mem{
			shuffle(fmt.Sprint("FirstScale", i), [4]byte{none, a, none, a}),
			shuffle(fmt.Sprint("LastScale", i), [4]byte{none, b, none, b}),
			shuffle(fmt.Sprint("BothScales", i), [4]byte{none, a, none, b}),
		}
	}
	return c
}

// shuffle is an order for VPSHUFB that takes the same bytes from each lane of 32 bits; those with the highest bit become zero.
func shuffle(name string, order [4]byte) Mem {
	m := GLOBL("avx2"+name, RODATA|NOPTR)
	for i := range 8 {
		var lane uint32
		for j, b := range order {
			if b < 0x80 {
				b += byte(4 * (i % 4))
			}
			lane |= uint32(b) << (8 * j)
		}
		DATA(4*i, U32(lane))
	}
	return m
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
func function(name, signature, doc string) { functionWith(NOSPLIT, name, signature, doc) }

func functionWith(attributes attr.Attribute, name, signature, doc string) {
	TEXT(name, attributes, signature)
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

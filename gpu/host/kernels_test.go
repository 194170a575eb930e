package host

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
)

// twinHalfToFloat reads sign, exponent and mantissa as IEEE 754 defines them.
func twinHalfToFloat(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, mantissa := int(h>>10&31), float64(h&0x3ff)
	switch exponent {
	case 0:
		return math.Copysign(math.Ldexp(mantissa, -24), sign)
	case 31:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+mantissa, exponent-25)
}

// twinFloatToHalf searches among all halves of the right sign for the nearest; of two equally near the one with an even mantissa.
func twinFloatToHalf(f float32) uint16 {
	var sign uint16
	if math.Signbit(float64(f)) {
		sign = 0x8000
	}
	x := math.Abs(float64(f))
	if math.IsNaN(x) {
		return sign | 0x7e00
	}
	low, high := uint16(0), uint16(0x7c00) // the largest half <= x lies in [low, high]
	for low < high {
		middle := low + (high-low+1)/2
		if twinHalfToFloat(middle) <= x {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if low >= 0x7c00 {
		return sign | 0x7c00
	}
	below, above := twinHalfToFloat(low), twinHalfToFloat(low+1)
	if low+1 == 0x7c00 {
		above = 65536 // where the next half would be: what is nearer to it becomes infinity
	}
	if x-below > above-x || x-below == above-x && low&1 == 1 {
		low++
	}
	return sign | low
}

func TestEveryHalfConvertsExactly(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got, want := halfToFloat(h), twinHalfToFloat(h)
		if math.IsNaN(want) {
			if got == got || floatToHalf(got)&0x7e00 != 0x7e00 {
				t.Fatalf("%#04x is not a number, but became %v and %#04x again", h, got, floatToHalf(got))
			}
			continue
		}
		if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
		if back := floatToHalf(got); back != h {
			t.Fatalf("%#04x came back as %#04x", h, back)
		}
	}
}

func TestFloatsRoundToTheNearestHalf(t *testing.T) {
	check := func(t tester, f float32) {
		if got, want := floatToHalf(f), twinFloatToHalf(f); got != want && f == f {
			t.Fatalf("%v (%#08x) became %#04x, want %#04x", f, math.Float32bits(f), got, want)
		}
	}
	for h := range uint16(0x7c00) { // every border between two halves, and its neighbours
		border := float32((twinHalfToFloat(h) + math.Min(twinHalfToFloat(h+1), 65536)) / 2)
		for _, f := range []float32{border, math.Nextafter32(border, 0), math.Nextafter32(border, 1e9)} {
			check(t, f)
			check(t, -f)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, math.Float32frombits(rapid.Uint32().Draw(t, "bits"))) })
}

func TestRowsOfHalvesConvertLikeSingleOnes(t *testing.T) {
	forEachSet(t, testRowsOfHalvesConvertLikeSingleOnes)
}

func testRowsOfHalvesConvertLikeSingleOnes(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		halves := rapid.SliceOfN(rapid.Uint16Range(0, 0x7bff), 0, 20).Draw(t, "halves")
		var data []byte
		var want []float32
		for _, h := range halves {
			data = binary.LittleEndian.AppendUint16(data, h)
			want = append(want, float32(twinHalfToFloat(h)))
		}
		got, back := make([]float32, len(halves)), make([]byte, len(data))
		k.fromHalf(got, data)
		mustEqualBits(t, "decoded", got, want)
		k.toHalf(back, got)
		if string(back) != string(data) {
			t.Fatalf("encoded %x, want %x", back, data)
		}
	})
}

// twinElement decodes element i of a row as the format's definition says.
func twinElement(t gpu.Type, row []byte, i int) float32 {
	half := func(b []byte) float32 { return float32(twinHalfToFloat(binary.LittleEndian.Uint16(b))) }
	switch t {
	case gpu.F32:
		return math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
	case gpu.F16:
		return half(row[2*i:])
	case gpu.BF16:
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(row[2*i:])) << 16)
	case gpu.Q8_0:
		block := row[i/32*34:]
		return float32(int8(block[2+i%32])) * half(block)
	case gpu.Q4_0:
		block := row[i/32*18:]
		q := block[2+i%16] & 15
		if i%32 >= 16 {
			q = block[2+i%16] >> 4
		}
		return float32(int(q)-8) * half(block)
	case gpu.Q4_1, gpu.Q5_0, gpu.Q5_1:
		_, size := t.Block()
		block := row[i/32*size:]
		q := block[size-16+i%16] >> (i % 32 / 16 * 4) & 15
		if t == gpu.Q4_1 {
			return float32(float32(q)*half(block)) + half(block[2:])
		}
		e := i % 32
		q |= block[size-20+e/8] >> (e % 8) & 1 << 4
		if t == gpu.Q5_1 {
			return float32(float32(q)*half(block)) + half(block[2:])
		}
		return float32(int(q)-16) * half(block)
	case gpu.Q4_K, gpu.Q5_K:
		_, size := t.Block()
		block := row[i/256*size:]
		group, e := i%256/32, i%32
		q := block[size-128+group/2*32+e] >> (group % 2 * 4) & 15
		if t == gpu.Q5_K {
			q |= block[16+e] >> group & 1 << 4
		}
		packed := block[4:16]
		scale, minimum := packed[group%4]&63, packed[4+group%4]&63
		if group >= 4 {
			scale = packed[8+group%4]&15 + packed[group%4]/64*16
			minimum = packed[8+group%4]/16 + packed[4+group%4]/64*16
		}
		return float32(half(block)*float32(scale)*float32(q)) - float32(half(block[2:])*float32(minimum))
	case gpu.Q6_K:
		block := row[i/256*210:]
		section, e := i%256/128, i%128
		q := block[section*64+e%64] >> (e / 64 * 4) & 15
		q |= block[128+section*32+e%32] >> (e / 32 * 2) & 3 << 4
		return half(block[208:]) * float32(int8(block[192+i%256/16])) * float32(int(q)-32)
	}
	panic("no such type")
}

func twinDecode(t gpu.Type, data []byte, rows, cols int) []float32 {
	rowBytes := len(data) / rows
	out := make([]float32, 0, rows*cols)
	for r := range rows {
		for i := range cols {
			out = append(out, twinElement(t, data[r*rowBytes:(r+1)*rowBytes], i))
		}
	}
	return out
}

func TestDecodersAgreeWithTheirFormats(t *testing.T) {
	forEachSet(t, testDecodersAgreeWithTheirFormats)
}

func testDecodersAgreeWithTheirFormats(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		typ, cols := drawType(t)
		data := newSource(t).encoded(typ, cols)
		got := make([]float32, cols)
		k.dequantise[typ](got, data)
		mustEqualBits(t, typ.String(), got, twinDecode(typ, data, 1, cols))
	})
}

func TestDotAddsInItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		s := newSource(t)
		a, b := s.floats(n), s.floats(n)
		var lanes [8]float32
		exact := 0.0
		for i := range a {
			lanes[i%8] += float32(a[i] * b[i])
			exact += float64(a[i]) * float64(b[i])
		}
		for half := 4; half > 0; half /= 2 {
			for i := range half {
				lanes[i] += lanes[i+half]
			}
		}
		mustEqualBits(t, "dot", []float32{dot(a, b)}, lanes[:1])
		mustBeClose(t, "dot", []float32{dot(a, b)}, []float64{exact}, 1e-4)
	})
}

// Sets may round and fuse differently, but each sums in one order: a product does not depend on the rows beside it, nor on whether its weights were decoded before.
func TestDotsIsADotForEachPairOfRows(t *testing.T) { forEachSet(t, testDotsIsADotForEachPairOfRows) }

func testDotsIsADotForEachPairOfRows(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		typ, n := drawType(t)
		ws, xs := rapid.IntRange(0, 9).Draw(t, "ws"), rapid.IntRange(0, 9).Draw(t, "xs")
		stride := ws + rapid.IntRange(0, 3).Draw(t, "gap")
		s := newSource(t)
		encoded, x := s.encoded(typ, n*ws), s.floats(n*xs)
		w := make([]float32, n*ws)
		for i := range ws {
			k.dequantise[typ](w[i*n:(i+1)*n], encoded[i*len(encoded)/ws:(i+1)*len(encoded)/ws])
		}
		untouched := s.floats(stride*xs + 1)
		want := append([]float32(nil), untouched...)
		exact, sizes, twin := widen(untouched), make([]float64, len(untouched)), append([]float32(nil), untouched...)
		for j := range xs {
			for i := range ws {
				a, b := w[i*n:(i+1)*n], x[j*n:(j+1)*n]
				k.dots(want[j*stride+i:], 1, a, b, n)
				twin[j*stride+i] = dot(a, b)
				exact[j*stride+i] = 0
				for e := range a {
					exact[j*stride+i] += float64(a[e]) * float64(b[e])
					sizes[j*stride+i] += math.Abs(float64(a[e]) * float64(b[e]))
				}
			}
		}
		got := append([]float32(nil), untouched...)
		k.dots(got, stride, w, x, n)
		mustEqualBits(t, "dots", got, want)
		mustSum(t, "dots", got, exact, sizes)
		mustSum(t, "dots and its twin", got, widen(twin), sizes)
		if k.dotsOf[typ] != nil && n%8 == 0 {
			got = append([]float32(nil), untouched...)
			k.dotsOf[typ](got, stride, encoded, x, n)
			mustEqualBits(t, "dots of encoded rows", got, want)
		}
		if k.addDots != nil && ws > 0 && xs > 0 {
			acc := make([]float32, 8*ws*xs)
			for from := 0; from < n; {
				part := min(8*rapid.IntRange(1, 5).Draw(t, "part"), n-from)
				k.addDots(acc, strided{w[from:], ws, n}, strided{x[from:], xs, n}, part)
				from += part
			}
			got = append([]float32(nil), untouched...)
			k.sumLanes(got, stride, acc, ws, xs)
			mustEqualBits(t, "dots in parts", got, want)
		}
	})
}

func TestMixAddsRowsOneAfterTheOther(t *testing.T) { forEachSet(t, testMixAddsRowsOneAfterTheOther) }

func testMixAddsRowsOneAfterTheOther(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		n, count, rows := rapid.IntRange(1, 140).Draw(t, "n"), rapid.IntRange(0, 20).Draw(t, "count"), rapid.IntRange(1, 8).Draw(t, "rows")
		stride := count + rapid.IntRange(0, 3).Draw(t, "gap")
		s := newSource(t)
		before, p := s.floats(n*rows), s.floats(stride*rows+1)
		v := s.floats(n * count)
		want := append([]float32(nil), before...)
		twin := widen(before)
		for j := range rows {
			for r := range count { // row by row, so that one after the other is all there is
				k.mix(want[j*n:(j+1)*n], p[j*stride+r:], 1, v[r*n:(r+1)*n], n)
				for i := range n {
					twin[j*n+i] += float64(p[j*stride+r]) * float64(v[r*n+i])
				}
			}
		}
		got := append([]float32(nil), before...)
		k.mix(got, p, stride, v, n)
		mustEqualBits(t, "mix", got, want)
		mustBeClose(t, "mix", got, twin, 1e-4)
	})
}

func TestTurnedKeysGiveScores(t *testing.T) { forEachSet(t, testTurnedKeysGiveScores) }

func testTurnedKeysGiveScores(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		dim, n, rows := rapid.IntRange(1, 70).Draw(t, "dim"), rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "rows")
		s := newSource(t)
		half := s.encoded(gpu.F16, n*dim)
		keys, q := twinDecode(gpu.F16, half, 1, n*dim), s.floats(rows*dim)
		turned, turnedHalf := s.floats(dim*keyStride), s.floats(dim*keyStride)
		k.turn(turned, keys, dim)
		k.turnHalf(turnedHalf, half, dim)
		for i := range dim {
			for j := range n {
				mustEqualBits(t, "turned", []float32{turned[i*keyStride+j], turnedHalf[i*keyStride+j]}, []float32{keys[j*dim+i], keys[j*dim+i]})
			}
		}
		got, alone := make([]float32, rows*scoreStride), make([]float32, scoreStride)
		k.scores(got, q, turned, dim, n)
		for r := range rows {
			want := make([]float64, n)
			for j := range want {
				for i := range dim {
					want[j] += float64(q[r*dim+i]) * float64(keys[j*dim+i])
				}
			}
			mustBeClose(t, "scores", got[r*scoreStride:][:n], want, 1e-4)
			k.scores(alone, q[r*dim:(r+1)*dim], turned, dim, n)
			mustEqualBits(t, "scores of one row", got[r*scoreStride:][:n], alone[:n])
			k.scores(alone, q[r*dim:(r+1)*dim], turned[n-1:], dim, 1)
			mustEqualBits(t, "one score", got[r*scoreStride+n-1:][:1], alone[:1])
		}
	})
}

func TestExpIsWithinOneUnitInTheLastPlace(t *testing.T) {
	for _, x := range []float32{0, 1, -1, 88.72283, 88.722839, 89, 1000, -87.33, -103.9, -104, -1000, 0x1p-30, float32(math.Inf(1)), float32(math.Inf(-1))} {
		if got, want := exp(x), float32(math.Exp(float64(x))); got != want {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := exp(float32(math.NaN())); got == got {
		t.Errorf("exp(NaN) = %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float32Range(-110, 95).Draw(t, "x")
		want := float32(math.Exp(float64(x)))
		if got := exp(x); got != want && got != math.Nextafter32(want, 0) && got != math.Nextafter32(want, float32(math.Inf(1))) {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	})
}

func softmax(k *kernels, x []float32, scale float32) {
	_, sum := k.exponentials(x, scale)
	k.scale(x, 1/sum)
}

func TestSoftmaxWeights(t *testing.T) { forEachSet(t, testSoftmaxWeights) }

func testSoftmaxWeights(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		x := newSource(t).floats(rapid.SampledFrom([]int{1, 2, 7, 8, 9, 31, 50, 20001}).Draw(t, "n"))
		scale := rapid.Float32Range(0.01, 60).Draw(t, "scale")
		highest, sum := math.Inf(-1), 0.0
		for _, v := range x {
			highest = max(highest, float64(v*scale))
		}
		want := make([]float64, len(x))
		for i, v := range x {
			want[i] = math.Exp(float64(v*scale) - highest)
			sum += want[i]
		}
		for i := range want {
			want[i] /= sum
		}
		softmax(k, x, scale)
		for i := range want { // exp is as exact as its argument, which was rounded: by 2^-24 of up to 240
			if math.Abs(float64(x[i])-want[i]) > 2e-5*want[i]+1e-37 {
				t.Fatalf("weight %d is %v, want %v", i, x[i], want[i])
			}
		}
	})
}

// A score that is no number must not vanish: the answer would look like one.
func TestSoftmaxKeepsWhatIsNotANumber(t *testing.T) {
	forEachSet(t, func(t *testing.T, k *kernels) {
		for n := 1; n < 20; n++ {
			for bad := range n {
				x := make([]float32, n)
				x[bad] = float32(math.NaN())
				softmax(k, x, 1)
				for i, v := range x {
					if v == v {
						t.Fatalf("%d scores of which %d is not a number: weight %d is %v", n, bad, i, v)
					}
				}
			}
		}
	})
}

func TestRowKernelsAreTheirTwins(t *testing.T) { forEachSet(t, testRowKernelsAreTheirTwins) }

func testRowKernelsAreTheirTwins(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "n")
		s := newSource(t)
		twin := goKernels()
		wide, y, z := s.floats(n), s.floats(n), s.floats(n)
		for i := range wide { // enough for all of exp
			wide[i] *= 40
		}
		for name, op := range map[string]func(k *kernels, x, y, z []float32){
			"add":         func(k *kernels, x, y, _ []float32) { k.add(x, y) },
			"swiglu":      func(k *kernels, x, y, _ []float32) { k.swiglu(x, y) },
			"norm":        func(k *kernels, x, y, _ []float32) { k.rmsNorm(x, x, y, 1e-5) },
			"norm of":     func(k *kernels, x, y, z []float32) { k.rmsNorm(x, y, z, 1e-5) },
			"rotate norm": func(k *kernels, x, y, z []float32) { k.rotateNorm(x, y[:n/2], z[:n/2]) },
			"rotate neox": func(k *kernels, x, y, z []float32) { k.rotateNeox(x, y[:n/2], z[:n/2]) },
		} {
			x, got := append([]float32(nil), wide...), append([]float32(nil), wide...)
			op(k, got, y, z)
			op(twin, x, y, z)
			mustBeClose(t, name, got, widen(x), 1e-5)
		}
	})
}

func TestEveryHalfConvertsAlikeInEverySet(t *testing.T) {
	forEachSet(t, func(t *testing.T, k *kernels) {
		data := make([]byte, 2<<16)
		for i := range 1 << 16 {
			binary.LittleEndian.PutUint16(data[2*i:], uint16(i))
		}
		got, want := make([]float32, 1<<16), make([]float32, 1<<16)
		k.fromHalf(got, data)
		decodeHalf(want, data)
		mustEqualBits(t, "decoded", got, want)
	})
}

func TestFloatsRoundAlikeInEverySet(t *testing.T) {
	forEachSet(t, func(t *testing.T, k *kernels) {
		const run = 1 << 12
		x, got, want := make([]float32, run), make([]byte, 2*run), make([]byte, 2*run)
		for from := uint64(0); from < 1<<32; from += run * 251 { // a spread over all float32, what is not a number included
			for i := range x {
				x[i] = math.Float32frombits(uint32(from) + uint32(i))
			}
			k.toHalf(got, x)
			encodeHalf(want, x)
			if string(got) != string(want) {
				t.Fatalf("floats from %#08x on round differently", from)
			}
		}
	})
}

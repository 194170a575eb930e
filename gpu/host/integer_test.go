package host

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
)

// integerTypes are the types whose products round activations to 8 bit.
func integerTypes() []gpu.Type {
	return []gpu.Type{gpu.Q8_0, gpu.Q4_0, gpu.Q4_1, gpu.Q5_0, gpu.Q5_1, gpu.Q4_K, gpu.Q5_K, gpu.Q6_K}
}

// All sets round activations alike, and to the nearest.
func TestActivationsInEightBit(t *testing.T) { forEachSet(t, testActivationsInEightBit) }

func testActivationsInEightBit(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSource(t)
		blocks, stride := rapid.IntRange(1, 4).Draw(t, "blocks"), rapid.IntRange(1, 3).Draw(t, "stride")
		x := s.floats(blocks * recordElems)
		for i := range blocks {
			magnitude := float32(math.Ldexp(1, rapid.IntRange(-140, 100).Draw(t, "magnitude")))
			for e := range recordElems {
				x[i*recordElems+e] *= magnitude
			}
		}
		got := make([]record, (blocks-1)*stride+1)
		k.quantise(got, stride, x)
		for i := range blocks {
			elements, r := x[i*recordElems:(i+1)*recordElems], got[i*stride]
			var largest float64
			for _, v := range elements {
				largest = max(largest, math.Abs(float64(v)))
			}
			var want record
			if largest >= 0x1p-100 {
				want.scale = float32(largest) / 127
			}
			for e, v := range elements {
				if want.scale != 0 {
					want.values[e] = int8(math.RoundToEven(float64(v * (127 / float32(largest)))))
				}
				want.sums[e/16] += int16(want.values[e])
				want.sum += int32(want.values[e])
				if d := math.Abs(float64(want.scale)*float64(r.values[e]) - float64(v)); want.scale != 0 && d > 0.50001*largest/127 {
					t.Fatalf("%v became %v", v, want.scale*float32(r.values[e]))
				}
			}
			want.total = want.scale * float32(want.sum)
			if r != want {
				t.Fatalf("block %d is %+v, want %+v", i, r, want)
			}
		}
	})
}

// What is not a number, or infinite, must not vanish: the answer would look like one.
func TestActivationsThatAreNoNumbersSpoilTheirRow(t *testing.T) {
	forEachSet(t, func(t *testing.T, k *kernels) {
		if k.products == nil {
			t.Skip("this set keeps activations in float32")
		}
		d := newDevice(t, k, 1)
		s := &source{1}
		const cols, outs = 512, 11
		for _, typ := range integerTypes() {
			data := s.encoded(typ, cols*outs)
			for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
				for _, at := range []int{0, 33, cols - 1} {
					x := s.floats(2 * cols)
					x[cols+at] = bad
					out := matMul(t, d, typ, x, 2, cols, data, outs, nil)
					for i, v := range out {
						if (v == v) != (i < outs) {
							t.Fatalf("%v in column %d of row 1: output %d of row %d is %v", bad, at, i%outs, i/outs, v)
						}
					}
				}
			}
		}
	})
}

// twinProduct is the definition in quantise.go, element by element.
func twinProduct(typ gpu.Type, row []byte, x []record) float32 {
	var acc float32
	for i := range x {
		b := blockReaders()[typ](row, i)
		p := 0
		for e, v := range b.values {
			p += int(b.parts[e/16]) * int(v) * int(x[i].values[e])
		}
		acc += float32(float32(float32(p)*x[i].scale) * b.scale)
		acc -= float32(b.minimum * x[i].total)
	}
	return acc
}

// Every set gives the bits of the definition, for any number of rows and any part of the columns at a time.
func TestIntegerProductsAreTheirDefinition(t *testing.T) {
	forEachSet(t, testIntegerProductsAreTheirDefinition)
}

func testIntegerProductsAreTheirDefinition(t *testing.T, k *kernels) {
	if k.products == nil {
		t.Skip("this set keeps activations in float32")
	}
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(integerTypes()).Draw(t, "type")
		elems, bytes := typ.Block()
		blocks := rapid.IntRange(1, 4).Draw(t, "blocks") // of the type
		cols := blocks * elems
		count, rows := rapid.IntRange(1, stripRows).Draw(t, "count"), rapid.IntRange(1, 9).Draw(t, "rows")
		s := newSource(t)
		data := s.encoded(typ, count*cols)
		if rapid.Bool().Draw(t, "extreme") {
			s.exaggerate(typ, data)
		}
		acc, want := make([][stripRows]float32, rows), make([][stripRows]float32, rows)
		columns := make([]record, rows*cols/recordElems)
		for r := range rows {
			x := make([]record, cols/recordElems)
			k.quantise(x, 1, s.floats(cols))
			for i := range x {
				if rapid.IntRange(0, 9).Draw(t, "edge") == 0 { // the largest sums there can be
					sign := int8(1 - 2*(s.next()&1))
					x[i] = record{scale: x[i].scale}
					for e := range x[i].values {
						x[i].values[e] = 127 * sign
						x[i].sums[e/16] += 127 * int16(sign)
						x[i].sum += 127 * int32(sign)
					}
					x[i].total = x[i].scale * float32(x[i].sum)
				}
				columns[i*rows+r] = x[i]
			}
			for i := range count {
				want[r][i] = twinProduct(typ, data[i*len(data)/count:], x)
			}
		}
		for from := 0; from < blocks; {
			n := rapid.IntRange(1, blocks-from).Draw(t, "part")
			k.products[typ](acc, data[from*bytes:], len(data)/count, count, columns[from*elems/recordElems*rows:(from+n)*elems/recordElems*rows])
			from += n
		}
		for r := range rows {
			mustEqualBits(t, fmt.Sprintf("%v: row %d", typ, r), acc[r][:count], want[r][:count])
		}
	})
}

// exaggerate sets most bytes of encoded weights to those that give the largest sums; floats at the places of scales stay finite.
func (s *source) exaggerate(t gpu.Type, data []byte) {
	_, blockBytes := t.Block()
	fill := []byte{0xff, 0x00, 0x80, 0x7f}[s.next()%4]
	for i := range data {
		if isScaleByte(t, i%blockBytes) || s.next()%8 == 0 {
			continue
		}
		data[i] = fill
	}
}

// isScaleByte tells whether byte i of a block belongs to a float.
func isScaleByte(t gpu.Type, i int) bool {
	switch t {
	case gpu.Q6_K:
		return i >= 208
	case gpu.Q4_1, gpu.Q5_1, gpu.Q4_K, gpu.Q5_K:
		return i < 4
	}
	return i < 2
}

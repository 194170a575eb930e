package host

import (
	"encoding/binary"
	"math"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tester is what testing.T, testing.B and rapid.T share.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// forEachSet runs a test with each kernel set of this machine.
func forEachSet(t *testing.T, test func(t *testing.T, k *kernels)) {
	for _, k := range kernelSets() {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// newDevice makes a device that shares even the smallest operation between its threads.
func newDevice(t tester, k *kernels, threads int) *Device {
	t.Helper()
	sharing := *k
	sharing.worthSharing = 0
	d := newWithKernels(threads, &sharing)
	t.Cleanup(func() { d.Close() })
	return d
}

// newMatrix makes a matrix of the given elements.
func newMatrix(t tester, d *Device, rows, cols int, elements []float32) gpu.Matrix {
	t.Helper()
	m, err := d.NewMatrix(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Data.Free() })
	copy(floats(m), elements)
	return m
}

func elementsOf(m gpu.Matrix) []float32 { return append([]float32(nil), floats(m)...) }

// load makes a weight of encoded rows.
func load(t tester, d *Device, typ gpu.Type, rows, cols int, data []byte) gpu.Weight {
	t.Helper()
	w, err := d.Load("test.weight", typ, rows, cols, data)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// source draws numbers in the range of activations and weights from one seed: quicker than drawing each with rapid, and as repeatable.
type source struct{ state uint64 }

func newSource(t *rapid.T) *source { return &source{rapid.Uint64().Draw(t, "seed")} }

func (s *source) next() uint64 { // splitmix64
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float is uniform in [-2, 2).
func (s *source) float() float32 { return float32(int32(s.next()>>32)) * 0x1p-30 }

func (s *source) floats(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = s.float()
	}
	return x
}

// encoded returns n elements of a type, which is any bytes but for scales and floats that are finite and of modest size.
func (s *source) encoded(t gpu.Type, n int) []byte {
	size, err := t.RowBytes(n)
	if err != nil {
		panic(err)
	}
	b := make([]byte, 0, size)
	_, blockBytes := t.Block()
	for len(b) < size {
		switch t {
		case gpu.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s.float()))
		case gpu.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(s.float())>>16))
		case gpu.F16:
			b = binary.LittleEndian.AppendUint16(b, twinFloatToHalf(s.float()))
		case gpu.Q4_1, gpu.Q5_1, gpu.Q4_K, gpu.Q5_K: // scale and minimum in half precision, then quants
			b = binary.LittleEndian.AppendUint16(b, twinFloatToHalf(s.float()/64))
			b = binary.LittleEndian.AppendUint16(b, twinFloatToHalf(s.float()/64))
			for range blockBytes - 4 {
				b = append(b, byte(s.next()))
			}
		case gpu.Q6_K: // the scale comes last
			for range blockBytes - 2 {
				b = append(b, byte(s.next()))
			}
			b = binary.LittleEndian.AppendUint16(b, twinFloatToHalf(s.float()/4096))
		default: // a scale in half precision, then quants
			b = binary.LittleEndian.AppendUint16(b, twinFloatToHalf(s.float()/64))
			for range blockBytes - 2 {
				b = append(b, byte(s.next()))
			}
		}
	}
	return b
}

// allTypes are the types of weights.
func allTypes() []gpu.Type { return append(integerTypes(), gpu.F32, gpu.F16, gpu.BF16) }

// drawType draws a weight type and a row length that it can have.
func drawType(t *rapid.T) (typ gpu.Type, cols int) {
	typ = rapid.SampledFrom(allTypes()).Draw(t, "type")
	elems, _ := typ.Block()
	if elems == 1 {
		return typ, rapid.IntRange(1, 70).Draw(t, "cols")
	}
	return typ, elems * rapid.IntRange(1, 4).Draw(t, "blocks")
}

// mustEqualBits fails unless both have the same bits.
func mustEqualBits(t tester, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// mustBeClose fails if an element is further than tolerance from what float64 gives.
func mustBeClose(t tester, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(float64(got[i])-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// mustSum fails if an element, a sum of float32, is further from what float64 gives than rounding explains: sizes are the sums of the magnitudes of what was added.
func mustSum(t tester, what string, got []float32, want, sizes []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(float64(got[i])-want[i]) <= 1e-5*(1+sizes[i])) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

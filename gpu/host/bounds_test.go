//go:build unix

package host

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// fence hands out memory that borders on a page that nobody may touch.
type fence struct {
	t      *rapid.T
	before bool // whether the forbidden page lies before the memory, not behind it
}

func (f *fence) bytes(n int) []byte {
	pageSize := unix.Getpagesize()
	size := (n + pageSize - 1) / pageSize * pageSize
	m, err := unix.Mmap(-1, 0, size+pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { unix.Munmap(m) })
	forbidden, part := m[size:], m[size-n:size:size]
	if f.before {
		forbidden, part = m[:pageSize], m[pageSize:pageSize+n:pageSize+n]
	}
	if err := unix.Mprotect(forbidden, unix.PROT_NONE); err != nil {
		f.t.Fatal(err)
	}
	return part
}

func (f *fence) copyOf(b []byte) []byte {
	c := f.bytes(len(b))
	copy(c, b)
	return c
}

// recordBytes is the size of a record, and recordsOf sees b as records.
const recordBytes = int(unsafe.Sizeof(record{}))

func recordsOf(b []byte) []record {
	return unsafe.Slice((*record)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/recordBytes)
}

func (f *fence) floats(s *source, n int) []float32 { return asFloats(f.copyOf(bytesFrom(s.floats(n)))) }

func TestKernelsStayWithinTheirArguments(t *testing.T) {
	forEachSet(t, testKernelsStayWithinTheirArguments)
}

func testKernelsStayWithinTheirArguments(t *testing.T, k *kernels) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	rapid.Check(t, func(t *rapid.T) {
		typ, n := drawType(t)
		rows, ws := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "ws")
		s := newSource(t)
		for _, before := range []bool{false, true} {
			f := &fence{t, before}
			encoded := f.copyOf(s.encoded(typ, ws*n))
			x, w := f.floats(s, rows*n), f.floats(s, ws*n)
			k.dequantise[typ](w, encoded)
			k.dots(f.floats(s, rows*ws), ws, w, x, n)
			if k.dotsOf[typ] != nil && n%8 == 0 {
				k.dotsOf[typ](f.floats(s, rows*ws), ws, encoded, x, n)
			}
			if multiply := k.products[typ]; multiply != nil { // more weights than a strip, one row of which has all it needs and no more
				count := rapid.SampledFrom([]int{1, stripRows}).Draw(t, "count")
				records := recordsOf(f.bytes(rows * n / recordElems * recordBytes))
				for r := range rows {
					k.quantise(records[r:], rows, x[r*n:(r+1)*n])
				}
				lanes := f.floats(s, rows*stripRows)
				multiply(unsafe.Slice((*[stripRows]float32)(unsafe.Pointer(&lanes[0])), rows), f.copyOf(s.encoded(typ, count*n)), len(encoded)/ws, count, records)
			}
			if k.addDots != nil {
				acc := f.floats(s, 8*rows*ws)
				k.addDots(acc, strided{w, ws, n}, strided{x, rows, n}, n)
				k.sumLanes(f.floats(s, rows*ws), ws, acc, ws, rows)
			}
			half := f.bytes(2 * ws * n)
			k.toHalf(half, w)
			k.fromHalf(w, half)
			p, out := f.floats(s, rows*ws), f.floats(s, rows*n)
			k.mix(out, p, ws, w, n)
			k.exponentials(f.floats(s, n), 1)
			k.scale(f.floats(s, n), 2)
			keys := f.floats(s, (n-1)*keyStride+(ws+7)&^7)
			k.turn(keys, w, n)
			k.turnHalf(keys, half, n)
			k.scores(f.floats(s, (rows-1)*scoreStride+(ws+7)&^7), x, keys, n, ws)
			a, b, c := f.floats(s, n), f.floats(s, n), f.floats(s, n)
			k.rmsNorm(c, a, b, 1e-5)
			k.rmsNorm(a, a, b, 1e-5)
			k.add(a, b)
			k.swiglu(a, b)
			cos, sin := f.floats(s, n), f.floats(s, n)
			k.rotateNeox(f.floats(s, 2*n), cos, sin)
			k.rotateNorm(f.floats(s, 2*n), cos, sin)
		}
	})
}

package host

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
)

func TestMatMulIsTheProduct(t *testing.T) { forEachSet(t, testMatMulIsTheProduct) }

func testMatMulIsTheProduct(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		typ, cols := drawType(t)
		rows, outs := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 50).Draw(t, "outs")
		s := newSource(t)
		x, data := s.floats(rows*cols), s.encoded(typ, outs*cols)
		weights := twinDecode(typ, data, outs, cols)
		var bias []float32
		if rapid.Bool().Draw(t, "bias") {
			bias = s.floats(outs)
		}
		want, sizes := make([]float64, rows*outs), make([]float64, rows*outs)
		for r := range rows {
			for o := range outs {
				for i := range cols {
					want[r*outs+o] += float64(x[r*cols+i]) * float64(weights[o*cols+i])
					sizes[r*outs+o] += math.Abs(float64(x[r*cols+i]) * float64(weights[o*cols+i]))
				}
				if bias != nil {
					want[r*outs+o] += float64(bias[o])
				}
			}
		}
		got := matMul(t, newDevice(t, k, 2), typ, x, rows, cols, data, outs, bias)
		if k.products[typ] == nil {
			mustSum(t, "product", got, want, sizes)
			return
		}
		records := make([]record, cols/recordElems)
		for r := range rows {
			k.quantise(records, 1, x[r*cols:(r+1)*cols])
			for o := range outs {
				rounded := twinProduct(typ, data[o*len(data)/outs:], records)
				if bias != nil {
					rounded += bias[o]
				}
				mustEqualBits(t, "rounded product", got[r*outs+o:r*outs+o+1], []float32{rounded})
			}
			for o := range outs { // each activation is rounded by half a step of its block's scale at most
				most := 1e-5 * (1 + sizes[r*outs+o])
				for i := range cols {
					most += math.Abs(float64(weights[o*cols+i])) * float64(records[i/recordElems].scale) * 0.50001
				}
				if d := math.Abs(float64(got[r*outs+o]) - want[r*outs+o]); !(d <= most) {
					t.Fatalf("output %d of row %d is %v from the exact product; at most %v is due to rounding", o, r, d, most)
				}
			}
		}
	})
}

func matMul(t tester, d *Device, typ gpu.Type, x []float32, rows, cols int, data []byte, outs int, bias []float32) []float32 {
	t.Helper()
	out := newMatrix(t, d, rows, outs, nil)
	var b *gpu.Weight
	if bias != nil {
		w := load(t, d, gpu.F32, 1, outs, bytesFrom(bias))
		b = &w
	}
	d.MatMul(out, newMatrix(t, d, rows, cols, x), load(t, d, typ, outs, cols, data), b)
	return elementsOf(out)
}

func TestMatMulOfARowDoesNotDependOnItsBatchOrTheThreads(t *testing.T) {
	forEachSet(t, testMatMulOfARowDoesNotDependOnItsBatchOrTheThreads)
}

func testMatMulOfARowDoesNotDependOnItsBatchOrTheThreads(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		typ, cols := drawType(t)
		rows, outs := rapid.IntRange(1, 20).Draw(t, "rows"), rapid.IntRange(1, 70).Draw(t, "outs")
		s := newSource(t)
		x, data, bias := s.floats(rows*cols), s.encoded(typ, outs*cols), s.floats(outs)
		want := matMul(t, newDevice(t, k, 1), typ, x, rows, cols, data, outs, bias)
		for threads := 2; threads <= 3; threads++ {
			mustEqualBits(t, fmt.Sprintf("%d threads", threads), matMul(t, newDevice(t, k, threads), typ, x, rows, cols, data, outs, bias), want)
		}
		for from := 0; from < rows; { // few rows go another way than many
			n := min(rapid.IntRange(1, 5).Draw(t, "batch"), rows-from)
			got := matMul(t, newDevice(t, k, 2), typ, x[from*cols:(from+n)*cols], n, cols, data, outs, bias)
			mustEqualBits(t, fmt.Sprintf("rows %d to %d alone", from, from+n), got, want[from*outs:(from+n)*outs])
			from += n
		}
		r := rapid.IntRange(0, rows-1).Draw(t, "row")
		alone := matMul(t, newDevice(t, k, 2), typ, x[r*cols:(r+1)*cols], 1, cols, data, outs, bias)
		mustEqualBits(t, "row alone", alone, want[r*outs:(r+1)*outs])
	})
}

func TestMatMulInPartsIsThatOfWholeRows(t *testing.T) {
	forEachSet(t, testMatMulInPartsIsThatOfWholeRows)
}

func testMatMulInPartsIsThatOfWholeRows(t *testing.T, k *kernels) {
	if k.addDots == nil {
		t.Skip("this set knows no parts")
	}
	inParts := *k
	inParts.partsFrom = 0
	for _, typ := range []gpu.Type{gpu.F32, gpu.F16, gpu.BF16} {
		for _, c := range []struct{ rows, cols, outs, threads int }{
			{partRows + 5, 2*partCols + 32, partBlockRows + 7, 1},
			{2 * partRows, partCols, 3 * partBlockRows, 2},
			{20, 96, 2*partBlockRows + 1, 2},
		} {
			s := &source{uint64(c.rows)}
			x, data, bias := s.floats(c.rows*c.cols), s.encoded(typ, c.outs*c.cols), s.floats(c.outs)
			want := matMul(t, newDevice(t, k, 1), typ, x, c.rows, c.cols, data, c.outs, bias)
			got := matMul(t, newDevice(t, &inParts, c.threads), typ, x, c.rows, c.cols, data, c.outs, bias)
			mustEqualBits(t, fmt.Sprintf("%v %+v", typ, c), got, want)
		}
	}
	const odd = partCols + 3 // columns that fill no vector
	s := &source{1}
	x, data := s.floats(20*odd), s.encoded(gpu.F32, partBlockRows*odd)
	mustEqualBits(t, "odd columns", matMul(t, newDevice(t, &inParts, 1), gpu.F32, x, 20, odd, data, partBlockRows, nil),
		matMul(t, newDevice(t, k, 1), gpu.F32, x, 20, odd, data, partBlockRows, nil))
}

func TestMatMulGoesThroughLongRowsInChunks(t *testing.T) {
	forEachSet(t, testMatMulGoesThroughLongRowsInChunks)
}

func testMatMulGoesThroughLongRowsInChunks(t *testing.T, k *kernels) {
	const rows, cols, outs = 5, 16 << 10, 3 // more activations than chunkFloats
	s := &source{1}
	x, data := s.floats(rows*cols), s.encoded(gpu.Q8_0, outs*cols)
	d := newDevice(t, k, 2)
	together := matMul(t, d, gpu.Q8_0, x, rows, cols, data, outs, nil)
	for r := range rows {
		alone := matMul(t, d, gpu.Q8_0, x[r*cols:(r+1)*cols], 1, cols, data, outs, nil)
		mustEqualBits(t, "row", together[r*outs:(r+1)*outs], alone)
	}
}

// More rows than a chunk, more columns than a part, and outputs that fill no strip.
func TestIntegerMatMulGoesInChunksAndParts(t *testing.T) {
	forEachSet(t, testIntegerMatMulGoesInChunksAndParts)
}

func testIntegerMatMulGoesInChunksAndParts(t *testing.T, k *kernels) {
	const rows, cols, outs = chunkRows + 6, chunkRecords/chunkRows*recordElems + 256, 19
	for _, typ := range integerTypes() {
		s := &source{1}
		x, data, bias := s.floats(rows*cols), s.encoded(typ, outs*cols), s.floats(outs)
		d := newDevice(t, k, 2)
		together := matMul(t, d, typ, x, rows, cols, data, outs, bias)
		for r := 0; r < rows; r += 9 {
			alone := matMul(t, d, typ, x[r*cols:(r+1)*cols], 1, cols, data, outs, bias)
			mustEqualBits(t, fmt.Sprintf("%v: row %d", typ, r), together[r*outs:(r+1)*outs], alone)
		}
	}
}

func TestOperationsOnNoRowsDoNothing(t *testing.T) { forEachSet(t, testOperationsOnNoRowsDoNothing) }

func testOperationsOnNoRowsDoNothing(t *testing.T, k *kernels) {
	d := newDevice(t, k, 2)
	const cols, outs = 256, 40
	none, out := newMatrix(t, d, 0, cols, nil), newMatrix(t, d, 0, outs, nil)
	s := &source{1}
	c := newCache(t, d, gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: cols, PageSize: 16, Type: gpu.F16}, 16)
	for _, typ := range allTypes() {
		w := load(t, d, typ, outs, cols, s.encoded(typ, outs*cols))
		d.MatMul(out, none, w, nil)
		d.Embed(none, w, nil)
	}
	d.Gather(none, newMatrix(t, d, 3, cols, nil), nil)
	d.RMSNorm(none, none, load(t, d, gpu.F32, 1, cols, bytesFrom(s.floats(cols))), 1e-5)
	d.Add(none, none)
	d.SwiGLU(none, none)
	d.RopeStore(none, none, none, gpu.Rope{Freqs: []float64{1}, Scale: 1}, c.slab, 0, nil, nil)
	d.Attention(none, none, c.slab, 0, nil, nil, 1)
	for i, b := range bytesOf(c.slab.Data) {
		if b != 0 {
			t.Fatalf("byte %d of the pages was written", i)
		}
	}
}

func TestRowOperations(t *testing.T) { forEachSet(t, testRowOperations) }

func testRowOperations(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 70).Draw(t, "cols")
		s := newSource(t)
		x, y, w := s.floats(rows*cols), s.floats(rows*cols), s.floats(cols)
		const eps = 1e-5
		sum, norm, gated := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		for r := range rows {
			square := 0.0
			for i := range cols {
				a := float64(x[r*cols+i])
				square += a * a
			}
			for i := range cols {
				a, b := float64(x[r*cols+i]), float64(y[r*cols+i])
				sum[r*cols+i] = a + b
				norm[r*cols+i] = a / math.Sqrt(square/float64(cols)+eps) * float64(w[i])
				gated[r*cols+i] = a / (1 + math.Exp(-a)) * b
			}
		}
		one, several := newDevice(t, k, 1), newDevice(t, k, 3)
		for name, op := range map[string]struct {
			do   func(d *Device, x, y gpu.Matrix)
			want []float64
		}{
			"add":    {func(d *Device, x, y gpu.Matrix) { d.Add(x, y) }, sum},
			"swiglu": {func(d *Device, x, y gpu.Matrix) { d.SwiGLU(x, y) }, gated},
			"norm":   {func(d *Device, x, _ gpu.Matrix) { d.RMSNorm(x, x, load(t, d, gpu.F32, 1, cols, bytesFrom(w)), eps) }, norm},
			"norm of": {func(d *Device, x, y gpu.Matrix) {
				copy(floats(y), floats(x))
				d.RMSNorm(x, y, load(t, d, gpu.F32, 1, cols, bytesFrom(w)), eps)
			}, norm},
		} {
			a := newMatrix(t, one, rows, cols, x)
			op.do(one, a, newMatrix(t, one, rows, cols, y))
			mustBeClose(t, name, elementsOf(a), op.want, 1e-5)
			b := newMatrix(t, several, rows, cols, x)
			op.do(several, b, newMatrix(t, several, rows, cols, y))
			mustEqualBits(t, name, elementsOf(b), elementsOf(a))
		}
	})
}

func TestEmbedGatherAndDownloadTakeTheRowsAskedFor(t *testing.T) {
	forEachSet(t, testEmbedGatherAndDownloadTakeTheRowsAskedFor)
}

func testEmbedGatherAndDownloadTakeTheRowsAskedFor(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		typ, cols := drawType(t)
		vocab := rapid.IntRange(1, 20).Draw(t, "vocab")
		ids := rapid.SliceOfN(rapid.Int32Range(0, int32(vocab-1)), 1, 30).Draw(t, "ids")
		picks := rapid.SliceOfN(rapid.Int32Range(0, int32(len(ids)-1)), 1, 30).Draw(t, "picks")
		data := newSource(t).encoded(typ, vocab*cols)
		table := twinDecode(typ, data, vocab, cols)
		d := newDevice(t, k, 2)
		x, y := newMatrix(t, d, len(ids), cols, nil), newMatrix(t, d, len(picks), cols, nil)
		d.Embed(x, load(t, d, typ, vocab, cols, data), ids)
		d.Gather(y, x, picks)
		row := make([]float32, cols)
		for i, p := range picks {
			d.Download(row, y, i, 1)
			mustEqualBits(t, "row", row, table[int(ids[p])*cols:(int(ids[p])+1)*cols])
		}
	})
}

func TestSteadyStateDoesNotAllocate(t *testing.T) { forEachSet(t, testSteadyStateDoesNotAllocate) }

func testSteadyStateDoesNotAllocate(t *testing.T, k *kernels) {
	const rows, width = 4, 64
	s := &source{1}
	d := newDevice(t, k, 2)
	x, y := newMatrix(t, d, rows, width, s.floats(rows*width)), newMatrix(t, d, rows, width, s.floats(rows*width))
	w, norm := load(t, d, gpu.Q8_0, width, width, s.encoded(gpu.Q8_0, width*width)), load(t, d, gpu.F32, 1, width, bytesFrom(s.floats(width)))
	c := newCache(t, d, gpu.KVLayout{Layers: 1, KVHeads: 2, HeadDim: 32, PageSize: 16, Type: gpu.F16}, 32)
	keys, values := newMatrix(t, d, rows, width, s.floats(rows*width)), newMatrix(t, d, rows, width, s.floats(rows*width))
	positions := []gpu.Row{{Pos: 14}, {Pos: 15}, {Pos: 16}, {Pos: 17}}
	tables := gpu.Tables{c.table}
	rope := gpu.Rope{Freqs: []float64{1, 0.5}, Scale: 1}
	allocs := testing.AllocsPerRun(50, func() {
		d.RMSNorm(y, x, norm, 1e-5)
		d.MatMul(x, y, w, nil)
		d.RopeStore(x, keys, values, rope, c.slab, 0, positions, tables)
		d.Attention(y, x, c.slab, 0, positions, tables, 0.1)
		d.SwiGLU(x, y)
		d.Add(x, y)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a pass", allocs)
	}
}

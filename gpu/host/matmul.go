package host

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

const (
	// blockRows is how many rows of a weight are decoded at a time, and what a worker takes at a time.
	blockRows = 16
	// chunkFloats is how many activations are multiplied with a block of rows before the next: they shall stay in the second-level cache.
	chunkFloats = 32 << 10

	// Products of many long rows go in parts where the kernels can, so that activations need not come from memory again for every few rows of a weight: partCols
	// columns of partRows rows of activations are multiplied with those of partBlockRows rows of the weight. These, and the sums in progress, shall stay in the
	// second-level cache, and 7 rows of a tile in the first-level one.
	partCols      = 512
	partRows      = 64
	partBlockRows = 64
)

// matMulTask is one matrix product. Block i is the product with rows [i*blockRows, (i+1)*blockRows) of the
// weight, where blockRows is the task's.
type matMulTask struct {
	d         *Device
	out, x    []float32
	rows      int // of x and out
	w         gpu.Weight
	weight    []byte
	rowBytes  int
	bias      []float32 // nil: none
	blockRows int
	inParts   bool
	decodeRow func(dst []float32, src []byte)
	dotsOf    func(out []float32, stride int, w []byte, x []float32, n int) // nil: decode first
}

func (d *Device) MatMul(out, x gpu.Matrix, w gpu.Weight, bias *gpu.Weight) {
	if x.Cols != w.Cols || out.Cols != w.Rows || out.Rows != x.Rows {
		panic(fmt.Sprintf("host: product of %dx%d with %s (%dx%d) into %dx%d", x.Rows, x.Cols, w.Name, w.Rows, w.Cols, out.Rows, out.Cols))
	}
	if x.Rows == 0 {
		return // a batch that asks for no logits
	}
	var biases []float32
	if bias != nil {
		biases = d.vector(*bias, w.Rows)
	}
	if d.kernels.products[w.Type] != nil {
		d.multiplyIntegers(out, x, w, biases)
		return
	}
	t := &d.matMul
	*t = matMulTask{d: d, out: floats(out), x: floats(x), rows: x.Rows, w: w, weight: bytesOf(w.Data), bias: biases, decodeRow: d.kernels.dequantise[w.Type]}
	t.rowBytes = len(t.weight) / max(1, w.Rows)
	if x.Rows <= d.kernels.fewRows[w.Type] && w.Cols%8 == 0 {
		t.dotsOf = d.kernels.dotsOf[w.Type]
	}
	t.blockRows = blockRows
	if k := d.kernels; t.dotsOf == nil && k.addDots != nil && x.Rows*x.Cols >= k.partsFrom && w.Rows >= partBlockRows*d.pool.workers() {
		t.inParts, t.blockRows = true, partBlockRows
	}
	d.run(t, (w.Rows+t.blockRows-1)/t.blockRows, x.Rows*w.Rows*w.Cols)
}

func (t *matMulTask) do(worker, block int) {
	first := block * t.blockRows
	count := min(t.blockRows, t.w.Rows-first)
	cols, outCols := t.w.Cols, t.w.Rows
	switch {
	case t.dotsOf != nil:
		t.dotsOf(t.out[first:], outCols, t.weight[first*t.rowBytes:(first+count)*t.rowBytes], t.x, cols)
	case t.inParts:
		for row := 0; row < t.rows; row += partRows {
			t.multiplyInParts(worker, first, count, row, min(partRows, t.rows-row))
		}
	default:
		weights := t.decode(worker, first, count, 0, cols).data
		chunk := max(1, chunkFloats/cols)
		for row := 0; row < t.rows; row += chunk {
			n := min(chunk, t.rows-row)
			t.d.kernels.dots(t.out[row*outCols+first:], outCols, weights, t.x[row*cols:(row+n)*cols], cols)
		}
	}
	if t.bias == nil {
		return
	}
	for row := range t.rows {
		t.d.kernels.add(t.out[row*outCols+first:][:count], t.bias[first:first+count])
	}
}

// multiplyInParts sets columns [first, first+count) of n rows of out.
func (t *matMulTask) multiplyInParts(worker, first, count, row, n int) {
	k, s := t.d.kernels, &t.d.scratch[worker]
	cols, outCols := t.w.Cols, t.w.Rows
	s.lanes = grow(s.lanes, 8*count*n)
	clear(s.lanes)
	for from := 0; from < cols; from += partCols {
		part := min(partCols, cols-from)
		k.addDots(s.lanes, t.decode(worker, first, count, from, part), strided{t.x[row*cols+from:], n, cols}, part)
	}
	k.sumLanes(t.out[row*outCols+first:], outCols, s.lanes, count, n)
}

// decode returns n columns, from a multiple of partCols on, of rows [first, first+count) of the weight as float32.
func (t *matMulTask) decode(worker, first, count, from, n int) strided {
	cols := t.w.Cols
	if t.w.Type == gpu.F32 {
		return strided{asFloats(t.weight)[first*cols+from : (first+count-1)*cols+from+n], count, cols}
	}
	elems, bytes := t.w.Type.Block()
	s := &t.d.scratch[worker]
	s.weights = grow(s.weights, count*n)
	for i := range count {
		t.decodeRow(s.weights[i*n:(i+1)*n], t.weight[(first+i)*t.rowBytes+from/elems*bytes:(first+i+1)*t.rowBytes])
	}
	return strided{s.weights, count, n}
}

// vector returns the n elements of w as float32: in place where it is F32.
func (d *Device) vector(w gpu.Weight, n int) []float32 {
	if w.Rows*w.Cols != n {
		panic(fmt.Sprintf("host: %s has %d elements where %d are needed", w.Name, w.Rows*w.Cols, n))
	}
	if w.Type == gpu.F32 {
		return asFloats(bytesOf(w.Data))[:n]
	}
	v := make([]float32, n)
	d.kernels.dequantise[w.Type](v, bytesOf(w.Data))
	return v
}

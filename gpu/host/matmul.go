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
)

// matMulTask is one matrix product. Block i is the product with rows [i*blockRows, (i+1)*blockRows) of the weight.
type matMulTask struct {
	d         *Device
	out, x    []float32
	rows      int // of x and out
	w         gpu.Weight
	weight    []byte
	rowBytes  int
	bias      []float32 // nil: none
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
	t := &d.matMul
	*t = matMulTask{d: d, out: floats(out), x: floats(x), rows: x.Rows, w: w, weight: bytesOf(w.Data), decodeRow: d.kernels.dequantise[w.Type]}
	t.rowBytes = len(t.weight) / max(1, w.Rows)
	if x.Rows <= d.kernels.fewRows[w.Type] && w.Cols%8 == 0 {
		t.dotsOf = d.kernels.dotsOf[w.Type]
	}
	if bias != nil {
		t.bias = d.vector(*bias, w.Rows)
	}
	d.run(t, (w.Rows+blockRows-1)/blockRows, x.Rows*w.Rows*w.Cols)
}

func (t *matMulTask) do(worker, block int) {
	first := block * blockRows
	count := min(blockRows, t.w.Rows-first)
	cols, outCols := t.w.Cols, t.w.Rows
	if t.dotsOf != nil {
		t.dotsOf(t.out[first:], outCols, t.weight[first*t.rowBytes:(first+count)*t.rowBytes], t.x, cols)
	} else {
		weights := t.decode(worker, first, count)
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

// decode returns rows [first, first+count) of the weight as float32.
func (t *matMulTask) decode(worker, first, count int) []float32 {
	cols := t.w.Cols
	if t.w.Type == gpu.F32 {
		return asFloats(t.weight)[first*cols : (first+count)*cols]
	}
	s := &t.d.scratch[worker]
	s.weights = grow(s.weights, blockRows*cols)
	for i := range count {
		t.decodeRow(s.weights[i*cols:(i+1)*cols], t.weight[(first+i)*t.rowBytes:(first+i+1)*t.rowBytes])
	}
	return s.weights[:count*cols]
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

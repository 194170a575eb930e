package host

import "github.com/kvasir-engine/kvasir/gpu"

const (
	// chunkRows is how many rows of activations a strip of a weight is multiplied with while it is unpacked.
	chunkRows = 64
	// chunkRecords is how many records of these are used before the next columns: they shall stay in the second-level cache, and one kernel call shall be short.
	chunkRecords = 4096
	// superBlock is the longest block of a type, in records: parts of a row are a multiple of it.
	superBlock = 8
	// integerShares is in how many blocks what a worker has to do of a weight is divided, about; the larger they are, the longer the runs of memory that it reads.
	integerShares = 4
	// integerRows is the most rows of a block where many activations are multiplied with it.
	integerRows = 64
)

// integerTask is one product of a quantised weight. It has two steps: rows of activations are encoded, then block i is the product with rows
// [i*blockRows, (i+1)*blockRows) of the weight.
type integerTask struct {
	d         *Device
	product   product // nil: encode
	out, x    []float32
	rows      int // of x and out
	cols      int // of x
	outs      int // columns of out, rows of the weight
	weight    []byte
	blockSize int // bytes of superBlock records
	rowBytes  int
	bias      []float32 // nil: none
	blockRows int
	records   []record // by chunk of rows, block of columns, row
}

func (d *Device) multiplyIntegers(out, x gpu.Matrix, w gpu.Weight, bias []float32) {
	t := &d.integer
	blocks := x.Cols / recordElems
	elems, bytes := w.Type.Block()
	if need := x.Rows * blocks; cap(d.records) < need {
		d.records = make([]record, need)
	}
	*t = integerTask{d: d, out: floats(out), x: floats(x), rows: x.Rows, cols: x.Cols, outs: w.Rows, weight: bytesOf(w.Data), bias: bias, records: d.records[:x.Rows*blocks]}
	t.rowBytes = len(t.weight) / max(1, w.Rows)
	t.blockSize = superBlock * recordElems / elems * bytes
	d.run(t, (x.Rows+encodeRows-1)/encodeRows, x.Rows*x.Cols)

	t.product = d.kernels.products[w.Type]
	share := (w.Rows + d.pool.workers() - 1) / d.pool.workers()
	t.blockRows = max(stripRows, (share/integerShares+stripRows-1)/stripRows*stripRows)
	if x.Rows > 1 {
		t.blockRows = min(t.blockRows, integerRows)
	}
	d.run(t, (w.Rows+t.blockRows-1)/t.blockRows, x.Rows*w.Rows*w.Cols)
}

// encodeRows is how many rows a worker encodes at a time.
const encodeRows = 8

func (t *integerTask) do(worker, block int) {
	if t.product == nil {
		for row := block * encodeRows; row < min((block+1)*encodeRows, t.rows); row++ {
			t.encode(row)
		}
		return
	}
	first := block * t.blockRows
	count := min(t.blockRows, t.outs-first)
	for row := 0; row < t.rows; row += chunkRows {
		t.multiply(worker, first, count, row, min(chunkRows, t.rows-row))
	}
}

// encode makes the records of a row.
func (t *integerTask) encode(row int) {
	blocks := t.cols / recordElems
	chunk := row / chunkRows * chunkRows
	n := min(chunkRows, t.rows-chunk)
	t.d.kernels.quantise(t.records[chunk*blocks+row-chunk:], n, t.x[row*t.cols:(row+1)*t.cols])
}

// multiply sets columns [first, first+count) of n rows of out, which are a chunk.
func (t *integerTask) multiply(worker, first, count, row, n int) {
	s := &t.d.scratch[worker]
	strips := (count + stripRows - 1) / stripRows
	if cap(s.products) < strips*n {
		s.products = make([][stripRows]float32, strips*n)
	}
	acc := s.products[:strips*n]
	clear(acc)
	records := t.records[row*t.cols/recordElems:][:n*t.cols/recordElems]
	weights := t.weight[first*t.rowBytes : (first+count)*t.rowBytes]
	part := max(superBlock, chunkRecords/n/superBlock*superBlock)
	for from := 0; from < len(records); from += part * n {
		x := records[from:min(from+part*n, len(records))]
		for i := range strips {
			w := weights[i*stripRows*t.rowBytes+from/n/superBlock*t.blockSize:]
			t.product(acc[i*n:(i+1)*n], w, t.rowBytes, min(stripRows, count-i*stripRows), x)
		}
	}
	for r := range n {
		out := t.out[(row+r)*t.outs+first:][:count]
		for i := range count / stripRows {
			*(*[stripRows]float32)(out[i*stripRows:]) = acc[i*n+r]
		}
		if i := count / stripRows; i < strips {
			copy(out[i*stripRows:], acc[i*n+r][:])
		}
		if t.bias != nil {
			t.d.kernels.add(out, t.bias[first:first+count])
		}
	}
}

package host

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

// rowsTask is an operation that works on each row by itself, through one of the functions below. Block i is rows [i*perBlock, (i+1)*perBlock).
type rowsTask struct {
	d        *Device
	row      func(t *rowsTask, worker, row int)
	rows     int
	perBlock int

	out, x   []float32
	cols     int // of out and x
	w        []float32
	eps      float32
	weight   gpu.Weight
	selected []int32
}

// runRows does op for each row. cost is that of a row.
func (d *Device) runRows(t rowsTask, rows, cost int) {
	t.d, t.rows = d, rows
	t.perBlock = max(1, (16<<10)/max(1, cost))
	d.rows = t
	d.run(&d.rows, (rows+t.perBlock-1)/t.perBlock, rows*cost)
}

func (t *rowsTask) do(worker, block int) {
	first := block * t.perBlock
	for row := first; row < min(first+t.perBlock, t.rows); row++ {
		t.row(t, worker, row)
	}
}

// of returns a row of out or x.
func (t *rowsTask) of(m []float32, row int) []float32 { return m[row*t.cols : (row+1)*t.cols] }

func (d *Device) Embed(out gpu.Matrix, w gpu.Weight, ids []int32) {
	if out.Cols != w.Cols || out.Rows != len(ids) {
		panic(fmt.Sprintf("host: %d rows of %s (%dx%d) into %dx%d", len(ids), w.Name, w.Rows, w.Cols, out.Rows, out.Cols))
	}
	d.runRows(rowsTask{row: embedRow, out: floats(out), cols: out.Cols, weight: w, selected: ids}, out.Rows, out.Cols)
}

func embedRow(t *rowsTask, _, row int) {
	data := bytesOf(t.weight.Data)
	rowBytes := len(data) / t.weight.Rows
	id := int(t.selected[row])
	t.d.kernels.dequantise[t.weight.Type](t.of(t.out, row), data[id*rowBytes:(id+1)*rowBytes])
}

func (d *Device) RMSNorm(out, x gpu.Matrix, w gpu.Weight, eps float32) {
	mustMatch("norm", out, x)
	d.runRows(rowsTask{row: normRow, out: floats(out), x: floats(x), cols: x.Cols, w: d.vector(w, x.Cols), eps: eps}, x.Rows, 2*x.Cols)
}

func normRow(t *rowsTask, _, row int) {
	t.d.kernels.rmsNorm(t.of(t.out, row), t.of(t.x, row), t.w, t.eps)
}

func (d *Device) Add(x, y gpu.Matrix) {
	mustMatch("sum", x, y)
	d.runRows(rowsTask{row: addRow, out: floats(x), x: floats(y), cols: x.Cols}, x.Rows, x.Cols)
}

func addRow(t *rowsTask, _, row int) { t.d.kernels.add(t.of(t.out, row), t.of(t.x, row)) }

func (d *Device) SwiGLU(gate, up gpu.Matrix) {
	mustMatch("gate", gate, up)
	d.runRows(rowsTask{row: swigluRow, out: floats(gate), x: floats(up), cols: up.Cols}, up.Rows, 8*up.Cols)
}

func swigluRow(t *rowsTask, _, row int) { t.d.kernels.swiglu(t.of(t.out, row), t.of(t.x, row)) }

func (d *Device) Gather(out, x gpu.Matrix, rows []int32) {
	if out.Cols != x.Cols || out.Rows != len(rows) {
		panic(fmt.Sprintf("host: %d rows of %dx%d into %dx%d", len(rows), x.Rows, x.Cols, out.Rows, out.Cols))
	}
	d.runRows(rowsTask{row: gatherRow, out: floats(out), x: floats(x), cols: x.Cols, selected: rows}, out.Rows, out.Cols)
}

func gatherRow(t *rowsTask, _, row int) { copy(t.of(t.out, row), t.of(t.x, int(t.selected[row]))) }

func mustMatch(what string, a, b gpu.Matrix) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		panic(fmt.Sprintf("host: %s of %dx%d and %dx%d", what, a.Rows, a.Cols, b.Rows, b.Cols))
	}
}

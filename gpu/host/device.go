package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Device is the CPU. It implements [gpu.Device].
type Device struct {
	kernels *kernels
	pool    *pool
	scratch []scratch // one a worker
	records []record  // activations of a product in 8 bit

	// The operations, kept so that one costs no allocation.
	matMul    matMulTask
	integer   integerTask
	attention attentionTask
	rope      ropeTask
	rows      rowsTask
}

// scratch is memory that one worker uses within a block.
type scratch struct {
	weights []float32 // decoded rows of a weight
	rows    []float32 // rows of activations of a product in parts
	lanes   []float32 // sums in progress of a product in parts
	queries []float32 // of attention
	keys    []float32 // decoded keys of a run of positions, turned
	values  []float32 // decoded values of one
	scores  []float32 // of each query with each key
	partial []float32 // results of a block
	merged  []float32 // results of all blocks so far
	weight  [1]float32

	products [][stripRows]float32 // sums in progress of a product of a quantised weight
}

// grow returns s with n elements, whose content is not defined.
func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n, n+n/4)
	}
	return s[:n]
}

var _ gpu.Device = (*Device)(nil)

// New makes a device that works on this many threads, the calling one included; 0 means GOMAXPROCS. The environment variable [KernelsVariable] may name the
// kernel set to use; a name that this machine cannot follow is an error.
func New(threads int) (*Device, error) {
	if threads < 0 {
		return nil, fmt.Errorf("host: threads must be 0 (as many as GOMAXPROCS) or more, not %d", threads)
	}
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	k, err := chooseKernels(os.Getenv(KernelsVariable))
	if err != nil {
		return nil, err
	}
	return newWithKernels(threads, k), nil
}

func newWithKernels(threads int, k *kernels) *Device {
	return &Device{kernels: k, pool: newPool(threads), scratch: make([]scratch, threads)}
}

func (d *Device) Name() string      { return "cpu" }
func (d *Device) KernelSet() string { return d.kernels.name }

func (d *Device) Close() error {
	d.pool.close()
	return nil
}

// run does all blocks of t. cost is the number of multiplications or so in all of them.
func (d *Device) run(t task, blocks, cost int) {
	if cost < d.kernels.worthSharing {
		for i := range blocks {
			t.do(0, i)
		}
		return
	}
	d.pool.run(t, blocks)
}

func (d *Device) Alloc(bytes int) (gpu.Buffer, error) {
	b, err := newBuffer(bytes)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (d *Device) Load(name string, t gpu.Type, rows, cols int, data []byte) (gpu.Weight, error) {
	if d.kernels.dequantise[t] == nil {
		return gpu.Weight{}, fmt.Errorf("host: tensor %s has type %v, but this device can read %s only", name, t, d.types())
	}
	rowBytes, err := t.RowBytes(cols)
	if err != nil {
		return gpu.Weight{}, fmt.Errorf("host: tensor %s: %w", name, err)
	}
	if rows < 0 || len(data) != rows*rowBytes {
		return gpu.Weight{}, fmt.Errorf("host: tensor %s: %d rows of %d elements of %v are %d bytes, not %d", name, rows, cols, t, rows*rowBytes, len(data))
	}
	w := gpu.Weight{Name: name, Type: t, Rows: rows, Cols: cols, Data: &buffer{bytes: data}}
	if t == gpu.F32 && !isAligned(data) { // it is read in place
		b, err := newBuffer(len(data))
		if err != nil {
			return gpu.Weight{}, err
		}
		copy(b.bytes, data)
		w.Data = b
	}
	return w, nil
}

// types names the types of weights that the device can read.
func (d *Device) types() string {
	var names []string
	for _, t := range slices.Sorted(maps.Keys(d.kernels.dequantise)) {
		names = append(names, t.String())
	}
	return strings.Join(names, ", ")
}

func (d *Device) NewMatrix(rows, cols int) (gpu.Matrix, error) {
	b, err := newBufferOf(rows, cols, 4)
	if err != nil {
		return gpu.Matrix{}, err
	}
	return gpu.Matrix{Rows: rows, Cols: cols, Data: b}, nil
}

func (d *Device) NewSlab(l gpu.KVLayout, pages int) (*gpu.Slab, error) {
	if l.Type != gpu.F16 && l.Type != gpu.F32 {
		return nil, fmt.Errorf("host: keys and values can be F16 or F32, not %v", l.Type)
	}
	headers, err := newBufferOf(pages, page.HeaderSize)
	if err != nil {
		return nil, fmt.Errorf("host: headers of %d pages: %w", pages, err)
	}
	data, err := newBufferOf(pages, l.PageSize, l.Layers, 2, l.KVHeads, l.HeadDim, l.ElemBytes()) // PageBytes could overflow
	if err != nil {
		return nil, errors.Join(fmt.Errorf("host: %d pages of %v: %w", pages, l, err), headers.Free())
	}
	return &gpu.Slab{Layout: l, Pages: pages, Data: data, Headers: headers}, nil
}

func (d *Device) Download(dst []float32, m gpu.Matrix, row, n int) {
	copy(dst[:n*m.Cols], floats(m)[row*m.Cols:(row+n)*m.Cols])
}

// Bytes is the memory of a buffer of this device, which this process can address. It is the buffer's, and gone with it.
func (d *Device) Bytes(b gpu.Buffer) []byte { return bytesOf(b) }

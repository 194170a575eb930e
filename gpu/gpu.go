// Package gpu is what the engine asks of a device: memory, and a small set of fused operations in which a model file reads as a list.
//
// Operations take buffers and page tables, never Go slices of KV memory, so that a device whose memory the host cannot
// address implements the same set. Package host is the CPU.
//
// Every operation treats each row on its own, in one fixed order of reduction, whatever the number of rows, the page size or the number of threads:
// that makes output bit-identical over batching. Attention reduces by token position, not by page or chunk.
//
// Operations of one device are called from one goroutine at a time (the runner's) and are complete when they return, or ordered behind
// one another where a device works asynchronously; Download and CheckHeaders wait for them.
package gpu

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Weight is a tensor of a model file on the device: a matrix of Rows rows of Cols elements each (a vector has Rows 1).
// The output of a product with it has Rows elements.
type Weight struct {
	Name string
	Type Type
	Rows int
	Cols int
	Data Buffer // Rows*RowBytes bytes
}

// Buffer is a piece of device memory. KV memory and registered memory lie outside the Go heap.
type Buffer interface {
	// Size is in bytes.
	Size() int
	// Free gives the memory back. The buffer and what was made from it must not be used afterwards.
	Free() error
}

// Matrix is a matrix of float32 activations on the device: Rows rows of Cols elements, row-major, without gaps.
// Rows may be lowered and raised again up to the Rows it was made with.
type Matrix struct {
	Rows, Cols int
	Data       Buffer
}

// KVLayout says where the keys and values of a token lie in a page.
//
// A page holds PageSize slots of all Layers of its cache group. Within the page: [layer][K then V][kv head][slot][dim], elements of Type.
type KVLayout struct {
	Layers   int
	KVHeads  int
	HeadDim  int  // of K and of V
	PageSize int  // slots, a power of two, 16 to 128
	Type     Type // F16 or F32
}

// ElemBytes is the size of one element of K or V.
func (l KVLayout) ElemBytes() int {
	if l.Type == F32 {
		return 4
	}
	return 2
}

// TokenBytes is the KV memory of one token over all layers.
func (l KVLayout) TokenBytes() int { return l.Layers * 2 * l.KVHeads * l.HeadDim * l.ElemBytes() }

// PageBytes is the size of one page.
func (l KVLayout) PageBytes() int { return l.PageSize * l.TokenBytes() }

// Offset is the byte offset in a page of slot 0, dimension 0 of a head's keys (v false) or values (v true).
func (l KVLayout) Offset(layer int, v bool, head int) int {
	i := layer * 2
	if v {
		i++
	}
	return (i*l.KVHeads + head) * l.PageSize * l.HeadDim * l.ElemBytes()
}

func (l KVLayout) String() string {
	return fmt.Sprintf("%d layers x %d kv heads x %d, %d slots a page", l.Layers, l.KVHeads, l.HeadDim, l.PageSize)
}

// Slab is the KV memory of a node for one cache group: Pages pages, allocated once, addressed by page, and a header for each.
type Slab struct {
	Layout  KVLayout
	Pages   int
	Data    Buffer // Pages * Layout.PageBytes()
	Headers Buffer // Pages * page.HeaderSize
}

// Row places one token of a batch: which sequence of the batch it belongs to and its position in it.
// Rows of one sequence are contiguous and ascend by one position.
type Row struct {
	Seq int32
	Pos int32
}

// Tables are the page tables of a batch, one a sequence: page i of a sequence holds positions [i*PageSize, (i+1)*PageSize).
type Tables [][]page.Index

// RopeStyle says which dimensions of a head turn together.
type RopeStyle uint8

const (
	RopeNorm RopeStyle = iota // pairs (0,1), (2,3), ...: llama
	RopeNeox                  // pairs (i, i+half): qwen2
)

// Rope is a rotary embedding: pair i of the first 2*len(Freqs) dimensions of a head turns by position*Freqs[i], then is scaled by Scale.
type Rope struct {
	Style RopeStyle
	Freqs []float64 // radians per position, scaling factors already applied
	Scale float32   // magnitude of the rotated pair (YaRN); 1 for most
}

// HeaderCheck is what the header of a page must be.
type HeaderCheck struct {
	Page page.Index
	Want page.Header
	// AnyChecksum compares everything but the checksum (the bytes are verified when a page gains a reader).
	AnyChecksum bool
}

// Device is a place where models run.
type Device interface {
	// Name says which device this is ("cpu").
	Name() string
	// KernelSet names the kernels in use ("avx2", "generic"). Nodes with one kernel set agree bit for bit.
	KernelSet() string
	// Close ends the device's threads. Buffers are freed by their owners before.
	Close() error

	// Alloc returns zeroed memory outside the Go heap.
	Alloc(bytes int) (Buffer, error)
	// Load makes a weight from the bytes of a file, which stay valid and unchanged until the weight is freed (the host device does not
	// copy them). An unsupported type is an error that names the tensor and the type.
	Load(name string, t Type, rows, cols int, data []byte) (Weight, error)
	// NewMatrix returns a zeroed matrix.
	NewMatrix(rows, cols int) (Matrix, error)
	// NewSlab allocates pages and their zeroed headers.
	NewSlab(l KVLayout, pages int) (*Slab, error)
	// Download copies rows [row, row+n) of m to the host, into dst (n*Cols).
	Download(dst []float32, m Matrix, row, n int)

	// Embed sets row i of out to row ids[i] of w, as float32.
	Embed(out Matrix, w Weight, ids []int32)
	// RMSNorm sets out = x / sqrt(mean(x^2) + eps) * w, row by row. out may be x.
	RMSNorm(out, x Matrix, w Weight, eps float32)
	// MatMul sets out = x * transpose(w) + bias (bias nil: none), with activations in float32.
	MatMul(out, x Matrix, w Weight, bias *Weight)
	// Add sets x += y.
	Add(x, y Matrix)
	// SwiGLU sets gate = silu(gate) * up.
	SwiGLU(gate, up Matrix)
	// Gather sets row i of out to row rows[i] of x.
	Gather(out, x Matrix, rows []int32)
	// RopeStore turns q [rows, heads*dim] in place, turns k [rows, kvHeads*dim], and writes k and v into the pages of layer at each row's position.
	RopeStore(q, k, v Matrix, r Rope, s *Slab, layer int, rows []Row, t Tables)
	// Attention sets out to softmax(q*K^T*scale)*V over the positions 0..Pos of each row, read through the page tables; heads share KV heads in groups. The rows
	// may be any of those stored, in any order.
	Attention(out, q Matrix, s *Slab, layer int, rows []Row, t Tables, scale float32)

	// CheckHeaders appends to bad the indexes of the checks whose header differs.
	CheckHeaders(s *Slab, checks []HeaderCheck, bad []int) []int
	// ReadHeader and WriteHeader access one header.
	ReadHeader(s *Slab, p page.Index) page.Header
	WriteHeader(s *Slab, p page.Index, h page.Header)
	// Checksum is the crc32c of the page's bytes.
	Checksum(s *Slab, p page.Index) uint32
	// Scrub zeroes a page's bytes and its header.
	Scrub(s *Slab, p page.Index)
	// ZeroTail zeroes the slots [from, PageSize) of a page, in all its layers and heads; from is 0 to PageSize. The header stays.
	ZeroTail(s *Slab, p page.Index, from int)
	// CopyPage copies the bytes of page src to dst; headers stay.
	CopyPage(s *Slab, dst, src page.Index)
}

package host

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"github.com/kvasir-engine/kvasir/gpu"
)

// buffer is a piece of memory outside the Go heap: an anonymous map of its own, or a view of bytes that someone else keeps.
type buffer struct {
	bytes []byte
	own   mmap.MMap // nil for a view
}

// newBufferOf makes a buffer whose size is the product of the factors.
func newBufferOf(factors ...int) (*buffer, error) {
	size := 1
	for _, f := range factors {
		if f < 0 || f > 0 && size > math.MaxInt/f {
			return nil, fmt.Errorf("host: a buffer cannot have %s bytes", strings.Trim(strings.ReplaceAll(fmt.Sprint(factors), " ", " x "), "[]"))
		}
		size *= f
	}
	return newBuffer(size)
}

func newBuffer(size int) (*buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("host: a buffer cannot have %d bytes", size)
	}
	if size == 0 {
		return &buffer{}, nil
	}
	m, err := mmap.MapRegion(nil, size, mmap.COPY, mmap.ANON, 0) // COPY: private, so that the kernel may use huge pages
	if err != nil {
		return nil, fmt.Errorf("host: allocate %d bytes: %w", size, err)
	}
	preferHuge(m)
	return &buffer{bytes: m, own: m}, nil
}

func (b *buffer) Size() int { return len(b.bytes) }

func (b *buffer) Free() error {
	b.bytes = nil
	if b.own == nil {
		return nil
	}
	if err := b.own.Unmap(); err != nil {
		return fmt.Errorf("host: free a buffer: %w", err)
	}
	return nil
}

// bytesOf returns the memory of a buffer of this device.
func bytesOf(b gpu.Buffer) []byte { return b.(*buffer).bytes }

// floats returns the elements of m in row order.
func floats(m gpu.Matrix) []float32 {
	return asFloats(bytesOf(m.Data))[:m.Rows*m.Cols]
}

// asFloats sees b, whose start is aligned to 4 bytes, as float32.
func asFloats(b []byte) []float32 {
	if len(b) < 4 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func isAligned(b []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%4 == 0
}

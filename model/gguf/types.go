package gguf

import (
	"fmt"
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
)

// TypeName is the name of a type as ggml has it ("Q4_K"), also for types that the engine cannot compute; "type 99" for a number that is not known.
func TypeName(t gpu.Type) string { return t.String() }

// BlockSize is the number of elements in one block of a type: 1 for plain numbers, 0 for a type that is not known.
func BlockSize(t gpu.Type) int {
	elems, _ := t.Block()
	return elems
}

// RowBytes is the size in bytes of a row of cols elements, for any cols that a file may claim. Rows are whole blocks: a cols that is not a multiple
// of the block size is an error, and so is a type that is not known.
func RowBytes(t gpu.Type, cols int) (int, error) {
	const widest = 8 // bytes of an element
	if cols > math.MaxInt/widest {
		return 0, fmt.Errorf("a row of %d elements is too long to address", cols)
	}
	return t.RowBytes(cols)
}

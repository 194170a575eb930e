package gguf

import (
	"fmt"
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
)

// layout is how elements of a type lie in memory: blocks of blockSize elements in blockBytes bytes.
type layout struct {
	name       string
	blockSize  int
	blockBytes int
}

// layoutOf knows every ggml_type up to 42 (ggml.h and ggml-common.h of ggml), including those that the engine cannot compute.
// 4 and 5 (Q4_2, Q4_3) were withdrawn before GGUF and have no layout; 31 to 33 and 36 to 38 were repackings of Q4_0 and IQ4_NL
// that no longer are written.
func layoutOf(t gpu.Type) (layout, bool) {
	switch t {
	case gpu.F32:
		return layout{"F32", 1, 4}, true
	case gpu.F16:
		return layout{"F16", 1, 2}, true
	case gpu.Q4_0:
		return layout{"Q4_0", 32, 18}, true
	case 3:
		return layout{"Q4_1", 32, 20}, true
	case 6:
		return layout{"Q5_0", 32, 22}, true
	case 7:
		return layout{"Q5_1", 32, 24}, true
	case gpu.Q8_0:
		return layout{"Q8_0", 32, 34}, true
	case 9:
		return layout{"Q8_1", 32, 36}, true
	case 10:
		return layout{"Q2_K", 256, 84}, true
	case 11:
		return layout{"Q3_K", 256, 110}, true
	case 12:
		return layout{"Q4_K", 256, 144}, true
	case 13:
		return layout{"Q5_K", 256, 176}, true
	case 14:
		return layout{"Q6_K", 256, 210}, true
	case 15:
		return layout{"Q8_K", 256, 292}, true
	case 16:
		return layout{"IQ2_XXS", 256, 66}, true
	case 17:
		return layout{"IQ2_XS", 256, 74}, true
	case 18:
		return layout{"IQ3_XXS", 256, 98}, true
	case 19:
		return layout{"IQ1_S", 256, 50}, true
	case 20:
		return layout{"IQ4_NL", 32, 18}, true
	case 21:
		return layout{"IQ3_S", 256, 110}, true
	case 22:
		return layout{"IQ2_S", 256, 82}, true
	case 23:
		return layout{"IQ4_XS", 256, 136}, true
	case 24:
		return layout{"I8", 1, 1}, true
	case 25:
		return layout{"I16", 1, 2}, true
	case 26:
		return layout{"I32", 1, 4}, true
	case 27:
		return layout{"I64", 1, 8}, true
	case 28:
		return layout{"F64", 1, 8}, true
	case 29:
		return layout{"IQ1_M", 256, 56}, true
	case gpu.BF16:
		return layout{"BF16", 1, 2}, true
	case 31:
		return layout{"Q4_0_4_4", 32, 18}, true
	case 32:
		return layout{"Q4_0_4_8", 32, 18}, true
	case 33:
		return layout{"Q4_0_8_8", 32, 18}, true
	case 34:
		return layout{"TQ1_0", 256, 54}, true
	case 35:
		return layout{"TQ2_0", 256, 66}, true
	case 36:
		return layout{"IQ4_NL_4_4", 32, 18}, true
	case 37:
		return layout{"IQ4_NL_4_8", 32, 18}, true
	case 38:
		return layout{"IQ4_NL_8_8", 32, 18}, true
	case 39:
		return layout{"MXFP4", 32, 17}, true
	case 40:
		return layout{"NVFP4", 64, 36}, true
	case 41:
		return layout{"Q1_0", 128, 18}, true
	case 42:
		return layout{"Q2_0", 64, 18}, true
	}
	return layout{}, false
}

// TypeName is the name of a type as ggml has it ("Q4_K"), also for types that the engine cannot compute; "type 99" for a number that nobody knows.
func TypeName(t gpu.Type) string {
	if l, ok := layoutOf(t); ok {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// BlockSize is the number of elements in one block of a type: 1 for plain numbers, 0 for a type that is not known.
func BlockSize(t gpu.Type) int {
	l, _ := layoutOf(t)
	return l.blockSize
}

// RowBytes is the size in bytes of a row of cols elements. Rows are whole blocks: a cols that is not a multiple of the block size is an error,
// and so is a type that is not known.
func RowBytes(t gpu.Type, cols int) (int, error) {
	l, ok := layoutOf(t)
	if !ok {
		return 0, fmt.Errorf("gguf: tensor type %d is not known", uint32(t))
	}
	if cols < 0 || cols%l.blockSize != 0 {
		return 0, fmt.Errorf("gguf: a row of %d elements is not a whole number of %s blocks of %d", cols, l.name, l.blockSize)
	}
	blocks := cols / l.blockSize
	if blocks > math.MaxInt/l.blockBytes {
		return 0, fmt.Errorf("gguf: a row of %d %s elements is too long to address", cols, l.name)
	}
	return blocks * l.blockBytes, nil
}

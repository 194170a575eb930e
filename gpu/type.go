package gpu

import "fmt"

// Type is an element type; the numbers are those of GGUF (ggml_type).
type Type uint32

const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q5_0 Type = 6
	Q5_1 Type = 7
	Q8_0 Type = 8
	Q4_K Type = 12
	Q5_K Type = 13
	Q6_K Type = 14
	BF16 Type = 30
)

// typeInfo is a type's name and block: bytes hold elems elements of a row. Source: ggml.h and ggml-common.h of llama.cpp.
type typeInfo struct {
	name         string
	elems, bytes int
}

// info knows more types than a device need support, so that an error can name what a file has. ok is false for a number it does not know.
func (t Type) info() (i typeInfo, ok bool) {
	switch t {
	case F32:
		return typeInfo{"F32", 1, 4}, true
	case F16:
		return typeInfo{"F16", 1, 2}, true
	case Q4_0:
		return typeInfo{"Q4_0", 32, 18}, true
	case Q4_1:
		return typeInfo{"Q4_1", 32, 20}, true
	case Q5_0:
		return typeInfo{"Q5_0", 32, 22}, true
	case Q5_1:
		return typeInfo{"Q5_1", 32, 24}, true
	case Q8_0:
		return typeInfo{"Q8_0", 32, 34}, true
	case 9:
		return typeInfo{"Q8_1", 32, 36}, true
	case 10:
		return typeInfo{"Q2_K", 256, 84}, true
	case 11:
		return typeInfo{"Q3_K", 256, 110}, true
	case Q4_K:
		return typeInfo{"Q4_K", 256, 144}, true
	case Q5_K:
		return typeInfo{"Q5_K", 256, 176}, true
	case Q6_K:
		return typeInfo{"Q6_K", 256, 210}, true
	case 15:
		return typeInfo{"Q8_K", 256, 292}, true
	case 16:
		return typeInfo{"IQ2_XXS", 256, 66}, true
	case 17:
		return typeInfo{"IQ2_XS", 256, 74}, true
	case 18:
		return typeInfo{"IQ3_XXS", 256, 98}, true
	case 19:
		return typeInfo{"IQ1_S", 256, 50}, true
	case 20:
		return typeInfo{"IQ4_NL", 32, 18}, true
	case 21:
		return typeInfo{"IQ3_S", 256, 110}, true
	case 22:
		return typeInfo{"IQ2_S", 256, 82}, true
	case 23:
		return typeInfo{"IQ4_XS", 256, 136}, true
	case 24:
		return typeInfo{"I8", 1, 1}, true
	case 25:
		return typeInfo{"I16", 1, 2}, true
	case 26:
		return typeInfo{"I32", 1, 4}, true
	case 27:
		return typeInfo{"I64", 1, 8}, true
	case 28:
		return typeInfo{"F64", 1, 8}, true
	case 29:
		return typeInfo{"IQ1_M", 256, 56}, true
	case BF16:
		return typeInfo{"BF16", 1, 2}, true
	case 31:
		return typeInfo{"Q4_0_4_4", 32, 18}, true
	case 32:
		return typeInfo{"Q4_0_4_8", 32, 18}, true
	case 33:
		return typeInfo{"Q4_0_8_8", 32, 18}, true
	case 34:
		return typeInfo{"TQ1_0", 256, 54}, true
	case 35:
		return typeInfo{"TQ2_0", 256, 66}, true
	case 36:
		return typeInfo{"IQ4_NL_4_4", 32, 18}, true
	case 37:
		return typeInfo{"IQ4_NL_4_8", 32, 18}, true
	case 38:
		return typeInfo{"IQ4_NL_8_8", 32, 18}, true
	case 39:
		return typeInfo{"MXFP4", 32, 17}, true
	case 40:
		return typeInfo{"NVFP4", 64, 36}, true
	case 41:
		return typeInfo{"Q1_0", 128, 18}, true
	case 42:
		return typeInfo{"Q2_0", 64, 18}, true
	}
	return typeInfo{}, false
}

// String is the name that model files are labelled with ("Q8_0"), or "type N" for an unknown number.
func (t Type) String() string {
	if i, ok := t.info(); ok {
		return i.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Block is the number of elements of a row that are encoded together, and their size in bytes. Both are 0 for an unknown type.
func (t Type) Block() (elems, bytes int) {
	i, _ := t.info()
	return i.elems, i.bytes
}

// RowBytes is the size of a row of cols elements. An unknown type, or cols that are no multiple of the block, is an error.
func (t Type) RowBytes(cols int) (int, error) {
	elems, bytes := t.Block()
	if elems == 0 {
		return 0, fmt.Errorf("unknown element type %d", uint32(t))
	}
	if cols < 0 || cols%elems != 0 {
		return 0, fmt.Errorf("%v rows hold a multiple of %d elements, not %d", t, elems, cols)
	}
	return cols / elems * bytes, nil
}

package gguf

import (
	"encoding/binary"
	"math"
)

// kind is a metadata value type (gguf_metadata_value_type).
type kind uint32

const (
	kindUint8   kind = 0
	kindInt8    kind = 1
	kindUint16  kind = 2
	kindInt16   kind = 3
	kindUint32  kind = 4
	kindInt32   kind = 5
	kindFloat32 kind = 6
	kindBool    kind = 7
	kindString  kind = 8
	kindArray   kind = 9
	kindUint64  kind = 10
	kindInt64   kind = 11
	kindFloat64 kind = 12
)

// size is the width in bytes of a number or bool; 0 for strings, arrays and unknown kinds.
func (k kind) size() int {
	switch k {
	case kindUint8, kindInt8, kindBool:
		return 1
	case kindUint16, kindInt16:
		return 2
	case kindUint32, kindInt32, kindFloat32:
		return 4
	case kindUint64, kindInt64, kindFloat64:
		return 8
	}
	return 0
}

// value is a metadata value whose bounds were checked; raw lies in the file.
type value struct {
	kind  kind
	elem  kind   // of an array
	count int    // elements of an array
	raw   []byte // a number's bytes, a string's bytes, an array's elements
}

// bits reads element i of a run of numbers of kind k, as it lies in the file.
func bits(k kind, raw []byte, i int) uint64 {
	switch k.size() {
	case 1:
		return uint64(raw[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(raw[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return binary.LittleEndian.Uint64(raw[8*i:])
}

// integer reads element i of a run of integers; ok is false for other kinds and for a uint64 that does not fit.
func integer(k kind, raw []byte, i int) (n int64, ok bool) {
	switch k {
	case kindUint8, kindUint16, kindUint32:
		return int64(bits(k, raw, i)), true
	case kindUint64:
		u := bits(k, raw, i)
		return int64(u), u <= math.MaxInt64
	case kindInt8:
		return int64(int8(bits(k, raw, i))), true
	case kindInt16:
		return int64(int16(bits(k, raw, i))), true
	case kindInt32:
		return int64(int32(bits(k, raw, i))), true
	case kindInt64:
		return int64(bits(k, raw, i)), true
	}
	return 0, false
}

// float reads element i of a run of floats or integers.
func float(k kind, raw []byte, i int) (x float64, ok bool) {
	switch k {
	case kindFloat32:
		return float64(math.Float32frombits(uint32(bits(k, raw, i)))), true
	case kindFloat64:
		return math.Float64frombits(bits(k, raw, i)), true
	case kindUint64:
		return float64(bits(k, raw, i)), true
	}
	n, ok := integer(k, raw, i)
	return float64(n), ok
}

// Has reports whether there is a value of this key, of whatever type.
func (f *File) Has(key string) bool {
	_, ok := f.values[key]
	return ok
}

// String is the value of a string key.
func (f *File) String(key string) (string, bool) {
	v, ok := f.values[key]
	if !ok || v.kind != kindString {
		return "", false
	}
	return string(v.raw), true
}

// Uint is the value of an integer key of any width that is not negative.
func (f *File) Uint(key string) (uint64, bool) {
	v, ok := f.values[key]
	if !ok {
		return 0, false
	}
	if v.kind == kindUint64 {
		return bits(v.kind, v.raw, 0), true
	}
	n, ok := integer(v.kind, v.raw, 0)
	if !ok || n < 0 {
		return 0, false
	}
	return uint64(n), true
}

// Float is the value of a float or integer key of any width.
func (f *File) Float(key string) (float64, bool) {
	v, ok := f.values[key]
	if !ok {
		return 0, false
	}
	return float(v.kind, v.raw, 0)
}

// Bool is the value of a bool key.
func (f *File) Bool(key string) (b, ok bool) {
	v, ok := f.values[key]
	if !ok || v.kind != kindBool {
		return false, false
	}
	return v.raw[0] != 0, true
}

// Strings is the value of an array of strings. The strings are copies that outlive the file.
func (f *File) Strings(key string) ([]string, bool) {
	v, ok := f.values[key]
	if !ok || v.kind != kindArray || v.elem != kindString {
		return nil, false
	}
	all := string(v.raw) // one copy for all of them
	out := make([]string, v.count)
	at := 0
	for i := range out {
		n := int(binary.LittleEndian.Uint64(v.raw[at:]))
		at += 8
		out[i] = all[at : at+n]
		at += n
	}
	return out, true
}

// Ints is the value of an array of integers of any width; false if an element is over the largest int64.
func (f *File) Ints(key string) ([]int64, bool) {
	v, ok := f.values[key]
	if !ok || v.kind != kindArray {
		return nil, false
	}
	switch v.elem {
	case kindString, kindBool, kindFloat32, kindFloat64:
		return nil, false
	}
	out := make([]int64, v.count)
	for i := range out {
		if out[i], ok = integer(v.elem, v.raw, i); !ok {
			return nil, false
		}
	}
	return out, true
}

// Floats is the value of an array of floats, as float32.
func (f *File) Floats(key string) ([]float32, bool) {
	v, ok := f.values[key]
	if !ok || v.kind != kindArray || v.elem != kindFloat32 && v.elem != kindFloat64 {
		return nil, false
	}
	out := make([]float32, v.count)
	for i := range out {
		x, _ := float(v.elem, v.raw, i)
		out[i] = float32(x)
	}
	return out, true
}

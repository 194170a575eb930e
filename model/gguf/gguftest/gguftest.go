// Package gguftest writes small GGUF files for tests.
package gguftest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
)

// File is a file to be written. The zero value is an empty one of version 3 with the default alignment.
type File struct {
	Version   uint32 // 0: 3
	Alignment int    // of the tensors; 0: 32. A file with another one needs the key general.alignment too.

	keys, tensors int
	metadata      []byte
	list          []byte // of the tensors
	data          []byte
}

// Key adds a metadata key. The value's type is a Go number type, bool, string, or a slice of these; int is not among them.
func (f *File) Key(key string, value any) *File {
	f.keys++
	f.metadata = appendString(f.metadata, key)
	f.metadata = appendValue(f.metadata, value)
	return f
}

// Tensor adds a tensor with its bytes; dims begins with the length of a row.
func (f *File) Tensor(name string, t gpu.Type, data []byte, dims ...uint64) *File {
	f.tensors++
	f.list = appendString(f.list, name)
	f.list = binary.LittleEndian.AppendUint32(f.list, uint32(len(dims)))
	for _, d := range dims {
		f.list = binary.LittleEndian.AppendUint64(f.list, d)
	}
	f.list = binary.LittleEndian.AppendUint32(f.list, uint32(t))
	f.data = f.pad(f.data)
	f.list = binary.LittleEndian.AppendUint64(f.list, uint64(len(f.data)))
	f.data = append(f.data, data...)
	return f
}

// Bytes is the whole file.
func (f *File) Bytes() []byte {
	version := f.Version
	if version == 0 {
		version = 3
	}
	b := []byte("GGUF")
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.tensors))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.keys))
	b = append(b, f.metadata...)
	b = append(b, f.list...)
	return append(f.pad(b), f.data...)
}

func (f *File) pad(b []byte) []byte {
	alignment := f.Alignment
	if alignment == 0 {
		alignment = 32
	}
	for len(b)%alignment != 0 {
		b = append(b, 0)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case []string:
		return appendArray(b, v)
	case []bool:
		return appendArray(b, v)
	case []uint8:
		return appendArray(b, v)
	case []int8:
		return appendArray(b, v)
	case []uint16:
		return appendArray(b, v)
	case []int16:
		return appendArray(b, v)
	case []uint32:
		return appendArray(b, v)
	case []int32:
		return appendArray(b, v)
	case []uint64:
		return appendArray(b, v)
	case []int64:
		return appendArray(b, v)
	case []float32:
		return appendArray(b, v)
	case []float64:
		return appendArray(b, v)
	}
	kind, bytes := scalar(value)
	return append(binary.LittleEndian.AppendUint32(b, kind), bytes...)
}

func appendArray[T any](b []byte, elements []T) []byte {
	var zero T
	kind, _ := scalar(zero)
	b = binary.LittleEndian.AppendUint32(b, 9)
	b = binary.LittleEndian.AppendUint32(b, kind)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(elements)))
	for _, e := range elements {
		_, bytes := scalar(e)
		b = append(b, bytes...)
	}
	return b
}

// scalar is the type number and the bytes of a value.
func scalar(value any) (kind uint32, bytes []byte) {
	le := binary.LittleEndian
	switch v := value.(type) {
	case uint8:
		return 0, []byte{v}
	case int8:
		return 1, []byte{byte(v)}
	case uint16:
		return 2, le.AppendUint16(nil, v)
	case int16:
		return 3, le.AppendUint16(nil, uint16(v))
	case uint32:
		return 4, le.AppendUint32(nil, v)
	case int32:
		return 5, le.AppendUint32(nil, uint32(v))
	case float32:
		return 6, le.AppendUint32(nil, math.Float32bits(v))
	case bool:
		if v {
			return 7, []byte{1}
		}
		return 7, []byte{0}
	case string:
		return 8, appendString(nil, v)
	case uint64:
		return 10, le.AppendUint64(nil, v)
	case int64:
		return 11, le.AppendUint64(nil, uint64(v))
	case float64:
		return 12, le.AppendUint64(nil, math.Float64bits(v))
	}
	panic(fmt.Sprintf("gguftest: no GGUF type for %T", value))
}

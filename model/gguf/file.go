// Package gguf reads model files in the GGUF format (versions 2 and 3, little-endian), memory-mapped and read-only.
//
// A file is a header, metadata (typed key-value pairs), a list of tensors, and the tensors' bytes:
//
//	"GGUF"  uint32 version  uint64 tensors  uint64 keys
//	keys    times { string key, uint32 type, value }
//	tensors times { string name, uint32 dims, uint64 dim[dims], uint32 type, uint64 offset }
//	padding to general.alignment (32 where that key is missing)
//	bytes of the tensors; offsets count from here
//
// A string is a uint64 length and that many bytes; an array is a uint32 element type, a uint64 count and the elements.
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md)
//
// Nothing in a file is trusted: every count, length and offset is checked against the bytes that are there before anything is allocated,
// and memory asked for is at most 40 bytes for each byte of metadata, and usually far less: short keys and names cost most. The same holds for
// what the methods return; tensors' bytes are not copied. Errors name the file, what was being read, and the byte offset.
package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/edsrzf/mmap-go"

	"github.com/kvasir-engine/kvasir/gpu"
)

// File is an open model file. Its methods may be called from several goroutines at once, except Close.
type File struct {
	name    string
	size    int64
	keys    []string
	values  map[string]value
	tensors []Tensor
	index   map[string]int // tensor name to its place in tensors
	mapping mmap.MMap      // nil for Parse
	pairs   []byte         // the metadata as it lies in the file, from the first key to the first tensor
	version uint32
}

// Tensor is a matrix of the file, with its bytes.
type Tensor struct {
	Name string
	Type gpu.Type
	// Dims are the lengths of the dimensions, that of a row (ne0) first. There are one to four, each at least 1.
	Dims []int
	// Data are the bytes as they lie in the file, read-only, aligned to 8 bytes or better. They are gone after File.Close.
	Data []byte
}

// Open maps a file into memory and reads its metadata; the tensors' bytes are read by the system when they are touched.
//
// The file must not be shortened while it is open: touching bytes that are no longer there ends the process.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	defer f.Close() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("gguf: %s: not a regular file; name one GGUF file", path)
	}
	if info.Size() == 0 { // cannot be mapped
		return nil, fmt.Errorf("gguf: %s: the file is empty", path)
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("gguf: %s: memory mapping: %w", path, err)
	}
	g, err := parse(path, m)
	if err != nil {
		return nil, errors.Join(err, m.Unmap())
	}
	g.mapping = m
	return g, nil
}

// Parse reads a file that is in memory already. name is for error messages. b must stay unchanged while the File is in use; it is copied only
// if it does not begin at a multiple of 8 bytes, since tensors would not be aligned then.
func Parse(name string, b []byte) (*File, error) {
	return parse(name, aligned(b))
}

// Close unmaps the file. Data of tensors must not be touched afterwards; strings and arrays that were handed out are copies and stay.
// A closed file has no metadata and no tensors.
func (f *File) Close() error {
	f.keys, f.values, f.tensors, f.index, f.pairs = nil, nil, nil, nil, nil
	if f.mapping == nil {
		return nil
	}
	err := f.mapping.Unmap()
	f.mapping = nil
	if err != nil {
		return fmt.Errorf("gguf: %s: unmapping: %w", f.name, err)
	}
	return nil
}

// Name is the path, or the name given to Parse.
func (f *File) Name() string { return f.name }

// Size is the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Keys are the metadata keys in file order.
func (f *File) Keys() []string { return slices.Clone(f.keys) }

// Metadata is a GGUF file of its own that has this one's metadata and no tensors: vocabulary and chat template, for whoever does not compute.
func (f *File) Metadata() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, len(magic)+4+8+8+len(f.pairs)), magic...)
	b = le.AppendUint32(b, f.version)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, uint64(len(f.keys)))
	return append(b, f.pairs...)
}

// Arch is the architecture, "llama" say; empty if the file does not tell (a file without general.architecture holds no model).
func (f *File) Arch() string {
	s, _ := f.String("general.architecture")
	return s
}

// Tensor finds a tensor by name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i, ok := f.index[name]
	if !ok {
		return Tensor{}, false
	}
	return f.tensors[i], true
}

// Tensors are all tensors in file order.
func (f *File) Tensors() []Tensor { return slices.Clone(f.tensors) }

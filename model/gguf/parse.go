package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/kvasir-engine/kvasir/gpu"
)

const (
	maxKeyLength     = 1<<16 - 1 // the format's limit
	maxDims          = 4         // ggml's limit
	defaultAlignment = 32
	minAlignment     = 8 // the format's, and what loads of 8 bytes need

	minKeyBytes    = 8 + 4 + 1         // empty key, type, one byte
	minTensorBytes = 8 + 4 + 8 + 4 + 8 // empty name, count and one dimension, type, offset
)

// reader walks over the bytes of a file. Nothing it hands out reaches beyond them.
type reader struct {
	file string
	b    []byte
	at   int
}

// errorAt makes an error about the byte at offset at.
func (r *reader) errorAt(at int, format string, args ...any) error {
	return fmt.Errorf("gguf: %s: byte %d: %s", r.file, at, fmt.Sprintf(format, args...))
}

func (r *reader) remaining() uint64 { return uint64(len(r.b) - r.at) }

// take returns the next n bytes; what names them in the error if there are fewer.
func (r *reader) take(n uint64, what string) ([]byte, error) {
	if n > r.remaining() {
		return nil, r.errorAt(r.at, "%s needs %d bytes, but the file ends after %d more; it is cut off or damaged", what, n, r.remaining())
	}
	b := r.b[r.at : r.at+int(n) : r.at+int(n)]
	r.at += int(n)
	return b, nil
}

func (r *reader) uint32(what string) (uint32, error) {
	b, err := r.take(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *reader) uint64(what string) (uint64, error) {
	b, err := r.take(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// count reads a number of things that take at least minBytes each in what follows.
func (r *reader) count(minBytes uint64, what string) (int, error) {
	at := r.at
	n, err := r.uint64(what)
	if err != nil {
		return 0, err
	}
	if n > r.remaining()/minBytes {
		return 0, r.errorAt(at, "%s is %d, but the file has only %d bytes more; it is cut off or damaged", what, n, r.remaining())
	}
	return int(n), nil
}

// bytes reads a string of at most limit bytes.
func (r *reader) bytes(limit uint64, what string) ([]byte, error) {
	at := r.at
	n, err := r.uint64(what)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, r.errorAt(at, "%s has a length of %d, over the limit of %d", what, n, limit)
	}
	return r.take(n, what)
}

// parse reads everything but the tensors' bytes.
func parse(name string, b []byte) (*File, error) {
	r := &reader{file: name, b: b}
	tensors, keys, err := r.header()
	if err != nil {
		return nil, err
	}
	f := &File{name: name, size: int64(len(b)), values: map[string]value{}, index: map[string]int{}, version: binary.LittleEndian.Uint32(b[len(magic):])}
	first := r.at
	for i := range keys {
		if err := r.pair(f, i); err != nil {
			return nil, err
		}
	}
	f.pairs = b[first:r.at]
	if n, _ := f.Uint("split.count"); n > 1 {
		no, _ := f.Uint("split.no")
		return nil, fmt.Errorf("gguf: %s: part %d of a model split over %d files, which is not supported; join the parts into one file", name, no+1, n)
	}
	alignment, err := f.alignment()
	if err != nil {
		return nil, err
	}
	var offsets []placed // grows with what is there: the count alone may be a lie, of a large file
	for i := range tensors {
		p, err := r.tensor(f, i)
		if err != nil {
			return nil, err
		}
		offsets = append(offsets, p)
	}
	if err := r.place(f, offsets, alignment); err != nil {
		return nil, err
	}
	return f, nil
}

// header reads up to the counts of tensors and keys.
func (r *reader) header() (tensors, keys int, err error) {
	if err := checkMagic(r.file, r.b); err != nil {
		return 0, 0, err
	}
	r.at = len(magic)
	version, err := r.uint32("the version")
	if err != nil {
		return 0, 0, err
	}
	if version != 2 && version != 3 {
		return 0, 0, versionError(r.file, version)
	}
	if tensors, err = r.count(minTensorBytes, "the number of tensors"); err != nil {
		return 0, 0, err
	}
	keys, err = r.count(minKeyBytes, "the number of metadata keys")
	return tensors, keys, err
}

// pair reads metadata key number i and its value.
func (r *reader) pair(f *File, i int) error {
	at := r.at
	b, err := r.bytes(maxKeyLength, fmt.Sprintf("metadata key %d", i))
	if err != nil {
		return err
	}
	key := string(b)
	if _, twice := f.values[key]; twice {
		return r.errorAt(at, "metadata key %q appears twice", key)
	}
	v, err := r.value(key)
	if err != nil {
		return err
	}
	f.keys = append(f.keys, key)
	f.values[key] = v
	return nil
}

// value reads the type and value of a key.
func (r *reader) value(key string) (value, error) {
	at := r.at
	what := fmt.Sprintf("the value of metadata key %q", key)
	k, err := r.uint32(what)
	if err != nil {
		return value{}, err
	}
	v := value{kind: kind(k)}
	switch {
	case v.kind == kindString:
		v.raw, err = r.bytes(math.MaxUint64, what)
	case v.kind == kindArray:
		return r.array(what)
	case v.kind.size() > 0:
		v.raw, err = r.take(uint64(v.kind.size()), what)
	default:
		err = r.errorAt(at, "%s has type %d, which is not known", what, k)
	}
	return v, err
}

// array reads an array's element type, count and elements.
func (r *reader) array(what string) (value, error) {
	at := r.at
	k, err := r.uint32(what)
	if err != nil {
		return value{}, err
	}
	v := value{kind: kindArray, elem: kind(k)}
	width := uint64(v.elem.size())
	switch {
	case v.elem == kindString:
		width = 8 // the length alone
	case v.elem == kindArray:
		return value{}, r.errorAt(at, "%s is an array of arrays, which is not supported", what)
	case width == 0:
		return value{}, r.errorAt(at, "%s is an array of type %d, which is not known", what, k)
	}
	if v.count, err = r.count(width, "the element count of "+what); err != nil {
		return value{}, err
	}
	if v.elem != kindString {
		v.raw, err = r.take(uint64(v.count)*width, what)
		return v, err
	}
	start := r.at
	for range v.count {
		if _, err := r.bytes(math.MaxUint64, what); err != nil {
			return value{}, err
		}
	}
	v.raw = r.b[start:r.at:r.at]
	return v, nil
}

// alignment is general.alignment or its default.
func (f *File) alignment() (uint64, error) {
	const key = "general.alignment"
	if !f.Has(key) {
		return defaultAlignment, nil
	}
	n, ok := f.Uint(key)
	if !ok || n < minAlignment || n > math.MaxUint32 || n&(n-1) != 0 {
		return 0, fmt.Errorf("gguf: %s: %s must be a power of two from %d up, is %d", f.name, key, minAlignment, n)
	}
	return n, nil
}

// placed is where the list of tensors says that a tensor's bytes are.
type placed struct {
	offset uint64 // from the start of the tensor data
	size   uint64
	at     int // where the list says so, for errors
}

// tensor reads entry i of the list of tensors, and adds it without its bytes.
func (r *reader) tensor(f *File, i int) (placed, error) {
	at := r.at
	b, err := r.bytes(maxKeyLength, fmt.Sprintf("the name of tensor %d", i))
	if err != nil {
		return placed{}, err
	}
	t := Tensor{Name: string(b)}
	if _, twice := f.index[t.Name]; twice {
		return placed{}, r.errorAt(at, "tensor %q appears twice", t.Name)
	}
	what := fmt.Sprintf("tensor %q", t.Name)
	if t.Dims, err = r.dims(what); err != nil {
		return placed{}, err
	}
	at = r.at
	number, err := r.uint32("the type of " + what)
	if err != nil {
		return placed{}, err
	}
	t.Type = gpu.Type(number)
	if BlockSize(t.Type) == 0 {
		return placed{}, r.errorAt(at, "%s has type %d, which is not known", what, number)
	}
	p := placed{at: r.at}
	if p.size, err = tensorBytes(t); err != nil {
		return placed{}, r.errorAt(at, "%s: %v", what, err)
	}
	if p.offset, err = r.uint64("the offset of " + what); err != nil {
		return placed{}, err
	}
	f.index[t.Name] = len(f.tensors)
	f.tensors = append(f.tensors, t)
	return p, nil
}

// dims reads the dimensions of a tensor.
func (r *reader) dims(what string) ([]int, error) {
	at := r.at
	n, err := r.uint32("the number of dimensions of " + what)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > maxDims {
		return nil, r.errorAt(at, "%s has %d dimensions; 1 to %d are possible", what, n, maxDims)
	}
	dims := make([]int, n)
	for i := range dims {
		at := r.at
		d, err := r.uint64("the dimensions of " + what)
		if err != nil {
			return nil, err
		}
		if d < 1 || d > math.MaxInt {
			return nil, r.errorAt(at, "dimension %d of %s is %d", i, what, d)
		}
		dims[i] = int(d)
	}
	return dims, nil
}

// tensorBytes is the size of a tensor's data.
func tensorBytes(t Tensor) (uint64, error) {
	row, err := RowBytes(t.Type, t.Dims[0])
	if err != nil {
		return 0, err
	}
	size := uint64(row)
	for _, d := range t.Dims[1:] {
		if uint64(d) > math.MaxInt64/size {
			return 0, fmt.Errorf("dimensions %d are too large", t.Dims)
		}
		size *= uint64(d)
	}
	return size, nil
}

// place gives every tensor its bytes, which begin at the next multiple of alignment.
func (r *reader) place(f *File, offsets []placed, alignment uint64) error {
	start := (uint64(r.at) + alignment - 1) &^ (alignment - 1)
	for i, p := range offsets {
		t := &f.tensors[i]
		if p.offset%alignment != 0 {
			return r.errorAt(p.at, "tensor %q is at offset %d, which is not a multiple of the file's alignment of %d", t.Name, p.offset, alignment)
		}
		length := uint64(len(r.b))
		if start > length || p.offset > length-start || p.size > length-start-p.offset {
			return r.errorAt(p.at, "tensor %q (%d bytes at offset %d of the tensor data, which begins at byte %d) ends after the file's %d bytes; "+
				"the file is cut off or damaged", t.Name, p.size, p.offset, start, length)
		}
		from, to := start+p.offset, start+p.offset+p.size
		t.Data = r.b[from:to:to]
	}
	return nil
}

// aligned returns b, or a copy of it if it does not begin at a multiple of 8 bytes.
func aligned(b []byte) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%minAlignment == 0 {
		return b
	}
	words := make([]uint64, (len(b)+7)/8)
	out := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(b))
	copy(out, b)
	return out
}

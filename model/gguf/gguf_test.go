package gguf_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// sample has a key of every type and two tensors.
func sample() *gguftest.File {
	f := &gguftest.File{}
	return f.
		Key("general.architecture", "llama").
		Key("u8", uint8(200)).Key("i8", int8(-3)).
		Key("u16", uint16(50000)).Key("i16", int16(-4)).
		Key("u32", uint32(4000000000)).Key("i32", int32(-5)).
		Key("u64", uint64(1)<<63).Key("i64", int64(-6)).
		Key("f32", float32(0.5)).Key("f64", 0.25).
		Key("yes", true).Key("no", false).
		Key("empty", "").
		Key("strings", []string{"a", "", "né"}).
		Key("ints", []int32{1, -2}).
		Key("bytes", []uint8{7, 255}).
		Key("huge", []uint64{1, 1 << 63}).
		Key("floats", []float32{1, 2.5}).
		Key("doubles", []float64{-1, 0.125}).
		Key("bools", []bool{true, false}).
		Tensor("a", gpu.F32, []byte("0123456789abcdef"), 2, 2).
		Tensor("b", gpu.Q8_0, bytes.Repeat([]byte{9}, 34), 32)
}

func parse(t *testing.T, b []byte) *gguf.File {
	t.Helper()
	f, err := gguf.Parse("tiny", b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// got is a value and whether there was one, for comparison with what a test wants.
func got[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

func TestMetadataOfEveryType(t *testing.T) {
	f := parse(t, sample().Bytes())
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"string", got(f.String("general.architecture")), "llama"},
		{"empty string", got(f.String("empty")), ""},
		{"uint of u8", got(f.Uint("u8")), uint64(200)},
		{"uint of u16", got(f.Uint("u16")), uint64(50000)},
		{"uint of u32", got(f.Uint("u32")), uint64(4000000000)},
		{"uint of u64", got(f.Uint("u64")), uint64(1) << 63},
		{"uint of a negative", got(f.Uint("i32")), nil},
		{"uint of a float", got(f.Uint("f32")), nil},
		{"uint of a bool", got(f.Uint("yes")), nil},
		{"uint of an array", got(f.Uint("ints")), nil},
		{"uint of nothing", got(f.Uint("nothing")), nil},
		{"float of f32", got(f.Float("f32")), 0.5},
		{"float of f64", got(f.Float("f64")), 0.25},
		{"float of i8", got(f.Float("i8")), -3.0},
		{"float of i16", got(f.Float("i16")), -4.0},
		{"float of i64", got(f.Float("i64")), -6.0},
		{"float of u64", got(f.Float("u64")), math.Pow(2, 63)},
		{"float of a string", got(f.Float("empty")), nil},
		{"bool", got(f.Bool("yes")), true},
		{"false bool", got(f.Bool("no")), false},
		{"bool of u8", got(f.Bool("u8")), nil},
		{"strings", got(f.Strings("strings")), []string{"a", "", "né"}},
		{"strings of ints", got(f.Strings("ints")), nil},
		{"ints", got(f.Ints("ints")), []int64{1, -2}},
		{"ints of bytes", got(f.Ints("bytes")), []int64{7, 255}},
		{"ints over int64", got(f.Ints("huge")), nil},
		{"ints of floats", got(f.Ints("floats")), nil},
		{"ints of bools", got(f.Ints("bools")), nil},
		{"floats", got(f.Floats("floats")), []float32{1, 2.5}},
		{"floats of doubles", got(f.Floats("doubles")), []float32{-1, 0.125}},
		{"floats of ints", got(f.Floats("ints")), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.what, diff)
		}
	}
	if f.Arch() != "llama" || !f.Has("no") || f.Has("nothing") || f.Name() != "tiny" {
		t.Errorf("arch %q, name %q", f.Arch(), f.Name())
	}
	if keys := f.Keys(); keys[0] != "general.architecture" || keys[len(keys)-1] != "bools" || len(keys) != 21 {
		t.Errorf("keys not in file order: %q", keys)
	}
}

func TestMetadataIsAFileOfItsOwn(t *testing.T) {
	f := parse(t, sample().Bytes())
	m := parse(t, f.Metadata())
	if diff := cmp.Diff(f.Keys(), m.Keys()); diff != "" || len(m.Tensors()) != 0 {
		t.Fatalf("%d tensors, keys -want +got\n%s", len(m.Tensors()), diff)
	}
	if diff := cmp.Diff(got(f.Strings("strings")), got(m.Strings("strings"))); diff != "" {
		t.Errorf("strings: -want +got\n%s", diff)
	}
	if !bytes.Equal(f.Metadata(), m.Metadata()) {
		t.Error("the metadata of the metadata differs")
	}
}

func TestTensorsHaveTheirBytes(t *testing.T) {
	f := parse(t, sample().Bytes())
	want := []gguf.Tensor{
		{Name: "a", Type: gpu.F32, Dims: []int{2, 2}, Data: []byte("0123456789abcdef")},
		{Name: "b", Type: gpu.Q8_0, Dims: []int{32}, Data: bytes.Repeat([]byte{9}, 34)},
	}
	if diff := cmp.Diff(want, f.Tensors()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	b, ok := f.Tensor("b")
	if diff := cmp.Diff(want[1], b); !ok || diff != "" {
		t.Errorf("Tensor(b): %v\n%s", ok, diff)
	}
	if _, ok := f.Tensor("c"); ok {
		t.Error("found a tensor that is not there")
	}
}

func TestAlignmentOfTheFile(t *testing.T) {
	f := &gguftest.File{Alignment: 256}
	f.Key("general.alignment", uint32(256)).Tensor("a", gpu.F32, make([]byte, 4), 1).Tensor("b", gpu.F32, []byte("wxyz"), 1)
	b, _ := parse(t, f.Bytes()).Tensor("b")
	if string(b.Data) != "wxyz" {
		t.Errorf("b holds %q", b.Data)
	}
}

func TestTensorsAreAlignedWhereverTheBytesBegin(t *testing.T) {
	whole := sample().Bytes()
	for shift := range 8 {
		moved := append(make([]byte, shift, shift+len(whole)), whole...)
		for _, tensor := range parse(t, moved[shift:]).Tensors() {
			if at := uintptr(unsafe.Pointer(&tensor.Data[0])); at%8 != 0 {
				t.Errorf("shift %d: tensor %s begins at %x", shift, tensor.Name, at)
			}
		}
	}
}

func TestVersion2IsReadToo(t *testing.T) {
	f := sample()
	f.Version = 2
	if arch := parse(t, f.Bytes()).Arch(); arch != "llama" {
		t.Errorf("arch %q", arch)
	}
}

func TestTypesThatCannotBeComputedAreListed(t *testing.T) {
	f := (&gguftest.File{}).Tensor("k", gpu.Type(12), make([]byte, 2*144), 256, 2).Tensor("x", gpu.Type(42), make([]byte, 18), 64)
	tensors := parse(t, f.Bytes()).Tensors()
	if len(tensors) != 2 || gguf.TypeName(tensors[0].Type) != "Q4_K" || len(tensors[0].Data) != 288 || gguf.TypeName(tensors[1].Type) != "Q2_0" {
		t.Errorf("tensors %v", tensors)
	}
}

func TestCopiesOutliveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gguf")
	if err := os.WriteFile(path, sample().Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name() != path || f.Size() != int64(len(sample().Bytes())) {
		t.Errorf("name %s, size %d", f.Name(), f.Size())
	}
	s, _ := f.String("general.architecture")
	list, _ := f.Strings("strings")
	ints, _ := f.Ints("ints")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if s != "llama" || list[2] != "né" || !slices.Equal(ints, []int64{1, -2}) {
		t.Errorf("after Close: %q %q %v", s, list, ints)
	}
	if _, ok := f.Tensor("a"); ok || f.Has("u8") || f.Tensors() != nil {
		t.Error("a closed file still hands out what it held")
	}
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// put returns b with bytes at a place replaced.
func put(b []byte, at int, with ...byte) []byte {
	b = slices.Clone(b)
	copy(b[at:], with)
	return b
}

// le64 are the bytes of a number in a file.
func le64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func TestWhatIsWrongIsSaid(t *testing.T) {
	empty := (&gguftest.File{}).Bytes()
	one := func(key string, value any) []byte { return (&gguftest.File{}).Key(key, value).Bytes() }
	tensor := func(t gpu.Type, dims ...uint64) []byte {
		return (&gguftest.File{}).Tensor("w", t, make([]byte, 64), dims...).Bytes()
	}
	// In a file of one key "k": key at 24, its type at 33, its value at 37. In a file of one tensor "w" of one dimension: name at 24,
	// dimension count at 33, dimension at 37, type at 45, offset at 49.
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "the file is empty"},
		{"other bytes", []byte("abcdefgh"), `begins with "abcd" where "GGUF" is expected`},
		{"big-endian version", put(empty, 4, 0, 0, 0, 3), "big-endian"},
		{"big-endian magic", put(empty, 0, []byte("FUGG")...), "big-endian"},
		{"version 1", put(empty, 4, 1), "version 1, which is too old"},
		{"version 4", put(empty, 4, 4), "version 4; versions 2 and 3"},
		{"ggml", []byte("lmgg0123"), "the format before it (ggml)"},
		{"ggjt", []byte("tjgg0123"), "the format before it (ggml)"},
		{"zip", []byte("PK\x03\x04...."), "zip archive"},
		{"program", []byte("\x7fELF\x02\x01"), "not a GGUF file but a program"},
		{"gzip", []byte("\x1f\x8b\x08."), "gzip"},
		{"safetensors", append(le64(20), `{"__metadata__":{}}`...), "safetensors"},
		{"web page", []byte("\n<!DOCTYPE html><html>"), "web page"},
		{"LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\n"), "Git LFS pointer"},
		{"cut in the header", empty[:20], "byte 16: the number of metadata keys needs 8 bytes, but the file ends after 4"},
		{"keys that cannot be there", put(empty, 16, le64(1<<60)...), "byte 16: the number of metadata keys is 1152921504606846976, but"},
		{"tensors that cannot be there", put(empty, 8, le64(math.MaxUint64)...), "byte 8: the number of tensors is"},
		{"long key", put(one("k", "v"), 24, le64(1<<16)...), "byte 24: metadata key 0 has a length of 65536, over the limit"},
		{"string past the end", put(one("k", "v"), 37, le64(1<<40)...), `byte 45: the value of metadata key "k" needs 1099511627776 bytes`},
		{"length that overflows", put(one("k", "v"), 37, le64(math.MaxUint64)...), `byte 45: the value of metadata key "k" needs`},
		{"unknown value type", put(one("k", "v"), 33, 13), `byte 33: the value of metadata key "k" has type 13`},
		{"unknown element type", put(one("k", []int32{1}), 37, 14), `byte 37: the value of metadata key "k" is an array of type 14`},
		{"array of arrays", put(one("k", []int32{1}), 37, 9), "array of arrays"},
		{"array of 2^60 strings", put(one("k", []string{"a"}), 41, le64(1<<60)...), `byte 41: the element count of the value of metadata key "k" is`},
		{"array of 2^61 doubles", put(one("k", []float64{1}), 41, le64(1<<61)...), `byte 41: the element count of the value of metadata key "k" is`},
		{"array string past the end", put(one("k", []string{"a", "b"}), 49, le64(1<<33)...), `byte 57: the value of metadata key "k" needs`},
		{"key twice", (&gguftest.File{}).Key("k", "a").Key("k", "b").Bytes(), `metadata key "k" appears twice`},
		{"alignment 0", one("general.alignment", uint32(0)), "general.alignment must be a power of two from 8 up, is 0"},
		{"alignment 24", one("general.alignment", uint32(24)), "general.alignment must be a power of two"},
		{"alignment of text", one("general.alignment", "32"), "general.alignment must be a power of two"},
		{"split", (&gguftest.File{}).Key("split.no", uint16(1)).Key("split.count", uint16(3)).Bytes(), "part 2 of a model split over 3 files"},
		{"tensor twice", (&gguftest.File{}).Tensor("w", gpu.F32, make([]byte, 4), 1).Tensor("w", gpu.F32, make([]byte, 4), 1).Bytes(), `tensor "w" appears twice`},
		{"no dimension", tensor(gpu.F32), `byte 33: tensor "w" has 0 dimensions`},
		{"five dimensions", tensor(gpu.F32, 1, 1, 1, 1, 1), `byte 33: tensor "w" has 5 dimensions`},
		{"dimension 0", tensor(gpu.F32, 0), `byte 37: dimension 0 of tensor "w" is 0`},
		{"dimension over int", tensor(gpu.F32, 1<<63), `byte 37: dimension 0 of tensor "w" is 9223372036854775808`},
		{"row too long", tensor(gpu.F32, math.MaxInt64), `tensor "w": a row of 9223372036854775807 elements is too long`},
		{"product that overflows", tensor(gpu.F32, 1<<32, 1<<32), `tensor "w": dimensions [4294967296 4294967296] are too large`},
		{"part of a block", tensor(gpu.Q8_0, 33), `tensor "w": Q8_0 rows hold a multiple of 32`},
		{"unknown tensor type", tensor(gpu.Type(99), 1), `byte 45: tensor "w" has type 99, which is not known`},
		{"withdrawn tensor type", tensor(gpu.Type(4), 1), `tensor "w" has type 4, which is not known`},
		{"offset off the alignment", put(tensor(gpu.F32, 1), 49, 8), `byte 49: tensor "w" is at offset 8, which is not a multiple`},
		{"offset past the end", put(tensor(gpu.F32, 1), 49, le64(1<<40)...), `byte 49: tensor "w" (4 bytes at offset 1099511627776`},
		{"offset that overflows", put(tensor(gpu.F32, 1), 49, le64(math.MaxUint64-31)...), `byte 49: tensor "w" (4 bytes at offset`},
		{"tensor past the end", tensor(gpu.F32, 17), `tensor "w" (68 bytes at offset 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := gguf.Parse("file.gguf", c.file)
			if err == nil {
				t.Fatalf("parsed: %v %v", f.Keys(), f.Tensors())
			}
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "gguf: file.gguf: ") {
				t.Errorf("error is %q, want it to contain %q", err, c.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.gguf")
	text := filepath.Join(dir, "text.gguf")
	for path, content := range map[string]string{empty: "", text: "hello"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.gguf"): "no such file",
		dir:                             "not a regular file",
		empty:                           "the file is empty",
		text:                            "not a GGUF file",
	} {
		_, err := gguf.Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s): %v, want %q", path, err, want)
		}
	}
}

// Every prefix of a file is an error, never a panic and never half a model.
func TestCutOffAnywhere(t *testing.T) {
	whole := sample().Bytes()
	for n := range len(whole) {
		if _, err := gguf.Parse("cut", whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes parsed", n, len(whole))
		}
	}
}

func TestRowBytes(t *testing.T) {
	for _, c := range []struct {
		t          gpu.Type
		cols, want int // want -1: an error
	}{
		{gpu.F32, 3, 12},
		{gpu.F16, 3, 6},
		{gpu.Q8_0, 64, 68},
		{gpu.Type(14), 512, 420},
		{gpu.F32, 0, 0},
		{gpu.Q8_0, 40, -1},
		{gpu.F32, -1, -1},
		{gpu.Type(77), 32, -1},
		{gpu.F32, math.MaxInt, -1},
	} {
		n, err := gguf.RowBytes(c.t, c.cols)
		if err != nil {
			n = -1
		}
		if n != c.want {
			t.Errorf("%s, %d columns: %d (%v), want %d", gguf.TypeName(c.t), c.cols, n, err, c.want)
		}
	}
	if gguf.BlockSize(gpu.Q4_0) != 32 || gguf.BlockSize(gpu.BF16) != 1 || gguf.BlockSize(77) != 0 {
		t.Error("block sizes")
	}
}

func FuzzParse(f *testing.F) {
	whole := sample().Bytes()
	f.Add(whole)
	f.Add(whole[:100])
	f.Add((&gguftest.File{}).Bytes())
	f.Add((&gguftest.File{}).Key("general.alignment", uint32(64)).Tensor("w", gpu.Q4_0, make([]byte, 18), 32).Bytes())
	f.Add(put(whole, 16, le64(1<<60)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := gguf.Parse("fuzz", b)
		if err != nil {
			return
		}
		for _, key := range file.Keys() {
			if !file.Has(key) {
				t.Fatalf("key %q is listed and not there", key)
			}
			file.String(key)
			file.Uint(key)
			file.Float(key)
			file.Bool(key)
			file.Strings(key)
			file.Ints(key)
			file.Floats(key)
		}
		for _, tensor := range file.Tensors() {
			row, err := gguf.RowBytes(tensor.Type, tensor.Dims[0])
			size := row
			for _, d := range tensor.Dims[1:] {
				size *= d
			}
			if err != nil || size != len(tensor.Data) {
				t.Fatalf("tensor %q %v of %s has %d bytes, want %d (%v)", tensor.Name, tensor.Dims, gguf.TypeName(tensor.Type), len(tensor.Data), size, err)
			}
		}
	})
}

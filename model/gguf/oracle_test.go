package gguf_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	oracle "github.com/gpustack/gguf-parser-go"

	"github.com/kvasir-engine/kvasir/model/gguf"
)

// Another reader of the format sees the same metadata and tensors in the same files.
func TestAgreesWithAnotherReader(t *testing.T) {
	files := []string{
		"../testdata/golden/llama.gguf", "../testdata/golden/qwen2.gguf", "../testdata/golden/types-q4_0.gguf", "../testdata/golden/types-bf16.gguf",
	}
	// Third party, not always there. (Not llama-spm: the other reader trims white space off its tokens.)
	const vocabulary = "../../../shared/models/tokenizers/ggml-vocab-gpt-2.gguf"
	if _, err := os.Stat(vocabulary); err == nil {
		files = append(files, vocabulary)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { compare(t, path) })
	}
}

func compare(t *testing.T, path string) {
	want, err := oracle.ParseGGUFFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	var keys []string
	for _, kv := range want.Header.MetadataKV {
		keys = append(keys, kv.Key)
		want, got := wantValue(kv.Value), gotValue(f, kv.Key, kv.Value)
		if !reflect.DeepEqual(want, got) { // much faster than Diff for large vocabularies
			t.Errorf("%s: -want +got\n%.2000s", kv.Key, cmp.Diff(want, got))
		}
	}
	if diff := cmp.Diff(keys, f.Keys()); diff != "" {
		t.Errorf("keys: -want +got\n%s", diff)
	}

	tensors := f.Tensors()
	if len(tensors) != len(want.TensorInfos) {
		t.Fatalf("%d tensors, want %d", len(tensors), len(want.TensorInfos))
	}
	for i, info := range want.TensorInfos {
		got := tensors[i]
		from := uint64(want.TensorDataStartOffset) + info.Offset
		data := whole[from : from+info.Bytes()]
		if got.Name != info.Name || uint32(got.Type) != uint32(info.Type) || fmt.Sprint(got.Dims) != fmt.Sprint(info.Dimensions) {
			t.Errorf("tensor %d is %s %s %v, want %s %s %v", i, got.Name, gguf.TypeName(got.Type), got.Dims, info.Name, info.Type, info.Dimensions)
		}
		if !bytes.Equal(got.Data, data) {
			t.Errorf("tensor %s: other bytes", got.Name)
		}
	}
}

// wantValue brings the oracle's value into the form of gotValue.
func wantValue(v any) any {
	array, ok := v.(oracle.GGUFMetadataKVArrayValue)
	if !ok {
		return fmt.Sprint(v)
	}
	list := make([]string, 0, len(array.Array))
	for _, e := range array.Array {
		list = append(list, fmt.Sprint(e))
	}
	return list
}

// gotValue is our value of a key, asked for as the type that the oracle found.
func gotValue(f *gguf.File, key string, as any) any {
	switch v := as.(type) {
	case string:
		return printed(f.String(key))
	case bool:
		return printed(f.Bool(key))
	case float32:
		x, ok := f.Float(key)
		return printed(float32(x), ok)
	case float64:
		return printed(f.Float(key))
	case int8, int16, int32, int64:
		x, ok := f.Float(key) // Uint has no negative ones
		return printed(int64(x), ok)
	case oracle.GGUFMetadataKVArrayValue:
		switch v.Type {
		case oracle.GGUFMetadataValueTypeString:
			return printedAll(f.Strings(key))
		case oracle.GGUFMetadataValueTypeFloat32:
			return printedAll(f.Floats(key))
		}
		return printedAll(f.Ints(key))
	}
	return printed(f.Uint(key))
}

func printed[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return fmt.Sprint(v)
}

func printedAll[T any](v []T, ok bool) any {
	if !ok {
		return nil
	}
	list := make([]string, 0, len(v))
	for _, e := range v {
		list = append(list, fmt.Sprint(e))
	}
	return list
}

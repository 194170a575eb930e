package gguf_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// Whatever the metadata are made of, reading them takes memory in proportion to their size, and so do the accessors of arrays.
func TestMemoryIsASmallMultipleOfTheMetadata(t *testing.T) {
	const most = 40 // allocated in all, a byte; what stays is less
	name := func(i int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(i)))[:3] }
	var keys, tensors, strings, numbers gguftest.File
	for i := range 100_000 {
		keys.Key(name(i), true)
		tensors.Tensor(name(i), gpu.F32, nil, 1)
	}
	strings.Key("a", make([]string, 100_000))
	numbers.Key("a", make([]uint8, 1<<20))
	for what, f := range map[string]*gguftest.File{"keys": &keys, "tensors": &tensors, "strings": &strings, "numbers": &numbers} {
		b := append(f.Bytes(), 0, 0, 0, 0) // of all tensors, which may share them
		var err error
		allocated := allocatedBy(func() {
			var file *gguf.File
			if file, err = gguf.Parse(what, b); err == nil {
				file.Strings("a")
				file.Ints("a")
			}
		})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		t.Logf("%s: %.1f", what, float64(allocated)/float64(len(b)))
		if allocated > most*len(b) {
			t.Errorf("%s: %d bytes for a file of %d", what, allocated, len(b))
		}
	}
}

// A large file may claim as many tensors or keys as its bytes have room for.
func TestCountsThatLieCostNoMemory(t *testing.T) {
	for what, at := range map[string]int{"tensors": 8, "keys": 16} {
		b := (&gguftest.File{}).Key("a", true).Tensor("t", gpu.F32, make([]byte, 32<<20), 8<<20).Bytes()
		binary.LittleEndian.PutUint64(b[at:], 900_000)
		var err error
		allocated := allocatedBy(func() { _, err = gguf.Parse(what, b) })
		if err == nil || allocated > 1<<20 {
			t.Errorf("%s: error %v after %d bytes were asked for", what, err, allocated)
		}
	}
}

// allocatedBy is how many bytes f asks for, if nobody else does meanwhile.
func allocatedBy(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

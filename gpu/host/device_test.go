package host

import (
	"bytes"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

func bytesFrom(x []float32) []byte {
	b := make([]byte, 4*len(x))
	copy(asFloats(b), x)
	return b
}

func TestLoadRefusesWhatItCannotUse(t *testing.T) { forEachSet(t, testLoadRefusesWhatItCannotUse) }

func testLoadRefusesWhatItCannotUse(t *testing.T, k *kernels) {
	d := newDevice(t, k, 1)
	for _, c := range []struct {
		name       string
		typ        gpu.Type
		rows, cols int
		bytes      int
		want       []string
	}{
		{"a type without kernels", 10, 1, 256, 84, []string{"blk.0.x", "Q2_K", "Q8_0", "Q6_K"}},
		{"an unknown type", 99, 1, 256, 144, []string{"blk.0.x", "type 99"}},
		{"half a block", gpu.Q8_0, 1, 40, 34, []string{"blk.0.x", "Q8_0", "multiple of 32", "40"}},
		{"bytes missing", gpu.F16, 3, 5, 29, []string{"blk.0.x", "30 bytes", "29"}},
		{"bytes too many", gpu.Q4_0, 2, 32, 37, []string{"blk.0.x", "36 bytes", "37"}},
	} {
		_, err := d.Load("blk.0.x", c.typ, c.rows, c.cols, make([]byte, c.bytes))
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q does not say %q", c.name, err, w)
			}
		}
	}
}

func TestUnalignedFloatsAreLoaded(t *testing.T) { forEachSet(t, testUnalignedFloatsAreLoaded) }

func testUnalignedFloatsAreLoaded(t *testing.T, k *kernels) {
	d := newDevice(t, k, 1)
	want := []float32{1, -2, 3.5}
	data := append([]byte{0}, bytesFrom(want)...)[1:]
	w := load(t, d, gpu.F32, 1, 3, data)
	defer w.Data.Free()
	if !isAligned(bytesOf(w.Data)) {
		t.Error("some processors cannot read float32 from there")
	}
	x := newMatrix(t, d, 1, 3, nil)
	d.Embed(x, w, []int32{0})
	mustEqualBits(t, "loaded", elementsOf(x), want)
}

func TestMemoryIsZeroedAndCanBeFreed(t *testing.T) { forEachSet(t, testMemoryIsZeroedAndCanBeFreed) }

func testMemoryIsZeroedAndCanBeFreed(t *testing.T, k *kernels) {
	d := newDevice(t, k, 1)
	for _, n := range []int{0, 1, 1 << 20} {
		b, err := d.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if b.Size() != n {
			t.Errorf("%d bytes, not %d", b.Size(), n)
		}
		for _, v := range bytesOf(b) {
			if v != 0 {
				t.Fatal("memory is not zeroed")
			}
		}
		if err := b.Free(); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Alloc(math.MaxInt); err == nil {
		t.Error("all memory there can be was allocated")
	}
}

func TestSlabRefusesOtherTypes(t *testing.T) { forEachSet(t, testSlabRefusesOtherTypes) }

func testSlabRefusesOtherTypes(t *testing.T, k *kernels) {
	d := newDevice(t, k, 1)
	_, err := d.NewSlab(gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 32, PageSize: 16, Type: gpu.Q8_0}, 1)
	if err == nil || !strings.Contains(err.Error(), "Q8_0") {
		t.Errorf("error %v does not name the type", err)
	}
}

func TestSizesThatNoIntHoldsAreRefused(t *testing.T) {
	d := newDevice(t, goKernels(), 1)
	const wraps = 1 << 32 // wraps * wraps is 0 to the processor
	for _, c := range [][2]int{{wraps, wraps}, {wraps, wraps / 4}, {-1, 4}, {4, -1}, {-1, -1}} {
		if _, err := d.NewMatrix(c[0], c[1]); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("a matrix of %d x %d: error %v", c[0], c[1], err)
		}
	}
	small := gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 32, PageSize: 16, Type: gpu.F32}
	wide := small
	wide.Layers, wide.HeadDim = wraps, wraps
	for _, c := range []struct {
		l     gpu.KVLayout
		pages int
	}{{small, 1 << 58}, {small, 1 << 52}, {small, -1}, {wide, 1}} {
		if _, err := d.NewSlab(c.l, c.pages); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%d pages of %v: error %v", c.pages, c.l, err)
		}
	}
}

func TestASlabThatCannotBeHadLeavesNothingBehind(t *testing.T) {
	d := newDevice(t, goKernels(), 1)
	huge := gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 1 << 38, PageSize: 16, Type: gpu.F16}
	const tries, pages = 128, 1 << 16 // 4 MiB of headers each
	before := mappedBytes(t)
	for range tries {
		if _, err := d.NewSlab(huge, pages); err == nil {
			t.Fatal("all memory there can be was allocated")
		}
	}
	if grown := mappedBytes(t) - before; grown > tries*pages*page.HeaderSize/2 {
		t.Errorf("%d bytes are still mapped", grown)
	}
}

// mappedBytes is the size of the process's address space.
func mappedBytes(t *testing.T) int {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("only Linux tells: ", err)
	}
	pages, _, _ := strings.Cut(string(statm), " ")
	n, err := strconv.Atoi(pages)
	if err != nil {
		t.Fatal(err)
	}
	return n * os.Getpagesize()
}

// mark writes recognisable bytes to a page.
func mark(s *gpu.Slab, p page.Index, b byte) {
	data := pageBytes(bytesOf(s.Data), s.Layout, p)
	for i := range data {
		data[i] = b + byte(i)
	}
}

func TestPageOperationsTouchTheirPageOnly(t *testing.T) {
	forEachSet(t, testPageOperationsTouchTheirPageOnly)
}

func testPageOperationsTouchTheirPageOnly(t *testing.T, k *kernels) {
	d := newDevice(t, k, 1)
	const pages = 5
	c := newCache(t, d, gpu.KVLayout{Layers: 2, KVHeads: 1, HeadDim: 4, PageSize: 16, Type: gpu.F16}, pages*16)
	s := c.slab
	header := func(p page.Index) page.Header {
		return page.Header{Generation: page.Generation(p) + 1, Domain: 7, Chain: page.Hash{byte(p)}, Fill: 16, Checksum: 9, Sealed: true}
	}
	for p := range page.Index(pages) {
		mark(s, p, byte(p))
		d.WriteHeader(s, p, header(p))
	}
	sums := make([]uint32, pages)
	for p := range sums {
		sums[p] = d.Checksum(s, page.Index(p))
		want := crc32.Checksum(bytesOf(s.Data)[p*s.Layout.PageBytes():(p+1)*s.Layout.PageBytes()], crc32.MakeTable(crc32.Castagnoli))
		if sums[p] != want {
			t.Errorf("checksum of page %d is %x, want %x", p, sums[p], want)
		}
	}

	d.Scrub(s, 2)
	d.CopyPage(s, 4, 1)
	for p := range page.Index(pages) {
		sum, head := sums[p], header(p)
		switch p {
		case 2:
			sum, head = crc32.Checksum(bytes.Repeat([]byte{scrubByte}, s.Layout.PageBytes()), crc32.MakeTable(crc32.Castagnoli)), page.Header{}
		case 4:
			sum = sums[1] // the header stays
		}
		if got := d.Checksum(s, p); got != sum {
			t.Errorf("page %d: checksum %x, want %x", p, got, sum)
		}
		if got := d.ReadHeader(s, p); got != head {
			t.Errorf("page %d: header %+v, want %+v", p, got, head)
		}
	}
}

func TestCheckHeadersFindsEveryDifference(t *testing.T) {
	forEachSet(t, testCheckHeadersFindsEveryDifference)
}

func testCheckHeadersFindsEveryDifference(t *testing.T, k *kernels) {
	d := newDevice(t, k, 1)
	s := newCache(t, d, gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 4, PageSize: 16, Type: gpu.F16}, 64).slab
	have := page.Header{Generation: 3, Writer: 4, Domain: 5, Chain: page.Hash{6}, Fill: 7, Checksum: 8}
	for p := range page.Index(s.Pages) {
		d.WriteHeader(s, p, have)
	}
	changes := []func(h *page.Header){
		func(h *page.Header) {},
		func(h *page.Header) { h.Generation++ },
		func(h *page.Header) { h.Writer++ },
		func(h *page.Header) { h.Domain++ },
		func(h *page.Header) { h.Chain[15]++ },
		func(h *page.Header) { h.Fill++ },
		func(h *page.Header) { h.Sealed = true },
		func(h *page.Header) { h.Checksum++ },
	}
	rapid.Check(t, func(t *rapid.T) {
		var checks []gpu.HeaderCheck
		want := []int{-1} // what was there before stays
		for i, c := range rapid.SliceOf(rapid.IntRange(0, len(changes)-1)).Draw(t, "changes") {
			check := gpu.HeaderCheck{Page: page.Index(i % s.Pages), Want: have, AnyChecksum: rapid.Bool().Draw(t, "any")}
			changes[c](&check.Want)
			isChecksum := c == len(changes)-1
			if c > 0 && !(isChecksum && check.AnyChecksum) {
				want = append(want, i)
			}
			checks = append(checks, check)
		}
		got := d.CheckHeaders(s, checks, []int{-1})
		if len(got) != len(want) {
			t.Fatalf("bad %v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("bad %v, want %v", got, want)
			}
		}
	})
}

// countTask counts how often each block is done.
type countTask struct {
	done    []atomic.Int32
	panicAt int // a block, or -1
}

func (c *countTask) do(_, block int) {
	if block == c.panicAt {
		panic("block gone wrong")
	}
	c.done[block].Add(1)
}

func TestPoolDoesEveryBlockOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPool(rapid.IntRange(1, 4).Draw(t, "workers"))
		defer p.close()
		for _, blocks := range rapid.SliceOfN(rapid.IntRange(0, 50), 1, 10).Draw(t, "blocks") {
			c := &countTask{done: make([]atomic.Int32, blocks), panicAt: -1}
			p.run(c, blocks)
			for i := range c.done {
				if n := c.done[i].Load(); n != 1 {
					t.Fatalf("block %d of %d was done %d times", i, blocks, n)
				}
			}
		}
	})
}

func TestAPanicInAnyWorkerReachesTheCaller(t *testing.T) {
	p := newPool(3)
	defer p.close()
	for round := range 200 {
		value := func() (v any) {
			defer func() { v = recover() }()
			p.run(&countTask{done: make([]atomic.Int32, 20), panicAt: round % 20}, 20)
			return nil
		}()
		if s, ok := value.(string); !ok || !strings.Contains(s, "block gone wrong") || !strings.Contains(s, "countTask") {
			t.Fatalf("recovered %v", value)
		}
	}
	c := &countTask{done: make([]atomic.Int32, 20), panicAt: -1}
	p.run(c, 20)
	for i := range c.done {
		if c.done[i].Load() != 1 {
			t.Fatal("the pool does not work after a panic")
		}
	}
}

func TestThreads(t *testing.T) {
	if _, err := New(-1); err == nil {
		t.Error("-1 threads were accepted")
	}
	d, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	if d.pool.workers() < 1 {
		t.Error("no worker")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheEnvironmentChoosesTheKernels(t *testing.T) {
	names := KernelSets()
	for _, name := range []string{"generic", "generic-f32"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among the sets %v", name, names)
		}
	}
	if !RoundsActivations(names[0]) || RoundsActivations("generic-f32") {
		t.Errorf("rounding of activations by %s or generic-f32 is not told rightly", names[0])
	}
	for value, want := range map[string]string{"": names[0], "generic": "generic", names[0]: names[0], names[0] + "-f32": names[0] + "-f32"} {
		t.Setenv(KernelsVariable, value)
		d, err := New(1)
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		if d.KernelSet() != want {
			t.Errorf("%q: kernels %s, want %s", value, d.KernelSet(), want)
		}
		d.Close()
	}
	t.Setenv(KernelsVariable, "abacus")
	_, err := New(1)
	if err == nil {
		t.Fatal("an unknown set was accepted")
	}
	for _, part := range append(names, KernelsVariable, "abacus") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

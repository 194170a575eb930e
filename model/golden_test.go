package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/gguf"
)

// golden is a model file with what llama.cpp, and exact arithmetic, compute from it.
type golden struct {
	dir, name         string
	Vocab             int               `json:"n_vocab"`
	Prompt            []int32           `json:"prompt"`
	Greedy            []int32           `json:"greedy"`
	Positions         []int             `json:"logits_positions"`
	MaxRelRMS         float64           `json:"max_rel_rms"`
	MaxRelRMSExact    float64           `json:"max_rel_rms_exact"` // 0: compare with llama.cpp's logits
	DequantisedTensor string            `json:"dequant_tensor"`
	DequantisedRows   int               `json:"dequant_rows"`
	DequantisedSHA256 map[string]string `json:"dequant_sha256"`
}

func readGolden(t *testing.T, dir, name string) *golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{dir: dir, name: name}
	if err := json.Unmarshal(b, g); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return g
}

func (g *golden) floats(t *testing.T, suffix string) []float32 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(g.dir, g.name+suffix))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// wanted returns the expected logits and how far from them those of m may be. Where m rounds activations to 8 bit that is what the reference, which does so too, is
// away from exact arithmetic, twice.
func (g *golden) wanted(t *testing.T, m *Model) (logits []float32, tolerance float64) {
	t.Helper()
	rounds := host.RoundsActivations(m.dev.KernelSet()) && slices.ContainsFunc(m.weights, func(w gpu.Weight) bool {
		return !slices.Contains([]gpu.Type{gpu.F32, gpu.F16, gpu.BF16}, w.Type)
	})
	switch {
	case g.MaxRelRMSExact != 0 && rounds:
		return g.floats(t, ".exact.f32"), g.MaxRelRMS
	case g.MaxRelRMSExact != 0:
		return g.floats(t, ".exact.f32"), g.MaxRelRMSExact
	}
	return g.floats(t, ".logits.f32"), g.MaxRelRMS
}

func (g *golden) sequence() []int32 { return append(slices.Clone(g.Prompt), g.Greedy...) }

func openModel(t testing.TB, path string, threads int, o Options) *Model {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := host.New(threads)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(f, dev, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{m.Close(), dev.Close(), f.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return m
}

// sequence is one sequence's cache in a slab of its own, whose pages are not in order.
type sequence struct {
	m      *Model
	slab   *gpu.Slab
	table  []page.Index
	length int
}

func newSequence(t testing.TB, m *Model, pageSize int, kv gpu.Type, tokens int) *sequence {
	t.Helper()
	pages := (tokens + pageSize - 1) / pageSize
	slab, err := m.dev.NewSlab(m.Layout(pageSize, kv), pages)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := slab.Data.Free(); err != nil {
			t.Error(err)
		}
		if err := slab.Headers.Free(); err != nil {
			t.Error(err)
		}
	})
	s := &sequence{m: m, slab: slab}
	for i := range pages {
		s.table = append(s.table, page.Index(pages-1-i))
	}
	return s
}

// extend appends tokens in one batch and returns the logits of each.
func (s *sequence) extend(t testing.TB, tokens ...int32) [][]float32 {
	t.Helper()
	b := &Batch{Tokens: tokens, Tables: gpu.Tables{s.table}}
	for i := range tokens {
		b.Rows = append(b.Rows, gpu.Row{Pos: int32(s.length + i)})
		b.Logits = append(b.Logits, int32(i))
	}
	s.length += len(tokens)
	logits, err := s.m.Forward(b, s.slab)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float32, len(tokens))
	for i := range rows {
		rows[i] = make([]float32, logits.Cols)
		s.m.dev.Download(rows[i], logits, i, 1)
	}
	return rows
}

// extendInChunks appends tokens in batches of the given sizes, the last repeated.
func (s *sequence) extendInChunks(t testing.TB, tokens []int32, sizes ...int) (rows [][]float32) {
	for len(tokens) > 0 {
		n := min(sizes[0], len(tokens))
		rows = append(rows, s.extend(t, tokens[:n]...)...)
		tokens = tokens[n:]
		if len(sizes) > 1 {
			sizes = sizes[1:]
		}
	}
	return rows
}

// continueGreedily appends the best token again and again, and returns these tokens. first is the logits before the first of them.
func (s *sequence) continueGreedily(t testing.TB, first []float32, n int, stop int32) (tokens []int32) {
	for logits := first; ; {
		best := argmax(logits)
		tokens = append(tokens, best)
		if len(tokens) == n || best == stop {
			return tokens
		}
		logits = s.extend(t, best)[0]
	}
}

func argmax(x []float32) int32 {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return int32(best)
}

// relRMS is the root of the mean squared difference, over the standard deviation of want.
func relRMS(got, want []float32) float64 {
	var mean, variance, square float64
	for _, w := range want {
		mean += float64(w) / float64(len(want))
	}
	for i, w := range want {
		variance += (float64(w) - mean) * (float64(w) - mean)
		square += (float64(got[i]) - float64(w)) * (float64(got[i]) - float64(w))
	}
	return math.Sqrt(square / variance)
}

// mustEqualBits fails unless all rows are the same, bit for bit.
func mustEqualBits(t *testing.T, what string, got, want [][]float32) {
	t.Helper()
	for i := range want {
		for j := range want[i] {
			if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
				t.Fatalf("%s: position %d, token %d: %v, not %v as in one batch", what, i, j, got[i][j], want[i][j])
			}
		}
	}
}

// goldenFiles are the golden models of this package, and third-party ones where they are at hand.
func goldenFiles(t *testing.T) (all []*golden) {
	for _, dir := range []string{"testdata/golden", "../../shared/models/real"} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			all = append(all, readGolden(t, dir, strings.TrimSuffix(filepath.Base(p), ".json")))
		}
	}
	if len(all) < 9 {
		t.Fatalf("only %d golden files found", len(all))
	}
	return all
}

// forEachKernelSet runs a test with each kernel set of this machine's processor.
func forEachKernelSet(t *testing.T, test func(t *testing.T)) {
	for _, name := range host.KernelSets() {
		t.Run(name, func(t *testing.T) {
			t.Setenv(host.KernelsVariable, name)
			test(t)
		})
	}
}

func TestLogitsAreThoseOfTheReference(t *testing.T) {
	forEachKernelSet(t, testLogitsAreThoseOfTheReference)
}

func testLogitsAreThoseOfTheReference(t *testing.T) {
	for _, g := range goldenFiles(t) {
		t.Run(g.name, func(t *testing.T) {
			m := openModel(t, filepath.Join(g.dir, g.name+".gguf"), 2, Options{})
			seq := newSequence(t, m, 16, gpu.F32, 128)
			logits := seq.extend(t, g.sequence()...)
			want, tolerance := g.wanted(t, m)
			worst := 0.0
			for i, pos := range g.Positions {
				worst = max(worst, relRMS(logits[pos], want[i*g.Vocab:(i+1)*g.Vocab]))
			}
			t.Logf("worst row: relative RMS error %.2g, allowed %.2g", worst, tolerance)
			if !(worst <= tolerance) {
				t.Errorf("relative RMS error %v, allowed %v", worst, tolerance)
			}
		})
	}
}

func TestGreedyContinuationIsThatOfTheReference(t *testing.T) {
	forEachKernelSet(t, testGreedyContinuationIsThatOfTheReference)
}

func testGreedyContinuationIsThatOfTheReference(t *testing.T) {
	for _, g := range goldenFiles(t) {
		t.Run(g.name, func(t *testing.T) {
			m := openModel(t, filepath.Join(g.dir, g.name+".gguf"), 1, Options{})
			seq := newSequence(t, m, 16, gpu.F32, 128)
			logits := seq.extend(t, g.Prompt...)
			got := seq.continueGreedily(t, logits[len(logits)-1], len(g.Greedy), -1)
			if !slices.Equal(got, g.Greedy) {
				t.Errorf("continued with %v, not %v", got, g.Greedy)
			}
		})
	}
}

func TestChunksPagesAndThreadsChangeNoBit(t *testing.T) {
	forEachKernelSet(t, testChunksPagesAndThreadsChangeNoBit)
}

func testChunksPagesAndThreadsChangeNoBit(t *testing.T) {
	variants := []struct {
		kv                gpu.Type
		threads, pageSize int
		chunks            []int
	}{
		{gpu.F32, 1, 64, []int{1}},
		{gpu.F32, 3, 16, []int{7}},
		{gpu.F16, 2, 32, []int{13, 1, 30, 2}},
		{gpu.F16, 3, 128, []int{40, 100}},
	}
	for _, g := range goldenFiles(t) {
		t.Run(g.name, func(t *testing.T) {
			run := func(kv gpu.Type, threads, pageSize int, chunks ...int) [][]float32 {
				m := openModel(t, filepath.Join(g.dir, g.name+".gguf"), threads, Options{})
				return newSequence(t, m, pageSize, kv, 128).extendInChunks(t, g.sequence(), chunks...)
			}
			want := map[gpu.Type][][]float32{gpu.F32: run(gpu.F32, 1, 16, 128), gpu.F16: run(gpu.F16, 1, 16, 128)}
			for _, v := range variants {
				mustEqualBits(t, fmt.Sprintf("%+v", v), run(v.kv, v.threads, v.pageSize, v.chunks...), want[v.kv])
			}
		})
	}
}

func TestSequencesInOneBatchDoNotTouchEachOther(t *testing.T) {
	forEachKernelSet(t, testSequencesInOneBatchDoNotTouchEachOther)
}

func testSequencesInOneBatchDoNotTouchEachOther(t *testing.T) {
	for _, g := range goldenFiles(t) {
		t.Run(g.name, func(t *testing.T) {
			m := openModel(t, filepath.Join(g.dir, g.name+".gguf"), 2, Options{})
			a, b := g.Prompt[:40], g.Prompt[3:20]
			wantA := newSequence(t, m, 16, gpu.F16, 48).extend(t, a...)
			wantB := newSequence(t, m, 16, gpu.F16, 48).extend(t, b...)

			both := newSequence(t, m, 16, gpu.F16, 96)
			batch := &Batch{Tokens: slices.Concat(b, a), Tables: gpu.Tables{both.table[:3], both.table[3:]}}
			for i := range b {
				batch.Rows = append(batch.Rows, gpu.Row{Seq: 1, Pos: int32(i)})
			}
			for i := range a {
				batch.Rows = append(batch.Rows, gpu.Row{Seq: 0, Pos: int32(i)})
			}
			batch.Logits = []int32{int32(len(batch.Rows) - 1), int32(len(b) - 1)}
			logits, err := m.Forward(batch, both.slab)
			if err != nil {
				t.Fatal(err)
			}
			got := [][]float32{make([]float32, logits.Cols), make([]float32, logits.Cols)}
			m.dev.Download(got[0], logits, 0, 1)
			m.dev.Download(got[1], logits, 1, 1)
			mustEqualBits(t, "two sequences", got, [][]float32{wantA[len(a)-1], wantB[len(b)-1]})
		})
	}
}

// The last layer works on the rows with logits only.
func TestLogitsDoNotDependOnWhichAreAskedFor(t *testing.T) {
	forEachKernelSet(t, testLogitsDoNotDependOnWhichAreAskedFor)
}

func testLogitsDoNotDependOnWhichAreAskedFor(t *testing.T) {
	for _, g := range goldenFiles(t) {
		t.Run(g.name, func(t *testing.T) {
			m := openModel(t, filepath.Join(g.dir, g.name+".gguf"), 2, Options{MaxRows: 32, MaxLogits: 40})
			tokens := g.Prompt[:32]
			all := newSequence(t, m, 16, gpu.F16, 48)
			want, wantNext := all.extend(t, tokens...), all.extend(t, g.Greedy[0])
			for _, asked := range [][]int32{{31}, {0}, {3, 4, 5, 30}, {9, 2, 2, 31}, {}, slices.Repeat([]int32{7}, 40)} {
				s := newSequence(t, m, 16, gpu.F16, 48)
				b := &Batch{Tokens: tokens, Tables: gpu.Tables{s.table}, Logits: asked}
				for i := range tokens {
					b.Rows = append(b.Rows, gpu.Row{Pos: int32(i)})
				}
				logits, err := m.Forward(b, s.slab)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range asked {
					got := make([]float32, logits.Cols)
					m.dev.Download(got, logits, i, 1)
					mustEqualBits(t, fmt.Sprintf("logits of %v", asked), [][]float32{got}, want[row:row+1])
				}
				s.length = len(tokens)
				mustEqualBits(t, fmt.Sprintf("after logits of %v", asked), s.extend(t, g.Greedy[0]), wantNext)
			}
		})
	}
}

func TestWeightsAreDecodedAsGGMLDoes(t *testing.T) {
	forEachKernelSet(t, testWeightsAreDecodedAsGGMLDoes)
}

func testWeightsAreDecodedAsGGMLDoes(t *testing.T) {
	for _, g := range goldenFiles(t) {
		if g.DequantisedTensor == "" {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			m := openModel(t, filepath.Join(g.dir, g.name+".gguf"), 2, Options{})
			hashed := 0
			for _, w := range m.weights {
				rows := decode(t, m.dev, w)
				if w.Name == g.DequantisedTensor {
					want := g.floats(t, ".dequant.f32")
					mustEqualBits(t, w.Name, [][]float32{rows[:len(want)]}, [][]float32{want})
				}
				want, ok := g.DequantisedSHA256[w.Name]
				if !ok {
					continue
				}
				hashed++
				if got := sha256.Sum256(floatBytes(rows)); hex.EncodeToString(got[:]) != want {
					t.Errorf("%s: its decoded bytes have another hash", w.Name)
				}
			}
			if hashed != len(g.DequantisedSHA256) || hashed == 0 {
				t.Errorf("%d of %d tensors compared", hashed, len(g.DequantisedSHA256))
			}
		})
	}
}

// decode reads all rows of w through the device.
func decode(t *testing.T, dev gpu.Device, w gpu.Weight) []float32 {
	t.Helper()
	m, err := dev.NewMatrix(w.Rows, w.Cols)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Data.Free()
	ids := make([]int32, w.Rows)
	for i := range ids {
		ids[i] = int32(i)
	}
	dev.Embed(m, w, ids)
	rows := make([]float32, w.Rows*w.Cols)
	dev.Download(rows, m, 0, w.Rows)
	return rows
}

func floatBytes(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

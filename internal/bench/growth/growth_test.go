package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplace(t *testing.T) {
	page := []byte("a\n<!-- x -->\nold\n<!-- /x -->\nb\n<!-- y -->\n<!-- /y -->\n")
	got, err := replace(page, "x", "new\n")
	if want := "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n<!-- y -->\n<!-- /y -->\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "<!-- x -->\n", "<!-- /x -->"} {
		if _, err := replace([]byte(bad), "x", "new\n"); err == nil || !strings.Contains(err.Error(), "<!-- x -->") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParseBenchmark(t *testing.T) {
	got, err := parseBenchmark("goos: linux\nBenchmarkStep/waiting=10-2  \t 147250\t 2543 ns/op\t 1 B/op\nBenchmarkStep/waiting=1000-2 5 3.5 ns/op\nBenchmarkOther/x=1-2 1 1 ns/op\nPASS\n",
		"BenchmarkStep/waiting=")
	if diff := cmp.Diff(map[int]float64{10: 2543, 1000: 3.5}, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
	for _, bad := range []string{"PASS\n", "BenchmarkStep/waiting=x-2 1 1 ns/op\n"} {
		if _, err := parseBenchmark(bad, "BenchmarkStep/waiting="); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// What is measured in the engine comes out as one row a size, in a chart with as many points.
func TestMeasuresEverySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	s := small
	s.contexts, s.batches, s.prefix.PrefixTokens = []int{32, 64, 100}, []int{1, 3}, 200
	s.steps = 1000                                                                                            // so long that three answers overlap also where this process gets a processor seldom
	if _, err := measureAll(t.Context(), sizes{shape: s.shape, contexts: []int{1 << 20}}, path); err == nil { // makes the model
		t.Fatal("a context that the model does not have")
	}
	for _, c := range []struct {
		rows int
		r    func() (result, error)
	}{
		{3, func() (result, error) { return byContext(t.Context(), s, path) }},
		{2, func() (result, error) { return byBatch(t.Context(), s, path) }},
		{1, func() (result, error) { return ofPrefix(t.Context(), s, path) }},
	} {
		r, err := c.r()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(r.table, "\n") - 2; n != c.rows {
			t.Errorf("%s: %d rows, want %d:\n%s", r.name, n, c.rows, r.table)
		}
		if r.chart != nil && len(r.chart.Series[0].Points) != c.rows {
			t.Errorf("%s: %d points", r.name, len(r.chart.Series[0].Points))
		}
	}
	if r, err := ofPrefix(t.Context(), s, path); err != nil || !strings.Contains(r.table, "| 200 | 20 | 192 |") {
		t.Errorf("12 full pages of 16 should be cached: %v\n%s", err, r.table)
	}
}

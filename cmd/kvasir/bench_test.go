package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/kvasir-engine/kvasir"
	"github.com/kvasir-engine/kvasir/internal/bench/load"
)

// newRealBench is a bench whose engines are real.
func newRealBench() *bench {
	b := newBench(nil, "")
	b.open = openEngine
	return b
}

func parse(t *testing.T, b *bench, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(b.stdout.String()), into); err != nil {
		t.Fatalf("%v: %s", err, b.stdout.String())
	}
}

func TestBenchMeasuresEveryCase(t *testing.T) {
	b := newRealBench()
	args := "bench --prompt-tokens 16,40 --gen-tokens 40 --batch 1,3 --threads 1,2 --repeat 2 --page-size 32 --kv-cache-dtype f32 --json"
	if status := b.run(strings.Fields(args)); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.stderr.String())
	}
	var r speedReport
	parse(t, b, &r)
	var cases []string
	for _, row := range r.Rows {
		cases = append(cases, fmt.Sprint(row.Threads, row.Batch, row.PromptTokens, row.GenTokens))
		for _, s := range []float64{row.Prompt.Min, row.Decode.Min, row.Prompt.Max - row.Prompt.Median, row.Decode.Median - row.Decode.Min, row.BandwidthShare} {
			if s < 0 {
				t.Errorf("%+v", row)
			}
		}
		if row.Prompt.Min == 0 || row.Decode.Min == 0 || row.BandwidthShare == 0 {
			t.Errorf("nothing was measured: %+v", row)
		}
	}
	want := "[1 1 16 40 1 1 40 40 1 3 16 40 1 3 40 40 2 1 16 40 2 1 40 40 2 3 16 40 2 3 40 40]"
	if fmt.Sprint(cases) != want {
		t.Errorf("measured %v, want %s", cases, want)
	}
	if r.Model != "kvasir-mini" || r.KVCacheDType != "f32" || r.PageSize != 32 || r.Repeat != 2 || len(r.Bandwidth) != 2 || r.StepBytes == 0 {
		t.Errorf("%+v", r.measured)
	}
}

func TestBenchPrintsATable(t *testing.T) {
	b := newRealBench()
	if status := b.run(strings.Fields("bench engine --prompt-tokens 16 --gen-tokens 2 --batch 1 --threads 1 --repeat 1")); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.stderr.String())
	}
	wants(t, "the table", b.stdout.String(), "kvasir-mini", "GB/s", "decode tokens/s", "of bandwidth", "       1      1      16")
}

// The second request of two that begin alike finds all full pages of what they share.
func TestBenchPrefixFindsThePrefix(t *testing.T) {
	b := newRealBench()
	if status := b.run(strings.Fields("bench prefix --prefix-tokens 300 --new-tokens 20 --threads 1 --repeat 2 --json")); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.stderr.String())
	}
	var r prefixReport
	parse(t, b, &r)
	if len(r.Rows) != 1 || r.Rows[0].CachedTokens != 288 || r.Rows[0].Ratio.Min <= 0 || r.Rows[0].Cold.Min <= 0 {
		t.Errorf("%+v, want 288 of 300 tokens cached: 18 pages of 16", r.Rows)
	}
	b = newRealBench()
	if status := b.run(strings.Fields("bench prefix --prefix-tokens 64 --threads 1 --repeat 1")); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.stderr.String())
	}
	wants(t, "the table", b.stdout.String(), "second to first", "      64    20      64")
}

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	for args, want := range map[string][]string{
		"bench --batch 1 --prompt-tokens 2000": {"--prompt-tokens", "2065", "1024"},
		"bench --prompt-tokens 100,0":          {"--prompt-tokens is 0", "at least 1"},
		"bench --batch few":                    {"--batch", "few"},
		"bench --threads 0":                    {"--threads is 0"},
		"bench --repeat 0":                     {"--repeat is 0"},
		"bench prefix --prefix-tokens 1024":    {"--prefix-tokens", "1045", "1024"},
		"bench serve --url localhost:80":       {"--url", "http://127.0.0.1:8080"},
		"bench serve --num-prompts 0":          {"--num-prompts is 0"},
		"bench serve --request-rate=-1":        {"--request-rate is -1"},
		"bench serve --endpoint embeddings":    {"--endpoint", "completions"},
	} {
		b := newRealBench()
		if status := b.run(strings.Fields(args)); status != statusUsage || b.stdout.String() != "" {
			t.Errorf("%s: exit status %d, printed %q", args, status, b.stdout.String())
		}
		wants(t, args, b.stderr.String(), want...)
	}
}

// startRealServer serves the built-in model.
func startRealServer(t *testing.T) string {
	t.Helper()
	eng, err := kvasir.Open(t.Context(), kvasir.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(eng.Handler())
	t.Cleanup(func() {
		srv.Close()
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv.URL
}

func TestBenchServeDrivesOurServer(t *testing.T) {
	url := startRealServer(t)
	dataset := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(dataset, []byte(`{"prompt": "one two three"}`+"\n"+`{"messages": [{"role": "user", "content": "four"}], "max_tokens": 3}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, output := range map[string]int{
		"--num-prompts 9 --max-tokens 5 --prompt-tokens 10 --concurrency 3":                              45,
		"--num-prompts 9 --max-tokens 5 --prompt-tokens 10 --request-rate 200 --endpoint chat":           45,
		"--num-prompts 6 --max-tokens 5 --endpoint chat --warmup 2 --model default --dataset " + dataset: 3*5 + 3*3,
	} {
		b := newBench(nil, "")
		if status := b.run(append([]string{"bench", "serve", "--json", "--url", url}, strings.Fields(args)...)); status != 0 {
			t.Fatalf("%s: exit status %d: %s", args, status, b.stderr.String())
		}
		var r loadReport
		parse(t, b, &r)
		if r.Answered != r.Requests || r.OutputTokens != output || r.Counted != load.CountedByUsage || r.PromptTokens == 0 || len(r.Errors) != 0 || r.Interrupted {
			t.Errorf("%s: %+v; want %d tokens", args, r, output)
		}
		if r.TTFT.P50 <= 0 || r.TTFT.P50 > r.E2E.Max || r.ITL.P50 > r.ITL.P99 || r.RequestsPerSecond <= 0 {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestBenchServePrintsATable(t *testing.T) {
	url := startRealServer(t)
	b := newBench(nil, "")
	if status := b.run(strings.Fields("bench serve --num-prompts 3 --max-tokens 2 --prompt-tokens 4 --url " + url)); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.stderr.String())
	}
	wants(t, "the table", b.stdout.String(), "3 of 3 requests answered", "8 clients", "6 output tokens, by the server's count", "first token (TTFT)", "p99")
}

func TestBenchServeTellsErrors(t *testing.T) {
	url := startRealServer(t)
	b := newBench(nil, "")
	if status := b.run(strings.Fields("bench serve --num-prompts 3 --prompt-tokens 5000 --warmup 0 --url " + url)); status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	wants(t, "the table", b.stdout.String(), "0 of 3 requests answered", "HTTP 400: 3", "maximum context length")
	wants(t, "standard error", b.stderr.String(), "no request was answered")
}

// Flags of sub-commands have help, and tell their defaults.
func TestHelpOfBenchTellsTheDefaults(t *testing.T) {
	parser, err := newParser(nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *kong.Node)
	flags := 0
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			flags++
			if f.Help == "" || f.HasDefault && f.Default != "true" && !strings.Contains(f.Help, "(default: "+f.Default+")") {
				t.Errorf("%s --%s has the default %q, and the help %q", n.Path(), f.Name, f.Default, f.Help)
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(parser.Model.Node)
	if flags < 50 {
		t.Errorf("only %d flags were seen", flags)
	}
}

func TestCommandBenchIsInterrupted(t *testing.T) {
	c := theCommand(t, "bench", "--prompt-tokens", "16", "--gen-tokens", "900", "--batch", "1", "--threads", "1", "--repeat", "100000")
	var out, err output
	c.Stdout, c.Stderr = &out, &err
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it measures", func() bool { return strings.Contains(out.String(), "decode tokens/s") })
	c.Process.Signal(os.Interrupt)
	if status := exitStatus(t, c); status != statusSignal+2 || err.String() != "" {
		t.Errorf("exit status %d, on standard error %q", status, err.String())
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir"
	"github.com/kvasir-engine/kvasir/internal/bench/measure"
	"github.com/kvasir-engine/kvasir/internal/bench/plot"
	"github.com/kvasir-engine/kvasir/internal/bench/randmodel"
	"github.com/kvasir-engine/kvasir/internal/bench/stats"
)

// sizes say what is measured.
type sizes struct {
	shape    randmodel.Shape
	contexts []int // ascending
	batches  []int
	prefix   measure.Prefix
	steps    int // of each measurement
	repeat   int
	benchFor string // each benchmark
}

var full = sizes{
	shape:    randmodel.Llama1B(1 << 16),
	contexts: []int{1024, 2048, 4096, 8192, 16384, 32768},
	batches:  []int{1, 2, 4, 8, 16, 32, 64},
	prefix:   measure.Prefix{PrefixTokens: 2000, NewTokens: 20},
	steps:    32, repeat: 3, benchFor: "1s",
}

var small = sizes{
	shape:    randmodel.Shape{Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 32, FeedForward: 256, Context: 4096, Vocab: 512},
	contexts: []int{256, 1024},
	batches:  []int{1, 4},
	prefix:   measure.Prefix{PrefixTokens: 2000, NewTokens: 20},
	steps:    8, repeat: 1, benchFor: "50ms",
}

// batchPrompt is how many tokens the sequences of a batch begin with.
const batchPrompt = 64

// result is a table of the page, and its plot if it has one.
type result struct {
	name  string
	table string
	chart *plot.Chart
}

// measureAll makes the model at path and measures. It prints each table when it is there.
func measureAll(ctx context.Context, s sizes, path string) (results []result, err error) {
	if err := os.WriteFile(path, s.shape.GGUF(1), 0o600); err != nil {
		return nil, err
	}
	for _, m := range []func(context.Context, sizes, string) (result, error){byContext, byBatch, byWaiting, ofPrefix} {
		r, err := m(ctx, s, path)
		if err != nil {
			return nil, err
		}
		fmt.Println(r.table)
		results = append(results, r)
	}
	return results, nil
}

// withEngine opens an engine, warms it up and closes it at the end.
func withEngine(ctx context.Context, cfg kvasir.Config, f func(*kvasir.Engine) error) (err error) {
	eng, err := kvasir.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	if _, err := measure.StepTime(ctx, eng, []int32{1, 2, 3}, 4); err != nil {
		return err
	}
	return f(eng)
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// byContext measures a step of one sequence, by the tokens before it. Each prompt continues the one before, so that only its new part is read.
func byContext(ctx context.Context, s sizes, path string) (result, error) {
	longest := slices.Max(s.contexts) + s.steps + 1
	r := result{name: "context", table: "| context, tokens | ms a step (least to most) |\n|---:|---:|\n", chart: &plot.Chart{
		Title: "One sequence: time of a decoding step by context", X: "tokens of context", Y: "milliseconds"}}
	line := plot.Series{Name: "step"}
	prompt := measure.RandomTokens(newRandom(), longest, s.shape.Vocab)
	cfg := kvasir.Config{Model: path, MaxNumSeqs: 1, MaxModelLen: longest, MaxTotalTokens: longest + 1024}
	err := withEngine(ctx, cfg, func(eng *kvasir.Engine) error {
		for _, n := range s.contexts {
			var times []float64
			for range s.repeat {
				step, err := measure.StepTime(ctx, eng, prompt[:n], s.steps)
				if err != nil {
					return err
				}
				times = append(times, step.Seconds())
			}
			ms := stats.Summarize(times).Times(1000)
			r.table += fmt.Sprintf("| %d | %s |\n", n, spread(ms))
			line.Points = append(line.Points, plot.Point{X: float64(n), Y: ms.Median})
		}
		return nil
	})
	r.chart.Series = []plot.Series{line}
	return r, err
}

// byBatch measures a step by how many sequences decode in it.
func byBatch(ctx context.Context, s sizes, path string) (result, error) {
	r := result{name: "batch", table: "| sequences | ms a step (least to most) | tokens/s |\n|---:|---:|---:|\n", chart: &plot.Chart{
		Title: "Time of a decoding step by sequences in it", X: "sequences", Y: "milliseconds"}}
	line := plot.Series{Name: "step"}
	most := slices.Max(s.batches)
	budget := max(512, most)
	biggest := measure.Case{PromptTokens: batchPrompt, GenTokens: s.steps, Batch: most}
	cfg := kvasir.Config{Model: path, MaxNumSeqs: most, MaxNumBatchedTokens: budget, MaxModelLen: biggest.Context(budget), MaxTotalTokens: 16 * (biggest.Pages(budget, 16) + 2*most)}
	err := withEngine(ctx, cfg, func(eng *kvasir.Engine) error {
		random := newRandom()
		for _, n := range s.batches {
			var times, speeds []float64
			for range s.repeat {
				speed, err := measure.Run(ctx, eng, measure.Case{PromptTokens: batchPrompt, GenTokens: s.steps, Batch: n}, budget, random)
				if err != nil {
					return err
				}
				times, speeds = append(times, float64(n)/speed.Decode), append(speeds, speed.Decode)
			}
			ms := stats.Summarize(times).Times(1000)
			r.table += fmt.Sprintf("| %d | %s | %.0f |\n", n, spread(ms), stats.Percentile(speeds, 50))
			line.Points = append(line.Points, plot.Point{X: float64(n), Y: ms.Median})
		}
		return nil
	})
	r.chart.Series = []plot.Series{line}
	return r, err
}

// byWaiting runs the benchmarks of scheduler and ledger.
func byWaiting(ctx context.Context, s sizes, _ string) (result, error) {
	r := result{name: "waiting", chart: &plot.Chart{Title: "64 sequences decode: time of a step outside of the model, by requests that wait", X: "requests that wait", Y: "microseconds"}}
	times := map[string]map[int]float64{}
	for _, room := range []string{"sched", "kvpool"} {
		c := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkStep$", "-benchtime", s.benchFor, "./"+room)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return r, fmt.Errorf("%v: %w\n%s", c.Args, err, out)
		}
		if times[room], err = parseBenchmark(string(out), "BenchmarkStep/waiting="); err != nil {
			return r, fmt.Errorf("%v: %w", c.Args, err)
		}
		line := plot.Series{Name: map[string]string{"sched": "scheduler", "kvpool": "pool"}[room]}
		for _, n := range sortedKeys(times[room]) {
			line.Points = append(line.Points, plot.Point{X: float64(n), Y: times[room][n] / 1000})
		}
		r.chart.Series = append(r.chart.Series, line)
	}
	r.table = "| requests that wait | scheduler, µs a step | pool, µs a step |\n|---:|---:|---:|\n"
	for _, n := range sortedKeys(times["sched"]) {
		r.table += fmt.Sprintf("| %d | %.1f | %.1f |\n", n, times["sched"][n]/1000, times["kvpool"][n]/1000)
	}
	return r, nil
}

// ofPrefix measures the first token of a request whose beginning is cached.
func ofPrefix(ctx context.Context, s sizes, path string) (result, error) {
	r := result{name: "prefix", table: "| prefix, tokens | new | cached | first request, ms | second request, ms | second to first |\n|---:|---:|---:|---:|---:|---:|\n"}
	length := s.prefix.Context()
	cfg := kvasir.Config{Model: path, PageSize: 16, MaxNumSeqs: 1, MaxModelLen: length, MaxTotalTokens: 3 * length}
	err := withEngine(ctx, cfg, func(eng *kvasir.Engine) error {
		random := newRandom()
		var cold, warm, ratio []float64
		cached := 0
		for range s.repeat {
			f, err := measure.FirstTokensOf(ctx, eng, s.prefix, random)
			if err != nil {
				return err
			}
			cold, warm, ratio = append(cold, f.Cold.Seconds()), append(warm, f.Warm.Seconds()), append(ratio, f.Warm.Seconds()/f.Cold.Seconds())
			cached = f.Cached
		}
		r.table += fmt.Sprintf("| %d | %d | %d | %s | %s | %s %% |\n", s.prefix.PrefixTokens, s.prefix.NewTokens, cached,
			spread(stats.Summarize(cold).Times(1000)), spread(stats.Summarize(warm).Times(1000)), spread(stats.Summarize(ratio).Times(100)))
		return nil
	})
	return r, err
}

// spread is a summary for people.
func spread(s stats.Summary) string {
	return fmt.Sprintf("%.4g (%.4g to %.4g)", s.Median, s.Min, s.Max)
}

// machine is the line that says where figures come from.
func machine(ctx context.Context) (string, error) {
	kernels, err := kvasir.CPUKernels()
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("%d x %s, %s kernels, %s", runtime.NumCPU(), measure.CPU(), kernels, runtime.Version())
	// Not every copy of the sources has a history.
	if commit, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=commit %h of %cs").Output(); err == nil {
		line += ", " + strings.TrimSpace(string(commit))
	}
	return "`make bench-growth`: " + line + ".", nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/kvasir-engine/kvasir"
	"github.com/kvasir-engine/kvasir/internal/bench/measure"
	"github.com/kvasir-engine/kvasir/internal/bench/stats"
)

type benchCmd struct {
	Engine benchEngineCmd `cmd:"" default:"withargs" help:"Measure how fast a model reads prompts and writes answers on this machine (default)."`
	Prefix benchPrefixCmd `cmd:"" help:"Measure what a cached prefix saves until the first token."`
	Serve  benchServeCmd  `cmd:"" help:"Measure any server with the API of OpenAI under load."`
}

// Help is the second paragraph of the command's help.
func (*benchCmd) Help() string {
	return "\"kvasir bench [MODEL]\" is short for \"kvasir bench engine [MODEL]\"; \"kvasir bench engine --help\" tells its flags."
}

// benchFlags are for the commands that open an engine for themselves.
type benchFlags struct {
	PageSize            int    `group:"Engine" default:"16" enum:"16,32,64,128" placeholder:"TOKENS" help:"Size of a KV page: 16, 32, 64 or 128 (default: 16)."`
	KVCacheDtype        string `group:"Engine" name:"kv-cache-dtype" default:"auto" enum:"auto,f16,f32" placeholder:"TYPE" help:"Type of keys and values: f16, f32, or auto, which is f16 (default: auto)."`
	MaxNumBatchedTokens int    `group:"Engine" default:"512" placeholder:"TOKENS" help:"Most tokens computed in one step (default: 512)."`

	Repeat int  `group:"Output" default:"3" placeholder:"N" help:"Measurements of which median, least and most are told (default: 3)."`
	JSON   bool `group:"Output" name:"json" help:"Print JSON (docs/performance.md tells the fields)."`

	Model string `arg:"" optional:"" help:"GGUF file to run (default: the built-in model)."`
}

func (f *benchFlags) check() error {
	return check(bound{"repeat", float64(f.Repeat), 1, math.MaxFloat64}, bound{"max-num-batched-tokens", float64(f.MaxNumBatchedTokens), 1, math.MaxFloat64})
}

// atLeastOne checks a list of numbers.
func atLeastOne(flag string, values []int) error {
	if len(values) == 0 {
		return usage("--%s is empty; name a number, or several with commas between", flag)
	}
	for _, v := range values {
		if err := check(bound{flag, float64(v), 1, math.MaxFloat64}); err != nil {
			return err
		}
	}
	return nil
}

// config is that of an engine with room for so many sequences of this length, and pages pages.
func (f *benchFlags) config(a *app, threads, sequences, length, pages int) kvasir.Config {
	return kvasir.Config{
		Model: f.Model, Threads: threads, PageSize: f.PageSize, KVCacheDType: f.KVCacheDtype, MaxNumSeqs: sequences, MaxNumBatchedTokens: max(f.MaxNumBatchedTokens, sequences),
		MaxModelLen: length, MaxTotalTokens: pages * f.PageSize, Logger: warnings(a.err),
	}
}

// plan refuses what the model's context or the memory has no room for, before anything is measured.
func plan(cfg kvasir.Config, what string) (kvasir.Plan, error) {
	whole := cfg
	whole.MaxModelLen, whole.MaxTotalTokens = 0, 0
	p, err := kvasir.NewPlan(whole)
	if err != nil {
		return p, aboutModel(cfg.Model, err)
	}
	if cfg.MaxModelLen > p.ContextLength {
		return p, usage("%s need a context of %d tokens, and the model's is %d", what, cfg.MaxModelLen, p.ContextLength)
	}
	if p, err = kvasir.NewPlan(cfg); err != nil {
		return p, aboutModel(cfg.Model, err)
	}
	if p.PoolBytes > p.FreeBytes {
		return p, usage("%s need a KV cache of %s, and %s of memory are free", what, bytesText(p.PoolBytes), bytesText(p.FreeBytes))
	}
	return p, p.Refusal
}

// untilInterrupted runs f until it ends or Ctrl-C ends its context, which the exit status tells. A second Ctrl-C does not wait.
func untilInterrupted(f func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := f(ctx)
	if ctx.Err() != nil {
		return &exit{status: statusSignal + int(syscall.SIGINT)}
	}
	return err
}

// measured is where figures come from.
type measured struct {
	Model        string      `json:"model"`
	CPU          string      `json:"cpu"`
	CPUs         int         `json:"cpus"`
	Kernels      string      `json:"kernels"`
	KVCacheDType string      `json:"kv_cache_dtype"`
	PageSize     int         `json:"page_size"`
	WeightBytes  int64       `json:"weight_bytes"`
	StepBytes    int64       `json:"step_bytes"`
	Repeat       int         `json:"repeat"`
	Bandwidth    []bandwidth `json:"read_bandwidth,omitempty"`
}

// bandwidth is how fast so many threads read memory.
type bandwidth struct {
	Threads        int     `json:"threads"`
	BytesPerSecond float64 `json:"bytes_per_second"`
}

func newMeasured(p kvasir.Plan, repeat int) (measured, error) {
	kernels, err := kvasir.CPUKernels()
	return measured{Model: p.Model, CPU: measure.CPU(), CPUs: runtime.NumCPU(), Kernels: kernels, KVCacheDType: p.KVCacheDType, PageSize: p.PageSize,
		WeightBytes: p.WeightBytes, StepBytes: p.StepBytes, Repeat: repeat}, err
}

// print tells all of it in two lines.
func (m *measured) print(out io.Writer) error {
	if _, err := fmt.Fprintf(out, "%s, %s of weights; %d x %s, %s kernels; KV %s, pages of %d tokens; median (least to most) of %d\n", m.Model, bytesText(m.WeightBytes),
		m.CPUs, m.CPU, m.Kernels, m.KVCacheDType, m.PageSize, m.Repeat); err != nil {
		return err
	}
	for _, b := range m.Bandwidth {
		if _, err := fmt.Fprintf(out, "%d threads read %.1f GB/s from memory\n", b.Threads, b.BytesPerSecond/1e9); err != nil {
			return err
		}
	}
	return nil
}

// spread is a summary for people.
func spread(s stats.Summary) string {
	digits := 0
	if s.Median < 100 {
		digits = 1
	}
	return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, s.Median, digits, s.Min, digits, s.Max)
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// threadCounts are those asked for, or one a CPU.
func threadCounts(asked []int) ([]int, error) {
	if asked == nil {
		return []int{runtime.NumCPU()}, nil
	}
	return slices.Clone(asked), atLeastOne("threads", asked)
}

package main

import (
	"io"
	"math"
	"time"

	"github.com/alecthomas/kong"

	"github.com/kvasir-engine/kvasir"
)

type cli struct {
	Run     runCmd     `cmd:"" help:"Answer PROMPT, or chat in the terminal without one."`
	Serve   serveCmd   `cmd:"" help:"Serve the OpenAI-compatible HTTP API, or be a node of a cluster."`
	Gateway gatewayCmd `cmd:"" help:"Serve the HTTP API by the nodes of a cluster."`
	Up      upCmd      `cmd:"" help:"Run a cluster on this machine: a prefill node, a decode node and a gateway."`
	Check   checkCmd   `cmd:"" help:"Say whether a server with these flags would start, and the sum behind it."`
	Bench   benchCmd   `cmd:"" help:"Measure speed: of a model on this machine, or of any server under load."`
	Certs   certsCmd   `cmd:"" help:"Make certificates for the processes of a cluster, to try mutual TLS."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// newParser makes the parser of command lines. exit is called once help was printed.
func newParser(out, err io.Writer, exit func(int)) (*kong.Kong, error) {
	parser, problem := kong.New(&cli{},
		kong.Name("kvasir"),
		kong.Description("Runs large language models: GGUF files, or the built-in model."),
		kong.DefaultEnvars("KVASIR"),
		// Else the name of its variable would stand after each flag: noise, as envHelp tells the rule.
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }),
		kong.Writers(out, err),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
	)
	if problem != nil {
		return nil, problem
	}
	parser.Model.HelpFlag.Help = "Print this help."
	return parser, nil
}

// envHelp is part of the help of commands with flags.
const envHelp = "Flags can be set as environment variables too: --max-model-len is KVASIR_MAX_MODEL_LEN."

// engineFlags say what an engine is made of, for every command that opens one.
type engineFlags struct {
	Model           string `placeholder:"FILE" help:"GGUF file to run (default: the built-in model)."`
	ServedModelName string `placeholder:"NAME" help:"Name of the model for clients (default: the file's name without .gguf)."`
	Threads         int    `placeholder:"N" help:"Threads that compute (default: one a CPU)."`

	MaxModelLen         int           `placeholder:"TOKENS" help:"Longest prompt and answer together (default: the model's context, or what fits a quarter of the free memory)."`
	MaxTotalTokens      int           `placeholder:"TOKENS" help:"Size of the KV cache (default: --max-num-seqs requests of full length, within a quarter of the free memory)."`
	MaxNumSeqs          int           `placeholder:"N" help:"Most sequences computed together (default: 64 in serve, 1 in run)."`
	MaxNumBatchedTokens int           `default:"512" placeholder:"TOKENS" help:"Most tokens computed in one step (default: 512)."`
	MaxPrefillChunk     int           `placeholder:"TOKENS" help:"Most prompt tokens of one sequence in a step (default: --max-num-batched-tokens)."`
	TargetITL           time.Duration `name:"target-itl" placeholder:"TIME" help:"Longest time between two tokens of an answer to aim at, 50ms say: prompts are computed in smaller pieces while answers grow (default: none)."`
	MaxQueue            int           `default:"1024" placeholder:"N" help:"Most sequences that wait; more are refused (default: 1024)."`
	PageSize            int           `default:"16" enum:"16,32,64,128" placeholder:"TOKENS" help:"Size of a KV page: 16, 32, 64 or 128 (default: 16)."`
	KVCacheDtype        string        `name:"kv-cache-dtype" default:"auto" enum:"auto,f16,f32" placeholder:"TYPE" help:"Type of keys and values: f16, f32, or auto, which is f16 (default: auto)."`
	EnablePrefixCaching bool          `default:"true" negatable:"" help:"Reuse KV pages between requests of one tenant that begin alike (default: yes)."`
	Scrub               bool          `help:"Zero KV pages when they are freed."`
}

// bound is a number that a flag gave, and what it must be.
type bound struct {
	flag     string
	value    float64
	min, max float64
}

// check returns a usage error for the first bound that does not hold. NaN never does.
func check(bounds ...bound) error {
	for _, b := range bounds {
		switch {
		case b.value >= b.min && b.value <= b.max:
		case b.max >= math.MaxInt:
			return usage("--%s is %v; it must be at least %v", b.flag, b.value, b.min)
		default:
			return usage("--%s is %v; it must be %v to %v", b.flag, b.value, b.min, b.max)
		}
	}
	return nil
}

// config makes the engine's configuration. Sequences says how many are computed together if no flag does.
func (f *engineFlags) config(sequences int) (kvasir.Config, error) {
	atLeast := func(flag string, value, least int) bound {
		return bound{flag, float64(value), float64(least), math.MaxFloat64}
	}
	if f.TargetITL < 0 {
		return kvasir.Config{}, usage("--target-itl is %v; it must be at least 0", f.TargetITL)
	}
	if err := check(
		atLeast("threads", f.Threads, 0),
		atLeast("max-model-len", f.MaxModelLen, 0),
		atLeast("max-total-tokens", f.MaxTotalTokens, 0),
		atLeast("max-num-seqs", f.MaxNumSeqs, 0),
		atLeast("max-num-batched-tokens", f.MaxNumBatchedTokens, 1),
		atLeast("max-prefill-chunk", f.MaxPrefillChunk, 0),
		atLeast("max-queue", f.MaxQueue, 1),
	); err != nil {
		return kvasir.Config{}, err
	}
	if f.MaxNumSeqs > 0 {
		sequences = f.MaxNumSeqs
	}
	if f.MaxNumBatchedTokens < sequences {
		return kvasir.Config{}, usage("--max-num-batched-tokens is %d, less than the %d of --max-num-seqs; a step must have room for one token of each sequence",
			f.MaxNumBatchedTokens, sequences)
	}
	return kvasir.Config{
		Model:               f.Model,
		ServedModelName:     f.ServedModelName,
		Threads:             f.Threads,
		PageSize:            f.PageSize,
		KVCacheDType:        f.KVCacheDtype,
		MaxModelLen:         f.MaxModelLen,
		MaxTotalTokens:      f.MaxTotalTokens,
		MaxNumSeqs:          sequences,
		MaxNumBatchedTokens: f.MaxNumBatchedTokens,
		MaxPrefillChunk:     f.MaxPrefillChunk,
		TargetITL:           f.TargetITL,
		MaxQueue:            f.MaxQueue,
		DisablePrefixCache:  !f.EnablePrefixCaching,
		Scrub:               f.Scrub,
	}, nil
}

// samplingFlags say how an answer is made.
type samplingFlags struct {
	Temperature       float64 `placeholder:"T" help:"Randomness; 0 always takes the most likely token (default: 0)."`
	TopK              int     `placeholder:"K" help:"Draw from the K most likely tokens (default: all)."`
	TopP              float64 `placeholder:"P" help:"Draw from the most likely tokens that together have probability P (default: all)."`
	MinP              float64 `placeholder:"P" help:"Never draw tokens less likely than P times the most likely one (default: 0)."`
	Seed              *uint64 `placeholder:"N" help:"Repeat the draws of an earlier answer with this seed (default: a new one each time)."`
	RepetitionPenalty float64 `placeholder:"X" help:"Over 1: tokens seen before become less likely (default: off)."`
	MaxTokens         int     `placeholder:"TOKENS" help:"Longest answer (default: until the context is full)."`
}

// request makes a request that says how, and not yet what.
func (f *samplingFlags) request() (kvasir.Request, error) {
	err := check(
		bound{"temperature", f.Temperature, 0, math.MaxFloat64},
		bound{"top-k", float64(f.TopK), 0, math.MaxFloat64},
		bound{"top-p", f.TopP, 0, 1},
		bound{"min-p", f.MinP, 0, 1},
		bound{"repetition-penalty", f.RepetitionPenalty, 0, math.MaxFloat64},
		bound{"max-tokens", float64(f.MaxTokens), 0, math.MaxFloat64},
	)
	return kvasir.Request{
		MaxTokens: f.MaxTokens,
		Sampling: kvasir.Sampling{Temperature: f.Temperature, TopK: f.TopK, TopP: f.TopP, MinP: f.MinP, Seed: f.Seed,
			RepetitionPenalty: f.RepetitionPenalty},
	}, err
}

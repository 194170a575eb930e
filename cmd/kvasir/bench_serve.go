package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kvasir-engine/kvasir/internal/bench/load"
)

// defaultClients is how many clients there are if neither --request-rate nor --concurrency says.
const defaultClients = 8

type benchServeCmd struct {
	URL      string `group:"Server" name:"url" env:"KVASIR_BENCH_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Where the server is (default: http://127.0.0.1:8080)."`
	Model    string `group:"Server" env:"KVASIR_BENCH_MODEL" placeholder:"NAME" help:"Name of the model (default: the first that the server lists)."`
	APIKey   string `group:"Server" name:"api-key" env:"KVASIR_BENCH_API_KEY" placeholder:"KEY" help:"API key (default: none)."`
	Endpoint string `group:"Server" default:"completions" enum:"completions,chat" placeholder:"NAME" help:"completions or chat (default: completions)."`

	RequestRate float64       `group:"Load" placeholder:"R" help:"Requests a second on average, at random times (Poisson), whether or not others were answered (default: as --concurrency says)."`
	Concurrency int           `group:"Load" placeholder:"N" help:"Clients that each wait for an answer before they ask again; with --request-rate, most requests at once (default: 8, or no bound with --request-rate)."`
	NumPrompts  int           `group:"Load" default:"100" placeholder:"N" help:"Requests in all (default: 100)."`
	Warmup      int           `group:"Load" default:"4" placeholder:"N" help:"Requests before them that do not count (default: 4)."`
	Timeout     time.Duration `group:"Load" default:"10m" placeholder:"TIME" help:"Longest wait for one answer; 0s is for ever (default: 10m)."`
	Seed        uint64        `group:"Load" default:"1" placeholder:"N" help:"Of the times and the synthetic prompts (default: 1)."`

	Dataset      string `group:"Prompts" placeholder:"FILE" help:"Prompts, one JSON object a line: {\"prompt\": \"...\"} or {\"messages\": [...]}, and max_tokens if it differs (default: synthetic words)."`
	PromptTokens int    `group:"Prompts" default:"128" placeholder:"TOKENS" help:"Length of synthetic prompts, about a word a token (default: 128)."`
	MaxTokens    int    `group:"Prompts" default:"64" placeholder:"TOKENS" help:"Length of the answers (default: 64)."`
	IgnoreEOS    bool   `group:"Prompts" name:"ignore-eos" default:"true" negatable:"" help:"Ask for answers of full length, which OpenAI's own API refuses (default: yes)."`

	JSON bool `group:"Output" name:"json" help:"Print JSON (docs/performance.md tells the fields)."`
}

// Help is the second paragraph of the command's help.
func (*benchServeCmd) Help() string {
	return "Works with every server of OpenAI's API: kvasir serve, llama-server, vLLM. Answers are streamed, and each token is timed when its event arrives."
}

// loadReport is what --json prints.
type loadReport struct {
	URL         string  `json:"url"`
	Model       string  `json:"model"`
	Endpoint    string  `json:"endpoint"`
	RequestRate float64 `json:"request_rate"` // 0: as fast as the clients are answered
	Concurrency int     `json:"concurrency"`  // 0: no bound
	Interrupted bool    `json:"interrupted"`
	load.Report
}

// Run drives the server and prints what it showed.
func (c *benchServeCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	prompts, err := c.prompts()
	if err != nil {
		return err
	}
	return untilInterrupted(func(ctx context.Context) error {
		r, err := c.drive(ctx, prompts)
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(a.out, r)
		} else {
			err = r.print(a.out)
		}
		if err == nil && r.Answered == 0 {
			err = fmt.Errorf("no request was answered (%s)", r.Example)
		}
		return err
	})
}

func (c *benchServeCmd) check() error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usage("--url is %q; it must be like http://127.0.0.1:8080", c.URL)
	}
	if c.RequestRate == 0 && c.Concurrency == 0 {
		c.Concurrency = defaultClients
	}
	if c.Timeout < 0 {
		return usage("--timeout is %v; it must be 0s or more", c.Timeout)
	}
	return check(bound{"request-rate", c.RequestRate, 0, math.MaxFloat64}, bound{"concurrency", float64(c.Concurrency), 0, math.MaxFloat64},
		bound{"num-prompts", float64(c.NumPrompts), 1, math.MaxFloat64}, bound{"warmup", float64(c.Warmup), 0, math.MaxFloat64},
		bound{"prompt-tokens", float64(c.PromptTokens), 1, math.MaxFloat64}, bound{"max-tokens", float64(c.MaxTokens), 1, math.MaxFloat64})
}

// prompts are those of the warm-up and then those that count. A data set that is too short is begun anew.
func (c *benchServeCmd) prompts() ([]load.Prompt, error) {
	n := c.Warmup + c.NumPrompts
	if c.Dataset == "" {
		return load.Synthetic(n, c.PromptTokens, c.MaxTokens, c.Seed), nil
	}
	f, err := os.Open(c.Dataset)
	if err != nil {
		return nil, fmt.Errorf("--dataset: %w", err)
	}
	defer f.Close()
	set, err := load.ReadDataset(f, c.MaxTokens)
	if err != nil {
		return nil, fmt.Errorf("--dataset: %s: %w", c.Dataset, err)
	}
	prompts := make([]load.Prompt, 0, n)
	for len(prompts) < n {
		prompts = append(prompts, set[:min(len(set), n-len(prompts))]...)
	}
	return prompts, nil
}

// drive sends the warm-up, then the prompts that count.
func (c *benchServeCmd) drive(ctx context.Context, prompts []load.Prompt) (*loadReport, error) {
	cfg := load.Config{URL: c.URL, APIKey: c.APIKey, Model: c.Model, Chat: c.Endpoint == "chat", IgnoreEOS: c.IgnoreEOS, Timeout: c.Timeout,
		Rate: c.RequestRate, Concurrency: c.Concurrency, Seed: c.Seed}
	if cfg.Model == "" {
		names, err := load.Models(ctx, cfg)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--url %s: %w", c.URL, err)
		case len(names) == 0:
			return nil, usage("the server lists no models; --model says which one to ask for")
		}
		cfg.Model = names[0]
	}
	warm := cfg
	warm.Rate, warm.Concurrency = 0, max(c.Warmup, 1)
	answers, _ := load.Run(ctx, warm, prompts[:c.Warmup])
	for _, answer := range answers {
		if answer.Kind != "" && ctx.Err() == nil {
			return nil, fmt.Errorf("--url %s: warm-up: %s: %w", c.URL, answer.Kind, answer.Err)
		}
	}
	answers, took := load.Run(ctx, cfg, prompts[c.Warmup:])
	return &loadReport{URL: c.URL, Model: cfg.Model, Endpoint: c.Endpoint, RequestRate: c.RequestRate, Concurrency: c.Concurrency, Interrupted: ctx.Err() != nil,
		Report: load.NewReport(answers, took)}, nil
}

func (r *loadReport) print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, model %s: %s\n", r.URL, r.Endpoint, r.Model, r.pace())
	fmt.Fprintf(&b, "%d of %d requests answered in %.1f s", r.Answered, r.Requests, r.Seconds)
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		fmt.Fprintf(&b, "; %s: %d", kind, r.Errors[kind])
	}
	b.WriteByte('\n')
	if r.Example != "" {
		fmt.Fprintf(&b, "an error was: %s\n", escapeControls(r.Example))
	}
	if r.Answered > 0 {
		r.printFigures(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *loadReport) printFigures(b *strings.Builder) {
	fmt.Fprintf(b, "%.2f requests/s, %.1f output tokens/s\n", r.RequestsPerSecond, r.OutputTokensPerSecond)
	if r.Counted == load.CountedByUsage {
		fmt.Fprintf(b, "%d prompt tokens (%d cached), %d output tokens, by the server's count\n", r.PromptTokens, r.CachedTokens, r.OutputTokens)
	} else {
		fmt.Fprintf(b, "%d output tokens, by events of the streams: the server does not count them\n", r.OutputTokens)
	}
	fmt.Fprintf(b, "\n%-22s%10s%10s%10s%10s%10s\n", "milliseconds", "mean", "p50", "p90", "p99", "most")
	for _, row := range []struct {
		name string
		l    load.Latency
	}{{"first token (TTFT)", r.TTFT}, {"between tokens (ITL)", r.ITL}, {"per token (TPOT)", r.TPOT}, {"whole answer (E2E)", r.E2E}} {
		fmt.Fprintf(b, "%-22s%10.1f%10.1f%10.1f%10.1f%10.1f\n", row.name, 1e3*row.l.Mean, 1e3*row.l.P50, 1e3*row.l.P90, 1e3*row.l.P99, 1e3*row.l.Max)
	}
}

// pace says how requests were sent.
func (r *loadReport) pace() string {
	switch {
	case r.RequestRate == 0:
		return fmt.Sprintf("%d clients", r.Concurrency)
	case r.Concurrency == 0:
		return fmt.Sprintf("%v requests a second", r.RequestRate)
	}
	return fmt.Sprintf("%v requests a second, at most %d at once", r.RequestRate, r.Concurrency)
}

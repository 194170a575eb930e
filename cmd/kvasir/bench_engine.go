package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kvasir-engine/kvasir"
	"github.com/kvasir-engine/kvasir/internal/bench/measure"
	"github.com/kvasir-engine/kvasir/internal/bench/stats"
)

type benchEngineCmd struct {
	PromptTokens []int `group:"Cases" default:"128,512" placeholder:"TOKENS" help:"Lengths of the prompts (default: 128,512)."`
	GenTokens    int   `group:"Cases" default:"64" placeholder:"TOKENS" help:"Length of the answers (default: 64)."`
	Batch        []int `group:"Cases" default:"1,8" placeholder:"N" help:"Sequences at once (default: 1,8)."`
	Threads      []int `group:"Cases" placeholder:"N" help:"Threads that compute (default: one a CPU)."`

	benchFlags
}

// Help is the second paragraph of the command's help.
func (*benchEngineCmd) Help() string {
	return "Every case is one of --threads with one of --batch and one of --prompt-tokens. Prompts are random tokens. Of one sequence, decoding reads all weights for each token; " +
		"\"of bandwidth\" is how much of the memory's read bandwidth, measured in the same run with the same threads, that takes."
}

// speedRow is one case's figures. BandwidthShare is StepBytes times steps a second, of the read bandwidth.
type speedRow struct {
	Threads int `json:"threads"`
	measure.Case
	Prompt         stats.Summary `json:"prompt_tokens_per_second"`
	Decode         stats.Summary `json:"decode_tokens_per_second"`
	BandwidthShare float64       `json:"bandwidth_share"`
}

type speedReport struct {
	measured
	Rows []speedRow `json:"rows"`
}

// Run measures every case.
func (c *benchEngineCmd) Run(a *app) error {
	threads, err := threadCounts(c.Threads)
	if err != nil {
		return err
	}
	if err := errors.Join(c.benchFlags.check(), atLeastOne("prompt-tokens", c.PromptTokens), atLeastOne("batch", c.Batch), atLeastOne("gen-tokens", []int{c.GenTokens})); err != nil {
		return err
	}
	p, err := plan(c.engineConfig(a, threads[0]), "these --prompt-tokens, --gen-tokens and --batch")
	if err != nil {
		return err
	}
	report := speedReport{}
	if report.measured, err = newMeasured(p, c.Repeat); err != nil {
		return err
	}
	return untilInterrupted(func(ctx context.Context) error {
		speeds, err := measure.ReadBandwidth(ctx, threads)
		if err != nil {
			return err
		}
		for i, n := range threads {
			report.Bandwidth = append(report.Bandwidth, bandwidth{n, speeds[i]})
		}
		if !c.JSON {
			if err := printSpeedHead(a, &report.measured); err != nil {
				return err
			}
		}
		for i := range threads {
			if err := c.measure(ctx, a, &report, report.Bandwidth[i]); err != nil {
				return err
			}
		}
		if c.JSON {
			return printJSON(a.out, report)
		}
		return nil
	})
}

func (c *benchEngineCmd) cases() (all []measure.Case) {
	for _, batch := range c.Batch {
		for _, n := range c.PromptTokens {
			all = append(all, measure.Case{PromptTokens: n, GenTokens: c.GenTokens, Batch: batch})
		}
	}
	return all
}

// engineConfig has room for every case.
func (c *benchEngineCmd) engineConfig(a *app, threads int) kvasir.Config {
	sequences := slices.Max(c.Batch)
	budget := max(c.MaxNumBatchedTokens, sequences)
	length, pages := 0, 0
	for _, k := range c.cases() {
		length, pages = max(length, k.Context(budget)), max(pages, k.Pages(budget, c.PageSize))
	}
	return c.config(a, threads, sequences, length, pages+2*sequences) // the scheduler likes to have some in hand
}

// measure runs all cases with one engine.
func (c *benchEngineCmd) measure(ctx context.Context, a *app, report *speedReport, b bandwidth) (err error) {
	cfg := c.engineConfig(a, b.Threads)
	eng, err := a.load(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	random := rand.New(rand.NewPCG(1, uint64(b.Threads)))
	warm := measure.Case{PromptTokens: c.PromptTokens[0], GenTokens: 1, Batch: 1}
	if _, err := measure.Run(ctx, eng, warm, cfg.MaxNumBatchedTokens, random); err != nil {
		return err
	}
	for _, k := range c.cases() {
		row := speedRow{Threads: b.Threads, Case: k}
		var prompt, decode []float64
		for range c.Repeat {
			s, err := measure.Run(ctx, eng, k, cfg.MaxNumBatchedTokens, random)
			if err != nil {
				return err
			}
			prompt, decode = append(prompt, s.Prompt), append(decode, s.Decode)
		}
		row.Prompt, row.Decode = stats.Summarize(prompt), stats.Summarize(decode)
		row.BandwidthShare = float64(report.StepBytes) * row.Decode.Median / float64(k.Batch) / b.BytesPerSecond
		report.Rows = append(report.Rows, row)
		if !c.JSON {
			if err := printSpeedRow(a, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rows are printed as they come: the columns have fixed widths.
const speedColumns = "%8s%7s%8s%28s%28s%14s\n"

func printSpeedHead(a *app, m *measured) error {
	if err := m.print(a.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n"+speedColumns, "threads", "batch", "prompt", "prompt tokens/s", "decode tokens/s", "of bandwidth")
	return err
}

func printSpeedRow(a *app, r speedRow) error {
	_, err := fmt.Fprintf(a.out, speedColumns, fmt.Sprint(r.Threads), fmt.Sprint(r.Batch), fmt.Sprint(r.PromptTokens), spread(r.Prompt), spread(r.Decode),
		fmt.Sprintf("%.0f %%", 100*r.BandwidthShare))
	return err
}

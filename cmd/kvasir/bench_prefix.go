package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/kvasir-engine/kvasir"
	"github.com/kvasir-engine/kvasir/internal/bench/measure"
	"github.com/kvasir-engine/kvasir/internal/bench/stats"
)

type benchPrefixCmd struct {
	PrefixTokens int   `group:"Cases" default:"512" placeholder:"TOKENS" help:"Tokens that both prompts begin with (default: 512)."`
	NewTokens    int   `group:"Cases" default:"20" placeholder:"TOKENS" help:"Tokens of its own that each prompt has after them (default: 20)."`
	Threads      []int `group:"Cases" placeholder:"N" help:"Threads that compute (default: one a CPU)."`

	benchFlags
}

// Help is the second paragraph of the command's help.
func (*benchPrefixCmd) Help() string {
	return "Sends two prompts that begin alike, one after the other, and tells the time to the first token of each."
}

type prefixRow struct {
	Threads int `json:"threads"`
	measure.Prefix
	CachedTokens int           `json:"cached_tokens"`
	Cold         stats.Summary `json:"cold_seconds"` // time to the first token of the first request
	Warm         stats.Summary `json:"warm_seconds"` // and of the second
	Ratio        stats.Summary `json:"ratio"`        // second to first
}

type prefixReport struct {
	measured
	Rows []prefixRow `json:"rows"`
}

// Run measures with each number of threads.
func (c *benchPrefixCmd) Run(a *app) error {
	threads, err := threadCounts(c.Threads)
	if err != nil {
		return err
	}
	if err := errors.Join(c.benchFlags.check(), atLeastOne("prefix-tokens", []int{c.PrefixTokens}), atLeastOne("new-tokens", []int{c.NewTokens})); err != nil {
		return err
	}
	p, err := plan(c.engineConfig(a, threads[0]), "--prefix-tokens and --new-tokens")
	if err != nil {
		return err
	}
	report := prefixReport{}
	if report.measured, err = newMeasured(p, c.Repeat); err != nil {
		return err
	}
	return untilInterrupted(func(ctx context.Context) error {
		for _, n := range threads {
			row, err := c.measure(ctx, a, n)
			if err != nil {
				return err
			}
			report.Rows = append(report.Rows, row)
		}
		if c.JSON {
			return printJSON(a.out, report)
		}
		return report.print(a)
	})
}

func (c *benchPrefixCmd) measure(ctx context.Context, a *app, threads int) (row prefixRow, err error) {
	row = prefixRow{Threads: threads, Prefix: c.prefix()}
	eng, err := a.load(ctx, c.engineConfig(a, threads))
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	random := rand.New(rand.NewPCG(2, uint64(threads)))
	if _, err := measure.FirstTokensOf(ctx, eng, measure.Prefix{PrefixTokens: min(16, c.PrefixTokens), NewTokens: 1}, random); err != nil { // warm up
		return row, err
	}
	var cold, warm, ratio []float64
	for range c.Repeat {
		f, err := measure.FirstTokensOf(ctx, eng, c.prefix(), random)
		if err != nil {
			return row, err
		}
		cold, warm, ratio = append(cold, f.Cold.Seconds()), append(warm, f.Warm.Seconds()), append(ratio, f.Warm.Seconds()/f.Cold.Seconds())
		row.CachedTokens = f.Cached
	}
	row.Cold, row.Warm, row.Ratio = stats.Summarize(cold), stats.Summarize(warm), stats.Summarize(ratio)
	return row, nil
}

func (c *benchPrefixCmd) prefix() measure.Prefix {
	return measure.Prefix{PrefixTokens: c.PrefixTokens, NewTokens: c.NewTokens}
}

// engineConfig has room for what MeasurePrefix leaves in the cache, and then some.
func (c *benchPrefixCmd) engineConfig(a *app, threads int) kvasir.Config {
	length := c.prefix().Context()
	return c.config(a, threads, 1, length, 2*((length+c.PageSize-1)/c.PageSize)+2)
}

func (r *prefixReport) print(a *app) error {
	if err := r.measured.print(a.out); err != nil {
		return err
	}
	const columns = "%8s%8s%6s%8s%28s%28s%26s\n"
	_, err := fmt.Fprintf(a.out, "\n"+columns, "threads", "prefix", "new", "cached", "first request, ms", "second request, ms", "second to first, %")
	for _, row := range r.Rows {
		if err == nil {
			_, err = fmt.Fprintf(a.out, columns, fmt.Sprint(row.Threads), fmt.Sprint(row.PrefixTokens), fmt.Sprint(row.NewTokens), fmt.Sprint(row.CachedTokens),
				spread(row.Cold.Times(1000)), spread(row.Warm.Times(1000)), spread(row.Ratio.Times(100)))
		}
	}
	return err
}

// Command growth measures how times grow: that of decoding a token with the context, that of a step with the sequences in it, that of scheduler and pool with the
// requests that wait. It also measures the time to the first token where the beginning of a prompt is cached. It draws the plots of docs/performance.md and writes its tables.
//
//	go run ./internal/bench/growth          (in the folder of the module; "make bench-growth")
//	go run ./internal/bench/growth -quick   a look in a minute, at small sizes; nothing is written
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	quick := flag.Bool("quick", false, "small sizes; nothing is written")
	page := flag.String("page", "docs/performance.md", "page whose tables are replaced; the plots lie in a folder of the same name without .md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *quick, *page); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// run measures everything and then writes it, so that the page never mixes two runs.
func run(ctx context.Context, quick bool, page string) (err error) {
	s := full
	if quick {
		s = small
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kvasir-growth-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	results, err := measureAll(ctx, s, filepath.Join(folder, "layer.gguf"))
	if err != nil {
		return err
	}
	where, err := machine(ctx)
	if err != nil {
		return err
	}
	plots := page[:len(page)-len(filepath.Ext(page))]
	for _, r := range results {
		if text, err = replace(text, r.name, r.table+"\n"+where+"\n"); err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
	}
	if quick {
		return nil
	}
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	for _, r := range results {
		if r.chart == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(plots, r.name+".svg"), r.chart.SVG(), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(page, text, 0o644)
}

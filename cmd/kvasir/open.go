package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/kvasir-engine/kvasir"
)

// load opens an engine, with a bar on the terminal if that takes long. It returns as soon as ctx ends, though the work may go on: the process is to end then.
func (a *app) load(ctx context.Context, cfg kvasir.Config) (engine, error) {
	if a.errTerminal {
		bar := newLoadBar(a.err)
		defer bar.finish()
		cfg.Progress = bar.report
	}
	type opened struct {
		eng engine
		err error
	}
	done := make(chan opened, 1)
	go func() {
		eng, err := a.open(ctx, cfg)
		done <- opened{eng, err}
	}()
	select {
	case o := <-done:
		return o.eng, aboutModel(cfg.Model, o.err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// aboutModel puts the flag before an error that names its file, as the errors of other flags begin with theirs.
func aboutModel(file string, err error) error {
	if err == nil || file == "" {
		return err
	}
	if text := err.Error(); strings.Contains(text, " "+file+":") || strings.Contains(text, " "+file+" ") {
		return fmt.Errorf("--model: %w", err)
	}
	return err
}

// patience is how long loading may take without a bar.
const patience = 300 * time.Millisecond

// loadBar shows how much of a model is loaded.
type loadBar struct {
	out   io.Writer
	now   func() time.Time
	begun time.Time

	mu   sync.Mutex
	bar  *progressbar.ProgressBar // nil until patience is over
	over bool
}

func newLoadBar(out io.Writer) *loadBar {
	return &loadBar{out: out, now: time.Now, begun: time.Now()}
}

// report is a kvasir.Config's Progress.
func (b *loadBar) report(done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	if b.bar == nil {
		if done >= total || b.now().Sub(b.begun) < patience {
			return
		}
		b.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(b.out),
			progressbar.OptionSetDescription(fmt.Sprintf("loading %d MiB", total>>20)),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
		)
	}
	b.bar.Set64(done) // a bar that cannot be drawn is no reason not to load
}

// finish takes the bar away.
func (b *loadBar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.bar != nil {
		b.bar.Clear()
	}
}

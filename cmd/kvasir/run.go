package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/kvasir-engine/kvasir"
)

// maxPromptBytes bounds what is read from standard input: far more than fits any context, far less than memory.
const maxPromptBytes = 32 << 20

type runCmd struct {
	samplingFlags `group:"Answer"`

	System    string `group:"Answer" placeholder:"TEXT" help:"System message (default: none)."`
	Raw       bool   `group:"Answer" help:"Use PROMPT as it is, without the model's chat template."`
	Stats     bool   `group:"Terminal" help:"Print tokens and speed to standard error at the end."`
	NoHistory bool   `group:"Terminal" help:"Keep the lines typed in a chat in memory only, not in the file kvasir/history of the user's cache folder."`

	engineFlags `group:"Engine"`

	Prompt []string `arg:"" optional:"" help:"What to answer; words are joined by spaces. \"-\", or nothing where standard input is no terminal, reads it from there."`
}

// Help is the second paragraph of the command's help.
func (*runCmd) Help() string { return envHelp }

// Run answers the prompt, or chats.
func (c *runCmd) Run(a *app) error {
	cfg, err := c.config(1)
	if err != nil {
		return err
	}
	cfg.Logger = warnings(a.err)
	req, err := c.request()
	if err != nil {
		return err
	}
	if c.Raw && c.System != "" {
		return usage("--raw and --system exclude each other: without a chat template there is no system message")
	}
	if len(c.Prompt) == 0 && a.inTerminal {
		return c.chat(a, cfg, req)
	}
	prompt, err := c.prompt(a.in)
	if err != nil {
		return err
	}
	if c.Raw {
		req.Prompt = prompt
	} else {
		req.Messages = append(withSystem(c.System), kvasir.Message{Role: "user", Content: prompt})
	}
	return c.once(a, cfg, req)
}

// prompt returns the prompt: the arguments, or what in says.
func (c *runCmd) prompt(in io.Reader) (string, error) {
	prompt := strings.Join(c.Prompt, " ")
	if len(c.Prompt) == 0 || prompt == "-" {
		read, err := io.ReadAll(io.LimitReader(in, maxPromptBytes+1))
		switch {
		case err != nil:
			return "", fmt.Errorf("read the prompt from standard input: %w", err)
		case len(read) > maxPromptBytes:
			return "", usage("the prompt on standard input is longer than %d MiB", maxPromptBytes>>20)
		case !utf8.Valid(read):
			return "", usage("the prompt on standard input is not UTF-8 text")
		}
		prompt = string(read)
		if !c.Raw {
			prompt = strings.TrimSuffix(strings.TrimSuffix(prompt, "\n"), "\r")
		}
	}
	if prompt == "" {
		return "", usage("the prompt is empty: give PROMPT, or text on standard input")
	}
	return prompt, nil
}

// once answers one request.
func (c *runCmd) once(a *app, cfg kvasir.Config, req kvasir.Request) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	defer func() {
		if ctx.Err() != nil {
			err = &exit{status: statusSignal + int(syscall.SIGINT)}
		}
	}()

	eng, err := a.load(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()

	p := &printer{w: a.out, escape: a.outTerminal}
	o, err := p.stream(eng.Generate(ctx, req))
	if err != nil {
		return err
	}
	if o.full(eng.Model().ContextLength) {
		fmt.Fprintf(a.err, "kvasir: the answer was cut: the context of %d tokens is full\n", eng.Model().ContextLength)
	}
	if c.Stats {
		fmt.Fprintln(a.err, o.String())
	}
	return nil
}

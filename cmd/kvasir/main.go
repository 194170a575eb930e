// Command kvasir runs large language models on this machine.
//
//	kvasir run [PROMPT...]   one answer, or a chat in the terminal
//	kvasir serve             the OpenAI-compatible HTTP API, or a node of a cluster
//	kvasir gateway           the HTTP API for a cluster's clients
//	kvasir up                a cluster on this machine, to try it
//	kvasir check             whether a server with these flags would start
//	kvasir bench             speed of a model, or of a server
//	kvasir certs             certificates for a cluster, to try it
//	kvasir check             whether a server would start with these flags, and why
//	kvasir bench [MODEL]     how fast a model is here; "bench serve": how fast any server is
//	kvasir version           what was built, and for what
//
// Without --model it runs the built-in model. Every flag can also be set as an environment variable, which its help names.
//
// Answers go to standard output and nothing else does; warnings, errors, logs and --stats go to standard error. The exit status is 0, or
// 1 after a failure, 2 when the command line cannot be used, and 128 and the signal's number when a signal ended an answer or a chat.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/kvasir-engine/kvasir"
)

func main() {
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTerminal: terminal(os.Stdin), outTerminal: terminal(os.Stdout), errTerminal: terminal(os.Stderr),
		open:        openEngine,
		openGateway: openGateway,
		notify:      signal.Notify,
	}
	os.Exit(a.run(os.Args[1:]))
}

// app is what the commands need of the world.
type app struct {
	in                                   io.Reader
	out, err                             io.Writer
	inTerminal, outTerminal, errTerminal bool

	open        func(context.Context, kvasir.Config) (engine, error)
	openGateway func(context.Context, kvasir.GatewayConfig) (engine, error)
	notify      func(c chan<- os.Signal, sig ...os.Signal)
}

// engine is what the commands need of a kvasir.Engine.
type engine interface {
	Generate(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error]
	// Converse begins a conversation whose turns are like req, with a system message if system is not empty.
	Converse(req kvasir.Request, system string) conversation
	Model() kvasir.ModelInfo
	// NodeAddr is where other processes of a cluster reach this one; empty if it is none of its nodes.
	NodeAddr() string
	Handler(...kvasir.HandlerOption) http.Handler
	Health() error
	Failed() <-chan struct{}
	Drain(context.Context) error
	Close() error
}

// conversation is what a chat needs of a kvasir.Chat.
type conversation interface {
	Say(ctx context.Context, text string) iter.Seq2[kvasir.Token, error]
}

type realEngine struct{ *kvasir.Engine }

func (e realEngine) Converse(req kvasir.Request, system string) conversation {
	c := e.Chat(withSystem(system)...)
	c.Request = req
	return c
}

func openEngine(ctx context.Context, cfg kvasir.Config) (engine, error) {
	e, err := kvasir.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return realEngine{e}, nil
}

// withSystem is the beginning of a conversation.
func withSystem(system string) []kvasir.Message {
	if system == "" {
		return nil
	}
	return []kvasir.Message{{Role: "system", Content: system}}
}

const (
	statusFailed = 1
	statusUsage  = 2
	statusSignal = 128 // and the signal's number
)

// exit is an error that has its own exit status. Without an error nothing is printed.
type exit struct {
	status int
	err    error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return &exit{statusUsage, fmt.Errorf(format, args...)}
}

// run runs a command line and returns its exit status.
func (a *app) run(args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	helped := false
	parser, err := newParser(a.out, a.err, func(int) { helped = true })
	if err != nil {
		panic(err) // our own tags
	}
	k, err := parser.Parse(args)
	if helped {
		return 0
	}
	if err != nil {
		return a.fail(usage("%w\n%s", err, hint(err)))
	}
	return a.fail(k.Run(a))
}

// hint says where the help is for the command that err is about.
func hint(err error) string {
	name := "kvasir"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Command() != "" {
		name += " " + strings.Fields(parse.Context.Command())[0]
	}
	return "Run \"" + name + " --help\" for what there is."
}

// fail prints err, if there is one, and returns the exit status.
func (a *app) fail(err error) int {
	if err == nil {
		return 0
	}
	status := statusFailed
	var e *exit
	if errors.As(err, &e) {
		status = e.status
		if e.err == nil {
			return status
		}
	}
	fmt.Fprintln(a.err, "kvasir: "+plain(err))
	return status
}

// plain is an error's text without the prefix that would repeat the command's name.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "kvasir: ") }

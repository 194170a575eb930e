package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/kvasir-engine/kvasir"
)

const chatHelp = `  /clear         forget the conversation; the system message stays
  /system TEXT   begin a new conversation with this system message
  /system        show the system message
  /bye           leave, as Ctrl-D does
  /help          show this

  A line that ends with \ goes on with the next one.
  Lines between """ and """ are one message, and so are lines that are pasted.
  Ctrl-C stops an answer, or throws a line away; on an empty line it leaves.
`

// chat is a session in the terminal.
type chat struct {
	eng    engine
	lines  lineReader
	out    io.Writer
	answer printer
	stats  io.Writer // nil: none

	req    kvasir.Request
	system string
	talk   conversation
	turns  int // of this conversation
}

// chat opens an engine and talks until the person leaves.
func (c *runCmd) chat(a *app, cfg kvasir.Config, req kvasir.Request) (err error) {
	switch {
	case !a.outTerminal:
		return usage("a chat needs a terminal to write to: give PROMPT, or do not redirect standard output")
	case c.Raw:
		return usage("--raw needs PROMPT: a chat uses the model's chat template")
	}
	ctx, stop := untilSignal(syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	defer func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()

	eng, err := c.loadForChat(ctx, a, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()

	history := ""
	if !c.NoHistory {
		history = historyFile()
	}
	ed, err := newEditor(os.Stdin, a.out, history)
	if err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	defer ed.Close()
	defer context.AfterFunc(ctx, ed.leave)()

	s := &chat{eng: eng, lines: ed, out: a.out, answer: printer{w: a.out, escape: true}, req: req, system: c.System}
	if c.Stats {
		s.stats = a.err
	}
	return s.run(ctx)
}

// untilSignal returns a context that ends when one of sigs comes. Its cause is an *exit with that signal's status.
func untilSignal(sigs ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	came := make(chan os.Signal, 1)
	signal.Notify(came, sigs...)
	go func() {
		select {
		case sig := <-came:
			n, _ := sig.(syscall.Signal)
			cancel(&exit{status: statusSignal + int(n)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(nil)
	}
}

// loadForChat opens the engine. Ctrl-C gives up.
func (c *runCmd) loadForChat(ctx context.Context, a *app, cfg kvasir.Config) (engine, error) {
	loading, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	eng, err := a.load(loading, cfg)
	if loading.Err() != nil && err != nil {
		return nil, &exit{status: statusSignal + int(syscall.SIGINT)}
	}
	return eng, err
}

// run talks until the person leaves or the engine fails.
func (s *chat) run(ctx context.Context) error {
	m := s.eng.Model()
	fmt.Fprintf(s.out, "%s, a context of %d tokens. /help shows the commands, Ctrl-D leaves.\n", m.Name, m.ContextLength)
	s.clear()
	for {
		text, quoted, err := readMessage(s.lines)
		switch {
		case ctx.Err() != nil, errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errInterrupted):
			continue
		case err != nil:
			return fmt.Errorf("read from the terminal: %w", err)
		case strings.TrimSpace(text) == "":
			continue
		}
		if name, rest, ok := command(text); ok && !quoted {
			if leave := s.command(name, rest); leave {
				return nil
			}
			continue
		}
		if err := s.say(ctx, text); err != nil {
			return err
		}
	}
}

func (s *chat) clear() { s.talk, s.turns = s.eng.Converse(s.req, s.system), 0 }

var commandForm = regexp.MustCompile(`^\s*/([a-z]+|\?)(?:\s+((?s:.*)))?$`)

// command splits "/name rest". A path like /etc/hosts is no command.
func command(text string) (name, rest string, ok bool) {
	m := commandForm.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

func (s *chat) command(name, rest string) (leave bool) {
	switch name {
	case "bye":
		return true
	case "help", "?":
		io.WriteString(s.out, chatHelp)
	case "clear":
		s.clear()
		s.note("The conversation is forgotten.")
	case "system":
		s.setSystem(rest)
	default:
		s.note("There is no /%s; /help shows the commands.", name)
	}
	return false
}

func (s *chat) setSystem(text string) {
	switch {
	case text != "":
		s.system = text
		s.clear()
		s.note("A new conversation begins with this system message.")
	case s.system != "":
		s.note("System message: %s", escapeControls(s.system))
	default:
		s.note("There is no system message.")
	}
}

// note tells the person something that is no answer.
func (s *chat) note(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// say streams the answer to text. Its error ends the chat.
func (s *chat) say(ctx context.Context, text string) error {
	turn, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	o, err := s.answer.stream(s.talk.Say(turn, text))
	if o.begun() { // else the conversation is as it was
		s.turns++
	}
	context := s.eng.Model().ContextLength
	var refused *kvasir.Rejection
	switch {
	case turn.Err() != nil:
		return nil
	case errors.Is(err, kvasir.ErrContextLength) && errors.As(err, &refused):
		s.refused(refused)
		return nil
	case errors.Is(err, kvasir.ErrEngineFailed), errors.Is(err, kvasir.ErrClosed):
		return err
	case err != nil:
		s.note("This failed: %s", plain(err))
		return nil
	}
	if o.full(context) {
		s.note("The context of %d tokens is full: the answer ends here. /clear forgets the conversation; then go on.", context)
	}
	if s.stats != nil {
		fmt.Fprintln(s.stats, o.String())
	}
	return nil
}

// refused tells how to go on after a message that no longer fits the context.
func (s *chat) refused(r *kvasir.Rejection) {
	if s.turns == 0 {
		s.note("This message does not fit: with it the conversation has %d tokens, and the context %d. Say it shorter.", r.Have, r.Max)
		return
	}
	s.note("The context is full: with this message the conversation has %d tokens, and the context %d. The message was not taken.", r.Have, r.Max)
	s.note("/clear forgets the conversation; then go on.")
}

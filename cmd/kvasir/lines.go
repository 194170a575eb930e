package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/chzyer/readline"
)

// lineReader reads lines that a person types.
type lineReader interface {
	// ReadLine returns a line without its newline; a paste in it may have several lines. io.EOF: the person leaves. errInterrupted: Ctrl-C was typed; the line is what it took back.
	ReadLine(prompt string) (string, error)
}

var errInterrupted = errors.New("interrupted")

const (
	firstPrompt = ">>> "
	morePrompt  = "... "
	quotes      = `"""`
)

// readMessage reads one message, which is a line, or several: a line that ends with a backslash goes on with the next one, and what stands between two
// """ is taken as it is. quoted says that the message was given so: then it is no command. errInterrupted: an unfinished message was thrown away.
func readMessage(lines lineReader) (text string, quoted bool, err error) {
	line, err := lines.ReadLine(firstPrompt)
	switch {
	case errors.Is(err, errInterrupted) && line == "":
		return "", false, io.EOF
	case err != nil:
		return "", false, err
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), quotes); ok {
		text, err = readQuoted(lines, rest)
		return text, true, err
	}
	for strings.HasSuffix(line, `\`) {
		more, err := lines.ReadLine(morePrompt)
		if err != nil {
			return "", false, err
		}
		line = strings.TrimSuffix(line, `\`) + "\n" + more
	}
	return line, false, nil
}

// readQuoted reads on to the closing """. line is what follows the opening ones.
func readQuoted(lines lineReader, line string) (string, error) {
	var block []string
	for {
		trimmed := strings.TrimRight(line, " \t")
		if end, ok := strings.CutSuffix(trimmed, quotes); ok {
			block = append(block, end)
			break
		}
		block = append(block, line)
		var err error
		if line, err = lines.ReadLine(morePrompt); err != nil {
			return "", err
		}
	}
	block = strings.Split(strings.Join(block, "\n"), "\n") // a paste is several lines
	// The lines of the quotes themselves say nothing where nothing else is on them.
	if len(block) > 1 && strings.TrimSpace(block[0]) == "" {
		block = block[1:]
	}
	if last := len(block) - 1; last > 0 && block[last] == "" {
		block = block[:last]
	}
	return strings.Join(block, "\n"), nil
}

// editor reads lines from the terminal, with editing and history. The terminal is in raw mode while it reads only.
type editor struct {
	rl    *readline.Instance
	input *readline.CancelableStdin
	out   io.Writer
}

// newEditor makes an editor whose history is also kept in a file, unless history is empty.
func newEditor(in io.Reader, out io.Writer, history string) (*editor, error) {
	k := &keys{in: in}
	e := &editor{input: readline.NewCancelableStdin(k), out: out}
	rl, err := readline.NewEx(&readline.Config{
		Stdin:       e.input,
		Stdout:      out,
		Stderr:      out,
		HistoryFile: history,
		EOFPrompt:   "\n", // none
		Listener:    k,
		Painter:     k,
		FuncFilterInputRune: func(r rune) (rune, bool) {
			if r != readline.CharCtrlZ {
				return r, true
			}
			// The library's way would stop the parent process too.
			e.suspend()
			return readline.CharBell, true // which does nothing
		},
	})
	if err != nil {
		return nil, err
	}
	e.rl = rl
	return e, nil
}

func (e *editor) suspend() {
	io.WriteString(e.out, pasteOff)
	e.rl.Terminal.ExitRawMode()
	suspendProcess()
	e.rl.Terminal.EnterRawMode()
	io.WriteString(e.out, pasteOn)
	e.rl.Refresh()
}

// ReadLine implements lineReader.
func (e *editor) ReadLine(prompt string) (string, error) {
	// Ctrl-C is a character here. This is for the signal sent by others, which must not leave the terminal raw.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, e.leave)()

	io.WriteString(e.out, pasteOn) // where it fails, so does what readline writes
	defer io.WriteString(e.out, pasteOff)
	e.rl.SetPrompt(prompt)
	line, err := e.rl.Readline()
	line = fromMarks.Replace(line)
	switch {
	case ctx.Err() != nil:
		return "", io.EOF
	case errors.Is(err, readline.ErrInterrupt):
		return line, errInterrupted
	}
	return line, err
}

// leave ends ReadLine, now and ever, as the end of the input would. Any goroutine may call it.
func (e *editor) leave() { e.input.Close() }

// Close restores the terminal.
func (e *editor) Close() error {
	e.leave() // else the library waits for one more key
	return e.rl.Close()
}

// historyFile returns where the lines typed in chats are kept: in the user's cache folder, readable by the user alone. It is empty where there is no such
// place; then lines are remembered until the chat ends.
func historyFile() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	folder := filepath.Join(cache, "kvasir")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return ""
	}
	path := filepath.Join(folder, "history")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return ""
	}
	f.Close()
	return path
}

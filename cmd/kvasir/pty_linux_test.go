package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const (
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
)

// terminal is a pseudo-terminal with a chat in it.
type terminal struct {
	t       *testing.T
	command *exec.Cmd
	keys    *os.File // our side
	screen  *os.File // the side of the chat, held so that its settings can be looked at
	before  unix.Termios
	printed output
	seen    int // bytes of printed that shows has been over
}

// startChat runs "kvasir run" with args in a terminal. Its cache folder is cache.
func startChat(t *testing.T, cache string, args ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, command: theCommand(t, append([]string{"run"}, args...)...)}
	term.keys, term.screen = openPty(t)
	term.before = term.settings()

	c := term.command
	c.Stdin, c.Stdout, c.Stderr = term.screen, term.screen, term.screen
	c.Env = append(c.Env, "XDG_CACHE_HOME="+cache, "TERM=xterm")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := term.keys.Read(buf)
			term.printed.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	term.shows("/help shows the commands", firstPrompt)
	return term
}

// openPty opens a pseudo-terminal of 80 columns and 24 rows (pty(7)).
func openPty(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { ours.Close() })
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

func (term *terminal) settings() unix.Termios {
	term.t.Helper()
	s, err := unix.IoctlGetTermios(int(term.screen.Fd()), unix.TCGETS)
	if err != nil {
		term.t.Fatal(err)
	}
	return *s
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.keys.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// shows waits until these texts have been printed, one after the other, after what earlier calls waited for.
func (term *terminal) shows(texts ...string) {
	term.t.Helper()
	for _, text := range texts {
		eventually(term.t, fmt.Sprintf("the terminal shows %q", text), func() bool {
			rest := term.printed.String()[term.seen:]
			i := strings.Index(rest, text)
			if i < 0 {
				return false
			}
			term.seen += i + len(text)
			return true
		})
	}
}

// ends waits for the end of the chat, and looks whether the terminal is as it was.
func (term *terminal) ends(status int) {
	term.t.Helper()
	if got := exitStatus(term.t, term.command); got != status {
		term.t.Errorf("exit status %d, want %d:\n%s", got, status, term.printed.String())
	}
	if diff := cmp.Diff(term.before, term.settings()); diff != "" {
		term.t.Errorf("the terminal is not as it was (-before +after):\n%s", diff)
	}
}

func TestChatInATerminal(t *testing.T) {
	term := startChat(t, t.TempDir())
	if cmp.Equal(term.before, term.settings()) {
		t.Error("the terminal is not in raw mode at the prompt, so this test cannot see whether it is restored")
	}
	term.press(doorQuestion + enter)
	term.shows("The door code is "+doorCode+".\r\n", firstPrompt)
	term.press(up)
	term.shows(doorQuestion)
	term.press(enter)
	term.shows("The door code is "+doorCode+".\r\n", firstPrompt)
	term.press("thrown away" + ctrlC)
	term.shows("^C", firstPrompt)
	term.press(`"""` + enter)
	term.shows(morePrompt)
	term.press(ctrlC)
	term.shows("^C", firstPrompt)
	term.press("/bye" + enter)
	term.ends(0)
}

func TestPastedLinesInATerminal(t *testing.T) {
	term := startChat(t, t.TempDir())
	term.press("/system " + pasteBegin + "one\rtwo\n" + pasteEnd)
	term.shows("one↵two")
	term.press(enter)
	term.shows("A new conversation", firstPrompt)
	term.press("/system" + enter)
	term.shows("System message: one\r\ntwo\r\n", firstPrompt)
	term.press(up + up)
	term.shows("one↵two")
	term.press(ctrlC)
	term.shows("^C", firstPrompt)
	term.press(ctrlD)
	term.shows(pasteOff) // the terminal's next user does not know of it
	term.ends(0)
}

func TestTheDeleteKeyInATerminal(t *testing.T) {
	const left = "\x1b[D"
	term := startChat(t, t.TempDir())
	term.press(deleteKey + "/helpx" + left + deleteKey + enter) // on an empty line it does nothing
	term.shows("/system TEXT", firstPrompt)
	term.press("/bye" + enter)
	term.ends(0)
}

func TestChatHistoryOutlivesTheChat(t *testing.T) {
	cache := t.TempDir()
	for range 2 {
		term := startChat(t, cache)
		term.press(doorQuestion + enter)
		term.shows(doorCode+".\r\n", firstPrompt)
		term.press(ctrlD)
		term.ends(0)
	}
	file := filepath.Join(cache, "kvasir", "history")
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want the mode %v", path, info.Mode(), err, want)
		}
	}
	term := startChat(t, cache)
	term.press(up + enter)
	term.shows(doorCode+".\r\n", firstPrompt)
	term.press(ctrlC) // on an empty line
	term.ends(0)
}

func TestChatWithoutHistory(t *testing.T) {
	cache := t.TempDir()
	term := startChat(t, cache, "--no-history")
	term.press("/help" + enter)
	term.shows("/bye", firstPrompt)
	term.press(up)
	term.shows("/help")
	term.press(enter)
	term.shows("/bye", firstPrompt)
	term.press(ctrlD)
	term.ends(0)
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("the cache folder has %v, %v", left, err)
	}
}

func TestCtrlCInATerminalStopsTheAnswerOnly(t *testing.T) {
	term := startChat(t, t.TempDir(), endlessly...)
	term.press("Tell me a story." + enter)
	term.shows("story.\r\n")
	begun := len(term.printed.String()) + 20
	eventually(t, "an answer begins", func() bool { return len(term.printed.String()) > begun })
	term.press(ctrlC)
	term.shows("^C", "\r\n", firstPrompt)
	if strings.Contains(term.printed.String(), "The context") {
		t.Errorf("the answer was not stopped:\n%s", term.printed.String())
	}
	term.press("/clear" + enter)
	term.shows("forgotten", firstPrompt)
	term.press("/bye" + enter)
	term.ends(0)
}

func TestSignalsFromOthersRestoreTheTerminal(t *testing.T) {
	for sig, status := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGINT: 0} {
		t.Run(sig.String(), func(t *testing.T) {
			term := startChat(t, t.TempDir())
			term.press("half a line")
			term.shows("half a line")
			term.command.Process.Signal(sig)
			term.ends(status)
		})
	}
}

// A prompt on the command line is answered in a terminal too, and neither raw mode nor escape codes are needed for that.
func TestRunInATerminal(t *testing.T) {
	c := theCommand(t, "run", doorQuestion)
	ours, theirs := openPty(t)
	c.Stdin, c.Stdout = theirs, theirs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if status := exitStatus(t, c); status != 0 {
		t.Errorf("exit status %d", status)
	}
	theirs.Close()
	got, _ := io.ReadAll(ours) // it ends with EIO, as nobody holds the other side
	if want := "The door code is " + doorCode + ".\r\n"; string(got) != want {
		t.Errorf("the terminal got %q, want %q", got, want)
	}
}

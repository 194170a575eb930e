//go:build linux

package chaos

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// command is where the command is built, once for all tests. TestMain makes and removes it.
var command string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kvasir-chaos-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "kvasir")
	if out, err := exec.Command("go", "build", "-o", command, "github.com/kvasir-engine/kvasir/cmd/kvasir").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s", out)
		return 1
	}
	os.Setenv("KVASIR_CPU", "generic") // of the processes, and of the engine whose answers theirs are held against: slow kernels make long phases
	return m.Run()
}

// process is one of the command's, at addresses that it keeps when it is started again.
type process struct {
	t     *testing.T
	name  string
	space string // network namespace; empty: the test's own
	args  []string
	http  string // URL
	log   string // path

	cmd   *exec.Cmd
	ended chan struct{} // closed when it has been waited for
}

// newProcess does not start it. It is killed when the test ends.
func newProcess(t *testing.T, name, space, host string, args ...string) *process {
	port := freePort(t)
	p := &process{t: t, name: name, space: space, http: "http://" + net.JoinHostPort(host, port), log: filepath.Join(t.TempDir(), "log")}
	p.args = append(args, "--host", host, "--port", port, "--log-level", "info")
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
		if t.Failed() {
			p.t.Logf("the end of the log of the %s:\n%s", p.name, tail(p.log, 40))
		}
	})
	return p
}

// freePort is one that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// start starts it, for the first time or again.
func (p *process) start() {
	p.t.Helper()
	line := append([]string{command}, p.args...)
	if p.space != "" {
		line = append([]string{"ip", "netns", "exec", p.space}, line...) // which becomes the command: same pid
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer out.Close()
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// A test that is killed leaves nobody behind. The signal comes when the thread ends that started the process, so that one stays for as long as the process.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	ended, cmd := make(chan struct{}), p.cmd
	p.ended = ended
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is asked of cmd.ProcessState
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) signal(sig syscall.Signal) {
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Errorf("%v of the %s: %v", sig, p.name, err)
	}
}

// kill ends it at once.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// leave asks it to end, and waits until it has.
func (p *process) leave() {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		if status := p.cmd.ProcessState.ExitCode(); status != 0 {
			p.t.Errorf("the %s ended with status %d after SIGTERM", p.name, status)
		}
	case <-time.After(patience):
		p.t.Errorf("the %s does not end after SIGTERM", p.name)
		p.kill()
	}
}

// ready waits until it answers.
func (p *process) ready() {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := quick.Get(p.http + "/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == 200 {
				return
			}
		}
		select {
		case <-p.ended:
			p.t.Fatalf("the %s has ended: %v\n%s", p.name, p.cmd.ProcessState, tail(p.log, 20))
		default:
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the %s is not ready after %v\n%s", p.name, patience, tail(p.log, 40))
		}
	}
}

// patience is how long anything may take on a machine that has much else to do.
const patience = 60 * time.Second

// quick is for questions that are answered at once; a process that is stopped does not answer.
var quick = &http.Client{Timeout: 2 * time.Second}

// metrics reads what a process counts: the value of each line of its metrics, without the labels that are the same on all. There are none while it does not answer.
func (p *process) metrics() map[string]float64 {
	resp, err := quick.Get(p.http + "/metrics")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	return readMetrics(resp.Body)
}

func readMetrics(r io.Reader) map[string]float64 {
	all := map[string]float64{}
	for in := bufio.NewScanner(r); in.Scan(); {
		line := strings.ReplaceAll(in.Text(), `model_name="kvasir-mini"`, "")
		line = strings.NewReplacer("{,", "{", ",}", "}", "{}", "").Replace(line)
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || line[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
			all[line[:i]] = v
		}
	}
	return all
}

// pages is how many there are in each state.
func pages(m map[string]float64) map[string]int {
	by := map[string]int{}
	for name, v := range m {
		if state, ok := strings.CutPrefix(name, `kvasir_kv_pages{state="`); ok {
			by[strings.TrimSuffix(state, `"}`)] = int(v)
		}
	}
	return by
}

// tail is the last lines of a file.
func tail(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

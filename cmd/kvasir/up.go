package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// upCmd runs a cluster on this machine, each part a process of its own.
type upCmd struct {
	Port         int           `default:"8080" env:"KVASIR_HTTP_PORT" placeholder:"PORT" help:"Port of the gateway (default: 8080)."`
	PrefillAddr  string        `default:"127.0.0.1:7001" placeholder:"HOST:PORT" help:"Where the prefill node listens (default: 127.0.0.1:7001)."`
	DecodeAddr   string        `default:"127.0.0.1:7002" placeholder:"HOST:PORT" help:"Where the decode node listens (default: 127.0.0.1:7002)."`
	Transport    string        `default:"tcp" placeholder:"NAME,..." help:"Ways to move pages: shm, ucx, tcp (default: tcp)."`
	DrainTimeout time.Duration `default:"30s" placeholder:"TIME" help:"How long answers may go on after SIGTERM or Ctrl-C (default: 30s)."`
	Model        string        `placeholder:"FILE" help:"GGUF file to run (default: the built-in model)."`
	Threads      int           `placeholder:"N" help:"Threads that compute, in each node (default: half of the CPUs)."`
	MaxModelLen  int           `placeholder:"TOKENS" help:"Longest prompt and answer together."`
	LogLevel     string        `default:"info" placeholder:"LEVEL" help:"debug, info, warn or error (default: info)."`
}

// Help is the second paragraph of the command's help.
func (*upCmd) Help() string {
	return "Each line that a process logs begins with its name. Ctrl-C ends all of them, the gateway first. If one of them ends by itself, so do the others."
}

// child is a process of the cluster.
type child struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Run starts the processes and waits for their end.
func (c *upCmd) Run(a *app) error {
	for flag, addr := range map[string]string{"prefill-addr": c.PrefillAddr, "decode-addr": c.DecodeAddr} {
		if err := free(flag, addr); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot tell which program this is: %w", err)
	}
	signals := make(chan os.Signal, 2)
	a.notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runtime.LockOSThread() // the children end with the thread that starts them
	defer runtime.UnlockOSThread()
	var children []*child
	var lines sync.Mutex
	for _, p := range c.processes() {
		ch, err := start(ctx, self, p, a.err, &lines)
		if err != nil {
			return errors.Join(err, c.end(children))
		}
		children = append(children, ch)
	}
	ended := make(chan *child, len(children))
	for _, ch := range children {
		go func() {
			<-ch.done
			ended <- ch
		}()
	}
	select {
	case <-signals:
	case ch := <-ended:
		err = fmt.Errorf("the %s has ended: %v", ch.name, ch.err)
	}
	go func() {
		<-signals // at once
		cancel()
	}()
	return errors.Join(err, c.end(children))
}

// process is a command line of kvasir's.
type process struct {
	name string
	args []string
}

func (c *upCmd) processes() []process {
	node := func(mode, addr string) process {
		args := []string{"serve", "--disaggregation-mode", mode, "--node-addr", addr, "--transport", c.Transport,
			"--drain-timeout", c.DrainTimeout.String(), "--log-level", c.LogLevel}
		if c.Model != "" {
			args = append(args, "--model", c.Model)
		}
		if c.Threads > 0 {
			args = append(args, "--threads", strconv.Itoa(c.Threads))
		}
		if c.MaxModelLen > 0 {
			args = append(args, "--max-model-len", strconv.Itoa(c.MaxModelLen))
		}
		return process{mode, args}
	}
	return []process{
		node("prefill", c.PrefillAddr), node("decode", c.DecodeAddr),
		{"gateway", []string{"gateway", "--port", strconv.Itoa(c.Port), "--prefill", c.PrefillAddr, "--decode", c.DecodeAddr,
			"--drain-timeout", c.DrainTimeout.String(), "--log-level", c.LogLevel}},
	}
}

// free refuses an address that is taken, before anything is started.
func free(flag, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("--%s %s cannot be used: %w", flag, addr, err)
	}
	return l.Close()
}

// start runs a process whose log goes to out, each line with its name before it. It is killed when ctx ends.
func start(ctx context.Context, self string, p process, out io.Writer, lines *sync.Mutex) (*child, error) {
	ch := &child{name: p.name, cmd: exec.CommandContext(ctx, self, p.args...), done: make(chan struct{})}
	ch.cmd.SysProcAttr = childAttributes() // a Ctrl-C at the terminal is for us alone
	r, w := io.Pipe()
	ch.cmd.Stdout, ch.cmd.Stderr = w, w
	if err := ch.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the %s: %w", p.name, err)
	}
	var told sync.WaitGroup
	told.Go(func() {
		in := bufio.NewScanner(r)
		for in.Scan() {
			lines.Lock()
			fmt.Fprintf(out, "%-7s | %s\n", p.name, in.Text())
			lines.Unlock()
		}
		io.Copy(io.Discard, r) // a line beyond the scanner's limit must not block the process
	})
	go func() {
		ch.err = ch.cmd.Wait()
		w.Close()
		told.Wait()
		close(ch.done)
	}()
	return ch, nil
}

// end asks the processes to end, the last one started first, each when the one before has.
func (c *upCmd) end(children []*child) error {
	var errs []error
	for i := len(children) - 1; i >= 0; i-- {
		ch := children[i]
		select {
		case <-ch.done: // by itself: that is told already
			continue
		default:
		}
		ch.cmd.Process.Signal(syscall.SIGTERM)
		<-ch.done
		if ch.err != nil {
			errs = append(errs, fmt.Errorf("the %s has ended: %w", ch.name, ch.err))
		}
	}
	return errors.Join(errs...)
}

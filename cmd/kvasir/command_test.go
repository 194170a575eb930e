package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	doorQuestion = "Remember that the door code is QX-4821. What is the door code?"
	doorCode     = "QX-4821"
)

// buildFolder is where the command is built, once for all tests that run it. TestMain makes and removes it.
var buildFolder string

var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildFolder, "kvasir")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

func TestMain(m *testing.M) {
	var err error
	if buildFolder, err = os.MkdirTemp("", "kvasir-test-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(buildFolder)
	os.Exit(status)
}

// theCommand is the built command with its arguments, killed at the end of the test if it still runs.
func theCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the command")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, args...)
	// Plain Go kernels: what is to be interrupted must go on long enough for that.
	c.Env = append(os.Environ(), "KVASIR_CPU=generic")
	return c
}

// exitStatus waits for the end of a command that was started.
func exitStatus(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode()
	case <-time.After(patient):
		t.Fatalf("%v does not end", c.Args)
		return 0
	}
}

// finish runs a command to its end.
func finish(t *testing.T, c *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, err output
	c.Stdout, c.Stderr = &out, &err
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	status = exitStatus(t, c)
	return out.String(), err.String(), status
}

func TestCommandAnswers(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		stdin string
	}{
		{"prompt", []string{"run", doorQuestion}, ""},
		{"standard input", []string{"run"}, doorQuestion + "\n"},
		{"standard input by name", []string{"run", "-"}, doorQuestion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := theCommand(t, tt.args...)
			c.Stdin = strings.NewReader(tt.stdin)
			stdout, stderr, status := finish(t, c)
			if stdout != "The door code is "+doorCode+".\n" || stderr != "" || status != 0 {
				t.Errorf("printed %q, on standard error %q, exit status %d", stdout, stderr, status)
			}
		})
	}
}

func TestCommandRefusesModels(t *testing.T) {
	folder := t.TempDir()
	junk := filepath.Join(folder, "junk.gguf")
	if err := os.WriteFile(junk, []byte(strings.Repeat("junk", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ model, want string }{
		{program, "not a GGUF file but a program"},
		{filepath.Join(folder, "missing.gguf"), "no such file"},
		{junk, "not a GGUF file"},
		{folder, "not a regular file"},
	}
	for _, tt := range tests {
		for _, args := range [][]string{{"run", "x"}, {"serve", "--port", "0"}} {
			stdout, stderr, status := finish(t, theCommand(t, append(args, "--model", tt.model)...))
			if status != statusFailed || stdout != "" {
				t.Errorf("%s with %s: exit status %d, printed %q", args[0], tt.model, status, stdout)
			}
			wants(t, "standard error", stderr, "kvasir: --model: ", tt.model, tt.want)
			if strings.Contains(stderr, `\x`) {
				t.Errorf("the error shows bytes that say nothing: %s", stderr)
			}
		}
	}
}

func TestCommandRefusesFlags(t *testing.T) {
	_, stderr, status := finish(t, theCommand(t, "run", "x", "--page-size", "17"))
	if status != statusUsage {
		t.Errorf("exit status %d, want %d", status, statusUsage)
	}
	wants(t, "standard error", stderr, "--page-size", `"17"`)
}

func TestCommandAloneHelps(t *testing.T) {
	stdout, _, status := finish(t, theCommand(t))
	if status != 0 {
		t.Errorf("exit status %d", status)
	}
	wants(t, "help", stdout, "Usage: kvasir", "run", "serve", "version")
}

// endlessly are flags with which the built-in model does not come to an end before its context is full: all tokens are about as likely.
var endlessly = []string{"--temperature", "1000", "--seed", "1", "--threads", "1"}

func TestCommandInterrupted(t *testing.T) {
	c := theCommand(t, append([]string{"run", "Tell me a story."}, endlessly...)...)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c.Process.Signal(os.Interrupt)
	io.Copy(io.Discard, stdout)
	if status := exitStatus(t, c); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
}

// server is a running "kvasir serve".
type server struct {
	*exec.Cmd
	log *output
	url string
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{Cmd: theCommand(t, append([]string{"serve", "--port", "0"}, args...)...), log: &output{}}
	s.Stderr = s.log
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.logged(t, "  serving")
	s.url = urlForm.FindString(s.log.String())
	return s
}

func (s *server) logged(t *testing.T, what string) {
	t.Helper()
	eventually(t, "the log says "+what, func() bool { return strings.Contains(s.log.String(), what) })
}

func (s *server) post(t *testing.T, body string) *http.Response {
	t.Helper()
	resp, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, b)
	}
	return resp
}

// longAnswers asks for a stream of n answers that is not over soon, and reads its first line.
func (s *server) longAnswers(t *testing.T, n string) *bufio.Reader {
	t.Helper()
	body := `{"messages":[{"role":"user","content":"Tell me a story."}],"stream":true,"ignore_eos":true,"max_tokens":900,"n":` + n + `}`
	r := bufio.NewReader(s.post(t, body).Body)
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: ") {
		t.Fatalf("the stream begins with %q, %v", line, err)
	}
	return r
}

func TestCommandServes(t *testing.T) {
	s := startServer(t)
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	wants(t, "the last line of the log", lines[len(lines)-1], "serving", `"url": "`+s.url+`"`, `"model": "kvasir-mini"`, `"context": `)
	if len(lines) != 2 {
		t.Errorf("the start has more lines than loading and serving:\n%s", s.log.String())
	}
	resp, err := http.Get(s.url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("/health: %s", resp.Status)
	}
	answer, err := io.ReadAll(s.post(t, `{"messages":[{"role":"user","content":"`+doorQuestion+`"}]}`).Body)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the answer", string(answer), doorCode, `"finish_reason":"stop"`)

	_, stderr, status := finish(t, theCommand(t, "serve", "--port", s.url[strings.LastIndex(s.url, ":")+1:]))
	if status != statusFailed {
		t.Errorf("a second server at this port: exit status %d, want %d", status, statusFailed)
	}
	wants(t, "standard error", stderr, "--port", "is taken")

	s.Process.Signal(syscall.SIGTERM)
	if status := exitStatus(t, s.Cmd); status != 0 {
		t.Errorf("exit status %d:\n%s", status, s.log.String())
	}
	if strings.Contains(s.log.String(), doorCode) {
		t.Error("the log tells of the answer")
	}
}

func TestCommandServesThoseWithAKey(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("open-sesame ali-baba\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "--api-keys", keys, "--cors-origin", "https://example.com", "--served-model-name", "cave")
	for authorization, want := range map[string]int{"": 401, "Bearer close-sesame": 401, "Bearer open-sesame": 200} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", authorization)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("Access-Control-Allow-Origin") != "https://example.com" {
			t.Errorf("with %q: %s, headers %v", authorization, resp.Status, resp.Header)
		}
		if want == 200 {
			wants(t, "the list of models", string(body), `"cave"`)
		}
	}
}

func TestCommandDrains(t *testing.T) {
	s := startServer(t)
	stream := s.longAnswers(t, "1")
	s.Process.Signal(syscall.SIGTERM)
	s.logged(t, "  draining")
	rest, err := io.ReadAll(stream)
	if err != nil {
		t.Fatalf("the answer under way: %v", err)
	}
	wants(t, "the answer under way", string(rest), `"finish_reason":"length"`, "data: [DONE]")
	if status := exitStatus(t, s.Cmd); status != 0 {
		t.Errorf("exit status %d:\n%s", status, s.log.String())
	}
}

func TestCommandEndsAtOnce(t *testing.T) {
	s := startServer(t, "--threads", "1")
	stream := s.longAnswers(t, "32")
	s.Process.Signal(os.Interrupt)
	s.logged(t, "  draining")
	s.Process.Signal(os.Interrupt)
	if status := exitStatus(t, s.Cmd); status != statusFailed {
		t.Errorf("exit status %d, want %d:\n%s", status, statusFailed, s.log.String())
	}
	if rest, _ := io.ReadAll(stream); strings.Contains(string(rest), "[DONE]") {
		t.Error("the answer under way looks whole")
	}
}

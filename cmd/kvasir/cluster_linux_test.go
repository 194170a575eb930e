package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// askAt asks for the door code over HTTP.
func askAt(t *testing.T, url string) string {
	t.Helper()
	body := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"temperature":0}`, doorQuestion)
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(b, &answer); err != nil || resp.StatusCode != 200 || len(answer.Choices) != 1 {
		t.Fatalf("status %d, %s, %v", resp.StatusCode, b, err)
	}
	return answer.Choices[0].Message.Content
}

func isReady(url string) bool {
	resp, err := http.Get(url + "/ready")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == 200
}

// "kvasir up" is a cluster that answers, and SIGTERM ends all of it, with status 0.
func TestUp(t *testing.T) {
	for _, transport := range []string{"tcp", "shm,tcp"} {
		t.Run(transport, func(t *testing.T) {
			c := theCommand(t, "up", "--port", "0", "--prefill-addr", freeAddr(t), "--decode-addr", freeAddr(t), "--threads", "1", "--transport", transport)
			var said output
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var url string
			eventually(t, "the gateway is ready", func() bool {
				url = urlForm.FindString(said.String())
				return url != "" && isReady(url)
			})
			if got := askAt(t, url); !strings.Contains(got, doorCode) {
				t.Errorf("answered %q", got)
			}
			children := childrenOf(t, c.Process.Pid)
			if len(children) != 3 {
				t.Errorf("it has %d children, want 3", len(children))
			}
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if status := exitStatus(t, c); status != 0 {
				t.Errorf("exit status %d:\n%s", status, said.String())
			}
			for _, pid := range children {
				if parentOf(pid) != 0 {
					t.Errorf("process %d has not ended", pid)
				}
			}
			wants(t, "the log", said.String(), "prefill | ", "decode  | ", "gateway | ", "drained: every answer was finished")
		})
	}
}

// If one of its processes ends by itself, "kvasir up" ends the others and says which it was.
func TestUpEndsWithItsParts(t *testing.T) {
	c := theCommand(t, "up", "--port", "0", "--prefill-addr", freeAddr(t), "--decode-addr", freeAddr(t), "--threads", "1")
	var said output
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the gateway serves", func() bool { return strings.Contains(said.String(), "serving") })
	children := childrenOf(t, c.Process.Pid)
	for _, pid := range children {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), "\x00decode\x00") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if status := exitStatus(t, c); status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	wants(t, "the log", said.String(), "the decode has ended: signal: killed")
	for _, pid := range children {
		if parentOf(pid) != 0 {
			t.Errorf("process %d has not ended", pid)
		}
	}
}

// An address that is taken is told before anything is started.
func TestUpWithoutAFreePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, stderr, status := finish(t, theCommand(t, "up", "--port", "0", "--prefill-addr", freeAddr(t), "--decode-addr", l.Addr().String()))
	if status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	wants(t, "standard error", stderr, "--decode-addr", l.Addr().String())
}

// Certificates of "kvasir certs" let a gateway and a node know each other, and a process without them is told no.
func TestCerts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	stdout, stderr, status := finish(t, theCommand(t, "certs", dir, "--host", "localhost,127.0.0.1"))
	if status != 0 || stderr != "" {
		t.Fatalf("exit status %d, %q", status, stderr)
	}
	wants(t, "standard output", stdout, filepath.Join(dir, "ca.pem"), filepath.Join(dir, "localhost.pem"), filepath.Join(dir, "localhost-key.pem"))
	if _, stderr, status := finish(t, theCommand(t, "certs", dir, "--host", "localhost,127.0.0.1")); status != statusFailed || !strings.Contains(stderr, "localhost") {
		t.Errorf("written once more: exit status %d, %q", status, stderr)
	}
	tls := []string{"--tls-cert", filepath.Join(dir, "localhost.pem"), "--tls-key", filepath.Join(dir, "localhost-key.pem"), "--tls-ca", filepath.Join(dir, "ca.pem")}

	addr := freeAddr(t)
	node := theCommand(t, append([]string{"serve", "--disaggregation-mode", "both", "--node-addr", addr, "--threads", "1"}, tls...)...)
	var nodeSaid, said output
	node.Stderr = &nodeSaid
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	stranger := theCommand(t, "gateway", "--port", "0", "--decode", addr)
	var strangerSaid output
	stranger.Stderr = &strangerSaid
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	gateway := theCommand(t, append([]string{"gateway", "--port", "0", "--decode", addr}, tls...)...)
	gateway.Stderr = &said
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	eventually(t, "the gateway is ready", func() bool {
		url = urlForm.FindString(said.String())
		return url != "" && isReady(url)
	})
	if got := askAt(t, url); !strings.Contains(got, doorCode) {
		t.Errorf("answered %q", got)
	}
	eventually(t, "the stranger is refused", func() bool { return strings.Contains(nodeSaid.String(), "does not look like a TLS handshake") })
	if url := urlForm.FindString(strangerSaid.String()); isReady(url) {
		t.Error("a gateway without a certificate is ready")
	}
	if strings.Contains(strangerSaid.String(), "serving OpenAI's API") {
		t.Error("a gateway without a certificate serves")
	}
	for _, c := range []interface{ Signal(os.Signal) error }{stranger.Process, gateway.Process, node.Process} {
		if err := c.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	for _, status := range []int{exitStatus(t, stranger), exitStatus(t, gateway), exitStatus(t, node)} {
		if status != 0 {
			t.Errorf("exit status %d after SIGTERM", status)
		}
	}
}

// What cannot be is a usage error, told with the flag.
func TestClusterUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"gateway"}, "--prefill"},
		{[]string{"gateway", "--decode", "127.0.0.1:1", "--request-timeout", "-1s"}, "--request-timeout"},
		{[]string{"gateway", "--decode", "127.0.0.1:1", "--decode-local-prefill", "-1"}, "--decode-local-prefill"},
		{[]string{"serve", "--disaggregation-mode", "prefill"}, "--node-addr"},
		{[]string{"serve", "--node-addr", "127.0.0.1:0"}, "--disaggregation-mode"},
		{[]string{"serve", "--lost-after", "1s"}, "--disaggregation-mode"},
		{[]string{"serve", "--disaggregation-mode", "neither"}, "--disaggregation-mode"},
	} {
		_, stderr, status := finish(t, theCommand(t, c.args...))
		if status != statusUsage {
			t.Errorf("%v: exit status %d", c.args, status)
		}
		wants(t, fmt.Sprint(c.args), stderr, c.want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "nowhere"}, "--node-addr"},
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "192.0.2.1:7001"}, "TLS"},
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "127.0.0.1:0", "--transfer-addr", "0.0.0.0:0"}, "--transfer-addr"},
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "127.0.0.1:0", "--transfer-addr", "nowhere"}, "--transfer-addr"},
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "127.0.0.1:0", "--lost-after", "1ms"}, "--lost-after"},
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "127.0.0.1:0", "--transport", "pigeon"}, "--transport"},
		{[]string{"serve", "--disaggregation-mode", "prefill", "--node-addr", "127.0.0.1:0", "--tls-ca", "nowhere.pem"}, "tls"},
		{[]string{"serve", "--disaggregation-mode", "decode", "--node-addr", "127.0.0.1:0", "--max-model-len", "512", "--max-total-tokens", "256"}, "--max-total-tokens"},
		{[]string{"gateway", "--port", "0", "--decode", "192.0.2.1:7001"}, "TLS"},
		{[]string{"gateway", "--port", "0", "--decode", "127.0.0.1:1", "--lost-after", "1ms"}, "--lost-after"},
	} {
		_, stderr, status := finish(t, theCommand(t, c.args...))
		if status != statusFailed {
			t.Errorf("%v: exit status %d", c.args, status)
		}
		wants(t, fmt.Sprint(c.args), stderr, c.want)
	}
}

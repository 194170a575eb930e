package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/kvasir-engine/kvasir/internal/etcdtest"
)

// started is a command that runs, with what it has said so far.
type started struct {
	*exec.Cmd
	said output
}

// startCommand runs a command whose log contains begun once it works.
func startCommand(t *testing.T, begun string, args ...string) *started {
	t.Helper()
	c := &started{Cmd: theCommand(t, args...)}
	c.Stderr = &c.said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // again, for those whose end was waited for
		if t.Failed() {
			t.Logf("%s said:\n%s", args, c.said.String())
		}
	})
	eventually(t, args[0]+" says "+begun, func() bool { return strings.Contains(c.said.String(), begun) })
	return c
}

// A cluster whose processes know etcd alone: the gateway is there before the nodes, one of these is killed, and another takes its place.
func TestAClusterThatEtcdJoins(t *testing.T) {
	etcd := etcdtest.Start(t)
	list := []string{"--etcd", etcd.Endpoint, "--etcd-prefix", "/a/cluster"}
	gateway := startCommand(t, "waiting for a node", append([]string{"gateway", "--port", "0"}, list...)...)
	node := func(mode string) *started {
		return startCommand(t, "is ready", append([]string{"serve", "--disaggregation-mode", mode, "--node-addr", "127.0.0.1:0", "--threads", "1"}, list...)...)
	}
	node("prefill")
	decode := node("decode")
	url := func() string { return urlForm.FindString(gateway.said.String()) }
	answers := func() bool {
		body := `{"model":"kvasir-mini","messages":[{"role":"user","content":"` + doorQuestion + `"}]}`
		resp, err := http.Post(url()+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var answer struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Choices) > 0 && !strings.Contains(answer.Choices[0].Message.Content, doorCode) {
			t.Errorf("the answer is %q", answer.Choices[0].Message.Content)
		}
		return len(answer.Choices) > 0
	}
	eventually(t, "the gateway answers", answers)

	if err := decode.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	exitStatus(t, decode.Cmd)
	another := node("decode")
	eventually(t, "the gateway answers by another decode node", answers)
	if err := another.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := exitStatus(t, another.Cmd); status != 0 {
		t.Errorf("exit status %d:\n%s", status, another.said.String())
	}
}

//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lostAfter is what the processes are given as --lost-after: long enough for a busy machine, short enough for a test.
const lostAfter = time.Second

// silence is longer than a gateway waits for a node: lostAfter until the connection is given up, and as long again until the node is.
const silence = 3 * lostAfter

// cluster is processes and the network between them.
type cluster struct {
	t                *testing.T
	prefills, decode []*process
	gateway          *process
	net              *network // nil: all are on the test's loopback
	judge            *judge
	load             *load
	asked            int // long questions
}

// newCluster starts so many nodes and a gateway, and waits until they answer.
func newCluster(t *testing.T, prefills, decodes int, net *network, all *questions, transport string) *cluster {
	t.Helper()
	c := &cluster{t: t, net: net, judge: &judge{t: t, all: all, tally: newTally()}}
	gateway := []string{"gateway", "--lost-after", lostAfter.String(), "--api-keys", keys(t)}
	for i := range prefills + decodes {
		mode, n, list, flags := "prefill", i+1, &c.prefills, []string{"--max-num-seqs", "2", "--max-num-batched-tokens", "64"} // it takes a while, and others wait
		if i >= prefills {
			mode, n, list, flags = "decode", i-prefills+1, &c.decode, nil
		}
		space, host := "", "127.0.0.1"
		if net != nil {
			space, host = net.join(i)
			flags = append(flags, "--insecure")
		}
		addr := host + ":" + freePort(t)
		p := newProcess(t, fmt.Sprintf("%s node %d", mode, n), space, host, append([]string{"serve", "--disaggregation-mode", mode, "--node-addr", addr, "--lost-after", lostAfter.String(),
			"--threads", "1", "--max-total-tokens", "8192", "--transport", transport, "--drain-timeout", "30s"}, flags...)...)
		p.start()
		*list = append(*list, p)
		gateway = append(gateway, "--"+mode, addr)
	}
	if net != nil {
		gateway = append(gateway, "--insecure")
	}
	c.gateway = newProcess(t, "gateway", "", "127.0.0.1", gateway...)
	c.gateway.start()
	for _, p := range c.all() {
		p.ready()
	}
	c.load = newLoad(c.judge, c.gateway.http, 4)
	t.Cleanup(func() { c.load.end() })
	return c
}

func keys(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "keys")
	var lines strings.Builder
	for i := range tenants {
		fmt.Fprintf(&lines, "key-of-%s %[1]s\n", tenant(i))
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (c *cluster) nodes() []*process { return slices.Concat(c.prefills, c.decode) }
func (c *cluster) all() []*process   { return append(c.nodes(), c.gateway) }

// A phase of a request, as it can be seen from outside.
type phase string

const (
	queueing phase = "queueing"
	prefill  phase = "prefill"
	transfer phase = "transfer"
	decoding phase = "decoding"
)

// in reports whether p and d are in a phase, where nobody but the subjects of a fault asks. heard says that one of these has had an answer's first words.
func (c *cluster) in(ph phase, p, d *process, heard bool) bool {
	if ph == decoding {
		return heard && d.metrics()["kvasir_num_requests_running"] > 0
	}
	atDecode := d.metrics()
	importing := pages(atDecode)["importing"] > 0
	switch ph {
	case transfer:
		return importing
	case prefill:
		return !importing && atDecode["kvasir_num_requests_running"] == 0 && p.metrics()["kvasir_num_requests_running"] > 0
	default:
		return p.metrics()["kvasir_num_requests_waiting"] > 0
	}
}

// meet returns a prefill and a decode node that are in a phase; false: that never came, because all was over first.
func (c *cluster) meet(ph phase, heard func() bool, over <-chan struct{}) (p, d *process, ok bool) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, p := range c.prefills {
			for _, d := range c.decode {
				if c.in(ph, p, d, heard()) {
					return p, d, true
				}
			}
		}
		select {
		case <-over:
			return nil, nil, false
		default:
		}
	}
	return nil, nil, false
}

// settled waits until a fault has left nothing behind: all answer, no request is anywhere, every page is free, or cached and read by nobody, and no page held what it should not.
func (c *cluster) settled(what string) {
	c.t.Helper()
	for _, p := range c.all() {
		p.ready()
	}
	var why []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		why = nil
		for _, p := range c.nodes() {
			m := p.metrics()
			if m == nil {
				why = append(why, p.name+" does not answer")
				continue
			}
			for state, n := range pages(m) {
				if n > 0 && state != "free" && state != "cached" {
					why = append(why, fmt.Sprintf("%s: %d pages %s", p.name, n, state))
				}
			}
			for _, name := range []string{"kvasir_num_requests_running", "kvasir_num_requests_waiting"} {
				if m[name] > 0 {
					why = append(why, fmt.Sprintf("%s: %s %v", p.name, name, m[name]))
				}
			}
			for _, check := range []string{"header", "bytes"} {
				if n := m[`kvasir_kv_page_check_failures_total{check="`+check+`"}`]; n > 0 {
					c.t.Errorf("after %s: %v pages of the %s failed the check of their %s", what, n, p.name, check)
				}
			}
		}
		if m := c.gateway.metrics(); m == nil || m["kvasir_gateway_attempts_closing"] > 0 || int(m["kvasir_gateway_nodes"]) != len(c.nodes()) {
			why = append(why, fmt.Sprintf("gateway: %v attempts closing, %v nodes", m["kvasir_gateway_attempts_closing"], m["kvasir_gateway_nodes"]))
		}
		if why == nil {
			return
		}
	}
	c.t.Errorf("%v after %s: %s", patience, what, strings.Join(why, "; "))
}

// works asks until there is a whole answer.
func (c *cluster) works(what string) {
	c.t.Helper()
	q := &c.judge.all.short[0]
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if c.judge.ask(c.t.Context(), c.gateway.http, q, false, func() {}) == whole {
			return
		}
	}
	c.t.Errorf("after %s nothing is answered any more", what)
}

// pauseProcess stops a process for so long that everybody who waits for it gives up.
func pauseProcess(p *process, d time.Duration) {
	p.signal(syscall.SIGSTOP)
	time.Sleep(d)
	p.signal(syscall.SIGCONT)
}

//go:build linux

package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// network is a bridge with a namespace for each node. The test itself is on the bridge, and so is the gateway.
type network struct {
	t      *testing.T
	name   string // begins the name of everything, and no other test's
	subnet string
	nodes  int
}

// noNetwork says why there can be none, or nothing.
func noNetwork() string {
	switch {
	case os.Getuid() != 0:
		return "network namespaces need root"
	case exec.Command("ip", "netns", "list").Run() != nil:
		return "there is no ip command, or it knows no namespaces"
	}
	name := fmt.Sprintf("kv%dx", os.Getpid()%100000)
	if out, err := exec.Command("ip", "link", "add", name, "type", "bridge").CombinedOutput(); err != nil {
		return "no bridge can be made: " + strings.TrimSpace(string(out))
	}
	exec.Command("ip", "link", "del", name).Run()
	return ""
}

// newNetwork makes a namespace for each node. All is gone after the test.
func newNetwork(t *testing.T, nodes int) *network {
	t.Helper()
	if reason := noNetwork(); reason != "" {
		t.Skip(reason)
	}
	pid := os.Getpid()
	n := &network{t: t, name: fmt.Sprintf("kv%d", pid%100000), subnet: fmt.Sprintf("10.%d.%d", 200+pid%50, pid/50%250), nodes: nodes}
	t.Cleanup(func() {
		for i := range nodes {
			exec.Command("ip", "netns", "del", n.space(i)).Run() // with the end of the pair that is in it, and so the other
		}
		exec.Command("ip", "link", "del", n.name).Run()
	})
	n.ip("link", "add", n.name, "type", "bridge")
	n.ip("addr", "add", n.subnet+".1/24", "dev", n.name)
	n.ip("link", "set", n.name, "up")
	for i := range nodes {
		space, inside, outside := n.space(i), fmt.Sprintf("%si%d", n.name, i), n.port(i)
		n.ip("netns", "add", space)
		n.ip("link", "add", outside, "type", "veth", "peer", "name", inside)
		n.ip("link", "set", inside, "netns", space)
		n.ip("link", "set", outside, "master", n.name)
		n.ip("link", "set", outside, "up")
		n.ip("-n", space, "addr", "add", n.host(i)+"/24", "dev", inside)
		n.ip("-n", space, "link", "set", inside, "up")
		n.ip("-n", space, "link", "set", "lo", "up")
	}
	return n
}

func (n *network) space(i int) string { return fmt.Sprintf("%sn%d", n.name, i) }
func (n *network) port(i int) string  { return fmt.Sprintf("%so%d", n.name, i) }
func (n *network) host(i int) string  { return fmt.Sprintf("%s.%d", n.subnet, i+2) }

// join is where node i lives.
func (n *network) join(i int) (space, host string) { return n.space(i), n.host(i) }

// cut lets nothing pass between nodes, or everything again. Nobody is told: what is sent is swallowed. The gateway still reaches all.
func (n *network) cut(yes bool) {
	state := "off"
	if yes {
		state = "on"
	}
	for i := range n.nodes {
		n.run("bridge", "link", "set", "dev", n.port(i), "isolated", state)
	}
}

func (n *network) ip(args ...string) { n.run("ip", args...) }

func (n *network) run(command string, args ...string) {
	n.t.Helper()
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		n.t.Fatalf("%s %s: %v: %s", command, strings.Join(args, " "), err, out)
	}
}

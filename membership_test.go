package kvasir

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/kvasir-engine/kvasir/internal/etcdtest"
)

// memoryList is a Membership in memory.
type memoryList struct {
	mu      sync.Mutex
	nodes   map[uint64]NodeInfo
	changed chan struct{} // closed at the next change
}

func newMemoryList() *memoryList {
	return &memoryList{nodes: map[uint64]NodeInfo{}, changed: make(chan struct{})}
}

func (l *memoryList) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *memoryList) Announce(ctx context.Context, n NodeInfo) {
	l.change(func() { l.nodes[n.ID] = n })
	<-ctx.Done()
	l.change(func() { delete(l.nodes, n.ID) })
}

func (l *memoryList) list() (nodes []NodeInfo, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.nodes {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b NodeInfo) int { return cmp.Compare(a.ID, b.ID) })
	return nodes, l.changed
}

func (l *memoryList) Watch(ctx context.Context, changed func([]NodeInfo)) {
	for ctx.Err() == nil {
		nodes, next := l.list()
		changed(nodes)
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// listed opens a node that enters itself into m.
func listed(t *testing.T, m Membership, id uint64, mode string) *Engine {
	t.Helper()
	return open(t, Config{Node: &NodeConfig{Mode: mode, ID: id, Addr: "127.0.0.1:0", Membership: m}})
}

// connections is how many nodes g is connected with, as /metrics says.
func connections(t *testing.T, g *Gateway) int {
	t.Helper()
	answer := httptest.NewRecorder()
	g.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		var n int
		if _, err := fmt.Sscanf(line, `kvasir_peer_connections{kind="node"} %d`, &n); err == nil {
			return n
		}
	}
	t.Fatal("/metrics has no kvasir_peer_connections of nodes")
	return 0
}

// connected waits until g is connected with n nodes.
func connected(t *testing.T, g *Gateway, n int) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); connections(t, g) != n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("connected with %d nodes, want %d", connections(t, g), n)
		}
	}
}

// answered: the gateway answers as it should.
func answered(t *testing.T, g *Gateway, when string) {
	t.Helper()
	if got := answers(t, g, Request{Tokens: tokenIDs(1, 60), MaxTokens: 6, IgnoreEOS: true}); len(got) != 1 || len(got[0].ids) != 6 {
		t.Errorf("%s: %v", when, got)
	}
}

// A node is in the list while it works: from its opening until it is drained, or closed.
func TestANodeIsListedWhileItWorks(t *testing.T) {
	l := newMemoryList()
	p, d := listed(t, l, 1, "prefill"), listed(t, l, 2, "decode")
	waitFor := func(want ...NodeInfo) {
		t.Helper()
		for {
			nodes, changed := l.list()
			for i := range nodes {
				if nodes[i].Incarnation == 0 {
					t.Errorf("%+v has no incarnation", nodes[i])
				}
				nodes[i].Incarnation = 0
			}
			if slices.Equal(nodes, want) {
				return
			}
			select {
			case <-changed:
			case <-time.After(30 * time.Second):
				t.Fatalf("listed are %+v, want %+v", nodes, want)
			}
		}
	}
	first, second := NodeInfo{ID: 1, Address: p.NodeAddr(), Prefill: true}, NodeInfo{ID: 2, Address: d.NodeAddr(), Decode: true}
	waitFor(first, second)
	if err := d.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	waitFor(first)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	waitFor()
	for _, addr := range []string{":7001", "0.0.0.0:7001", "[::]:7001"} {
		if _, err := Open(t.Context(), Config{Node: &NodeConfig{Mode: "both", Addr: addr, Membership: l}}); err == nil || !strings.Contains(err.Error(), "node's own") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// A gateway that no node was named to finds those in etcd, also those that come while it runs; that etcd is killed meanwhile changes nothing for who is connected, and what has changed by then is
// found out when it is back.
func TestAGatewayFindsNodesInEtcd(t *testing.T) {
	server := etcdtest.Start(t)
	log := zaptest.NewLogger(t)
	list := func() *Etcd {
		e, err := NewEtcd(EtcdConfig{Endpoints: []string{server.Endpoint}, TTL: 2 * time.Second, Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	}
	etcd := list()
	listed(t, etcd, 1, "prefill")
	d := listed(t, etcd, 2, "decode")
	g := openGateway(t, GatewayConfig{Membership: list()})
	connected(t, g, 2)
	answered(t, g, "found in etcd")

	server.Kill()
	time.Sleep(3 * time.Second) // leases would have ended
	answered(t, g, "with etcd killed")
	if n := connections(t, g); n != 2 {
		t.Errorf("with etcd killed %d nodes are connected", n)
	}
	listed(t, etcd, 3, "decode")
	server.Restart(false)
	connected(t, g, 3)
	if err := d.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	connected(t, g, 2)
	answered(t, g, "by the node that has joined")
}

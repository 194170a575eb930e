package actors

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// list is what a gateway discovers nodes by.
type list struct{ says chan []string }

func (l list) discover(ctx context.Context, found func([]string)) {
	for {
		select {
		case addresses := <-l.says:
			found(addresses)
		case <-ctx.Done():
			return
		}
	}
}

// dials are the addresses that d keeps dialing.
func dials(d *dialing) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for addr := range d.dials {
		all = append(all, addr)
	}
	slices.Sort(all)
	return all
}

func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func up(t *testing.T, g *Gateway, n int) func() bool {
	return func() bool {
		nodes, err := g.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return nodes.Up == n
	}
}

// A gateway begins with no node named, connects with those that are listed, and dials those no more that are listed no more; what is connected stays connected.
func TestNodesAreDiscovered(t *testing.T) {
	p, d := member(t, 1, true, false), member(t, 2, false, true)
	l := list{make(chan []string)}
	go func() { l.says <- []string{p.Address()} }()
	g, err := StartGateway(t.Context(), GatewayConfig{Timeout: time.Minute, Discover: l.discover})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	soon(t, "the listed node is connected", up(t, g, 1))
	if g.Ready() == nil {
		t.Error("ready without a decode node")
	}
	l.says <- []string{p.Address(), d.Address()}
	soon(t, "both are connected", up(t, g, 2))
	soon(t, "the decode node is told of the prefill node", func() bool { return slices.Equal(dials(d.cluster.dialing), []string{p.Address()}) })
	soon(t, "ready", func() bool { return g.Ready() == nil })

	l.says <- nil // an empty list, as of one that knows nothing yet
	soon(t, "nobody is dialed", func() bool { return len(dials(g.dialing)) == 0 })
	s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(1, 100), Choices: 1, MaxTokens: 4})
	if err != nil {
		t.Fatal(err)
	}
	if ids, _, err := p.collect(s); err != nil || len(ids) != 4 {
		t.Errorf("nodes that are not listed any more answer %v, %v", ids, err)
	}

	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	soon(t, "the node that ended is lost", up(t, g, 1))
	again := member(t, 3, false, true)
	l.says <- []string{p.Address(), again.Address()}
	soon(t, "the new one is connected", up(t, g, 2))
}

// What gateways have named to a node it dials as long as one of them is there and names it.
func TestGatewaysNameNodes(t *testing.T) {
	p, d := member(t, 1, true, false), member(t, 2, false, true)
	one, two := newGateway(t, p, d), newGateway(t, p, d)
	named := func(n int) func() bool {
		return func() bool {
			d.cluster.dialing.mu.Lock()
			defer d.cluster.dialing.mu.Unlock()
			return len(d.cluster.dialing.named) == n
		}
	}
	soon(t, "both have named the prefill node", named(2))
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	soon(t, "one of them is gone", named(1))
	if got := dials(d.cluster.dialing); !slices.Equal(got, []string{p.Address()}) {
		t.Errorf("with the other there %v are dialed", got)
	}
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	soon(t, "nobody is dialed", func() bool { return len(dials(d.cluster.dialing)) == 0 })
	r, _, err := d.Report(t.Context(), true)
	if err != nil || r.Broken != nil {
		t.Error(err, r.Broken)
	}
}

// A process does not dial itself, nor what has no address, and bounds whom it dials.
func TestDialingBounds(t *testing.T) {
	d := member(t, 1, true, true)
	x := d.cluster.dialing
	if err := x.name("a test", []string{"", d.Address(), "127.0.0.1:0"}); err != nil || len(dials(x)) != 0 {
		t.Errorf("%v are dialed, %v", dials(x), err)
	}
	if err := x.name("a test", []string{"192.0.2.1:1"}); err == nil || len(dials(x)) != 0 {
		t.Errorf("%v are dialed without TLS, %v", dials(x), err)
	}
	x.mu.Lock()
	for i := range maxDialed {
		x.dials[string(rune(i))] = func() {}
	}
	x.mu.Unlock()
	x.named["another"] = slices.Collect(func(yield func(string) bool) {
		for i := range maxDialed {
			if !yield(string(rune(i))) {
				return
			}
		}
	})
	if err := x.name("a test", []string{"127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), "1024 others") {
		t.Errorf("one too many: %v", err)
	}
}

// The metrics of the connections are registered with the others, and are gone with them.
func TestMetricsOfConnections(t *testing.T) {
	nodes, gateways := prometheus.NewRegistry(), prometheus.NewRegistry()
	both := func(id page.Node) *lab {
		return member(t, id, true, true, func(c *Config) {
			c.Registerer, c.Labels = nodes, prometheus.Labels{"model_name": string(rune('a' + id))}
		})
	}
	a, b := both(1), both(2)
	g, err := StartGateway(t.Context(), GatewayConfig{Timeout: time.Minute, Nodes: []string{a.Address(), b.Address()}, Registerer: gateways})
	if err != nil {
		t.Fatal(err)
	}
	connected := func(r *prometheus.Registry, kind string) (series int, sum float64) {
		all, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if f.GetName() != "kvasir_peer_connections" {
				continue
			}
			for _, m := range f.Metric {
				for _, l := range m.Label {
					if l.GetName() == "kind" && l.GetValue() == kind {
						series, sum = series+1, sum+m.GetGauge().GetValue()
					}
				}
			}
		}
		return series, sum
	}
	soon(t, "each node counts its gateway, and each other", func() bool {
		n, sum := connected(nodes, "gateway")
		m, others := connected(nodes, "node")
		return n == 2 && sum == 2 && m == 2 && others == 2
	})
	soon(t, "the gateway counts its nodes", func() bool { n, sum := connected(gateways, "node"); return n == 1 && sum == 2 })
	for _, c := range []interface{ Close() error }{g, a, b} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []*prometheus.Registry{nodes, gateways} {
		if all, err := r.Gather(); err != nil || len(all) != 0 {
			t.Errorf("after Close %d metrics are left, %v", len(all), err)
		}
	}
}

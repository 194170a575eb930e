package actors

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gatewaySnapshot asks the gateway for its counts when metrics are scraped.
type gatewaySnapshot struct {
	gateway                                                                   *Gateway
	running, waiting, nodes, attempts, retries, local, hits, strange, closing *prometheus.Desc
}

func newGatewaySnapshot(g *Gateway) *gatewaySnapshot {
	desc := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc("kvasir_"+name, help, variable, g.cfg.Labels)
	}
	return &gatewaySnapshot{gateway: g,
		running:  desc("num_requests_running", "Choices that have no outcome yet."),
		nodes:    desc("gateway_nodes", "Nodes that are connected."),
		attempts: desc("gateway_attempts_total", "Attempts that were made, a retry being one more."),
		retries:  desc("gateway_retries_total", "Attempts beyond a request's first."),
		strange:  desc("gateway_strange_messages_total", "Messages of nodes that mean nothing: late, of another life, malformed."),
		closing:  desc("gateway_attempts_closing", "Attempts that are over here and not yet acknowledged by their nodes."),
		local:    desc("gateway_local_attempts_total", "Attempts at one node alone, without a hand-off."),
		hits:     desc("gateway_prefix_hits_total", "Attempts that went where a prefix of theirs may be cached."),
		waiting:  desc("num_requests_waiting", "Choices that wait for a node."),
	}
}

func (s *gatewaySnapshot) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.running, s.nodes, s.attempts, s.retries, s.local, s.hits, s.strange, s.closing, s.waiting} {
		ch <- d
	}
}

func (s *gatewaySnapshot) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	n, err := s.gateway.Nodes(ctx)
	if err != nil {
		return // it is closed, or too busy to say; its other metrics are still told
	}
	gauge := func(d *prometheus.Desc, v int) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	gauge(s.running, s.gateway.registry.live())
	gauge(s.nodes, n.Up)
	gauge(s.closing, n.Stats.Closing)
	gauge(s.waiting, n.Stats.Waiting)
	for _, c := range []struct {
		desc  *prometheus.Desc
		value uint64
	}{{s.attempts, n.Stats.Tries}, {s.retries, n.Stats.Retries}, {s.local, n.Stats.Local}, {s.hits, n.Stats.Hits}, {s.strange, n.Stats.Strange}} {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.CounterValue, float64(c.value))
	}
}

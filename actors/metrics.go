package actors

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kvasir-engine/kvasir/kvpool"
)

// metrics are a node's own. Names have vLLM's stems where vLLM has the metric.
type metrics struct {
	ttft, itl, e2e, step, stepTokens prometheus.Histogram
	prompt, generated, preemptions   prometheus.Counter
	checkFailures, outcomes, fences  *prometheus.CounterVec
	transferBytes, transferFailures  prometheus.Counter
	transfer                         prometheus.Histogram
	dropped                          prometheus.Counter
	all, registered                  []prometheus.Collector
	requests                         []prometheus.Collector // of all, those that a gateway has too
}

func newMetrics(labels prometheus.Labels) *metrics {
	m := &metrics{}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "kvasir_" + name, Help: help, ConstLabels: labels})
		m.all = append(m.all, c)
		return c
	}
	vec := func(name, help, label string, values ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kvasir_" + name, Help: help, ConstLabels: labels}, []string{label})
		for _, v := range values {
			c.WithLabelValues(v) // an alarm must read 0, not be absent, before its first event
		}
		m.all = append(m.all, c)
		return c
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kvasir_" + name, Help: help, Buckets: buckets, ConstLabels: labels})
		m.all = append(m.all, h)
		return h
	}
	short := prometheus.ExponentialBuckets(0.0005, 2, 16) // 0.5 ms to 16 s
	m.ttft = histogram("time_to_first_token_seconds", "From the request's arrival to its first token, each choice.", prometheus.ExponentialBuckets(0.001, 2, 18))
	m.itl = histogram("inter_token_latency_seconds", "Between two tokens of one choice.", short)
	m.e2e = histogram("e2e_request_latency_seconds", "From the request's arrival to its end.", prometheus.ExponentialBuckets(0.005, 2, 18))
	m.step = histogram("step_seconds", "One step of the runner: checks, forward pass, seals and sampling.", short)
	m.stepTokens = histogram("step_tokens", "Tokens computed in one step.", prometheus.ExponentialBuckets(1, 2, 14))
	m.prompt = counter("prompt_tokens_total", "Prompt tokens of admitted requests.")
	m.generated = counter("generation_tokens_total", "Tokens sampled.")
	m.preemptions = counter("num_preemptions_total", "Sequences that lost their pages and were computed again.")
	m.checkFailures = vec("kv_page_check_failures_total", "Pages that did not hold what they must. Any is an alarm.", "check", "header", "bytes")
	m.outcomes = vec("request_outcomes_total", "Ends of choices, by outcome.", "outcome", "stop", "length", "cancelled", "rejected", "error")
	m.fences = vec("kv_fences_total", "Connections with other nodes that came to their end, by cause.", "cause", "silent", "replaced", "peer_closed", "closed", "malformed", "broken", "data", "stalled")
	m.transferBytes = counter("kv_transfer_bytes_total", "Bytes of pages read from other nodes.")
	m.transferFailures = counter("kv_transfer_failures_total", "Reads of other nodes' pages that failed.")
	m.transfer = histogram("kv_transfer_page_seconds", "One page read from another node, until its bytes are hashed.", prometheus.ExponentialBuckets(0.00005, 2, 18))
	m.dropped = counter("gateway_messages_dropped_total", "Messages of gateways that found the scheduler's mailbox full.")
	m.requests = []prometheus.Collector{m.ttft, m.itl, m.e2e, m.prompt, m.generated, m.outcomes}
	return m
}

// transferred counts a page that was read from another node.
func (m *metrics) transferred(bytes int, took time.Duration) {
	m.transferBytes.Add(float64(bytes))
	m.transfer.Observe(took.Seconds())
}

// rejected counts the choices of a request that was refused.
func (m *metrics) rejected(choices int) {
	m.outcomes.WithLabelValues("rejected").Add(float64(choices))
}

func (m *metrics) register(r prometheus.Registerer, n *Node) error {
	return m.registerAll(r, append(m.all, newSnapshot(n)))
}

func (m *metrics) registerGateway(r prometheus.Registerer, g *Gateway) error {
	return m.registerAll(r, append(m.requests, newGatewaySnapshot(g), prometheus.WrapCollectorWith(g.cfg.Labels, g.links)))
}

// registerAll adds all to r. If that fails, nothing of these metrics stays there.
func (m *metrics) registerAll(r prometheus.Registerer, all []prometheus.Collector) error {
	if r == nil {
		return nil
	}
	for i, c := range all {
		if err := r.Register(c); err != nil {
			for _, mine := range m.registered {
				r.Unregister(mine)
			}
			m.registered = nil
			return fmt.Errorf("register metric %d: %w", i, err)
		}
		m.registered = append(m.registered, c)
	}
	return nil
}

func (m *metrics) unregister(r prometheus.Registerer) {
	for _, c := range m.registered {
		r.Unregister(c)
	}
}

// snapshot asks the pool and the scheduler for their counts when metrics are scraped, so that counting costs nothing in between.
type snapshot struct {
	node                                                   *Node
	running, waiting, usage, pages, size, stale, why, hits *prometheus.Desc
	lookups, evictions, quarantined, quarantine            *prometheus.Desc
}

func newSnapshot(n *Node) *snapshot {
	desc := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc("kvasir_"+name, help, variable, n.cfg.Labels)
	}
	return &snapshot{node: n,
		running:     desc("num_requests_running", "Sequences that are being computed."),
		waiting:     desc("num_requests_waiting", "Sequences that wait to be computed."),
		usage:       desc("kv_cache_usage_ratio", "Part of the pages that sequences use (0 to 1)."),
		pages:       desc("kv_pages", "Pages by state; cached ones are read by the prefix index alone.", "state"),
		size:        desc("kv_page_tokens", "Token slots of a page."),
		stale:       desc("kv_stale_messages_total", "Messages about pages that matched nothing and changed nothing, by kind.", "kind"),
		why:         desc("kv_stale_reasons_total", "The same messages, by why they matched nothing.", "reason"),
		lookups:     desc("prefix_cache_queries_total", "Pages looked up in the prefix index."),
		hits:        desc("prefix_cache_hits_total", "Pages found in the prefix index."),
		evictions:   desc("prefix_cache_evictions_total", "Pages evicted from the prefix index."),
		quarantine:  desc("kv_quarantine_seconds", "How long there has been a page in quarantine without a break. Minutes are an alarm."),
		quarantined: desc("kv_quarantined_pages_total", "Pages put into quarantine."),
	}
}

func (s *snapshot) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.running, s.waiting, s.usage, s.pages, s.size, s.stale, s.why, s.lookups, s.hits, s.evictions, s.quarantined, s.quarantine} {
		ch <- d
	}
}

func (s *snapshot) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, q, err := s.node.Report(ctx, false)
	if err != nil {
		return // the node is down or too busy to say; its other metrics are still told
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	c := r.Counts
	gauge(s.running, float64(q.Running))
	gauge(s.waiting, float64(q.Waiting))
	gauge(s.usage, float64(c.Filling+c.Read)/float64(s.node.slab.Pages))
	gauge(s.size, float64(s.node.layout.PageSize))
	for _, p := range []struct {
		state string
		n     int
	}{{"free", c.Free}, {"allotted", c.Allotted}, {"filling", c.Filling}, {"read", c.Read}, {"importing", c.Importing}, {"cached", c.Idle}, {"quarantined", c.Quarantined}} {
		gauge(s.pages, float64(p.n), p.state)
	}
	counter(s.lookups, r.Stats.LookupPages)
	counter(s.hits, r.Stats.HitPages)
	counter(s.evictions, r.Stats.Evicted)
	counter(s.quarantined, r.Stats.Bad)
	gauge(s.quarantine, r.Quarantine.Seconds())
	reasons := make([]uint64, len(r.Stats.Stale[0]))
	for kind := range r.Stats.Stale {
		total := uint64(0)
		for reason, n := range r.Stats.Stale[kind] {
			total += n
			reasons[reason] += n
		}
		counter(s.stale, total, kvpool.EventKind(kind).String())
	}
	for reason, n := range reasons {
		if reason > 0 { // 0 is no reason
			counter(s.why, n, kvpool.Reason(reason).String())
		}
	}
}

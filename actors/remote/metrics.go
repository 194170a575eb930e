package remote

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kvasir-engine/kvasir/actors/wire"
)

// metrics are those of all connections of a process.
type metrics struct {
	connected                     *prometheus.GaugeVec
	refused, lost, unknown, bytes *prometheus.CounterVec
	messages                      *prometheus.CounterVec
	duplicates, busy, tooLarge    prometheus.Counter
	rtt                           prometheus.Histogram
	all                           []prometheus.Collector
}

func newMetrics() *metrics {
	m := &metrics{}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "kvasir_peer_" + name, Help: help})
		m.all = append(m.all, c)
		return c
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kvasir_peer_" + name, Help: help}, labels)
		m.all = append(m.all, c)
		return c
	}
	m.connected = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kvasir_peer_connections", Help: "Peers that are connected."}, []string{"kind"})
	m.rtt = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kvasir_peer_rtt_seconds", Help: "From a ping to its answer.", Buckets: prometheus.ExponentialBuckets(0.00005, 2, 18)})
	m.all = append(m.all, m.connected, m.rtt)
	m.refused = vec("refused_total", "Connections that were refused, by whichever side, by cause.", "cause")
	m.lost = vec("lost_total", "Connections that ended, by cause.", "cause")
	m.messages = vec("messages_total", "Messages, by kind and direction.", "kind", "direction")
	m.bytes = vec("bytes_total", "Bytes of messages, by direction.", "direction")
	m.unknown = vec("unknown_total", "Frames and messages of kinds that this version does not know.", "what")
	m.duplicates = counter("duplicates_total", "Messages that came twice over one connection, and were dropped.")
	m.busy = counter("busy_total", "Messages that were not sent because the queue to the peer was full.")
	m.tooLarge = counter("too_large_total", "Messages that were not sent because they were too large.")

	// What never happened reads 0, and is not absent.
	m.connected.WithLabelValues(Node.String())
	m.connected.WithLabelValues(Gateway.String())
	for c := causeClosed; c < numberOfCause; c++ {
		m.refused.WithLabelValues(c.String())
	}
	for _, c := range []cause{causeClosed, causeReplaced, causeMalformed, causeSilent, causeBroken, causePeer} {
		m.lost.WithLabelValues(c.String())
	}
	for _, direction := range []string{"in", "out"} {
		m.bytes.WithLabelValues(direction)
		for _, name := range wire.Names() {
			m.messages.WithLabelValues(name, direction)
		}
	}
	m.unknown.WithLabelValues("frame")
	m.unknown.WithLabelValues("message")
	return m
}

// Describe implements prometheus.Collector.
func (l *Links) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range l.metrics.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector: a Links can be registered as it is.
func (l *Links) Collect(ch chan<- prometheus.Metric) {
	for _, c := range l.metrics.all {
		c.Collect(ch)
	}
}

// seldom lets through one event of each key a second, so that a peer that comes again and again does not fill the log.
type seldom struct {
	mu   sync.Mutex
	last map[cause]time.Time
}

func (s *seldom) allow(c cause) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.last[c]) >= time.Second {
		s.last[c] = now
		return true
	}
	return false
}

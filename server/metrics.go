package server

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics tell of the HTTP side; the engine registers its own.
type metrics struct {
	requests *prometheus.CounterVec // by path and code
	inFlight prometheus.Gauge
	panics   prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	return &metrics{
		requests: register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kvasir_http_requests_total",
			Help: "HTTP requests answered, by path and status code (499: the client left before its answer began).",
		}, []string{"path", "code"})),
		inFlight: register(r, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kvasir_http_requests_in_flight",
			Help: "HTTP requests being answered.",
		})),
		panics: register(r, prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kvasir_http_panics_total",
			Help: "Panics caught in HTTP handlers.",
		})),
	}
}

// register adds c to r, or returns the collector that an earlier handler added under its name.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	if r == nil {
		return c
	}
	err := r.Register(c)
	var taken prometheus.AlreadyRegisteredError
	if errors.As(err, &taken) {
		if old, ok := taken.ExistingCollector.(C); ok {
			return old
		}
	}
	if err != nil {
		panic("server: " + err.Error())
	}
	return c
}

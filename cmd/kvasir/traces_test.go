package main

import (
	"strings"
	"testing"
)

// An endpoint that the library would not understand is refused: it would send the traces elsewhere.
func TestTraceEndpoints(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:4317":  "",
		"https://collector:4317": "",
		"collector:4317":         "must be http://HOST:PORT",
		"127.0.0.1:4317":         "must be http://HOST:PORT",
		"http://":                "must be http://HOST:PORT",
	} {
		f := traceFlags{OTLPEndpoint: endpoint}
		p, flush, err := f.provider("test")
		if err == nil {
			flush()
		}
		if want == "" && (err != nil || p == nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

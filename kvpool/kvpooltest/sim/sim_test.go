package sim

import (
	"flag"
	"testing"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "simulate this seed alone")
	nodesFlag    = flag.Int("nodes", 0, "nodes of that seed")
	requestsFlag = flag.Int("requests", 0, "requests of that seed")
	faultsFlag   = flag.String("faults", "all", "kinds of fault")
	breakFlag    = flag.Int("break", 0, "what is broken on purpose")
	traceFlag    = flag.Int("trace", 60, "events to print of a failure")
	seedsFlag    = flag.Int("seeds", 0, "how many seeds; 0: a few")
)

func TestQuick(t *testing.T) {
	n := 20
	if *seedsFlag > 0 {
		n = *seedsFlag
	}
	f, err := ParseFaults(*faultsFlag)
	if err != nil {
		t.Fatal(err)
	}
	var reqs int
	for seed := range n {
		cfg := Config{Seed: uint64(seed) + *seedFlag, Nodes: 2 + seed%4, Requests: 12, Faults: f, Break: Break(*breakFlag)}
		r := Run(cfg)
		reqs += r.Requests
		if r.Err != nil {
			cfg.Trace = *traceFlag
			r = Run(cfg)
			for _, l := range r.Trace {
				t.Log(l)
			}
			t.Fatalf("seed %d nodes %d: %v", cfg.Seed, cfg.Nodes, r.Err)
		}
		if seed < 5 {
			t.Logf("%+v", r)
		}
	}
	t.Log(reqs)
}

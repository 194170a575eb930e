package sim

import (
	"context"
	"flag"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/kvpooltest"
)

var (
	mutantsFlag = flag.Bool("mutants", false, "try every mutant of the ledger, not only a few (minutes)")
	shrinkFlag  = flag.Bool("shrink", true, "make a run that fails smaller")
)

// few are the mutants that every test run tries: what they break is seen by nodes and bytes, not in one ledger alone.
var few = []string{"page freed before its own read has landed", "freed on Revoke without Release", "another attempt after the first token"}

// handoffMutants are rules of the gateway and of the node, broken on purpose.
func handoffMutants() []kvpooltest.Mutant {
	return []kvpooltest.Mutant{
		{
			Name: "another attempt after the first token", Fault: "G2",
			Edits: []kvpooltest.Edit{{File: "../handoff/gateway.go", Old: "	if j.told > 0 || !retryable(why)", New: "	if !retryable(why)"}},
		},
		{
			Name: "a request outlives its outcome", Fault: "A3",
			Edits: []kvpooltest.Edit{{File: "../handoff/gateway.go", Old: "	delete(g.byID, j.id)\n", New: "	j.done = false\n"}},
		},
		{
			Name: "the spare page of a prompt that nobody runs is kept", Fault: "B2",
			Edits: []kvpooltest.Edit{{File: "../handoff/roles.go", Old: "	if fx.Spare != (page.Ref{}) {", New: "	if false {"}},
		},
		{
			Name: "a prompt that came after its cancel is kept", Fault: "D9",
			Edits: []kvpooltest.Edit{{File: "../handoff/roles.go", Old: "	if p.over {\n		n.letGo(p, fx)\n", New: "	if p.over {\n"}},
		},
		{
			Name: "tokens that come twice are told twice", Fault: "G3",
			Edits: []kvpooltest.Edit{{File: "../handoff/heard.go", Old: "	case have <= j.told:\n		return\n	}\n	skip := j.told - m.First\n", New: "	}\n	skip := 0\n"}},
		},
		{
			Name: "a retry has the name of the attempt before", Fault: "E5",
			Edits: []kvpooltest.Edit{{File: "../handoff/route.go", Old: "	g.number++\n", New: "	if j.tries == 1 {\n		g.number++\n	}\n"}},
		},
		{
			Name: "the end of a node is not noticed", Fault: "E4",
			Edits: []kvpooltest.Edit{{File: "../handoff/gateway.go", Old: "	g.lost(p, life, true)\n", New: "	_ = life\n"}},
		},
	}
}

// unseen are mutants that the simulator's nodes never provoke, and why. The model checker finds them.
var unseen = map[string]string{
	"waiting in place of refusing":             "the prefill node's patience ends: it revokes, and the request is tried anew",
	"attempt of an older life admitted":        "the prefill node's patience ends: nobody answers it, and it fences",
	"stale incarnation accepted":               "attempts of an older life are gone from both nodes when its messages come",
	"match verified without its bytes":         "who gets the bad page is told to fail before it runs",
	"shorter match one page too long":          "as before",
	"cancel before Submit forgotten":           "the node's own rules remember it too",
	"revoke before Submit not answered":        "the prefill node's patience ends: nobody answers it, and it fences",
	"incarnation of a page not checked":        "references of an older life do not reach a ledger here",
	"pin of a match dropped with its sequence": "the page is freed under a check that nobody waits for any more",
	"scrub forgotten":                          "stale bytes are written over before anybody reads them",
	"offer of more or fewer pages accepted":    "what else is wrong with a liar's offer is found",
	"what was computed from a bad page stays":  "bytes do not go bad here under a sequence that reads them",
	"exported by who does not own it":          "a node offers the pages of its own sequences alone",
	"served without an export":                 "nodes read what was offered to them alone",
	"copy restored unseen":                     "nothing is copied out of the pools here",
	"copied page evicted while the copy runs":  "as before",
	"copies trusted after an alarm":            "as before",
}

// TestFindsMutants: a rule of the ledger that is broken is seen in a few hundred seeds.
func TestFindsMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the ledger anew for each mutant")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	found := 0
	for _, m := range append(kvpooltest.Mutants(), handoffMutants()...) {
		if !*mutantsFlag && !contains(few, m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			broke := simulateMutant(t, m)
			if broke != "" {
				found++
				t.Log(broke)
			} else if why, known := unseen[m.Name]; !known {
				t.Error("not found")
			} else {
				t.Log("not found: " + why)
			}
		})
	}
	if found == 0 {
		t.Error("no mutant was found")
	}
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// simulateMutant returns what broke, or nothing.
func simulateMutant(t *testing.T, m kvpooltest.Mutant) string {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	overlay, err := m.Overlay("../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// After every step: what a mutant has spoilt may send the ledger round in circles in the next.
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay="+overlay, "-vet=off", "-count=1", "-run", "TestSimulation$", ".", "-args", "-shrink=false", "-check=1")
	out, err := cmd.CombinedOutput()
	broke := regexp.MustCompile(`(?m)^BROKEN.*`).Find(out)
	if broke == nil && err != nil {
		t.Fatalf("no verdict: %v\n%s", err, out)
	}
	return string(broke[:min(len(broke), 250)])
}

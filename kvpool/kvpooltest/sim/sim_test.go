package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag     = flag.Int64("seed", -1, "simulate this seed alone")
	nodesFlag    = flag.Int("nodes", 0, "nodes; 0: as the seed is numbered")
	requestsFlag = flag.Int("requests", 0, "requests; 0: as the seed is numbered")
	faultsFlag   = flag.String("faults", "", "kinds of fault: all, none, or a list; empty: as the seed is numbered")
	breakFlag    = flag.Int("break", 0, "what is broken on purpose")
	dropFaults   = flag.String("drop-faults", "", "numbers of planned faults to leave out")
	dropRequests = flag.String("drop-requests", "", "numbers of planned requests to leave out")
	checkFlag    = flag.Int("check", 0, "verify the ledgers after every so many of their steps; 0: 16")
	traceFlag    = flag.Int("events", 80, "events to print of a run that fails")
	soakFlag     = flag.Int("soak", 0, "seeds of TestSoak")
	fromFlag     = flag.Uint64("from", 1<<20, "first seed of TestSoak")
)

// config spreads seeds over sizes and kinds of fault: most have all faults, some one kind alone or a few, which go deeper.
func config(t *testing.T, seed uint64) Config {
	cfg := Config{Seed: seed, Nodes: 2 + int(seed%5), Requests: 8 + int(seed%13), Faults: AllFaults}
	switch seed % 8 {
	case 1:
		cfg.Faults = 1 << (seed / 8 % uint64(len(faultNames)))
	case 2, 3:
		cfg.Faults = Faults(mix(seed, 1)) & AllFaults
	case 4:
		cfg.Faults &^= Abort | Crash | Partition
	}
	if seed%97 == 13 {
		cfg.Nodes, cfg.Requests = 8+int(seed%57), 60
	}
	if *nodesFlag > 0 {
		cfg.Nodes = *nodesFlag
	}
	if *requestsFlag > 0 {
		cfg.Requests = *requestsFlag
	}
	if *faultsFlag != "" {
		var err error
		if cfg.Faults, err = ParseFaults(*faultsFlag); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Break, cfg.CheckEvery = Break(*breakFlag), *checkFlag
	return cfg
}

func list(t *testing.T, s string) (n []int) {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) {
		i, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		n = append(n, i)
	}
	return n
}

// explain shrinks a failure, and prints how to repeat it and what happened last.
func explain(t *testing.T, cfg Config, err error) {
	t.Helper()
	t.Errorf("%v\nrepeat with: %s", err, cfg.Command())
	if !*shrinkFlag {
		fmt.Printf("BROKEN: %v\n", err)
		return
	}
	small, _ := Shrink(cfg, 300)
	small.Trace = *traceFlag
	r := Run(small)
	t.Errorf("shrunk: %v\nrepeat with: %s\n%s", r.Err, small.Command(), strings.Join(r.Trace, "\n"))
}

// total adds up what many runs have seen.
type total struct {
	mu sync.Mutex
	Result
	runs int
}

func (a *total) add(r Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs++
	a.Requests += r.Requests
	a.Events += r.Events
	a.Steps += r.Steps
	a.Reads += r.Reads
	a.Imports += r.Imports
	a.Crashes += r.Crashes
	a.GateCrashes += r.GateCrashes
	a.Preempted += r.Preempted
	a.Flips += r.Flips
	a.Flaws += r.Flaws
	a.Fences += r.Fences
	a.Pools.addAll(&r.Pools)
	for i, n := range r.Outcomes {
		a.Outcomes[i] += n
	}
}

func (a *total) log(t *testing.T, took time.Duration) {
	t.Logf("%d runs, %d requests (%d completed, %d cancelled, %d rejected, %d failed), %d ledger steps, %d pages read, %d answers from imports, %d crashes, %d of gateways, %d fences, %d preempted, %d bits turned over and %d noticed",
		a.runs, a.Requests, a.Outcomes[Completed], a.Outcomes[Cancelled], a.Outcomes[Rejected], a.Outcomes[Failed], a.Steps, a.Reads, a.Imports, a.Crashes, a.GateCrashes, a.Fences, a.Preempted, a.Flips, a.Flaws)
	t.Logf("%+v", a.Pools)
	if took > 0 {
		t.Logf("%.0f requests a second, %.0f ledger steps a second", float64(a.Requests)/took.Seconds(), float64(a.Steps)/took.Seconds())
	}
}

// TestSimulation runs a few hundred seeds, or the one that is asked for.
func TestSimulation(t *testing.T) {
	if *seedFlag >= 0 {
		cfg := config(t, uint64(*seedFlag))
		cfg.DropFaults, cfg.DropRequests = list(t, *dropFaults), list(t, *dropRequests)
		r := Run(cfg)
		if r.Err != nil {
			explain(t, cfg, r.Err)
		}
		t.Logf("%+v", r)
		return
	}
	seeds := 600
	if testing.Short() {
		seeds = 60
	}
	var all total
	for seed := range seeds {
		cfg := config(t, uint64(seed))
		r := Run(cfg)
		if r.Err != nil {
			explain(t, cfg, r.Err)
			return
		}
		all.add(r)
	}
	all.log(t, 0)
	if all.Outcomes[Completed] == 0 || all.Outcomes[Cancelled] == 0 || all.Imports == 0 || all.Crashes == 0 || all.Fences == 0 || all.Reads <= all.Imports || all.GateCrashes == 0 || all.Flaws == 0 || all.Preempted == 0 {
		t.Error("the runs have not seen what they are for")
	}
}

// TestSoak runs as many seeds as are asked for on all cores.
func TestSoak(t *testing.T) {
	if *soakFlag == 0 {
		t.Skip("asked for with -soak N")
	}
	var all total
	var wg sync.WaitGroup
	var once sync.Once
	began, seeds := time.Now(), make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := range seeds {
				cfg := config(t, seed)
				r := Run(cfg)
				all.add(r)
				if r.Err != nil {
					once.Do(func() { explain(t, cfg, r.Err) })
				}
			}
		})
	}
	for i := 0; i < *soakFlag && !t.Failed(); i++ {
		seeds <- *fromFlag + uint64(i)
		if i%20000 == 19999 {
			os.Stderr.WriteString(strconv.Itoa(i+1) + " seeds\n")
		}
	}
	close(seeds)
	wg.Wait()
	all.log(t, time.Since(began))
}

// TestSameSeedSameRun: one seed is one run, bit for bit, whether it is watched or not.
func TestSameSeedSameRun(t *testing.T) {
	digests := map[uint64]uint64{}
	for seed := range uint64(24) {
		cfg := config(t, seed)
		a := Run(cfg)
		cfg.Trace = 50
		b := Run(cfg)
		if a.Digest != b.Digest || a.Events != b.Events || a.Micros != b.Micros || a.Outcomes != b.Outcomes {
			t.Errorf("seed %d: %+v, then %+v", seed, a, b)
		}
		if other, twice := digests[a.Digest]; twice {
			t.Errorf("seeds %d and %d are one run", seed, other)
		}
		digests[a.Digest] = seed
	}
}

// TestFindsBreaks: each rule broken on purpose is seen within a few seeds, by what it must harm.
func TestFindsBreaks(t *testing.T) {
	for _, c := range []struct {
		name string
		what Break
		want string // any of these, parted by |
	}{
		{"a fence is answered before reads are stopped", BreakFenceEarly, "I4|I5|wrong token"},
		{"a timeout is told as the end of a read", BreakFailedRead, "I4|I5|I7, I8|wrong token"},
		{"pages are served to anybody and not hashed", BreakNoChecksum, "does not hold what was sealed|wrong token|canary"},
		{"a cancelled import releases while reads are out", BreakReleaseEarly, "I7, I8"},
		{"two imported pages change places", BreakSwapPages, "does not show what its tokens say"},
		{"the spare page of an import is forgotten", BreakSpareLost, "not all is at rest"},
		{"pages are sealed before they are written", BreakSealLate, "wrong token|canary|does not hold what was sealed"},
		{"a request is given a second outcome", BreakSecondOutcome, "I12"},
		{"all tenants share one cache domain", BreakDomain, "wrong token|canary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(600) {
				cfg := config(t, seed)
				cfg.Faults, cfg.Break = AllFaults&^Flip, c.what // so that what a check of pages finds counts as found
				r := Run(cfg)
				if r.Err == nil {
					continue
				}
				for _, want := range strings.Split(c.want, "|") {
					if strings.Contains(r.Err.Error(), want) {
						t.Logf("seed %d: %.200v", seed, r.Err)
						return
					}
				}
				t.Fatalf("seed %d: %v, want %s", seed, r.Err, c.want)
			}
			t.Error("not found")
		})
	}
}

// TestShrink: a failure gets smaller, still fails, and its command says how.
func TestShrink(t *testing.T) {
	cfg := Config{Seed: 5, Nodes: 3, Requests: 16, Faults: AllFaults &^ Flip, Break: BreakSwapPages}
	for Run(cfg).Err == nil && cfg.Seed < 600 {
		cfg.Seed++
	}
	small, r := Shrink(cfg, 300)
	if r.Err == nil || Run(small).Err == nil {
		t.Error("the smaller run does not fail")
	}
	if len(small.DropRequests) < 8 || small.Faults == cfg.Faults {
		t.Errorf("hardly smaller: %s", small.Command())
	}
	t.Log(small.Command())
}

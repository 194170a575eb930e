//go:build unix

package actors

import (
	"math"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/sched"
)

// again is a device that does what safety costs some times more than it is asked to: comparing headers, and hashing pages.
type again struct {
	*host.Device
	more int
}

func (d *again) CheckHeaders(s *gpu.Slab, checks []gpu.HeaderCheck, bad []int) []int {
	for range d.more {
		d.Device.CheckHeaders(s, checks, nil)
	}
	return d.Device.CheckHeaders(s, checks, bad)
}

func (d *again) Checksum(s *gpu.Slab, p page.Index) uint32 {
	for range d.more {
		d.Device.Checksum(s, p)
	}
	return d.Device.Checksum(s, p)
}

// TestCostOfSafety measures what header checks and checksums cost on a model of real size, KVASIR_SAFETY_MODEL=FILE.gguf: runs in pairs, of which one does each of them 20 times more. A
// twentieth of the difference in CPU time is the cost of doing them once. KVASIR_SAFETY_PAIRS=N: so many pairs (20).
func TestCostOfSafety(t *testing.T) {
	file := os.Getenv("KVASIR_SAFETY_MODEL")
	if file == "" {
		t.Skip("KVASIR_SAFETY_MODEL names no model file")
	}
	pairs := 20
	if s := os.Getenv("KVASIR_SAFETY_PAIRS"); s != "" {
		var err error
		if pairs, err = strconv.Atoi(s); err != nil || pairs < 2 {
			t.Fatalf("KVASIR_SAFETY_PAIRS is %q; it must be a number of at least 2", s)
		}
	}
	f, err := gguf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cpu, err := host.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	dev := &again{Device: cpu}
	m, err := model.Load(f, dev, model.Options{MaxRows: 128, MaxLogits: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	n, err := Start(Config{Device: dev, Model: m, Layout: m.Config().Layout(16, gpu.F16), PrefixCache: true,
		Sched: sched.Config{PageSize: 16, TotalPages: 128, MaxModelLen: 1024, MaxNumSeqs: 16, MaxBatchedTokens: 128, MaxQueue: 64}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	l := &lab{Node: n, t: t, dev: cpu}
	const more = 20
	run := func(round, extra int) time.Duration {
		dev.more = extra // the node is idle, and hears of its work by messages sent after this
		before := cpuTime(t)
		var all []*Stream
		for i := range 4 {
			all = append(all, l.submit(prompt(100+round*4+i, 64), 24)) // no prefix of another round's: the pages come and go
		}
		for _, s := range all {
			if _, _, err := l.collect(s); err != nil {
				t.Fatal(err)
			}
		}
		return cpuTime(t) - before
	}
	run(-1, 0)
	var sum, squares, once float64
	for i := range pairs {
		var a, b time.Duration
		if i%2 == 0 {
			a, b = run(2*i, 0), run(2*i+1, more)
		} else {
			b, a = run(2*i, more), run(2*i+1, 0)
		}
		cost := (b - a).Seconds() / more
		once += a.Seconds()
		sum += cost
		squares += cost * cost
	}
	mean, k := sum/float64(pairs), float64(pairs)
	deviation := math.Sqrt(max(0, squares/k-mean*mean) * k / (k - 1))
	perRun := once / k
	t.Logf("%d pairs, %.2f s of CPU time a run; headers and checksums cost %.4f %% of it, 95 %% interval +- %.4f %%",
		pairs, perRun, 100*mean/perRun, 100*2.1*deviation/math.Sqrt(k)/perRun)
}

// cpuTime is what this process has used.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

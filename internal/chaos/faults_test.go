//go:build linux

package chaos

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fault is something that goes wrong, and is over when do returns.
type fault struct {
	do func(c *cluster, p, d *process)
	// gone: it is the clients of the subjects that go away, once the phase has come.
	gone bool
	// network: it needs a network that can be cut.
	network bool
}

var faults = map[string]fault{
	"prefill killed":             {do: func(c *cluster, p, d *process) { p.kill(); p.start() }},
	"decode killed":              {do: func(c *cluster, p, d *process) { d.kill(); d.start() }},
	"both killed":                {do: func(c *cluster, p, d *process) { p.kill(); d.kill(); d.start(); p.start() }},
	"prefill killed, back later": {do: func(c *cluster, p, d *process) { p.kill(); time.Sleep(silence); p.start() }},
	"decode killed, back later":  {do: func(c *cluster, p, d *process) { d.kill(); time.Sleep(silence); d.start() }},
	"prefill stopped":            {do: func(c *cluster, p, d *process) { pauseProcess(p, silence) }},
	"decode stopped":             {do: func(c *cluster, p, d *process) { pauseProcess(d, silence) }},
	"prefill drained":            {do: func(c *cluster, p, d *process) { p.leave(); p.start() }},
	"decode drained":             {do: func(c *cluster, p, d *process) { d.leave(); d.start() }},
	"gateway killed":             {do: func(c *cluster, p, d *process) { c.gateway.kill(); c.gateway.start() }},
	"clients gone":               {gone: true, do: func(c *cluster, p, d *process) {}},
	"nodes cut off from each other": {network: true, do: func(c *cluster, p, d *process) {
		c.net.cut(true)
		time.Sleep(silence)
		c.net.cut(false)
	}},
	"link that comes and goes": {network: true, do: func(c *cluster, p, d *process) {
		for range 12 {
			c.net.cut(true)
			time.Sleep(180 * time.Millisecond)
			c.net.cut(false)
			time.Sleep(20 * time.Millisecond)
		}
	}},
}

// longQuestion is one that nobody of its tenant has asked for long: what is cached need not be moved.
func (c *cluster) longQuestion() question {
	n := len(c.judge.all.long)
	q := c.judge.all.long[c.asked%n]
	q.tenant = tenant(c.asked / n)
	c.asked++
	return q
}

// provoke lets a fault happen while its subjects, which take long at everything, are in a phase, and holds what everybody hears against what must be.
func (c *cluster) provoke(name string, ph phase) {
	c.t.Helper()
	f, began := faults[name], time.Now()
	took := func() (t time.Duration) {
		t, began = time.Since(began).Round(10*time.Millisecond), time.Now()
		return t
	}
	subjects := 3
	if ph == queueing {
		subjects = 5
	}
	ctx, goAway := context.WithCancel(c.t.Context())
	defer goAway()
	var heard atomic.Bool
	var all sync.WaitGroup
	for i := range subjects {
		q := c.longQuestion()
		all.Go(func() { c.judge.ask(ctx, c.gateway.http, &q, i%4 != 3, func() { heard.Store(true) }) })
	}
	over := make(chan struct{})
	go func() {
		all.Wait()
		close(over)
	}()
	p, d, ok := c.meet(ph, heard.Load, over)
	met, lasted, answered := took(), time.Duration(0), time.Duration(0)
	if !ok {
		c.t.Errorf("%s: the phase %s was not met: this shows nothing", name, ph)
	} else {
		if f.gone {
			goAway()
		}
		c.load.resume() // whatever happens, others ask too
		f.do(c, p, d)
		lasted = took()
		<-over
		answered = took()
		c.load.pause()
	}
	<-over
	what := name + " in the phase " + string(ph)
	c.settled(what)
	settled := took()
	c.works(what)
	c.t.Logf("%-43s met after %v, lasted %v, all answered after %v, home after %v, works after %v", what, met, lasted, answered, settled, took())
}

// pair is a fault and the phase that it meets.
type pair struct {
	fault string
	phase phase
}

// Faults in the phases in which they differ: C2 (stopped), D10 (clients gone), E1 and E2 (killed, and there again), E3 (drained), E4 (killed, back later), E5 (each that is computed again).
func TestFaults(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("starts and kills processes for about a minute, which the race detector does not see")
	}
	transports, all := []string{"tcp"}, []pair{
		{"prefill killed", queueing}, {"prefill killed", prefill}, {"prefill killed", transfer},
		{"decode killed", queueing}, {"decode killed", prefill}, {"decode killed", transfer}, {"decode killed", decoding},
		{"prefill stopped", transfer}, {"decode stopped", transfer},
		{"clients gone", queueing}, {"clients gone", prefill}, {"clients gone", transfer}, {"clients gone", decoding},
		{"gateway killed", transfer}, {"prefill drained", transfer}, {"decode drained", decoding},
	}
	if os.Getenv("CHAOS") != "" {
		transports = append(transports, "shm")
		all = append(all, []pair{
			{"prefill killed", decoding}, {"prefill killed, back later", transfer}, {"decode killed, back later", decoding}, {"decode stopped", decoding}, {"prefill stopped", queueing},
			{"gateway killed", decoding}, {"both killed", transfer}, {"decode drained", transfer},
		}...)
	}
	questions := newQuestions(t, 16, 12)
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			c := newCluster(t, 1, 1, nil, questions, transport)
			for _, x := range all {
				c.provoke(x.fault, x.phase)
			}
			c.enough(100)
		})
	}
}

// enough: a test in which hardly anybody was answered shows nothing.
func (c *cluster) enough(least int) {
	c.t.Log(c.judge.tally)
	if y := c.judge.tally; y.by[whole] < least || y.remembered < least/2 {
		c.t.Error("too few answers for the test to show anything")
	}
}

// The network between the nodes swallows what is sent, for longer than everybody waits, or again and again; each still hears the gateway.
func TestFaultsOfTheNetwork(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("starts processes in network namespaces, which the race detector does not see")
	}
	c := newCluster(t, 1, 1, newNetwork(t, 2), newQuestions(t, 8, 6), "tcp")
	all := []pair{{"nodes cut off from each other", transfer}, {"link that comes and goes", transfer}}
	if os.Getenv("CHAOS") != "" {
		all = append(all, pair{"nodes cut off from each other", prefill}, pair{"nodes cut off from each other", decoding})
	}
	for _, x := range all {
		c.provoke(x.fault, x.phase)
	}
	c.enough(20)
}

// Faults at random, in a cluster of four, for as long as CHAOS says.
func TestChaos(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("CHAOS"))
	if os.Getenv("CHAOS") == "" {
		t.Skip("CHAOS=10m says for how long (make chaos)")
	} else if err != nil {
		t.Fatalf("CHAOS: %v", err)
	}
	var names []string
	phases := []phase{queueing, prefill, transfer, decoding}
	var net *network
	if reason := noNetwork(); reason == "" {
		net = newNetwork(t, 4)
	} else {
		t.Logf("without faults of the network: %s", reason)
	}
	for name, f := range faults {
		if net != nil || !f.network {
			names = append(names, name)
		}
	}
	c := newCluster(t, 2, 2, net, newQuestions(t, 64, 32), "tcp")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	n := 0
	for until := time.Now().Add(lasts); time.Now().Before(until) && !t.Failed(); n++ {
		x := pair{names[r.IntN(len(names))], phases[r.IntN(len(phases))]}
		c.provoke(x.fault, x.phase)
	}
	t.Logf("%d faults", n)
	c.enough(10 * n)
}

package actors

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
)

// BenchmarkDecodeStep is one token for each of so many answers that grow together: through scheduler, pool, runner and streams, the forward pass of the built-in model included.
func BenchmarkDecodeStep(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			l := newLab(b, nil, func(c *Config) { c.Sched.TotalPages = 64 * n }) // each answer may fill the context
			var streams []*Stream
			for i := range n {
				streams = append(streams, l.submit(prompt(i, 20), 0))
			}
			next := func() {
				for i, s := range streams {
					ev, ok, err := s.Next(context.Background())
					if err != nil || ev.Err != nil {
						b.Fatal(err, ev.Err)
					}
					if !ok || ev.End != 0 { // the context is full
						b.StopTimer()
						streams[i] = l.submit(prompt(i, 20), 0)
						b.StartTimer()
					}
				}
			}
			for range 100 {
				next()
			}
			b.ReportAllocs()
			for b.Loop() {
				next()
			}
			for _, s := range streams {
				s.CancelAll()
			}
			l.home()
		})
	}
}

// BenchmarkChecks is what the runner does before a forward pass of one more token of a sequence with so many pages: it looks the sequence up and compares every header.
func BenchmarkChecks(b *testing.B) {
	for _, pages := range []int{10, 100, 2000} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			r, batch := longSequence(b, pages)
			b.ReportAllocs()
			for b.Loop() {
				r.open(batch)
				r.stampNew()
				r.checkHeaders()
				r.rows()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pages), "ns/page")
			if r.parts[0].failed {
				b.Fatal("a header differs")
			}
		})
	}
}

// longSequence is a runner without actors round it, and a batch of one more token of a sequence that fills so many pages.
func longSequence(tb testing.TB, pages int) (*runner, *sched.Batch) {
	dev, err := host.New(1)
	if err != nil {
		tb.Fatal(err)
	}
	layout := gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 2, PageSize: 16, Type: gpu.F16}
	slab, err := dev.NewSlab(layout, pages)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		slab.Data.Free()
		slab.Headers.Free()
		dev.Close()
	})
	r := &runner{node: &Node{dev: dev, layout: layout, slab: slab, incarnation: 5}, seqs: map[page.Seq]*runSeq{}}
	tokens := make([]int32, pages*16-7)
	s := &runSeq{seq: 1, domain: 2, tokens: tokens, trail: newTrail(r.node.chain("a"), 16, tokens)}
	r.seqs[1] = s
	item := sched.Item{Seq: 1, Start: len(tokens) - 1, Count: 1}
	expect := kvpool.Expect{Seq: 1, Domain: 2, PageSize: 16, Chain: s.trail.hashes}
	for i := range pages {
		ref := page.Ref{Incarnation: 5, Page: page.Index(i * 7919 % pages), Generation: page.Generation(i + 1)}
		dev.WriteHeader(slab, ref.Page, expect.Header(i, ref.Generation, item.Start))
		item.Pages = append(item.Pages, ref)
	}
	return r, &sched.Batch{Items: []sched.Item{item}}
}

// A step of several sequences allocates nothing between two page borders; what is left of a decode step is the actor library's, which allocates when it wakes an actor.
func TestRunnerStepAllocatesNothing(t *testing.T) {
	l := newLab(t, nil) // its own runner does nothing here
	r := &runner{node: l.Node, seqs: map[page.Seq]*runSeq{}, logits: make([]float32, l.model.Config().Vocab)}
	b := &sched.Batch{}
	for i := range 4 {
		seq := page.Seq(i + 1)
		r.begin(&begin{seqs: []page.Seq{seq}, spec: Spec{Tenant: "default", Prompt: prompt(i, 3), Choices: 1}})
		b.Items = append(b.Items, sched.Item{Seq: seq, Count: 3, Sample: true,
			Pages: []page.Ref{{Node: l.cfg.Node, Incarnation: l.incarnation, Page: page.Index(i), Generation: 1}}})
	}
	step := func() {
		for _, x := range r.step(b).results {
			if x.Failed {
				t.Fatal("a step failed")
			}
		}
		for i := range b.Items {
			it := &b.Items[i]
			it.Start, it.Count = it.Start+it.Count, 1
		}
	}
	step()
	step()
	if n := testing.AllocsPerRun(8, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
	if n := testing.AllocsPerRun(50, func() { r.rows() }); n != 0 {
		t.Errorf("%v allocations for the model's batch", n)
	}
}

// A stream that is read as it grows is kept in the memory that it began with.
func TestStreamAllocatesNothing(t *testing.T) {
	s := newStream(nil, []page.Seq{1})
	if n := testing.AllocsPerRun(100, func() {
		for range 3 {
			s.push(Event{Choice: 0})
		}
		for range 3 {
			if _, ok, err := s.Next(context.Background()); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations for three tokens", n)
	}
}

// Whatever is pushed and read, all comes out in its order.
func TestStreamKeepsItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStream(nil, []page.Seq{1})
		in, out := 0, 0
		for _, push := range rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(t, "pushes") {
			if push {
				s.push(Event{Choice: in})
				in++
			} else if out < in {
				ev, _, err := s.Next(context.Background())
				if err != nil || ev.Choice != out {
					t.Fatalf("event %d came as number %d: %v", ev.Choice, out, err)
				}
				out++
			}
		}
	})
}

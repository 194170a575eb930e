package actors

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/model/builtin"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a node of the built-in model, and what a test may do to it from outside.
type lab struct {
	*Node
	t   *testing.T
	dev *host.Device
}

// tamper sees every message before an actor does, in the actor's own goroutine, and returns what the actor is to get.
type tamper func(role string, m any) any

func newLab(t *testing.T, tp tamper, change ...func(*Config)) *lab {
	t.Helper()
	f, err := gguf.Parse("built-in", builtin.GGUF)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := host.New(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	m, err := model.Load(f, dev, model.Options{MaxRows: 128, MaxLogits: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	layout := m.Layout(16, gpu.F16)
	cfg := Config{Device: dev, Model: m, Layout: layout, PrefixCache: true,
		Sched: sched.Config{PageSize: 16, TotalPages: 64, MaxModelLen: 1024, MaxNumSeqs: 16, MaxBatchedTokens: 128, MaxQueue: 64}}
	if tp != nil {
		cfg.receive = func(role string) []actor.ReceiverMiddleware {
			return []actor.ReceiverMiddleware{func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, e *actor.MessageEnvelope) {
					e.Message = tp(role, e.Message)
					next(c, e)
				}
			}}
		}
	}
	for _, f := range change {
		f(&cfg)
	}
	n, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{Node: n, t: t, dev: dev}
}

// prompt is n tokens that differ with seed.
func prompt(seed, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((seed*131 + i*i*7 + i*3) % 700)
	}
	return ids
}

func (l *lab) submit(p []int32, answer int) *Stream {
	l.t.Helper()
	s, err := l.Submit(Spec{Tenant: "default", Prompt: p, Choices: 1, MaxTokens: answer})
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// collect reads a stream to its end.
func (l *lab) collect(s *Stream) (tokens []int32, end sched.End, err error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		ev, ok, e := s.Next(ctx)
		switch {
		case e != nil:
			l.t.Fatal(e)
		case !ok:
			return tokens, end, err
		case ev.Err != nil || ev.End != 0:
			if end != 0 || err != nil {
				l.t.Fatal("a second end")
			}
			end, err = ev.End, ev.Err
		default:
			tokens = append(tokens, ev.Token.ID)
		}
	}
}

// alone is the greedy answer of a node that has nothing else to do.
func alone(t *testing.T, p []int32, answer int) []int32 {
	t.Helper()
	l := newLab(t, nil)
	tokens, end, err := l.collect(l.submit(p, answer))
	if err != nil || end != sched.EndLength || len(tokens) != answer {
		t.Fatalf("alone: %v %v, %d tokens", end, err, len(tokens))
	}
	return tokens
}

// home waits until every page is free or held by the prefix index alone, and checks the ledger's invariants.
func (l *lab) home() PoolReport {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		r, _, err := l.Report(ctx, true)
		if err != nil {
			l.t.Fatalf("pages did not come home: %+v: %v", r.Counts, err)
		}
		if r.Broken != nil {
			l.t.Fatal(r.Broken)
		}
		if r.Counts.Free+r.Counts.Idle == l.slab.Pages {
			return r
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *lab) failures(check string) float64 {
	return testutil.ToFloat64(l.metrics.checkFailures.WithLabelValues(check))
}

func (l *lab) swap(a, b page.Index) {
	tmp := page.Index(l.slab.Pages - 1) // never in use in these tests
	l.dev.CopyPage(l.slab, tmp, a)
	l.dev.CopyPage(l.slab, a, b)
	l.dev.CopyPage(l.slab, b, tmp)
	ha, hb := l.dev.ReadHeader(l.slab, a), l.dev.ReadHeader(l.slab, b)
	l.dev.WriteHeader(l.slab, a, hb)
	l.dev.WriteHeader(l.slab, b, ha)
}

// Two requests run side by side; behind the engine's back two pages of one of them change places, or an old reference to a page takes the place of the
// right one. That request ends with an error and not one token more; the other's answer is the one it gets alone.
func TestAForeignPageEndsItsRequestOnly(t *testing.T) {
	const victim, other, before = 1, 2, 4 // seeds of the prompts; tokens that the victim may get first
	cases := []struct {
		name string
		// spoil changes the victim's item of a batch, or the device. old is a reference to a life of a page that is over.
		spoil func(l *lab, it *sched.Item, old page.Ref)
	}{
		{"two full pages swapped", func(l *lab, it *sched.Item, _ page.Ref) { l.swap(it.Pages[0].Page, it.Pages[1].Page) }},
		{"a full page swapped with the one being filled", func(l *lab, it *sched.Item, _ page.Ref) {
			l.swap(it.Pages[0].Page, it.Pages[len(it.Pages)-1].Page)
		}},
		{"two entries of the page table swapped", func(_ *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0], it.Pages[1] = it.Pages[1], it.Pages[0]
		}},
		{"an old reference to the same page", func(_ *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[1].Generation--
		}},
		{"an old reference from a request that has ended", func(_ *lab, it *sched.Item, old page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0] = old
		}},
		{"an old reference in place of the page being filled", func(_ *lab, it *sched.Item, old page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[len(it.Pages)-1] = old
		}},
		{"a reference from another incarnation", func(_ *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0].Incarnation++
		}},
		{"a page beyond the slab", func(l *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0].Page = page.Index(l.slab.Pages)
		}},
	}
	noCache := func(c *Config) { c.PrefixCache = false }
	want := alone(t, prompt(other, 40), 24)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var l *lab
			var old page.Ref
			spoiled := false
			l = newLab(t, func(role string, m any) any {
				r, ok := m.(*run)
				if role != "runner" || !ok {
					return m
				}
				for i := range r.batch.Items {
					it := &r.batch.Items[i]
					if it.Seq == 1 {
						old = it.Pages[0] // of a request that ends before the others begin
					}
					if it.Seq == 2 && it.Start == 40+before-1 && !spoiled {
						spoiled = true
						c.spoil(l, it, old)
					}
				}
				return m
			}, noCache)
			if _, _, err := l.collect(l.submit(prompt(9, 20), 2)); err != nil {
				t.Fatal(err)
			}
			v, o := l.submit(prompt(victim, 40), 24), l.submit(prompt(other, 40), 24)
			got, _, err := l.collect(v)
			if !errors.Is(err, request.ErrPageCheck) || len(got) != before {
				t.Errorf("the victim got %d tokens and %v; want the %d from before the fault and ErrPageCheck", len(got), err, before)
			}
			if got, end, err := l.collect(o); err != nil || end != sched.EndLength || !slices.Equal(got, want) {
				t.Errorf("the other request was harmed: %v %v\n got %v\nwant %v", end, err, got, want)
			}
			if n := l.failures("header"); n < 1 {
				t.Errorf("kv_page_check_failures_total{check=header} is %v", n)
			}
			l.home()
		})
	}
}

// A page is spent a second time: its reference is replayed where a new page is due. The page's owner keeps it.
func TestAReplayedSpendDoesNotTakeThePage(t *testing.T) {
	var l *lab
	var taken page.Ref
	replayed := false
	l = newLab(t, func(role string, m any) any {
		r, ok := m.(*run)
		if role != "runner" || !ok {
			return m
		}
		for i := range r.batch.Items {
			it := &r.batch.Items[i]
			if it.Seq == 1 {
				taken = it.Pages[0]
			}
			if it.Seq == 2 && it.Start == 48 && !replayed {
				replayed = true
				it.Pages = slices.Clone(it.Pages)
				it.Pages[3] = taken
			}
		}
		return m
	})
	owner, thief := l.submit(prompt(1, 40), 60), l.submit(prompt(2, 40), 60)
	want := alone(t, prompt(1, 40), 60)
	if _, _, err := l.collect(thief); !errors.Is(err, request.ErrPageCheck) {
		t.Errorf("the request with the replayed reference ended with %v, want ErrPageCheck", err)
	}
	if got, _, err := l.collect(owner); err != nil || !slices.Equal(got, want) {
		t.Errorf("the page's owner was harmed: %v\n got %v\nwant %v", err, got, want)
	}
	if !replayed {
		t.Error("the test replayed nothing")
	}
	l.home()
}

// One byte of a page in the prefix index changes. The next request with that prefix is not answered from it: the hit is refused, the page quarantined,
// the prompt computed anew.
func TestAnAlteredCachedPageIsRefused(t *testing.T) {
	p := prompt(3, 70)
	want := alone(t, p, 16)
	var l *lab
	var pages []page.Ref
	l = newLab(t, func(role string, m any) any {
		if r, ok := m.(*run); ok && role == "runner" && r.batch.Items[0].Seq == 1 {
			pages = r.batch.Items[0].Pages
		}
		return m
	})
	if _, _, err := l.collect(l.submit(p, 16)); err != nil {
		t.Fatal(err)
	}
	if r := l.home(); r.Counts.Indexed != 5 {
		t.Fatalf("%d pages in the prefix index, want 5", r.Counts.Indexed)
	}
	const bad = 2
	size := l.layout.PageBytes()
	host.Bytes(l.slab.Data)[int(pages[bad].Page)*size+size/3] ^= 1

	s := l.submit(p, 16)
	got, _, err := l.collect(s)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the answer after the fault: %v\n got %v\nwant %v", err, got, want)
	}
	if s.Cached() != bad*l.layout.PageSize {
		t.Errorf("%d prompt tokens came from the cache, want the %d before the altered page", s.Cached(), bad*l.layout.PageSize)
	}
	r := l.home()
	if r.Stats.Bad != 1 || l.failures("bytes") != 1 {
		t.Errorf("quarantined %d, check failures %v; want 1 and 1", r.Stats.Bad, l.failures("bytes"))
	}
	// What was computed anew is cached again, and good.
	s = l.submit(p, 16)
	if got, _, err := l.collect(s); err != nil || !slices.Equal(got, want) || s.Cached() != 64 {
		t.Errorf("the third request: %v, cached %d\n got %v\nwant %v", err, s.Cached(), got, want)
	}
}

// The slow patrol finds an altered idle page before any request asks for it.
func TestThePatrolFindsAnAlteredPage(t *testing.T) {
	l := newLab(t, nil)
	if _, _, err := l.collect(l.submit(prompt(3, 70), 4)); err != nil {
		t.Fatal(err)
	}
	l.home()
	for i := range host.Bytes(l.slab.Data) {
		if host.Bytes(l.slab.Data)[i] != 0 {
			host.Bytes(l.slab.Data)[i] ^= 4
			break
		}
	}
	l.tellPool(kvpool.Event{Kind: kvpool.EvPatrol, N: l.slab.Pages})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		r, _, err := l.Report(ctx, true)
		if err != nil || r.Broken != nil {
			t.Fatal(err, r.Broken)
		}
		if r.Stats.Bad == 1 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A panic in any actor ends the incarnation: every request fails and is told, new ones are refused with the reason, nothing hangs.
func TestAPanicEndsTheIncarnation(t *testing.T) {
	for _, role := range []string{"pool", "scheduler", "runner"} {
		t.Run(role, func(t *testing.T) {
			var steps atomic.Int32 // each actor's messages pass here in its own goroutine
			l := newLab(t, func(r string, m any) any {
				if _, ok := m.(*run); ok {
					steps.Add(1)
				}
				if _, sys := m.(actor.AutoReceiveMessage); r == role && steps.Load() > 5 && !sys {
					if _, sys := m.(actor.SystemMessage); !sys {
						panic("a bug of ours")
					}
				}
				return m
			})
			var streams []*Stream
			for i := range 4 {
				streams = append(streams, l.submit(prompt(i, 40), 900))
			}
			for _, s := range streams {
				if _, _, err := l.collect(s); !errors.Is(err, request.ErrEngineFailed) {
					t.Errorf("a request ended with %v, want ErrEngineFailed", err)
				}
			}
			<-l.Failed()
			if err := l.Health(); !errors.Is(err, request.ErrEngineFailed) {
				t.Errorf("Health is %v", err)
			}
			if _, err := l.Submit(Spec{Tenant: "default", Prompt: prompt(1, 4), Choices: 1}); !errors.Is(err, request.ErrEngineFailed) {
				t.Errorf("a new request: %v, want ErrEngineFailed", err)
			}
			if _, _, err := l.Report(t.Context(), false); err == nil {
				t.Error("a dead node answered a report")
			}
		})
	}
}

// Closing a node in the middle of everything ends all its requests with ErrClosed.
func TestCloseEndsEveryRequest(t *testing.T) {
	l := newLab(t, nil)
	var streams []*Stream
	for i := range 30 {
		streams = append(streams, l.submit(prompt(i, 50), 900))
	}
	if _, _, err := streams[0].Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for i, s := range streams {
		if _, _, err := l.collect(s); !errors.Is(err, request.ErrClosed) {
			t.Errorf("request %d ended with %v", i, err)
		}
	}
}

// Draining refuses new requests and waits for those under way.
func TestDrainWaitsForAnswers(t *testing.T) {
	l := newLab(t, nil)
	s := l.submit(prompt(1, 30), 50)
	var wg sync.WaitGroup
	wg.Go(func() {
		if left, err := l.Drain(context.Background()); left != 0 || err != nil {
			t.Errorf("drain: %d left, %v", left, err)
		}
	})
	for l.Ready() == nil {
		time.Sleep(time.Millisecond)
	}
	if _, err := l.Submit(Spec{Prompt: prompt(1, 4), Choices: 1}); !errors.Is(err, request.ErrClosed) {
		t.Errorf("a request while draining: %v", err)
	}
	if got, end, err := l.collect(s); err != nil || end != sched.EndLength || len(got) != 50 {
		t.Errorf("the request under way: %d tokens, %v, %v", len(got), end, err)
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if left, err := l.Drain(ctx); left != 0 || err != nil {
		t.Errorf("draining an idle node: %d, %v", left, err)
	}
}

// More requests than may run and wait are refused at once, with the numbers.
func TestAFullQueueRefuses(t *testing.T) {
	l := newLab(t, nil, func(c *Config) { c.Sched.MaxQueue, c.Sched.MaxNumSeqs = 4, 2 })
	var streams []*Stream
	var refused *request.Rejection
	for i := range 50 {
		s, err := l.Submit(Spec{Tenant: "default", Prompt: prompt(i, 100), Choices: 1, MaxTokens: 200})
		if err != nil {
			if !errors.As(err, &refused) || refused.Limit != request.LimitQueue || refused.Max == 0 {
				t.Fatalf("%v", err)
			}
			break
		}
		streams = append(streams, s)
	}
	if refused == nil {
		t.Fatal("50 requests were taken by a queue of 4")
	}
	for _, s := range streams {
		if _, end, err := l.collect(s); err == nil && end != sched.EndLength {
			t.Errorf("%v %v", end, err)
		} else if err != nil && !errors.Is(err, request.ErrQueueFull) {
			t.Error(err)
		}
	}
	l.home()
}

// Choices of one request, cancelled one by one: each ends once, the others go on.
func TestCancelOfOneChoice(t *testing.T) {
	l := newLab(t, nil)
	s, err := l.Submit(Spec{Tenant: "default", Prompt: prompt(5, 50), Choices: 3, MaxTokens: 40})
	if err != nil {
		t.Fatal(err)
	}
	counts, ends := make([]int, 3), make([]sched.End, 3)
	for {
		ev, ok, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if ev.End != 0 {
			if ends[ev.Choice] != 0 {
				t.Fatalf("choice %d ended twice", ev.Choice)
			}
			ends[ev.Choice] = ev.End
			continue
		}
		if counts[ev.Choice]++; ev.Choice == 1 && counts[1] == 5 {
			s.Cancel(1)
			s.Cancel(1)
		}
	}
	if want := []sched.End{sched.EndLength, sched.EndCancelled, sched.EndLength}; !slices.Equal(ends, want) {
		t.Errorf("ends %v, want %v", ends, want)
	}
	if counts[0] != 40 || counts[2] != 40 || counts[1] < 5 || counts[1] >= 40 {
		t.Errorf("tokens %v", counts)
	}
	l.home()
}

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
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/gpu/host"
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
	t   testing.TB
	dev *host.Device
}

// tamper sees every message before an actor does, in the actor's own goroutine, and returns what the actor is to get.
type tamper func(role string, m any) any

func newLab(t testing.TB, tp tamper, change ...func(*Config)) *lab {
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
	s, err := l.Submit(Spec{Tenant: "default", Prompt: prompt(5, 50), Choices: 3, MaxTokens: 500})
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
	if counts[0] != 500 || counts[2] != 500 || counts[1] < 5 || counts[1] >= 500 {
		t.Errorf("tokens %v", counts)
	}
	l.home()
}

// A request that can never be served is refused before anything is made for it: no actor hears of it, however long it is.
func TestWhatNeverFitsReachesNoActor(t *testing.T) {
	var heard atomic.Int32
	l := newLab(t, func(_ string, m any) any {
		if _, ok := m.(*submit); ok {
			heard.Add(1)
		}
		return m
	})
	var refused *request.Rejection
	_, err := l.Submit(Spec{Tenant: "default", Prompt: make([]int32, 1<<20), Choices: 128, Sampling: request.Sampling{RepetitionPenalty: 2}})
	if !errors.As(err, &refused) || refused.Limit != request.LimitContext || refused.Have < 1<<20 || refused.Max != 1024 {
		t.Errorf("%v", err)
	}
	l.home()
	if heard.Load() != 0 || l.registry.live() != 0 {
		t.Errorf("%d messages, %d streams", heard.Load(), l.registry.live())
	}
	if n := testutil.ToFloat64(l.metrics.outcomes.WithLabelValues("rejected")); n != 128 {
		t.Errorf("%v choices counted as rejected", n)
	}
}

// The end of ctx ends a stream, also one whose reader is behind.
func TestContextEndsAStreamThatHasMoreToRead(t *testing.T) {
	l := newLab(t, nil)
	s := l.submit(prompt(1, 20), 30)
	for {
		s.mu.Lock()
		open := s.open
		s.mu.Unlock()
		if open == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok, err := s.Next(ctx); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%v %v", ok, err)
	}
}

// A node whose metrics cannot be registered does not start, and leaves the registry as it was.
func TestMetricsThatClash(t *testing.T) {
	r := prometheus.NewRegistry()
	withRegistry := func(c *Config) { c.Registerer = r }
	l := newLab(t, nil, withRegistry)
	if _, err := Start(l.cfg); err == nil {
		t.Fatal("two nodes share their metrics")
	}
	if got, err := r.Gather(); err != nil || len(got) < 10 {
		t.Errorf("%d metrics after that: %v", len(got), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if got, err := r.Gather(); err != nil || len(got) != 0 {
		t.Errorf("%d metrics after Close: %v", len(got), err)
	}
	newLab(t, nil, withRegistry)
}

// Draining a node that fails meanwhile does not say that every request was answered.
func TestDrainTellsOfAFailure(t *testing.T) {
	l := newLab(t, func(role string, m any) any {
		if r, ok := m.(*run); ok && role == "runner" && r.batch.Step > 3 {
			panic("a bug of ours")
		}
		return m
	})
	l.submit(prompt(1, 40), 900)
	if _, err := l.Drain(context.Background()); !errors.Is(err, request.ErrEngineFailed) {
		t.Errorf("drain: %v", err)
	}
}

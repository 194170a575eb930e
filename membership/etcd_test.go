package membership

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"go.uber.org/zap/zaptest/observer"

	"github.com/kvasir-engine/kvasir/internal/etcdtest"
)

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

func newEtcd(t *testing.T, s *etcdtest.Server, change ...func(*EtcdConfig)) *Etcd {
	t.Helper()
	cfg := EtcdConfig{Endpoints: []string{s.Endpoint}, TTL: 2 * time.Second, Logger: zaptest.NewLogger(t)}
	for _, f := range change {
		f(&cfg)
	}
	e, err := NewEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.listAgain = 3 * time.Second
	t.Cleanup(func() { e.Close() })
	return e
}

// announce keeps n in the list until leave is called, which returns when it is out.
func announce(e *Etcd, n Node) (leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Announce(ctx, n)
	}()
	return func() {
		cancel()
		<-done
	}
}

// watcher is what a Watch has told.
type watcher struct {
	t    *testing.T
	said chan []Node
	last []Node
}

func watch(t *testing.T, e *Etcd) *watcher {
	w := &watcher{t: t, said: make(chan []Node, 1024)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Watch(ctx, func(nodes []Node) { w.said <- nodes })
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

// until waits until the list is want.
func (w *watcher) until(want ...Node) {
	w.t.Helper()
	for end := time.After(patience); ; {
		select {
		case w.last = <-w.said:
			if slices.Equal(w.last, want) {
				return
			}
		case <-end:
			w.t.Fatalf("the list is %+v, want %+v", w.last, want)
		}
	}
}

// quiet: nothing is told for a while.
func (w *watcher) quiet(d time.Duration) {
	w.t.Helper()
	select {
	case nodes := <-w.said:
		w.t.Errorf("the list became %+v", nodes)
	case <-time.After(d):
	}
}

var (
	one      = Node{ID: 1, Incarnation: 11, Address: "10.0.0.1:7001", Prefill: true}
	two      = Node{ID: 2, Incarnation: 12, Address: "10.0.0.2:7001", Decode: true}
	oneAgain = Node{ID: 1, Incarnation: 21, Address: "10.0.0.1:7001", Prefill: true}
)

func TestNodesJoinLeaveAndComeBack(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	e := newEtcd(t, s)
	w := watch(t, newEtcd(t, s))
	w.until()
	leave := announce(e, one)
	w.until(one)
	announce(newEtcd(t, s), two)
	w.until(one, two)
	late := watch(t, e)
	late.until(one, two)
	leave()
	w.until(two)
	announce(e, oneAgain)
	w.until(oneAgain, two)
	if err := e.Close(); err != nil { // takes out what it has announced
		t.Error(err)
	}
	w.until(two)
	e.Announce(t.Context(), one) // returns, since e is closed
	w.quiet(100 * time.Millisecond)
}

// A new life takes the place of the former one, whose end then takes nothing out; nor does its lease.
func TestANewLifeReplacesTheFormerOne(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	w := watch(t, newEtcd(t, s))
	leave := announce(newEtcd(t, s), one)
	w.until(one)
	announce(newEtcd(t, s), oneAgain)
	w.until(oneAgain)
	leave()
	w.quiet(4 * time.Second) // two TTLs
}

// A process that is killed says nothing; its lease ends.
func TestAKilledNodeGoesWithItsLease(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	killed := newEtcd(t, s)
	w := watch(t, newEtcd(t, s))
	leave := announce(killed, one)
	w.until(one)
	killed.client.Close()
	w.until()
	leave()
}

// Etcd is killed and comes back as it was: what was known stays known, also while it is away, and goes on.
func TestEtcdIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	w := watch(t, newEtcd(t, s))
	announce(newEtcd(t, s), one)
	w.until(one)
	s.Kill()
	leave := announce(newEtcd(t, s), two) // while it is away
	w.quiet(5 * time.Second)              // more than a TTL, and the list is asked for in vain
	s.Restart(false)
	w.until(one, two)
	leave()
	w.until(one)
}

// Etcd comes back and knows nothing: nodes enter themselves again, and who watches does not wait for revisions of the past.
func TestEtcdComesBackEmpty(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	e := newEtcd(t, s)
	w := watch(t, newEtcd(t, s))
	for range 5 { // so that revisions are far ahead
		announce(e, two)()
	}
	announce(e, one)
	w.until(one)
	s.Kill()
	s.Restart(true)
	announce(newEtcd(t, s), two)
	w.until(one, two)
}

// An entry that somebody deletes by hand comes back; one that is no node is not used and said.
func TestHandsInTheList(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	core, logs := observer.New(zap.WarnLevel)
	e := newEtcd(t, s, func(c *EtcdConfig) { c.Prefix, c.Logger = "/other/", zap.New(core) })
	w := watch(t, e)
	announce(e, one)
	w.until(one)
	for i, text := range []string{"no JSON", two.encode()} {
		if _, err := e.client.Put(t.Context(), fmt.Sprint("/other/nodes/", 7+i), text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.client.Delete(t.Context(), "/other/nodes/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	w.until()
	w.until(one)
	if n := logs.FilterMessageSnippet("not used").Len(); n < 2 {
		t.Errorf("%d entries were said to be of no use, want 2", n)
	}
	watch(t, newEtcd(t, s)).until() // under another prefix there is nothing
}

// Two processes with one number are told of each other.
func TestTwoProcessesWithOneNumber(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	core, logs := observer.New(zap.WarnLevel)
	e := newEtcd(t, s, func(c *EtcdConfig) { c.Logger = zap.New(core) })
	w := watch(t, e)
	announce(e, one)
	w.until(one)
	other := one
	other.Address = "10.0.0.9:7001"
	announce(newEtcd(t, s), other)
	w.until(other)
	for end := time.Now().Add(patience); logs.FilterMessageSnippet("number of this node").Len() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the first one does not hear of the second")
		}
	}
}

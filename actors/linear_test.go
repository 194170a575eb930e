package actors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// The model below knows who has which page, and nothing of how a ledger works: no free list, no order of eviction, no records. Each operation either is possible in a state, with what
// was answered, or not.

const linearPages = 6

// linearState is all pages. It is compared by ==.
type linearState [linearPages]linearPage

type linearPage struct {
	life    page.Generation
	use     linearUse
	owners  uint32 // sequences, by bit
	chain   byte   // what a sealed page holds
	indexed bool   // it can be matched
}

type linearUse uint8

const (
	nobodys linearUse = iota
	granted
	written
	sealed
)

// Operations, as Operation.Input. Refs, and counts of pages in linearCounts, are the outputs; nil where nothing is answered.
type (
	opAllot  struct{ n int }
	opReturn struct{ refs []page.Ref }
	opSpend  struct {
		ref page.Ref
		seq page.Seq
	}
	opSeal struct {
		ref   page.Ref
		seq   page.Seq
		chain byte
		full  bool
	}
	opMatch struct {
		seq    page.Seq
		chains []byte
	}
	opRelease struct{ seq page.Seq }
	opCount   struct{}
)

type linearCounts struct{ free, allotted, filling, read, idle int }

func (s *linearState) at(ref page.Ref, use linearUse) *linearPage {
	if p := &s[ref.Page]; p.life == ref.Generation && p.use == use {
		return p
	}
	return nil
}

func (s *linearState) find(chain byte) int {
	return slices.IndexFunc(s[:], func(p linearPage) bool { return p.indexed && p.chain == chain })
}

func (s *linearState) counts() (c linearCounts) {
	for _, p := range s {
		switch {
		case p.use == nobodys:
			c.free++
		case p.use == granted:
			c.allotted++
		case p.use == written:
			c.filling++
		case p.owners == 0:
			c.idle++
		default:
			c.read++
		}
	}
	return c
}

// step does input in s, and reports whether output can have been the answer.
func (s linearState) step(input, output any) (bool, linearState) {
	switch in := input.(type) {
	case opAllot:
		refs, c := output.([]page.Ref), s.counts()
		if len(refs) != min(in.n, c.free+c.idle) {
			return false, s
		}
		for _, ref := range refs {
			p := &s[ref.Page]
			if p.owners != 0 || p.use == granted || p.use == written || ref.Generation <= p.life {
				return false, s
			}
			*p = linearPage{life: ref.Generation, use: granted}
		}
	case opReturn:
		for _, ref := range in.refs {
			if p := s.at(ref, granted); p != nil {
				p.use = nobodys
			}
		}
	case opSpend:
		if p := s.at(in.ref, granted); p != nil {
			p.use, p.owners = written, 1<<in.seq
		}
	case opSeal:
		if p := s.at(in.ref, written); p != nil && p.owners == 1<<in.seq {
			p.use, p.chain = sealed, in.chain
			p.indexed = in.full && s.find(in.chain) < 0
		}
	case opMatch:
		var found []page.Ref
		for _, chain := range in.chains {
			i := s.find(chain)
			if i < 0 {
				break
			}
			s[i].owners |= 1 << in.seq
			found = append(found, page.Ref{Page: page.Index(i), Generation: s[i].life})
		}
		return slices.Equal(found, output.([]page.Ref)), s
	case opRelease:
		for i := range s {
			if p := &s[i]; p.owners&(1<<in.seq) != 0 {
				if p.owners &^= 1 << in.seq; p.owners == 0 && !p.indexed {
					p.use = nobodys
				}
			}
		}
	case opCount:
		return s.counts() == output.(linearCounts), s
	}
	return true, s
}

var linearModel = porcupine.Model{
	Init: func() any { return linearState{} },
	Step: func(state, input, output any) (bool, any) { return state.(linearState).step(input, output) },
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%T%+v -> %v", input, input, output)
	},
}

// linearPool is the pool actor of a node that has no other actor of ours: what it says goes to whoever asked.
type linearPool struct {
	*Node
	start time.Time
	asked chan chan []page.Ref // who waits for the allotments that the pool answers, in the order in which it does

	mu      sync.Mutex
	history []porcupine.Operation
	matches map[page.Seq]chan []page.Ref
	seen    []page.Ref // any ever heard of
}

// newLinearPool starts a pool; lose says which events are lost on their way into it.
func newLinearPool(t *testing.T, lose func(*kvpool.Event) bool) *linearPool {
	ledger, err := kvpool.New(kvpool.Config{Pages: linearPages, PrefixCache: true})
	if err != nil {
		t.Fatal(err)
	}
	system := actor.NewActorSystem(actor.WithLoggerFactory(systemLogger(zap.NewNop())), actor.WithDeadLetterThrottleInterval(deadLetterInterval))
	l := &linearPool{Node: &Node{log: zap.NewNop(), metrics: newMetrics(nil), system: system}, start: time.Now(),
		asked: make(chan chan []page.Ref, 1000), matches: map[page.Seq]chan []page.Ref{}}
	order := func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, e *actor.MessageEnvelope) {
			switch m := e.Message.(type) {
			case *linearAllot:
				l.asked <- m.reply
				e.Message = &kvpool.Event{Kind: kvpool.EvAllot, N: m.n}
			case *kvpool.Event:
				if lose(m) {
					return
				}
			}
			next(c, e)
		}
	}
	l.pool = system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &poolActor{node: l.Node, core: ledger} },
		actor.WithMailbox(boundedMailbox(mailboxLimit)), actor.WithReceiverMiddleware(order)))
	l.scheduler = system.Root.Spawn(actor.PropsFromFunc(l.answer))
	l.runner = system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if m, ok := c.Message().(*verify); ok {
			l.tellPool(kvpool.Event{Kind: kvpool.EvVerified, Job: m.job})
		}
	}))
	t.Cleanup(func() {
		for _, pid := range []*actor.PID{l.pool, l.scheduler, l.runner} {
			system.Root.StopFuture(pid).Wait()
		}
		system.Shutdown()
	})
	return l
}

type linearAllot struct {
	n     int
	reply chan []page.Ref
}

// answer stands in for the scheduler.
func (l *linearPool) answer(c actor.Context) {
	switch m := c.Message().(type) {
	case *allotted:
		<-l.asked <- m.refs
	case *matched:
		l.mu.Lock()
		reply := l.matches[m.seq]
		l.mu.Unlock()
		reply <- m.refs
	}
}

func (l *linearPool) now() int64 { return time.Since(l.start).Nanoseconds() }

func (l *linearPool) record(client int, input, output any, call int64) {
	at := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = append(l.history, porcupine.Operation{ClientId: client, Input: input, Output: output, Call: call, Return: at})
	if refs, ok := output.([]page.Ref); ok {
		l.seen = append(l.seen, refs...)
	}
}

// do performs an operation and waits for its answer; one that has none is over when a count that was asked for behind it is answered.
func (l *linearPool) do(client int, input any) (refs []page.Ref) {
	call := l.now()
	switch in := input.(type) {
	case opAllot:
		reply := make(chan []page.Ref, 1)
		l.tell(l.pool, &linearAllot{in.n, reply})
		refs = <-reply
		l.record(client, input, refs, call)
		return refs
	case opMatch:
		reply := make(chan []page.Ref, 1)
		l.mu.Lock()
		l.matches[in.seq] = reply
		l.mu.Unlock()
		hashes := make([]page.Hash, len(in.chains))
		for i, c := range in.chains {
			hashes[i] = page.Hash{c}
		}
		l.tellPool(kvpool.Event{Kind: kvpool.EvMatch, Seq: in.seq, Domain: 1, Hashes: hashes})
		refs = <-reply
		l.record(client, input, refs, call)
		return refs
	case opReturn:
		l.tellPool(kvpool.Event{Kind: kvpool.EvReturn, Refs: in.refs})
	case opSpend:
		l.tellPool(kvpool.Event{Kind: kvpool.EvSpend, Spends: []page.Spend{{Ref: in.ref, Seq: in.seq}}})
	case opSeal:
		l.tellPool(kvpool.Event{Kind: kvpool.EvSeal, Seals: []kvpool.Seal{{Ref: in.ref, Seq: in.seq, Domain: 1, Chain: page.Hash{in.chain}, Full: in.full}}})
	case opRelease:
		l.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: in.seq})
	}
	counted, reply := l.now(), make(chan PoolReport, 1)
	l.tell(l.pool, poolReport{reply: reply})
	c := (<-reply).Counts
	l.record(client, input, nil, call)
	l.record(client, opCount{}, linearCounts{c.Free, c.Allotted, c.Filling, c.Read, c.Idle}, counted)
	return nil
}

// any is a reference that somebody has heard of, alive or not.
func (l *linearPool) any(r *rand.Rand) page.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) == 0 {
		return page.Ref{Generation: 1}
	}
	return l.seen[r.IntN(len(l.seen))]
}

// client lives the lives of a few sequences: it matches, fills and seals pages and releases them, and now and then says something of a page that is not its own.
func (l *linearPool) client(id, lives int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(id)))
	for life := range lives {
		seq := page.Seq(1 + id*lives + life)
		chains := []byte{byte(1 + r.IntN(2)), byte(11 + r.IntN(2))}
		l.do(id, opMatch{seq, chains})
		hand := l.do(id, opAllot{1 + r.IntN(3)})
		for i, ref := range hand {
			switch r.IntN(4) {
			case 0:
				l.do(id, opReturn{hand[i : i+1]})
			default:
				l.do(id, opSpend{ref, seq})
				l.do(id, opSeal{ref, seq, chains[min(i, 1)], r.IntN(3) > 0})
			}
		}
		switch r.IntN(4) {
		case 0:
			l.do(id, opReturn{[]page.Ref{l.any(r), l.any(r)}})
		case 1:
			l.do(id, opSpend{l.any(r), seq})
		case 2:
			l.do(id, opSeal{l.any(r), seq, chains[0], true})
		}
		l.do(id, opRelease{seq})
	}
}

// linearHistory is what clients side by side have seen of one pool.
func linearHistory(t *testing.T, seed uint64, lose func(*kvpool.Event) bool) []porcupine.Operation {
	const clients, lives = 5, 3
	l := newLinearPool(t, lose)
	var wg sync.WaitGroup
	for id := range clients {
		wg.Go(func() { l.client(id, lives, seed) })
	}
	wg.Wait()
	return l.history
}

func loseNothing(*kvpool.Event) bool { return false }

// linearisable reports whether one order of the operations, in which none comes before one that had ended when it began, explains every answer.
func linearisable(t *testing.T, history []porcupine.Operation) bool {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(linearModel, history, 30*time.Second) {
	case porcupine.Ok:
		return true
	case porcupine.Illegal:
		return false
	}
	t.Fatalf("a history of %d operations could not be checked in time", len(history))
	return false
}

// Whatever is said to the pool side by side, its answers are those of one after the other.
func TestPoolIsLinearisable(t *testing.T) {
	for seed := range uint64(10) {
		if h := linearHistory(t, seed, loseNothing); !linearisable(t, h) {
			t.Errorf("seed %d: no order explains the %d operations:\n%+v", seed, len(h), h)
		}
	}
}

// The check would see it: a history in which one answer is another is refused, and so is that of a pool which does not get what it is told.
func TestWrongHistoriesAreRefused(t *testing.T) {
	refs := func(o *porcupine.Operation) []page.Ref { r, _ := o.Output.([]page.Ref); return r }
	grants := func(o *porcupine.Operation) bool { _, ok := o.Input.(opAllot); return ok && len(refs(o)) > 0 }
	matches := func(o *porcupine.Operation) bool { _, ok := o.Input.(opMatch); return ok }
	for name, spoil := range map[string]func(earlier, o *porcupine.Operation) bool{ // reports whether o is an operation that it can change
		"one life of a page granted twice": func(earlier, o *porcupine.Operation) bool {
			if !grants(earlier) || !grants(o) || len(refs(o)) > len(refs(earlier)) {
				return false
			}
			o.Output = refs(earlier)[:len(refs(o))]
			return true
		},
		"fewer pages granted than there are": func(_, o *porcupine.Operation) bool {
			if !grants(o) {
				return false
			}
			o.Output = refs(o)[1:]
			return true
		},
		"a match of a page that nobody sealed": func(_, o *porcupine.Operation) bool {
			if !matches(o) {
				return false
			}
			o.Output = append(slices.Clone(refs(o)), page.Ref{Page: 1, Generation: 1 << 20})
			return true
		},
		"a match of another life": func(_, o *porcupine.Operation) bool {
			if !matches(o) || len(refs(o)) == 0 {
				return false
			}
			o.Output = slices.Clone(refs(o))
			refs(o)[0].Generation--
			return true
		},
		"a page that is free and allotted": func(_, o *porcupine.Operation) bool {
			c, ok := o.Output.(linearCounts)
			if ok {
				c.free++
				o.Output = c
			}
			return ok
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(0); ; seed++ {
				h := linearHistory(t, seed, loseNothing)
				if !linearisable(t, h) {
					t.Fatal("the history is wrong as it is")
				}
				for i := range h {
					for k := range h[:i] {
						before := h[i].Output
						if !spoil(&h[k], &h[i]) {
							continue
						}
						if linearisable(t, h) {
							t.Errorf("%+v is taken for right, which was answered %v", h[i], before)
						}
						return
					}
				}
			}
		})
	}
	t.Run("the pool loses what it is told", func(t *testing.T) {
		for _, kind := range []kvpool.EventKind{kvpool.EvReturn, kvpool.EvSpend, kvpool.EvSeal, kvpool.EvRelease} {
			if linearisable(t, linearHistory(t, 1, func(ev *kvpool.Event) bool { return ev.Kind == kind })) {
				t.Errorf("its history without %v is taken for right", kind)
			}
		}
	})
}

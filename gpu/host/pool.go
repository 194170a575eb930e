package host

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// task is an operation in progress: block i of it is done by one worker. Blocks are independent of one another.
type task interface {
	do(worker, block int)
}

// pool runs tasks on the goroutine that asks and on helpers that live as long as the pool. Workers are numbered from 0 (who asks), so that
// each can have scratch memory of its own.
//
// A step of a model is hundreds of tasks with next to nothing between them. So helpers look out for the next task for a while before they sleep, and a task takes whoever
// comes while it has blocks left: one that was asleep, or whose thread the system has given to others, is not waited for.
type pool struct {
	helpers []*helper
	spin    time.Duration // how long to look out

	// The task in progress, written by run while it is closed.
	task   task
	blocks int64

	state    atomic.Uint64 // of the task: see state
	next     atomic.Int64  // the first block that nobody has taken
	sleeping atomic.Bool   // whether run waits for done
	done     chan struct{}
	failure  atomic.Pointer[failure]
	running  sync.WaitGroup // helpers that have not ended
}

type helper struct {
	asleep atomic.Bool
	wake   chan struct{} // a token for each asleep that someone has taken back
}

// failure is a panic on its way to the goroutine that asked.
type failure struct {
	value any
	stack []byte
}

// state is a task's number, above whether it is closed to those who have not begun, above how many helpers work on it.
type state uint64

const (
	stateClosed state = 1 << 16
	stateNumber state = 1 << 17
)

func (s state) number() uint64 { return uint64(s / stateNumber) }
func (s state) closed() bool   { return s&stateClosed != 0 }
func (s state) helpers() int   { return int(s % stateClosed) }

// spinFor is some ten times what waking a thread takes.
const spinFor = 50 * time.Microsecond

func newPool(workers int) *pool {
	p := &pool{done: make(chan struct{}, 1)}
	if workers <= runtime.GOMAXPROCS(0) { // else those who look out would be in the way of those who work
		p.spin = spinFor
	}
	p.state.Store(uint64(stateClosed))
	for i := range workers - 1 {
		h := &helper{wake: make(chan struct{}, 1)}
		p.helpers = append(p.helpers, h)
		p.running.Go(func() { p.help(h, i+1) })
	}
	return p
}

func (p *pool) workers() int { return len(p.helpers) + 1 }

// close ends the helpers and waits for them.
func (p *pool) close() {
	for _, h := range p.helpers {
		close(h.wake)
	}
	p.running.Wait()
	p.helpers = nil
}

// run does all blocks of t and returns when they are done. It panics if a block panicked. One call at a time.
func (p *pool) run(t task, blocks int) {
	helpers := min(len(p.helpers), blocks-1)
	if helpers <= 0 {
		for i := range blocks {
			t.do(0, i)
		}
		return
	}
	p.task, p.blocks = t, int64(blocks)
	p.next.Store(0)
	opened := stateNumber * state(state(p.state.Load()).number()+1)
	p.state.Store(uint64(opened))
	for _, h := range p.helpers[:helpers] {
		if h.asleep.CompareAndSwap(true, false) {
			h.wake <- struct{}{}
		}
	}
	p.work(0)
	p.state.Add(uint64(stateClosed))
	p.wait()
	p.task = nil
	if f := p.failure.Swap(nil); f != nil {
		panic(fmt.Sprintf("host: %v\n\nwhere it happened:\n%s", f.value, f.stack))
	}
}

// wait returns when no helper works on the closed task.
func (p *pool) wait() {
	idle := func() bool { return state(p.state.Load()).helpers() == 0 }
	if p.lookOut(idle) {
		return
	}
	p.sleeping.Store(true)
	if idle() && p.sleeping.CompareAndSwap(true, false) {
		return
	}
	<-p.done
}

// lookOut returns true when ready does, or false after a while.
func (p *pool) lookOut(ready func() bool) bool {
	if ready() {
		return true
	}
	const looks = 200 // between two looks at the clock
	for began := time.Now(); time.Since(began) < p.spin; {
		for range looks {
			if ready() {
				return true
			}
		}
	}
	return false
}

func (p *pool) help(h *helper, worker int) {
	var seen uint64 // number of the last task that this helper worked on, or came too late for
	news := func() bool { return state(p.state.Load()).number() != seen }
	for {
		if !p.lookOut(news) {
			h.asleep.Store(true)
			if !news() || !h.asleep.CompareAndSwap(true, false) {
				if _, open := <-h.wake; !open {
					return
				}
			}
		}
		s := state(p.state.Load())
		for !s.closed() && s.number() != seen && !p.state.CompareAndSwap(uint64(s), uint64(s+1)) {
			s = state(p.state.Load())
		}
		begun := !s.closed() && s.number() != seen
		seen = s.number()
		if !begun {
			continue
		}
		p.work(worker)
		if s := state(p.state.Add(^uint64(0))); s.closed() && s.helpers() == 0 && p.sleeping.CompareAndSwap(true, false) {
			p.done <- struct{}{}
		}
	}
}

// work takes blocks until there are none.
func (p *pool) work(worker int) {
	defer func() {
		if v := recover(); v != nil {
			p.next.Store(p.blocks) // the result is lost: let the others stop
			p.failure.CompareAndSwap(nil, &failure{v, debug.Stack()})
		}
	}()
	for {
		i := p.next.Add(1) - 1
		if i >= p.blocks {
			return
		}
		p.task.do(worker, int(i))
	}
}

package host

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// task is an operation in progress: block i of it is done by one worker. Blocks are independent of one another.
type task interface {
	do(worker, block int)
}

// pool runs tasks on the goroutine that asks and on helpers that live as long as the pool. Workers are numbered from 0 (who asks), so that
// each can have scratch memory of its own.
type pool struct {
	wake []chan struct{} // one a helper

	// The task in progress. Written by run before it wakes helpers, and not again before all of them are done.
	task   task
	blocks int64

	next    atomic.Int64 // the first block that nobody has taken
	working sync.WaitGroup
	failure atomic.Pointer[failure]
	helpers sync.WaitGroup
}

// failure is a panic on its way to the goroutine that asked.
type failure struct {
	value any
	stack []byte
}

func newPool(workers int) *pool {
	p := &pool{wake: make([]chan struct{}, workers-1)}
	for i := range p.wake {
		p.wake[i] = make(chan struct{}, 1)
		p.helpers.Go(func() { p.help(i + 1) })
	}
	return p
}

func (p *pool) workers() int { return len(p.wake) + 1 }

// close ends the helpers and waits for them.
func (p *pool) close() {
	for _, w := range p.wake {
		close(w)
	}
	p.helpers.Wait()
	p.wake = nil
}

// run does all blocks of t and returns when they are done. It panics if a block panicked. One call at a time.
func (p *pool) run(t task, blocks int) {
	helpers := min(len(p.wake), blocks-1)
	if helpers <= 0 {
		for i := range blocks {
			t.do(0, i)
		}
		return
	}
	p.task, p.blocks = t, int64(blocks)
	p.next.Store(0)
	p.working.Add(helpers)
	for _, w := range p.wake[:helpers] {
		w <- struct{}{}
	}
	p.work(0)
	p.working.Wait()
	p.task = nil
	if f := p.failure.Swap(nil); f != nil {
		panic(fmt.Sprintf("host: %v\n\nwhere it happened:\n%s", f.value, f.stack))
	}
}

func (p *pool) help(worker int) {
	for range p.wake[worker-1] {
		p.work(worker)
		p.working.Done()
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

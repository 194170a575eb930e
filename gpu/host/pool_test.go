package host

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// busyTask counts what is done, and of each worker what it does at a time.
type busyTask struct {
	t     *testing.T
	done  []atomic.Int32
	busy  []atomic.Int32
	pause time.Duration // in blocks of helpers
}

func (c *busyTask) do(worker, block int) {
	if c.busy[worker].Add(1) != 1 {
		c.t.Errorf("worker %d does two blocks at a time", worker)
	}
	c.done[block].Add(1)
	if worker > 0 {
		time.Sleep(c.pause)
	}
	c.busy[worker].Add(-1)
}

// However tasks follow one another (at once, while helpers still look out, or after they fell asleep), each block is done once and before run returns.
func TestEveryBlockOfEveryTaskIsDoneOnce(t *testing.T) {
	for _, c := range []struct {
		workers       int
		between, long time.Duration
		tasks         int
	}{
		{1, 0, 0, 100},
		{2, 0, 0, 5000},
		{2, 3 * spinFor, 0, 200},
		{2, 0, 3 * spinFor, 200},
		{3, spinFor, 0, 500},
		{5, 0, 0, 2000},
		{5, spinFor, spinFor, 200},
	} {
		t.Run(fmt.Sprintf("%d workers, %v between, %v long", c.workers, c.between, c.long), func(t *testing.T) {
			p := newPool(c.workers)
			defer p.close()
			task := &busyTask{t: t, busy: make([]atomic.Int32, c.workers), pause: c.long}
			for i := range c.tasks {
				blocks := i % 7
				task.done = make([]atomic.Int32, blocks)
				p.run(task, blocks)
				for b := range task.done {
					if n := task.done[b].Load(); n != 1 {
						t.Fatalf("task %d: block %d of %d was done %d times", i, b, blocks, n)
					}
				}
				if c.between > 0 {
					time.Sleep(c.between)
				}
			}
		})
	}
}

// rendezvousTask is done when all its blocks are begun at the same time.
type rendezvousTask struct{ missing atomic.Int32 }

func (r *rendezvousTask) do(int, int) {
	for r.missing.Add(-1); r.missing.Load() > 0; {
		time.Sleep(time.Microsecond)
	}
}

// Helpers do come, awake or not.
func TestAllWorkersTakePart(t *testing.T) {
	const workers = 4
	p := newPool(workers)
	defer p.close()
	for range 50 {
		task := &rendezvousTask{}
		task.missing.Store(workers)
		p.run(task, workers)
		time.Sleep(2 * spinFor)
	}
}

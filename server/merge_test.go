package server

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/request"
)

// A merge yields each stream's tokens in their order and no others, never runs more streams than it may, and leaves none running when it is left early.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 20).Draw(t, "lengths")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		leaveAfter := rapid.IntRange(0, 60).Draw(t, "leaveAfter")
		var running, most atomic.Int64
		streams := make([]iter.Seq2[request.Token, error], len(lengths))
		for i, n := range lengths {
			streams[i] = func(yield func(request.Token, error) bool) {
				now := running.Add(1)
				defer running.Add(-1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				for j := range n {
					if !yield(request.Token{ID: int32(j)}, nil) {
						return
					}
				}
			}
		}
		_, cancel := context.WithCancel(context.Background())
		defer cancel()
		got := make([][]int32, len(lengths))
		taken := 0
		for m, err := range merge(streams, limit, cancel) {
			if err != nil {
				t.Fatal(err)
			}
			got[m.stream] = append(got[m.stream], m.ID)
			if taken++; taken == leaveAfter {
				break
			}
		}
		total := 0
		for i, n := range lengths {
			total += n
			want := []int32{0, 1, 2, 3, 4}[:n]
			if !slices.Equal(got[i], want[:min(n, len(got[i]))]) {
				t.Fatalf("stream %d of %d tokens came as %v", i, n, got[i])
			}
		}
		if want := total; leaveAfter == 0 || leaveAfter > total {
			if taken != want {
				t.Fatalf("%d tokens of %d", taken, want)
			}
		} else if taken != leaveAfter {
			t.Fatalf("%d tokens after leaving at %d", taken, leaveAfter)
		}
		if running.Load() != 0 || most.Load() > int64(limit) {
			t.Fatalf("%d streams run after the end; %d ran together, and %d may", running.Load(), most.Load(), limit)
		}
	})
}

// The first error ends the whole, and cancels what waits.
func TestMergeEndsWithTheFirstError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	broken := errors.New("broken")
	waits := func(yield func(request.Token, error) bool) {
		<-ctx.Done()
		yield(request.Token{}, ctx.Err())
	}
	fails := func(yield func(request.Token, error) bool) { yield(request.Token{}, broken) }
	for m, err := range merge([]iter.Seq2[request.Token, error]{waits, fails, waits}, 16, cancel) {
		if err != broken || m.stream != 1 {
			t.Errorf("stream %d: %v", m.stream, err)
		}
		break
	}
	if ctx.Err() == nil {
		t.Error("the others were not cancelled")
	}
}

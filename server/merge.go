package server

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/kvasir-engine/kvasir/request"
)

// merged is a token of one of several streams.
type merged struct {
	request.Token
	stream int
}

// merge runs through streams, at most limit at a time, and yields their tokens and errors as they come. The caller stops at the first error.
//
// However it ends, cancel is called, and no stream is running any more when it returns. A panic of a stream is a panic of the caller's.
func merge(streams []iter.Seq2[request.Token, error], limit int, cancel func()) iter.Seq2[merged, error] {
	if len(streams) == 1 {
		return only(streams[0])
	}
	return func(yield func(merged, error) bool) {
		m := merger{streams: streams, cancel: cancel, steps: make(chan step), stop: make(chan struct{})}
		for range min(limit, len(streams)) {
			m.workers.Go(m.work)
		}
		go func() {
			m.workers.Wait()
			close(m.steps)
		}()
		defer m.end()
		for s := range m.steps {
			if !yield(s.merged, s.err) {
				return
			}
		}
	}
}

// only is the merge of one stream, without goroutines.
func only(stream iter.Seq2[request.Token, error]) iter.Seq2[merged, error] {
	return func(yield func(merged, error) bool) {
		for t, err := range stream {
			if !yield(merged{t, 0}, err) {
				return
			}
		}
	}
}

type step struct {
	merged
	err error
}

type merger struct {
	streams  []iter.Seq2[request.Token, error]
	cancel   func()
	next     atomic.Int64 // the next stream that nobody runs yet
	steps    chan step
	stop     chan struct{} // closed when nobody wants steps any more
	workers  sync.WaitGroup
	panicked atomic.Pointer[any]
}

// end waits for the workers' end.
func (m *merger) end() {
	m.cancel()
	close(m.stop)
	m.workers.Wait()
	if p := m.panicked.Load(); p != nil {
		panic(*p)
	}
}

// work runs one stream after the other.
func (m *merger) work() {
	defer func() {
		if p := recover(); p != nil {
			m.panicked.CompareAndSwap(nil, &p)
			m.cancel()
		}
	}()
	for {
		i := int(m.next.Add(1)) - 1
		if i >= len(m.streams) || m.panicked.Load() != nil {
			return
		}
		for t, err := range m.streams[i] {
			select {
			case m.steps <- step{merged{t, i}, err}:
			case <-m.stop:
				return
			}
		}
	}
}

package actors

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// Event is one step of a stream: a token of a choice, or the choice's one end.
type Event struct {
	Choice int
	Token  sample.Result // where End is 0 and Err nil
	End    sched.End     // the choice has ended so; 0 while it goes on
	Err    error         // the choice has ended with this error
}

// A Stream carries the answer to one request from the scheduler to whoever asked. The scheduler never waits for its reader: what is not
// read yet is kept, and admission bounds it by the request's own max_tokens.
type Stream struct {
	drop func(page.Seq) // tells whoever answers that a sequence is not wanted any more
	seqs []page.Seq

	mu      sync.Mutex
	queue   []Event
	room    []Event // the memory that queue began with, to be used again when all is read
	open    int     // choices that have not ended
	ended   []bool
	stopped []bool        // by Stop
	wake    chan struct{} // capacity 1
	cached  int
	started time.Time
	last    []time.Time // of each choice's last token
}

func newStream(drop func(page.Seq), seqs []page.Seq) *Stream {
	return &Stream{drop: drop, seqs: seqs, open: len(seqs), ended: make([]bool, len(seqs)), stopped: make([]bool, len(seqs)), wake: make(chan struct{}, 1),
		started: time.Now(), last: make([]time.Time, len(seqs))}
}

// Next waits for the next event. ok is false once every choice has ended and all is read, or with an error when ctx has ended, also if there is more to read.
func (s *Stream) Next(ctx context.Context) (ev Event, ok bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return Event{}, false, err
		}
		s.mu.Lock()
		if len(s.queue) > 0 {
			ev = s.queue[0]
			s.queue[0] = Event{}
			if s.queue = s.queue[1:]; len(s.queue) == 0 {
				s.queue = s.room[:0]
			}
			s.mu.Unlock()
			return ev, true, nil
		}
		open := s.open
		s.mu.Unlock()
		if open == 0 {
			return Event{}, false, nil
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Event{}, false, ctx.Err()
		}
	}
}

// Cancel says that a choice is not wanted any more. It ends with EndCancelled unless it has ended already.
func (s *Stream) Cancel(choice int) {
	s.drop(s.seqs[choice])
}

// Stop is Cancel where the choice has come to its end as far as its reader is concerned: at a stop string, which the node does not know of.
func (s *Stream) Stop(choice int) {
	s.mu.Lock()
	s.stopped[choice] = true
	s.mu.Unlock()
	s.Cancel(choice)
}

// CancelAll cancels every choice.
func (s *Stream) CancelAll() {
	for i := range s.seqs {
		s.mu.Lock()
		ended := s.ended[i]
		s.mu.Unlock()
		if !ended {
			s.Cancel(i)
		}
	}
}

// token delivers a token. After the choice's end it changes nothing: the first terminal outcome wins (I12).
func (s *Stream) token(choice int, t sample.Result, m *metrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[choice] {
		return
	}
	now := time.Now()
	if s.last[choice].IsZero() {
		m.ttft.Observe(now.Sub(s.started).Seconds())
	} else {
		m.itl.Observe(now.Sub(s.last[choice]).Seconds())
	}
	s.last[choice] = now
	m.generated.Inc()
	s.push(Event{Choice: choice, Token: t})
}

// finish delivers a choice's end and reports whether it was the first.
func (s *Stream) finish(choice int, end sched.End, err error, m *metrics) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[choice] {
		return false
	}
	s.ended[choice] = true
	s.open--
	if label := outcome(end, err); label == "cancelled" && s.stopped[choice] {
		m.outcomes.WithLabelValues("stop").Inc()
	} else if label != "rejected" { // those are counted where they are refused
		m.outcomes.WithLabelValues(label).Inc()
	}
	if s.open == 0 {
		m.e2e.Observe(time.Since(s.started).Seconds())
	}
	s.push(Event{Choice: choice, End: end, Err: err})
	return true
}

// fail ends every choice that has not ended.
func (s *Stream) fail(err error, m *metrics) {
	for i := range s.seqs {
		s.finish(i, 0, err, m)
	}
}

// Cached is how many tokens of the prompt were found in the prefix cache.
func (s *Stream) Cached() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cached
}

func (s *Stream) setCached(choice, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if choice == 0 && s.last[0].IsZero() {
		s.cached = tokens
	}
}

// push appends to the queue; s.mu is held.
func (s *Stream) push(ev Event) {
	if len(s.queue) == cap(s.queue) { // it will move
		s.queue = append(make([]Event, 0, 2*len(s.queue)+8), s.queue...)
		s.room = s.queue
	}
	s.queue = append(s.queue, ev)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func outcome(end sched.End, err error) string {
	switch {
	case err != nil:
		if _, ok := err.(*request.Rejection); ok {
			return "rejected"
		}
		return "error"
	case end == sched.EndStop:
		return "stop"
	case end == sched.EndLength:
		return "length"
	case end == sched.EndCancelled:
		return "cancelled"
	}
	return "error"
}

// registry knows every stream that has not ended, so that the end of an incarnation reaches all of them. It is the one thing here that more than one
// goroutine writes.
type registry struct {
	mu      sync.Mutex
	streams map[page.Seq]*Stream
	nextSeq page.Seq
	limit   int           // sequences that may live at once
	closed  error         // no new streams; why
	idle    chan struct{} // closed when closed != nil and the last stream has ended
}

func newRegistry(limit int) *registry {
	return &registry{streams: map[page.Seq]*Stream{}, nextSeq: 1, limit: limit, idle: make(chan struct{})}
}

// open makes a stream of n choices, or says why not.
func (r *registry) open(drop func(page.Seq), n int) (*Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed != nil {
		return nil, r.closed
	}
	if len(r.streams) > 0 && len(r.streams)+n > r.limit { // alone, whether n choices can ever be had is the scheduler's to say
		return nil, &request.Rejection{Limit: request.LimitQueue, Have: len(r.streams) + n, Max: r.limit,
			Why: fmt.Sprintf("The server is busy: %d sequences are running or waiting, of at most %d. Try again later.", len(r.streams), r.limit)}
	}
	seqs := make([]page.Seq, n)
	for i := range seqs {
		seqs[i] = r.nextSeq
		r.nextSeq++
	}
	s := newStream(drop, seqs)
	for _, q := range seqs {
		r.streams[q] = s
	}
	return s, nil
}

// name is a sequence's that has no stream here.
func (r *registry) name() page.Seq {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.nextSeq
	r.nextSeq++
	return q
}

// done forgets a sequence that has ended.
func (r *registry) done(q page.Seq) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.streams, q)
	r.checkIdle()
}

// close refuses new streams from now on, for the reason err; the first reason stays.
func (r *registry) close(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed == nil {
		r.closed = err
		r.checkIdle()
	}
}

// drain refuses new streams and waits until those there are have ended, or ctx ends; it reports how many are left then.
func (r *registry) drain(ctx context.Context, failed <-chan struct{}, failure func() error) (left int, err error) {
	r.close(&request.Rejection{Limit: request.LimitClosing, Why: "The server is shutting down."})
	select {
	case <-r.idle:
		select {
		case <-failed:
			return 0, failure() // they ended, but not with an answer
		default:
			return 0, nil
		}
	case <-ctx.Done():
		if left := r.live(); left > 0 {
			return left, ctx.Err()
		}
		return 0, nil
	}
}

func (r *registry) checkIdle() {
	if r.closed == nil || len(r.streams) > 0 {
		return
	}
	select {
	case <-r.idle:
	default:
		close(r.idle)
	}
}

// failAll ends every stream with err.
func (r *registry) failAll(err error, m *metrics) {
	r.mu.Lock()
	all := r.streams
	r.streams = map[page.Seq]*Stream{}
	r.checkIdle()
	r.mu.Unlock()
	for _, s := range all {
		s.fail(err, m)
	}
}

func (r *registry) live() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.streams)
}

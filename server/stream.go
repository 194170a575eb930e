package server

import (
	"fmt"
	"iter"
	"net/http"

	"github.com/kvasir-engine/kvasir/request"
)

// stream answers with server-sent events: one line `data: JSON` a chunk, sent at once, and `data: [DONE]` when all choices have ended.
//
// Nothing is written before the first token, so that a refusal has its own status. An error after that is a line of the stream, which then ends
// without [DONE].
func (s *server) stream(w *response, p params, head envelope, tokens iter.Seq2[request.Token, error], f form) error {
	count := counter{n: p.request.N}
	if p.includeUsage {
		head.Usage = (*usage)(nil)
	}
	events := eventStream{w}
	for t, err := range tokens {
		if err != nil {
			return events.fail(err)
		}
		if !w.begun() {
			events.begin()
		}
		count.add(&t)
		for _, choice := range f.chunks(&t, p.request.Sampling.Logprobs) {
			head.Choices = []any{choice}
			if err := events.send(head); err != nil {
				return err // the client is gone or does not read: leaving the loop cancels
			}
		}
	}
	if p.includeUsage {
		head.Choices, head.Usage = []any{}, count.usage()
		if err := events.send(head); err != nil {
			return err
		}
	}
	return events.line([]byte("[DONE]\n"))
}

// eventStream writes server-sent events.
type eventStream struct{ w *response }

func (e eventStream) begin() {
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would gather the lines
	e.w.WriteHeader(http.StatusOK)
}

func (e eventStream) send(v any) error {
	text, err := marshal(v)
	if err != nil {
		return err
	}
	return e.line(text)
}

// line sends one event; JSON has no line ends but the one after it.
func (e eventStream) line(text []byte) error {
	line := append(append([]byte("data: "), text...), '\n')
	if _, err := e.w.Write(line); err != nil {
		return fmt.Errorf("server: stream: %w", err)
	}
	return e.w.flush()
}

// fail tells of err in the stream, if that has begun, and gives it back.
func (e eventStream) fail(err error) error {
	if e.w.begun() {
		_ = e.send(describe(err).body()) // a client that is gone needs no telling
	}
	return err
}

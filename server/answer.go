package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/kvasir-engine/kvasir/request"
)

// form puts tokens into the shapes of an endpoint.
type form interface {
	idPrefix() string
	// object is the JSON field "object".
	object(stream bool) string
	// chunks are the elements of "choices", one a chunk of the stream, that tell of t.
	chunks(t *request.Token, logprobs bool) []any
	// add takes t into the whole answer.
	add(t *request.Token, logprobs bool)
	// whole is the field "choices" of the whole answer.
	whole(logprobs bool) any
}

// envelope is what whole answers and chunks of a stream have in common.
type envelope struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	Model       string `json:"model"`
	Fingerprint string `json:"system_fingerprint"`
	Choices     any    `json:"choices"`
	// Usage is a *usage: nil in the interface is left out, a nil pointer is null.
	Usage any `json:"usage,omitempty"`
}

// answer runs requests, one a prompt, and answers with their tokens.
func (s *server) answer(w *response, r *http.Request, p params, requests []request.Request, f form) error {
	head := envelope{
		ID:          f.idPrefix() + strings.ToLower(rand.Text()),
		Object:      f.object(p.stream),
		Created:     s.now().Unix(),
		Model:       s.engine.Model().Name,
		Fingerprint: s.fingerprint,
	}
	w.Header().Set(requestIDHeader, head.ID)
	for i := range requests {
		requests[i].ID = head.ID
		if len(requests) > 1 {
			requests[i].ID = fmt.Sprintf("%s-%d", head.ID, i)
		}
	}
	tokens := s.tokens(r.Context(), requests)
	if p.stream {
		return s.stream(w, p, head, tokens, f)
	}
	return s.whole(w, p, head, tokens, f)
}

// whole answers with one JSON object when all choices have ended.
func (s *server) whole(w *response, p params, head envelope, tokens iter.Seq2[request.Token, error], f form) error {
	count := counter{n: p.request.N}
	logprobs := p.request.Sampling.Logprobs
	for t, err := range tokens {
		if err != nil {
			return err
		}
		f.add(&t, logprobs)
		count.add(&t)
	}
	head.Choices = f.whole(logprobs)
	head.Usage = count.usage()
	return w.json(http.StatusOK, head)
}

// tokens runs requests, of N choices each, side by side; choice j of request i becomes choice i*N+j. It ends with the first error. Without one, each
// choice has ended.
func (s *server) tokens(ctx context.Context, requests []request.Request) iter.Seq2[request.Token, error] {
	return func(yield func(request.Token, error) bool) {
		n := requests[0].N
		unfinished := n * len(requests)
		streams := make([]iter.Seq2[request.Token, error], len(requests))
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		for i, r := range requests {
			streams[i] = s.engine.Generate(running, r)
		}
		for t, err := range merge(streams, maxConcurrentPrompts, cancel) {
			if err != nil {
				yield(request.Token{}, ofPrompt(err, t.stream, len(requests)))
				return
			}
			if t.Choice < 0 || t.Choice >= n {
				panic(fmt.Sprintf("server: the engine told of choice %d of %d", t.Choice, n))
			}
			t.Choice += t.stream * n
			if t.Finish != "" {
				unfinished--
			}
			if !yield(t.Token, nil) {
				return
			}
		}
		if unfinished == 0 {
			return
		}
		err := ctx.Err()
		if err == nil {
			err = errNoEnd
		}
		yield(request.Token{}, err)
	}
}

// ofPrompt says which of several prompts was refused; clients know the engine's field "tokens" as prompt.
func ofPrompt(err error, i, of int) error {
	var rejection *request.Rejection
	if !errors.As(err, &rejection) || rejection.Field != "prompt" && rejection.Field != "tokens" {
		return err
	}
	named := *rejection
	named.Field = "prompt"
	if of > 1 {
		named.Field = fmt.Sprintf("prompt[%d]", i)
	}
	return &named
}

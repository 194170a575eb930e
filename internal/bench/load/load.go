// Package load drives a server with OpenAI's API and tells how it answered: the time to the first token, between tokens and to the end of each request, and what failed.
//
// Requests go out at the times of a Poisson process, whatever became of those before them, or from a fixed number of clients that each wait for their answer. Answers are
// streamed; a token's time is that of the arrival of its event.
package load

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Config says how a server is driven.
type Config struct {
	// URL is the server's address without a path ("http://127.0.0.1:8080"); a path of /v1 at its end is taken off.
	URL    string
	APIKey string // empty: none is sent
	Model  string // as the server names it
	// Chat sends prompts as conversations of one message to /v1/chat/completions; else they go to /v1/completions.
	Chat bool
	// IgnoreEOS asks for answers of full length (ignore_eos, which OpenAI's own API does not have).
	IgnoreEOS bool
	// Timeout bounds one request from its due time to its end. 0: none.
	Timeout time.Duration

	// Rate is how many requests begin in a second, on average, with exponentially distributed gaps. 0: Concurrency decides.
	Rate float64
	// Concurrency is how many clients send one request after another. Where Rate is set too, it bounds the requests under way, and a request that must wait for its turn is
	// still timed from when it was due. 0: no bound.
	Concurrency int
	Seed        uint64

	Client *http.Client // nil: http.DefaultClient, with as many connections kept as are needed
}

// Prompt is what one request asks.
type Prompt struct {
	Text      string
	Messages  []Message // instead of Text
	MaxTokens int
}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Answer is what became of one request. Times are measured from when the request was due.
type Answer struct {
	First time.Duration   // to the first token
	Gaps  []time.Duration // between one token's event and the next
	Whole time.Duration   // to the end of the stream

	Chunks           int // events with text
	PromptTokens     int // by the server's own count; 0: it gave none
	CompletionTokens int
	CachedTokens     int

	// Kind says in a few words what failed; empty: nothing. Err has the details.
	Kind string
	Err  error
}

// Tokens is the server's count of the answer's tokens, or else of its events with text.
func (a *Answer) Tokens() int {
	if a.CompletionTokens > 0 {
		return a.CompletionTokens
	}
	return a.Chunks
}

// Run sends every prompt once and returns the answers in the same order, and how long it took until the last had ended. When ctx ends, requests under way are cut off, and those
// that were not sent have Kind Unsent.
func Run(ctx context.Context, cfg Config, prompts []Prompt) (answers []Answer, took time.Duration) {
	d := newDriver(cfg, len(prompts))
	answers = make([]Answer, len(prompts))
	begun := time.Now()
	if cfg.Rate > 0 {
		d.openLoop(ctx, begun, prompts, answers)
	} else {
		d.closedLoop(ctx, prompts, answers)
	}
	return answers, time.Since(begun)
}

// Unsent is the Kind of requests that were not sent before the run was interrupted.
const Unsent = "not sent"

// openLoop sends each prompt when it is due.
func (d *driver) openLoop(ctx context.Context, begun time.Time, prompts []Prompt, answers []Answer) {
	var clients sync.WaitGroup
	defer clients.Wait()
	turns := make(chan struct{}, max(d.cfg.Concurrency, 0))
	random := rand.New(rand.NewPCG(d.cfg.Seed, 0))
	due := begun
	for i := range prompts {
		if !sleepUntil(ctx, due) {
			answers[i] = Answer{Kind: Unsent, Err: ctx.Err()}
			continue
		}
		at := due
		clients.Go(func() {
			if d.cfg.Concurrency > 0 {
				turns <- struct{}{}
				defer func() { <-turns }()
			}
			answers[i] = d.ask(ctx, at, prompts[i])
		})
		due = due.Add(time.Duration(random.ExpFloat64() / d.cfg.Rate * float64(time.Second)))
	}
}

// sleepUntil is false if ctx ended first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// closedLoop has clients that send the next prompt when they have their answer.
func (d *driver) closedLoop(ctx context.Context, prompts []Prompt, answers []Answer) {
	next := make(chan int, len(prompts))
	for i := range prompts {
		next <- i
	}
	close(next)
	var clients sync.WaitGroup
	defer clients.Wait()
	for range min(max(d.cfg.Concurrency, 1), len(prompts)) {
		clients.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					answers[i] = Answer{Kind: Unsent, Err: ctx.Err()}
					continue
				}
				answers[i] = d.ask(ctx, time.Now(), prompts[i])
			}
		})
	}
}

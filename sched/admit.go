package sched

import (
	"fmt"
	"math"

	"github.com/kvasir-engine/kvasir/request"
)

// check says which field of c cannot be used, and what would be right.
func (c Config) check() error {
	for _, f := range []struct {
		name       string
		have, want int // want: the least that works
	}{
		{"PageSize", c.PageSize, 1},
		{"TotalPages", c.TotalPages, 1},
		{"MaxModelLen", c.MaxModelLen, 2}, // a prompt and an answer of one token each
		{"MaxNumSeqs", c.MaxNumSeqs, 1},
		{"MaxBatchedTokens", c.MaxBatchedTokens, 1},
		{"MaxPrefillChunk", c.MaxPrefillChunk, 0},
		{"MaxQueue", c.MaxQueue, 1},
	} {
		if f.have < f.want {
			return fmt.Errorf("sched: %s is %d, must be at least %d", f.name, f.have, f.want)
		}
	}
	if c.TotalPages < c.pages(c.MaxModelLen) {
		return fmt.Errorf("sched: TotalPages %d of PageSize %d hold %d tokens, fewer than MaxModelLen %d: a request that fits the context would not fit the pool; "+
			"TotalPages must be at least %d, or MaxModelLen at most %d",
			c.TotalPages, c.PageSize, c.poolTokens(), c.MaxModelLen, c.pages(c.MaxModelLen), c.poolTokens())
	}
	if c.TargetStepNanos < 0 {
		return fmt.Errorf("sched: TargetStepNanos is %d, must be at least 0", c.TargetStepNanos)
	}
	if c.MaxBatchedTokens < c.MaxNumSeqs {
		return fmt.Errorf("sched: MaxBatchedTokens %d is less than MaxNumSeqs %d: each running sequence needs a token of the step's budget",
			c.MaxBatchedTokens, c.MaxNumSeqs)
	}
	return nil
}

// pages is the number of pages that hold so many tokens.
func (c Config) pages(tokens int) int { return tokens/c.PageSize + min(1, tokens%c.PageSize) }

// poolTokens is the number of tokens that the pool can ever hold.
func (c Config) poolTokens() int {
	if c.TotalPages > math.MaxInt/c.PageSize {
		return math.MaxInt
	}
	return c.TotalPages * c.PageSize
}

// Admitted is an Ask that was accepted. Only [Admit] makes one; the scheduler refuses the zero value.
type Admitted struct {
	ask       Ask
	maxTokens int // at least 1
}

// Ask is what was asked, as it was asked.
func (a Admitted) Ask() Ask { return a.ask }

// MaxTokens bounds the answer of each choice; at least 1, also where the Ask left it open.
func (a Admitted) MaxTokens() int { return a.maxTokens }

// Admit decides whether ask can be served by a scheduler of cfg in which so many sequences wait. Exactly one of the results is set.
//
// An admitted request fits the context and fits the pool when it runs alone, so it can always be served in the end. It may be called before anything is
// reserved for the request, and decides from its arguments alone.
//
// The rejection of a prompt names the field "messages"; a caller that took the prompt from another field puts that name in its place.
//
// Preconditions (their absence is a bug and panics):
//   - ask.Seqs has at least one sequence
func Admit(cfg Config, waiting int, ask Ask) (Admitted, *request.Rejection) {
	if len(ask.Seqs) == 0 {
		panic("sched: an Ask without sequences")
	}
	if ask.PromptLen < 1 {
		return Admitted{}, request.Invalid("messages", "The prompt is empty; it must have at least one token.")
	}
	if ask.MaxTokens < 0 {
		return Admitted{}, request.Invalid("max_tokens", "max_tokens is %d; it must be at least 1, or absent.", ask.MaxTokens)
	}
	if rejection := fits(cfg, ask); rejection != nil {
		return Admitted{}, rejection
	}
	if rejection := queues(cfg, waiting, len(ask.Seqs)); rejection != nil {
		return Admitted{}, rejection
	}
	maxTokens := ask.MaxTokens
	if maxTokens == 0 {
		maxTokens = min(cfg.MaxModelLen, cfg.poolTokens()) - ask.PromptLen
	}
	return Admitted{ask: ask, maxTokens: maxTokens}, nil
}

// fits rejects what is longer than the context, or than the pool can ever hold.
func fits(cfg Config, ask Ask) *request.Rejection {
	least := total(ask.PromptLen, max(1, ask.MaxTokens))
	switch {
	case ask.PromptLen >= cfg.MaxModelLen:
		return &request.Rejection{Limit: request.LimitContext, Field: "messages", Have: least, Max: cfg.MaxModelLen, Why: fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, your prompt has %d tokens, which leaves no room for an answer. Please shorten the prompt.",
			cfg.MaxModelLen, ask.PromptLen)}
	case least > cfg.MaxModelLen:
		return &request.Rejection{Limit: request.LimitContext, Field: "max_tokens", Have: least, Max: cfg.MaxModelLen, Why: fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the prompt, %d for the answer). "+
				"Please shorten the prompt or lower max_tokens.",
			cfg.MaxModelLen, least, ask.PromptLen, ask.MaxTokens)}
	case least > cfg.poolTokens():
		field := "max_tokens"
		if ask.PromptLen >= cfg.poolTokens() {
			field = "messages"
		}
		return &request.Rejection{Limit: request.LimitPool, Field: field, Have: least, Max: cfg.poolTokens(), Why: fmt.Sprintf(
			"This server's memory holds at most %d tokens. However, you requested %d tokens (%d in the prompt, %d for the answer). "+
				"Please shorten the prompt or lower max_tokens.",
			cfg.poolTokens(), least, ask.PromptLen, max(1, ask.MaxTokens))}
	}
	return nil
}

// queues rejects what finds no room in the queue: for now, or (more choices than may ever wait) for good.
func queues(cfg Config, waiting, n int) *request.Rejection {
	switch {
	case n > cfg.MaxQueue:
		return &request.Rejection{Limit: request.LimitInput, Field: "n", Have: n, Max: cfg.MaxQueue, Why: fmt.Sprintf(
			"n is %d; this server takes at most %d choices.", n, cfg.MaxQueue)}
	case waiting+n > cfg.MaxQueue:
		return &request.Rejection{Limit: request.LimitQueue, Have: waiting + n, Max: cfg.MaxQueue, Why: fmt.Sprintf(
			"The server is busy: %d requests wait and at most %d may. Please try again later.", waiting, cfg.MaxQueue)}
	}
	return nil
}

// total adds two lengths that a client may have made as large as it likes.
func total(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Package request holds the words in which clients and every part of the engine speak of one generation:
// the [Request], the [Token] stream that answers it, and the [Rejection] that may answer it instead.
//
// It is a leaf: it imports the standard library only, and everyone may import it. The root package aliases its types.
package request

import (
	"errors"
	"fmt"
)

// A Request asks for one generation (or N of them over the same prompt).
//
// Exactly one of Messages, Prompt and Tokens is set. The zero value of every other field is a usable default.
type Request struct {
	// ID names the request in logs and in the HTTP answer. Empty: the engine makes one.
	ID string
	// Tenant names the customer. Requests of different tenants never share cached pages. Empty: "default".
	Tenant string

	// Messages is a conversation; the model's chat template turns it into a prompt.
	Messages []Message
	// Prompt is text used as it is. Special tokens in it are recognised; BOS is added if the model file asks for it.
	Prompt string
	// Tokens is a prompt of token ids, used as they are.
	Tokens []int32

	// MaxTokens bounds the answer. 0: until the context is full.
	MaxTokens int
	// N is the number of answers (choices). 0: 1.
	N int
	// Stop ends an answer before the first occurrence of any of these strings, also across token borders.
	Stop []string
	// StopTokens are further token ids that end an answer, beside the model's own end-of-turn tokens.
	StopTokens []int32
	// IgnoreEOS goes on past the model's end-of-turn tokens, until MaxTokens.
	IgnoreEOS bool

	Sampling Sampling
}

// Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user", "assistant", ...
	Content string
	Name    string // optional name of the speaker
}

// Sampling says how a token is chosen from the logits. The zero value is greedy.
//
// The order of work is: logit bias, repetition, presence and frequency penalties, then (where Temperature is not 0)
// temperature, top-k, top-p, min-p, and a draw whose random number depends on (seed, choice, position) only.
type Sampling struct {
	// Temperature divides the logits. 0: greedy, the first of the largest logits.
	Temperature float64
	// TopK keeps the K most likely tokens. 0: all.
	TopK int
	// TopP keeps the smallest set of most likely tokens whose probability reaches P. 0 or 1: all.
	TopP float64
	// MinP drops tokens less likely than MinP times the most likely one. 0: none.
	MinP float64
	// RepetitionPenalty divides positive and multiplies negative logits of tokens seen in prompt or answer
	// (Keskar et al. 2019). 0 or 1: off.
	RepetitionPenalty float64
	// PresencePenalty is subtracted once from the logit of each token already in the answer (OpenAI).
	PresencePenalty float64
	// FrequencyPenalty is subtracted once for each occurrence in the answer (OpenAI).
	FrequencyPenalty float64
	// Seed makes the draw repeatable. nil: the engine draws a seed.
	Seed *uint64
	// LogitBias is added to the logits of these token ids.
	LogitBias map[int32]float32
	// Logprobs asks for the log-probability of each chosen token.
	Logprobs bool
	// TopLogprobs asks for this many most likely alternatives at each position (0 to 20); needs Logprobs.
	TopLogprobs int
}

// FinishReason says why an answer ended.
type FinishReason string

const (
	// FinishStop: the model ended its turn, or a stop string or stop token was met.
	FinishStop FinishReason = "stop"
	// FinishLength: MaxTokens was reached, or the context is full.
	FinishLength FinishReason = "length"
)

// Token is one step of an answer's stream. The last Token of a choice has Finish set.
//
// Text may be empty: bytes of an unfinished UTF-8 character, and text that may be the start of a stop string, are held back and come with
// a later Token (at the latest with the one that has Finish set, whose ID is -1 if nothing but held text and the end are left to tell).
type Token struct {
	Choice  int
	ID      int32
	Text    string
	Bytes   []byte       // the token's own bytes, maybe not whole UTF-8; only with Sampling.Logprobs
	Logprob float32      // natural logarithm; only with Sampling.Logprobs
	Top     []TopToken   // most likely first; only with Sampling.TopLogprobs
	Finish  FinishReason // empty while the choice goes on
	Usage   *Usage       // set on a choice's last Token: counts for this choice
}

// TopToken is an alternative at a position.
type TopToken struct {
	ID      int32
	Bytes   []byte // the token's bytes, maybe not whole UTF-8
	Logprob float32
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int
	CompletionTokens int // of this choice, its end-of-turn token included
	CachedTokens     int // part of the prompt found in the prefix cache
}

// Limit names what a rejected request ran into.
type Limit string

const (
	LimitContext Limit = "max_model_len"    // prompt + max_tokens over the model's context
	LimitPool    Limit = "max_total_tokens" // prompt + max_tokens over what the page pool can ever hold
	LimitQueue   Limit = "max_queue"        // too many requests wait
	LimitInput   Limit = "input"            // a field of the request cannot be used
	LimitClosing Limit = "closing"          // the engine is shutting down
)

// Bounds of a request's fields.
const (
	MaxChoices     = 128 // N
	MaxStops       = 16  // stop strings
	MaxTopLogprobs = 20
)

// A Rejection is the end of a request that was never run. No token ever comes from a rejected request.
type Rejection struct {
	Limit Limit
	Field string // the field at fault ("messages", "max_tokens", ...), if one is
	Have  int    // what the request needs, in tokens (LimitContext, LimitPool) or requests (LimitQueue)
	Max   int    // what there is
	Why   string // one sentence for the client
}

func (r *Rejection) Error() string { return r.Why }

// Is makes errors.Is(err, ErrRejected) true for every rejection, and for the sentinel of its limit.
func (r *Rejection) Is(target error) bool {
	switch target {
	case ErrRejected:
		return true
	case ErrContextLength:
		return r.Limit == LimitContext || r.Limit == LimitPool
	case ErrQueueFull:
		return r.Limit == LimitQueue
	case ErrInvalid:
		return r.Limit == LimitInput
	case ErrClosed:
		return r.Limit == LimitClosing
	}
	return false
}

// Invalid is the rejection of a request whose field cannot be used.
func Invalid(field, format string, args ...any) *Rejection {
	return &Rejection{Limit: LimitInput, Field: field, Why: fmt.Sprintf(format, args...)}
}

var (
	// ErrRejected: the request was refused before it began.
	ErrRejected = errors.New("request rejected")
	// ErrContextLength: the request does not fit the context or the pool.
	ErrContextLength = errors.New("request does not fit")
	// ErrQueueFull: too many requests wait; try again later.
	ErrQueueFull = errors.New("queue full")
	// ErrInvalid: a field of the request cannot be used.
	ErrInvalid = errors.New("invalid request")
	// ErrClosed: the engine is closed or closing.
	ErrClosed = errors.New("engine closed")
	// ErrPageCheck: a page did not hold what this request's tokens say it must. No token was made from it.
	ErrPageCheck = errors.New("page check failed")
	// ErrNoLogits: the model computed no number to choose a token by (NaN or infinite logits throughout): a broken model file, or one that overflows.
	ErrNoLogits = errors.New("the model computed no usable logits")
	// ErrUnavailable: no node could serve the request, or the one that did was lost. The same request may work when it is made again.
	ErrUnavailable = errors.New("no node could serve the request")
	// ErrEngineFailed: a part of the engine failed and ended all requests of this incarnation.
	ErrEngineFailed = errors.New("engine failed")
)

package kvasir

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/kvasir-engine/kvasir/actors"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/model/text"
	"github.com/kvasir-engine/kvasir/model/tokenizer"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// Generate answers req as a stream of tokens. Breaking out of the loop, or the end of ctx, cancels the request. An error is the last element: a
// *Rejection if the request never began (then nothing came before it), or why it could not be finished. Without an error, each choice ends with a Token that
// has Finish set.
func (e *Engine) Generate(ctx context.Context, req Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		spec, err := e.prepare(ctx, &req)
		if err != nil {
			yield(Token{}, err)
			return
		}
		stream, err := e.node.Submit(spec)
		if err != nil {
			yield(Token{}, inWordsOf(&req, err))
			return
		}
		defer stream.CancelAll()
		writers := make([]*writer, spec.Choices)
		for i := range writers {
			writers[i] = newWriter(e.tok, &req, &spec, i)
		}
		for {
			ev, ok, err := stream.Next(ctx)
			if err != nil {
				yield(Token{}, err)
				return
			}
			if !ok {
				return
			}
			if ev.Err != nil {
				yield(Token{}, inWordsOf(&req, ev.Err))
				return
			}
			w := writers[ev.Choice]
			if w.ended {
				continue // it met a stop string; what the engine had computed beyond is not wanted
			}
			t, show := w.write(ev, stream.Cached())
			if t.Finish == FinishStop && ev.End == 0 {
				stream.Stop(ev.Choice)
			}
			if show && !yield(t, nil) {
				return
			}
		}
	}
}

// inWordsOf names the field that the client filled in: the scheduler knows prompts only, and calls each "messages".
func inWordsOf(req *Request, err error) error {
	var r *Rejection
	if req.Messages == nil && errors.As(err, &r) && r.Field == "messages" {
		own := *r
		own.Field = "prompt"
		return &own
	}
	return err
}

// writer turns the tokens of one choice into text.
type writer struct {
	tok    *tokenizer.Tokenizer
	dec    *tokenizer.Decoder
	stops  *text.Stops
	choice int
	logs   bool
	silent []int32 // stop tokens: they end the answer and are not shown
	prompt int
	count  int
	ended  bool
}

func newWriter(tok *tokenizer.Tokenizer, req *Request, spec *actors.Spec, choice int) *writer {
	return &writer{tok: tok, dec: tokenizer.NewDecoder(tok), stops: text.NewStops(req.Stop), choice: choice,
		logs: req.Sampling.Logprobs, silent: spec.StopTokens, prompt: len(spec.Prompt)}
}

// write makes the Token to show for an event. An event of a cancelled choice shows nothing: nobody waits for it.
func (w *writer) write(ev actors.Event, cached int) (t Token, show bool) {
	if ev.End != 0 {
		return w.end(ev, cached)
	}
	w.count++
	t = Token{Choice: w.choice, ID: ev.Token.ID}
	if w.logs {
		t.Bytes, t.Logprob = w.tok.Bytes(t.ID), ev.Token.Logprob
		t.Top = ev.Token.Top
		for i := range t.Top {
			t.Top[i].Bytes = w.tok.Bytes(t.Top[i].ID)
		}
	}
	if w.tok.IsSpecial(t.ID) || slices.Contains(w.silent, t.ID) {
		return t, true
	}
	var hit bool
	if t.Text, hit = w.stops.Push(w.dec.Push(t.ID)); hit {
		w.finish(&t, FinishStop, cached)
	}
	return t, true
}

// end makes the last Token of a choice: what was held back, and why it ended.
func (w *writer) end(ev actors.Event, cached int) (t Token, show bool) {
	t = Token{Choice: w.choice, ID: -1}
	switch ev.End {
	case sched.EndStop:
		w.finish(&t, FinishStop, cached)
	case sched.EndLength:
		w.finish(&t, FinishLength, cached)
	default:
		return t, false
	}
	out, hit := w.stops.Push(w.dec.Flush())
	if !hit {
		var rest string
		rest, hit = w.stops.Flush()
		out += rest
	}
	if hit {
		t.Finish = FinishStop
	}
	t.Text = out
	return t, true
}

func (w *writer) finish(t *Token, why FinishReason, cached int) {
	w.ended = true
	t.Finish = why
	t.Usage = &Usage{PromptTokens: w.prompt, CompletionTokens: w.count, CachedTokens: cached}
}

// prepare checks a request and turns its text into token ids.
func (e *Engine) prepare(ctx context.Context, req *Request) (spec actors.Spec, err error) {
	if err := e.validate(req); err != nil {
		return spec, err
	}
	spec = actors.Spec{Tenant: req.Tenant, Choices: max(req.N, 1), MaxTokens: req.MaxTokens, Sampling: req.Sampling}
	if spec.Tenant == "" {
		spec.Tenant = "default"
	}
	if spec.Prompt, err = e.prompt(ctx, req); err != nil {
		return spec, err
	}
	spec.StopTokens = slices.Clone(req.StopTokens)
	if !req.IgnoreEOS {
		spec.StopTokens = append(spec.StopTokens, e.tok.Ends()...)
	}
	if req.Sampling.Seed != nil {
		spec.Seed = *req.Sampling.Seed
	} else {
		spec.Seed = rand.Uint64()
	}
	return spec, nil
}

func (e *Engine) validate(req *Request) error {
	given := 0
	for _, set := range []bool{req.Messages != nil, req.Prompt != "", req.Tokens != nil} {
		if set {
			given++
		}
	}
	vocab := e.info.VocabSize
	switch {
	case given > 1:
		return request.Invalid("prompt", "Only one of messages, prompt and tokens may be given.")
	case req.MaxTokens < 0:
		return request.Invalid("max_tokens", "max_tokens is %d; it must be at least 1, or left out.", req.MaxTokens)
	case req.N < 0 || req.N > request.MaxChoices:
		return request.Invalid("n", "n is %d; it must be 1 to %d.", req.N, request.MaxChoices)
	}
	for i, id := range req.StopTokens {
		if id < 0 || int(id) >= vocab {
			return request.Invalid("stop_token_ids", "stop_token_ids[%d] is %d; the vocabulary has ids 0 to %d.", i, id, vocab-1)
		}
	}
	if r := sample.Validate(req.Sampling, vocab); r != nil {
		return r
	}
	if r := text.ValidateStops(req.Stop); r != nil {
		return r
	}
	return nil
}

// prompt returns the request's prompt as token ids.
func (e *Engine) prompt(ctx context.Context, req *Request) ([]int32, error) {
	switch {
	case req.Messages != nil:
		return e.conversation(ctx, req.Messages)
	case req.Tokens != nil:
		for i, id := range req.Tokens {
			if id < 0 || int(id) >= e.info.VocabSize {
				return nil, request.Invalid("prompt", "prompt[%d] is token %d; the vocabulary has ids 0 to %d.", i, id, e.info.VocabSize-1)
			}
		}
		return slices.Clone(req.Tokens), nil
	default:
		ids := e.tok.Encode(req.Prompt, true, true)
		if len(ids) == 0 {
			return nil, request.Invalid("prompt", "The prompt is empty.")
		}
		return ids, nil
	}
}

// conversation renders messages through the chat template and tokenises the result. Special tokens are recognised in the template's own text only: a
// message that spells "<|im_end|>" says these characters, and cannot end its turn.
func (e *Engine) conversation(ctx context.Context, messages []Message) ([]int32, error) {
	if len(messages) == 0 {
		return nil, request.Invalid("messages", "messages is empty; at least one message is needed.")
	}
	parts, err := e.tmpl.RenderParts(ctx, messages, true)
	if err != nil {
		return nil, err
	}
	spans := make([]tokenizer.Span, len(parts))
	for i, p := range parts {
		spans[i] = tokenizer.Span{Text: p.Text, Plain: p.Content}
	}
	return e.tok.EncodeSpans(spans, true), nil
}

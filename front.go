package kvasir

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/actors"
	"github.com/kvasir-engine/kvasir/model/chat"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/model/text"
	"github.com/kvasir-engine/kvasir/model/tokenizer"
	"github.com/kvasir-engine/kvasir/request"
)

// front stands between clients and tokens: it checks requests, renders and tokenises them, and turns tokens into text again. Behind it are this process's own node, or
// those that a gateway knows.
type front struct {
	info   ModelInfo
	tok    *tokenizer.Tokenizer
	tmpl   *chat.Template
	submit func(actors.Spec) (answering, error)
	traces trace.TracerProvider // nil: no traces
}

// answering is the answer to one request as it comes; see actors.Stream.
type answering interface {
	Next(ctx context.Context) (ev actors.Event, ok bool, err error)
	Stop(choice int)
	CancelAll()
	Cached() int
}

// Model describes the served model.
func (e *front) Model() ModelInfo { return e.info }

// loadVocabulary makes the tokenizer and the chat template of a model file.
func (e *front) loadVocabulary(file *gguf.File, log *zap.Logger) (err error) {
	if e.tok, err = tokenizer.New(file); err != nil {
		return err
	}
	for _, w := range e.tok.Warnings() {
		log.Warn(w)
	}
	source, ok := file.String("tokenizer.chat_template")
	if !ok {
		log.Warn("the model file has no chat template; conversations are rendered as ChatML", zap.String("file", file.Name()))
		e.tmpl = chat.ChatML()
		return nil
	}
	text := func(id int32, ok bool) string {
		if !ok {
			return ""
		}
		return e.tok.Token(id)
	}
	if e.tmpl, err = chat.New(source, chat.Options{BOS: text(e.tok.BOS()), EOS: text(e.tok.EOS()), Special: e.specials()}); err != nil {
		return fmt.Errorf("kvasir: %s: tokenizer.chat_template: %w", file.Name(), err)
	}
	return nil
}

// specials are the texts of the tokens that are not shown in answers.
func (e *front) specials() []string {
	var texts []string
	for id := range int32(e.tok.Size()) {
		if e.tok.IsSpecial(id) {
			texts = append(texts, e.tok.Token(id))
		}
	}
	return texts
}

// Generate answers req as a stream of tokens. Breaking out of the loop, or the end of ctx, cancels the request. An error is the last element: a
// *Rejection if the request never began (then nothing came before it), or why it could not be finished. Without an error, each choice ends with a Token that
// has Finish set.
func (e *front) Generate(ctx context.Context, req Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		spec, err := e.prepare(ctx, &req)
		if err != nil {
			yield(Token{}, err)
			return
		}
		ctx, span := actors.Tracer(e.traces).Start(ctx, "generate", trace.WithAttributes(attribute.Int("kvasir.prompt_tokens", len(spec.Prompt)), attribute.Int("kvasir.choices", spec.Choices)))
		defer span.End()
		spec.Trace = actors.TraceOf(ctx)
		s, err := e.submit(spec)
		if err != nil {
			yield(Token{}, inWordsOf(&req, err))
			return
		}
		defer s.CancelAll()
		writers := make([]*writer, spec.Choices)
		for i := range writers {
			writers[i] = newWriter(e.tok, &req, &spec, i)
		}
		for {
			ev, ok, err := s.Next(ctx)
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
			t, show := w.write(ev, s.Cached())
			if t.Finish == FinishStop && ev.End == 0 {
				s.Stop(ev.Choice)
			}
			if show && !yield(t, nil) {
				return
			}
		}
	}
}

// prepare checks a request and turns its text into token ids.
func (e *front) prepare(ctx context.Context, req *Request) (spec actors.Spec, err error) {
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

func (e *front) validate(req *Request) error {
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
func (e *front) prompt(ctx context.Context, req *Request) ([]int32, error) {
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
func (e *front) conversation(ctx context.Context, messages []Message) ([]int32, error) {
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

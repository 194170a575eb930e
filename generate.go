package kvasir

import (
	"errors"
	"slices"

	"github.com/kvasir-engine/kvasir/actors"
	"github.com/kvasir-engine/kvasir/model/text"
	"github.com/kvasir-engine/kvasir/model/tokenizer"
	"github.com/kvasir-engine/kvasir/sched"
)

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

package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/kvasir-engine/kvasir/request"
)

const (
	defaultCompletionTokens = 16 // OpenAI's
	maxPrompts              = 1024
)

// completions serves POST /v1/completions. Several prompts are several requests to the engine; choice j of prompt i has index i*n+j.
func (s *server) completions(w *response, r *http.Request) error {
	f, err := s.readBody(w, r)
	if err != nil {
		return err
	}
	p := s.params(r, f, defaultCompletionTokens)
	p.request.Sampling.Logprobs = f.has("logprobs")
	p.request.Sampling.TopLogprobs = int(f.integer("logprobs", 0, request.MaxTopLogprobs, 0))
	prompts := readPrompts(f, s.engine.Model().VocabSize)
	refuseUnsupported(f)
	if err := f.err(); err != nil {
		return err
	}
	requests := make([]request.Request, len(prompts))
	for i, prompt := range prompts {
		requests[i] = p.request
		requests[i].Prompt, requests[i].Tokens = prompt.text, prompt.tokens
	}
	return s.answer(w, r, p, requests, &completionForm{choices: make([]completionChoice, len(prompts)*p.request.N)})
}

// prompt is a text or token ids.
type prompt struct {
	text   string
	tokens []int32
}

// readPrompts reads a string, an array of strings, an array of token ids, or an array of such arrays.
func readPrompts(f *fields, vocab int) []prompt {
	const want = "a string, an array of strings, an array of token ids, or an array of such arrays"
	raw, ok := f.get("prompt")
	if !ok {
		f.fail(codeMissing, "prompt", "is missing: %s", want)
		return nil
	}
	if raw[0] == '"' {
		return []prompt{readPrompt(f, raw, "prompt", vocab)}
	}
	if raw[0] != '[' {
		f.fail(codeInvalidType, "prompt", "must be %s, not %s", want, kindOf(raw))
		return nil
	}
	if first := strings.TrimLeft(string(raw[1:min(len(raw), 64)]), " \t\r\n"); first != "" && isNumber([]byte(first)) {
		return []prompt{readPrompt(f, raw, "prompt", vocab)}
	}
	var prompts []prompt
	f.list(raw, "prompt", func(raw json.RawMessage, path string) bool {
		if len(prompts) == maxPrompts {
			f.fail(codeInvalidValue, "prompt", "must have at most %d prompts", maxPrompts)
			return false
		}
		prompts = append(prompts, readPrompt(f, raw, path, vocab))
		return f.err() == nil
	})
	if len(prompts) == 0 {
		f.fail(codeInvalidValue, "prompt", "must not be empty")
	}
	return prompts
}

// readPrompt reads one prompt.
func readPrompt(f *fields, raw json.RawMessage, path string, vocab int) (p prompt) {
	if raw[0] == '[' {
		p.tokens = f.tokenIDs(raw, path, vocab)
	} else {
		p.text, _ = f.asText(raw, path, "a string or an array of token ids")
	}
	if p.text == "" && len(p.tokens) == 0 {
		f.fail(codeInvalidValue, path, "must not be empty")
	}
	return p
}

// completionForm puts tokens into the shapes of completions.
type completionForm struct {
	choices []completionChoice
}

type completionChoice struct {
	text   strings.Builder
	logs   []request.Token // tokens with log-probabilities
	offset textOffset
	end    request.FinishReason
}

type completionChoiceJSON struct {
	Text     string                `json:"text"`
	Index    int                   `json:"index"`
	Logprobs *completionLogprobs   `json:"logprobs"`
	Finish   *request.FinishReason `json:"finish_reason"`
}

func (*completionForm) idPrefix() string { return "cmpl-" }

func (*completionForm) object(bool) string { return "text_completion" }

func (c *completionForm) chunks(t *request.Token, logprobs bool) []any {
	logprobs = logprobs && t.ID >= 0
	if t.Text == "" && t.Finish == "" && !logprobs {
		return nil
	}
	chunk := completionChoiceJSON{Text: t.Text, Index: t.Choice}
	if logprobs {
		chunk.Logprobs = completionLogprobsOf(&c.choices[t.Choice].offset, *t)
	}
	if t.Finish != "" {
		chunk.Finish = &t.Finish
	}
	return []any{chunk}
}

func (c *completionForm) add(t *request.Token, logprobs bool) {
	choice := &c.choices[t.Choice]
	choice.text.WriteString(t.Text)
	if logprobs && t.ID >= 0 {
		choice.logs = append(choice.logs, *t)
	}
	choice.end = t.Finish
}

func (c *completionForm) whole(logprobs bool) any {
	all := make([]completionChoiceJSON, len(c.choices))
	for i := range c.choices {
		choice := &c.choices[i]
		all[i] = completionChoiceJSON{Text: choice.text.String(), Index: i, Finish: &choice.end}
		if logprobs {
			all[i].Logprobs = completionLogprobsOf(&choice.offset, choice.logs...)
		}
	}
	return all
}

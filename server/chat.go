package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir/request"
)

// chat serves POST /v1/chat/completions.
func (s *server) chat(w *response, r *http.Request) error {
	f, err := s.readBody(w, r)
	if err != nil {
		return err
	}
	p := s.params(r, f, 0)
	p.request.Sampling.Logprobs, p.request.Sampling.TopLogprobs = readChatLogprobs(f)
	p.request.Messages = readMessages(f)
	refuseUnsupported(f)
	if err := f.err(); err != nil {
		return err
	}
	return s.answer(w, r, p, []request.Request{p.request}, &chatForm{choices: make([]chatChoice, p.request.N)})
}

func readChatLogprobs(f *fields) (wanted bool, top int) {
	wanted = f.boolean("logprobs")
	top = int(f.integer("top_logprobs", 0, request.MaxTopLogprobs, 0))
	if top > 0 && !wanted {
		f.fail(codeInvalidValue, "top_logprobs", "needs logprobs to be true")
	}
	return wanted, top
}

func readMessages(f *fields) []request.Message {
	raw, ok := f.get("messages")
	if !ok {
		f.fail(codeMissing, "messages", "is missing: an array of messages, each with role and content")
		return nil
	}
	if raw[0] != '[' {
		f.fail(codeInvalidType, "messages", "must be an array of messages, not %s", kindOf(raw))
		return nil
	}
	var messages []request.Message
	f.list(raw, "messages", func(raw json.RawMessage, path string) bool {
		if o, ok := f.object(raw, path); ok {
			messages = append(messages, readMessage(o))
		}
		return f.err() == nil
	})
	if len(messages) == 0 {
		f.fail(codeInvalidValue, "messages", "must have at least one message")
	}
	return messages
}

// roles are those that a message may have. "developer" is OpenAI's newer word for "system", and chat templates do not know it.
var roles = []string{"system", "developer", "user", "assistant"}

func readMessage(f *fields) request.Message {
	if !f.has("role") {
		f.fail(codeMissing, f.at("role"), "is missing: one of %s", strings.Join(roles, ", "))
	}
	m := request.Message{Role: f.text("role"), Name: f.text("name"), Content: readContent(f)}
	if f.err() == nil && !slices.Contains(roles, m.Role) {
		f.fail(codeInvalidValue, f.at("role"), "must be one of %s, not %q", strings.Join(roles, ", "), clip(m.Role))
	}
	if m.Role == "developer" {
		m.Role = "system"
	}
	for _, name := range []string{"tool_calls", "function_call", "audio", "refusal"} {
		f.refuseUnless(name, nothing)
	}
	return m
}

// readContent reads a text, or an array of parts of type "text", which are joined by line ends (as vLLM and llama-server do).
func readContent(f *fields) string {
	raw, ok := f.get("content")
	if !ok {
		f.fail(codeMissing, f.at("content"), "is missing: a string or an array of text parts")
		return ""
	}
	if raw[0] != '[' {
		text, _ := f.asText(raw, f.at("content"), "a string or an array of text parts")
		return text
	}
	var texts []string
	f.list(raw, f.at("content"), func(raw json.RawMessage, path string) bool {
		if part, ok := f.object(raw, path); ok {
			texts = append(texts, readPart(part))
		}
		return f.err() == nil
	})
	if len(texts) == 0 {
		f.fail(codeInvalidValue, f.at("content"), "must have at least one part")
	}
	return strings.Join(texts, "\n")
}

func readPart(f *fields) string {
	if !f.has("type") {
		f.fail(codeMissing, f.at("type"), "is missing: \"text\"")
	}
	if kind := f.text("type"); kind != "text" {
		f.fail(codeInvalidValue, f.at("type"), "must be \"text\", the only kind of part this model takes, not %q", clip(kind))
	}
	if !f.has("text") {
		f.fail(codeMissing, f.at("text"), "is missing: a string")
	}
	return f.text("text")
}

// chatForm puts tokens into the shapes of chat completions.
type chatForm struct {
	choices []chatChoice
}

type chatChoice struct {
	text  strings.Builder
	begun bool // its role has been streamed
	logs  []chatLogprob
	end   request.FinishReason
}

type chatMessage struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"` // always null
}

type chatChoiceJSON struct {
	Index    int                  `json:"index"`
	Message  chatMessage          `json:"message"`
	Logprobs *chatLogprobs        `json:"logprobs"`
	Finish   request.FinishReason `json:"finish_reason"`
}

type chatDelta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

type chatChunkJSON struct {
	Index    int                   `json:"index"`
	Delta    chatDelta             `json:"delta"`
	Logprobs *chatLogprobs         `json:"logprobs"`
	Finish   *request.FinishReason `json:"finish_reason"`
}

func (*chatForm) idPrefix() string { return "chatcmpl-" }

func (*chatForm) object(stream bool) string {
	if stream {
		return "chat.completion.chunk"
	}
	return "chat.completion"
}

// chunks: the first of a choice has the role, the last the finish reason alone; between them are those with text or log-probabilities.
func (c *chatForm) chunks(t *request.Token, logprobs bool) []any {
	var chunks []any
	choice := &c.choices[t.Choice]
	if !choice.begun {
		choice.begun = true
		chunks = append(chunks, chatChunkJSON{Index: t.Choice, Delta: chatDelta{Role: "assistant", Content: new(string)}})
	}
	logprobs = logprobs && t.ID >= 0
	if t.Text != "" || logprobs {
		chunk := chatChunkJSON{Index: t.Choice, Delta: chatDelta{Content: &t.Text}}
		if logprobs {
			chunk.Logprobs = &chatLogprobs{Content: []chatLogprob{chatLogprobOf(t)}}
		}
		chunks = append(chunks, chunk)
	}
	if t.Finish != "" {
		chunks = append(chunks, chatChunkJSON{Index: t.Choice, Finish: &t.Finish})
	}
	return chunks
}

func (c *chatForm) add(t *request.Token, logprobs bool) {
	choice := &c.choices[t.Choice]
	choice.text.WriteString(t.Text)
	if logprobs && t.ID >= 0 {
		choice.logs = append(choice.logs, chatLogprobOf(t))
	}
	choice.end = t.Finish
}

func (c *chatForm) whole(logprobs bool) any {
	all := make([]chatChoiceJSON, len(c.choices))
	for i := range c.choices {
		choice := &c.choices[i]
		all[i] = chatChoiceJSON{Index: i, Message: chatMessage{Role: "assistant", Content: choice.text.String()}, Finish: choice.end}
		if logprobs {
			all[i].Logprobs = &chatLogprobs{Content: append([]chatLogprob{}, choice.logs...)} // never null
		}
	}
	return all
}

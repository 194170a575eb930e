package kvasir

import (
	"context"
	"iter"
	"strings"
)

// Chat is a conversation. Use it from one goroutine at a time.
type Chat struct {
	engine *front
	// Messages is what was said so far. It may be changed between turns.
	Messages []Message
	// Request is the template of each turn; its Messages are ignored.
	Request Request
}

// Chat begins a conversation. With messages it goes on from there: a system message, or an earlier talk.
func (e *front) Chat(messages ...Message) *Chat {
	return &Chat{engine: e, Messages: messages}
}

// Say says text and streams the answer. The turn is kept once the stream ends or is broken off, with the answer as far as it came; a turn that fails before its first
// token leaves the conversation as it was.
func (c *Chat) Say(ctx context.Context, text string) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		req := c.Request
		said := append(c.Messages[:len(c.Messages):len(c.Messages)], Message{Role: "user", Content: text})
		req.Messages, req.Prompt, req.Tokens, req.N = said, "", nil, 1
		var answer strings.Builder
		began := false
		defer func() {
			if began {
				c.Messages = append(said, Message{Role: "assistant", Content: answer.String()})
			}
		}()
		for tok, err := range c.engine.Generate(ctx, req) {
			if err == nil {
				began = true
				answer.WriteString(tok.Text)
			}
			if !yield(tok, err) {
				return
			}
		}
	}
}

package server

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kvasir-engine/kvasir/request"
)

// chatLogprobs is the form of log-probabilities in conversations.
type chatLogprobs struct {
	Content []chatLogprob `json:"content"`
	Refusal *string       `json:"refusal"` // always null
}

type chatLogprob struct {
	topLogprob
	Top []topLogprob `json:"top_logprobs"`
}

type topLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"` // null for tokens without bytes; []byte would become base64
}

func chatLogprobOf(t *request.Token) chatLogprob {
	top := make([]topLogprob, len(t.Top))
	for i, a := range t.Top {
		top[i] = topLogprobOf(a.Bytes, a.Logprob)
	}
	return chatLogprob{topLogprobOf(t.Bytes, t.Logprob), top}
}

func topLogprobOf(b []byte, logprob float32) topLogprob {
	var bytes []int
	for _, c := range b {
		bytes = append(bytes, int(c))
	}
	return topLogprob{Token: tokenName(b), Logprob: finite(logprob), Bytes: bytes}
}

// completionLogprobs is the form of log-probabilities in completions: one element a token in each array.
type completionLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Chosen  []float64            `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"` // null if none were asked for
	Offsets []int                `json:"text_offset"`
}

// completionLogprobsOf tells of tokens that follow those offset has seen.
func completionLogprobsOf(offset *textOffset, tokens ...request.Token) *completionLogprobs {
	l := &completionLogprobs{Tokens: []string{}, Chosen: []float64{}, Offsets: []int{}}
	for i := range tokens {
		l.add(&tokens[i], offset)
	}
	return l
}

// add tells of t. The chosen token is among the alternatives even where it is not one of the most likely, as at OpenAI.
func (l *completionLogprobs) add(t *request.Token, offset *textOffset) {
	name := tokenName(t.Bytes)
	l.Tokens = append(l.Tokens, name)
	l.Chosen = append(l.Chosen, finite(t.Logprob))
	l.Offsets = append(l.Offsets, offset.next(t.Bytes))
	if len(t.Top) == 0 {
		return
	}
	top := make(map[string]float64, len(t.Top)+1)
	for _, a := range t.Top {
		top[tokenName(a.Bytes)] = finite(a.Logprob)
	}
	top[name] = finite(t.Logprob)
	l.Top = append(l.Top, top)
}

// tokenName is a token as a string. Bytes that are no text by themselves, being part of a character, are spelled out as OpenAI does: bytes:\xf0\x9f.
func tokenName(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	s.WriteString("bytes:")
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02x`, c)
	}
	return s.String()
}

// finite keeps a log-probability within what JSON can say; -9999 is OpenAI's word for "very unlikely".
func finite(logprob float32) float64 {
	const least = -9999
	if v := float64(logprob); v >= least && !math.IsInf(v, 0) {
		return v
	}
	return least
}

// textOffset counts the characters of an answer, token by token.
type textOffset struct {
	characters int    // whole ones
	pending    []byte // of a character that is not whole yet
}

// next is the offset in characters at which a token begins: for a token that begins within a character, that character's.
func (o *textOffset) next(token []byte) int {
	begin := o.characters
	rest := append(o.pending, token...)
	for utf8.FullRune(rest) {
		_, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		o.characters++
	}
	o.pending = rest
	return begin
}

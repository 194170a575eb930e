package main

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kvasir-engine/kvasir"
)

// printer writes answers as they grow.
type printer struct {
	w io.Writer
	// escape shows control characters as Go would write them: a terminal obeys them, and nobody knows what a model was made to say.
	escape bool
	// middle: the last character written was not a newline.
	middle bool
}

func (p *printer) print(text string) error {
	if text == "" {
		return nil
	}
	p.middle = text[len(text)-1] != '\n'
	if p.escape {
		text = escapeControls(text)
	}
	_, err := io.WriteString(p.w, text)
	return err
}

// endLine begins a new line, unless it is at the beginning of one.
func (p *printer) endLine() error {
	if !p.middle {
		return nil
	}
	return p.print("\n")
}

// escapeControls makes text harmless for a terminal: all control characters (C0, DEL and C1) but newline and tab become escapes like \x1b, and
// bytes that are not UTF-8 become U+FFFD.
func escapeControls(text string) string {
	harmless := func(r rune) bool { return r == '\n' || r == '\t' || !unicode.IsControl(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !harmless(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case harmless(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteString(`\r`)
		default:
			fmt.Fprintf(&b, `\x%02x`, r)
		}
	}
	return b.String()
}

// outcome is how an answer ended, and what --stats tells of it.
type outcome struct {
	finish kvasir.FinishReason // empty: it did not
	usage  kvasir.Usage

	tokens      int
	asked       time.Time
	first, last time.Time // when these tokens came
}

// stream prints an answer and ends its line.
func (p *printer) stream(answer iter.Seq2[kvasir.Token, error]) (o outcome, err error) {
	o.asked = time.Now()
	defer func() {
		if e := p.endLine(); err == nil {
			err = e
		}
	}()
	for tok, err := range answer {
		if err != nil {
			return o, err
		}
		o.count(tok, time.Now())
		if err := p.print(tok.Text); err != nil {
			return o, fmt.Errorf("write the answer: %w", err)
		}
	}
	return o, nil
}

func (o *outcome) count(tok kvasir.Token, now time.Time) {
	if tok.ID >= 0 {
		o.tokens++
		if o.first.IsZero() {
			o.first = now
		}
		o.last = now
	}
	if tok.Finish != "" {
		o.finish = tok.Finish
	}
	if tok.Usage != nil {
		o.usage = *tok.Usage
	}
}

// begun says that a token came, or at least the end.
func (o *outcome) begun() bool { return o.tokens > 0 || o.finish != "" }

// full says that the answer ended because no more tokens fit the context.
func (o *outcome) full(context int) bool {
	return o.finish == kvasir.FinishLength && o.usage.PromptTokens+o.usage.CompletionTokens >= context
}

// String is the line of --stats.
func (o *outcome) String() string {
	var b strings.Builder
	if o.usage.PromptTokens > 0 {
		fmt.Fprintf(&b, "prompt: %d tokens (%d cached); ", o.usage.PromptTokens, o.usage.CachedTokens)
	}
	fmt.Fprintf(&b, "answer: %d tokens", o.tokens)
	if o.tokens > 0 {
		fmt.Fprintf(&b, ", the first after %.3f s", o.first.Sub(o.asked).Seconds())
	}
	if took := o.last.Sub(o.first).Seconds(); took > 0 {
		fmt.Fprintf(&b, ", then %.1f tokens/s", float64(o.tokens-1)/took)
	}
	return b.String()
}

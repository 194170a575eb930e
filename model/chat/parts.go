package chat

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kvasir-engine/kvasir/request"
)

// Part is a piece of a rendered prompt.
type Part struct {
	Text string
	// Content says that the text came from a message's content: special tokens must not be recognised in it. White space at the ends of a
	// content may be in the parts beside it.
	Content bool
}

// maxTries bounds how often RenderParts renders a conversation that does not let all contents be told apart at once.
const maxTries = 64

// RenderParts renders as [Template.Render] does and returns the text in parts, which joined are Render's text.
//
// To tell contents apart it renders with unguessable marks in their place and looks where they come out. A template may do something
// with a content that a mark does not stand: look into it, cut it, escape it. Where marks, replaced by their contents, do not give
// exactly the plain rendering, as many contents as possible are marked, and the others come in a Part that is not Content. But such a content
// may not have the text of one of Options.Special in it: that is a rejection of "messages", since nobody could tell who wrote it.
//
// All renderings together have the time and the steps of one.
//
// The parts are one text. Whoever tokenises it recognises special tokens in the parts that are not Content and otherwise pays no attention to
// their borders: models were trained on words that go across them.
func (t *Template) RenderParts(ctx context.Context, msgs []request.Message, addGenerationPrompt bool) ([]Part, error) {
	if err := validate(msgs); err != nil {
		return nil, err
	}
	b := newBudget(ctx)
	now := t.options.Now() // one time for all renderings
	render := func(msgs []request.Message) (string, error) { return t.render(b, msgs, addGenerationPrompt, now) }
	text, err := render(msgs)
	if err != nil {
		return nil, err
	}

	m := &marker{msgs: msgs, render: render, budget: b, plain: text, cost: b.steps, prefix: unguessable()}
	cores := distinctCores(msgs)
	marked, parts := m.mark(cores)
	if err := b.check(); err != nil { // it may have cut the marking short
		return nil, rejection(b, err)
	}
	if err := t.refuseSpecial(cores, marked); err != nil {
		return nil, err
	}
	return parts, nil
}

// refuseSpecial rejects a control token's text in any of the cores that is not marked.
func (t *Template) refuseSpecial(cores, marked []string) error {
	told := make(map[string]bool, len(marked))
	for _, core := range marked {
		told[core] = true
	}
	for _, core := range cores {
		if told[core] {
			continue
		}
		if special := t.special(core); special != "" {
			return request.Invalid("messages", "A message contains %q, which this model's chat template does not let be told from its own.", special)
		}
	}
	return nil
}

// special returns a control token's text that is in s, or nothing.
func (t *Template) special(s string) string {
	for _, special := range t.options.Special {
		if special != "" && strings.Contains(s, special) {
			return special
		}
	}
	return ""
}

// distinctCores returns the contents without the white space at their ends, each once. Equal ones get the same mark, since a template may
// compare them.
func distinctCores(msgs []request.Message) []string {
	var cores []string
	seen := map[string]bool{"": true} // nothing stays nothing: templates ask whether a content is empty
	for _, msg := range msgs {
		if core := strings.TrimSpace(msg.Content); !seen[core] {
			seen[core] = true
			cores = append(cores, core)
		}
	}
	return cores
}

// marker renders one conversation with some contents marked.
type marker struct {
	msgs   []request.Message
	render func([]request.Message) (string, error)
	budget *budget
	plain  string // the rendering without marks
	cost   int    // steps of that
	prefix string // of all marks
	tries  int
}

// mark renders with as many cores marked as possible, and returns these.
func (m *marker) mark(cores []string) (marked []string, parts []Part) {
	if parts, ok := m.parts(cores); ok {
		return cores, parts
	}
	marked = m.halves(cores)
	if parts, ok := m.parts(marked); ok {
		return marked, parts
	}
	var j joiner // they can be marked one by one, but not together
	j.add(m.plain, false)
	return nil, j.end()
}

// markable returns those of the cores that can be marked: all, or those of either half.
func (m *marker) markable(cores []string) []string {
	// A try costs about what the plain rendering did, and so will the last one, with all that turn out to be markable.
	if m.tries >= maxTries || m.budget.steps+2*m.cost > maxSteps || m.budget.check() != nil {
		return nil
	}
	m.tries++
	if _, ok := m.parts(cores); ok {
		return cores
	}
	return m.halves(cores)
}

// halves returns those of the cores that can be marked, which are not all.
func (m *marker) halves(cores []string) []string {
	if len(cores) < 2 {
		return nil
	}
	half := len(cores) / 2
	return append(slices.Clone(m.markable(cores[:half])), m.markable(cores[half:])...)
}

// parts renders with marks in place of the cores. It reports whether the parts joined are the plain rendering.
func (m *marker) parts(cores []string) ([]Part, bool) {
	mark := make(map[string]string, len(cores))
	for i, core := range cores {
		mark[core] = fmt.Sprintf("%s%dz", m.prefix, i)
	}
	msgs := slices.Clone(m.msgs)
	for i := range msgs {
		content := msgs[i].Content
		core := strings.TrimSpace(content)
		if mk, ok := mark[core]; ok {
			before, after, _ := strings.Cut(content, core)
			msgs[i].Content = before + mk + after
		}
	}
	text, err := m.render(msgs)
	if err != nil {
		return nil, false
	}
	parts := m.split(text, cores)
	var joined strings.Builder
	for _, p := range parts {
		joined.WriteString(p.Text)
	}
	return parts, joined.String() == m.plain
}

// split puts the cores back in place of their marks. A mark that the template damaged stays as it is and shows as a difference.
func (m *marker) split(text string, cores []string) []Part {
	var j joiner
	for {
		before, after, found := strings.Cut(text, m.prefix)
		j.add(before, false)
		if !found {
			return j.end()
		}
		if i, length := markNumber(after); length > 0 && i < len(cores) {
			j.add(cores[i], true)
			text = after[length:]
		} else {
			j.add(m.prefix, false)
			text = after
		}
	}
}

// markNumber reads what follows a mark's prefix: a number in decimal, and a z. length is 0 if there is something else.
func markNumber(s string) (number, length int) {
	digits := 0
	for digits < len(s) && digits < 10 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	number, err := strconv.Atoi(s[:digits])
	if err != nil || !strings.HasPrefix(s[digits:], "z") || digits > 1 && s[0] == '0' {
		return 0, 0
	}
	return number, digits + 1
}

// joiner makes parts of pieces of text; adjacent pieces of one kind become one part.
type joiner struct {
	parts   []Part
	text    strings.Builder // of the part that is open
	content bool
}

func (j *joiner) add(text string, content bool) {
	if text == "" {
		return
	}
	if content != j.content {
		j.end()
		j.content = content
	}
	j.text.WriteString(text)
}

// end closes the open part and returns all.
func (j *joiner) end() []Part {
	if j.text.Len() > 0 {
		j.parts = append(j.parts, Part{Text: j.text.String(), Content: j.content})
		j.text.Reset()
	}
	return j.parts
}

// unguessable returns 128 random bits as letters: text that no client can have put into a message.
func unguessable() string {
	var random [16]byte
	rand.Read(random[:]) // never fails
	var letters []byte
	for _, half := range []uint64{binary.LittleEndian.Uint64(random[:8]), binary.LittleEndian.Uint64(random[8:])} {
		for range 16 {
			letters = append(letters, 'a'+byte(half&0xf))
			half >>= 4
		}
	}
	return string(letters)
}

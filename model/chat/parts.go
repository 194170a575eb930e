package chat

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
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
// The parts are one text. Whoever tokenises it recognises special tokens in the parts that are not Content and otherwise pays no attention to
// their borders: models were trained on words that go across them.
func (t *Template) RenderParts(msgs []request.Message, addGenerationPrompt bool) ([]Part, error) {
	if err := validate(msgs); err != nil {
		return nil, err
	}
	now := t.options.Now() // one time for all renderings
	render := func(msgs []request.Message) (string, error) { return t.render(msgs, addGenerationPrompt, now) }
	text, err := render(msgs)
	if err != nil {
		return nil, err
	}

	m := &marker{msgs: msgs, render: render, plain: text, prefix: unguessable()}
	cores := distinctCores(msgs)
	marked := m.markable(cores)
	parts, ok := m.parts(marked)
	if !ok { // contents that can be marked one by one, but not together
		marked, parts = nil, join(nil, Part{Text: text})
	}
	for _, core := range cores {
		if special := t.special(core); special != "" && !slices.Contains(marked, core) {
			return nil, request.Invalid("messages", "A message contains %q, which this model's chat template does not let be told from its own.", special)
		}
	}
	return parts, nil
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
	plain  string // the rendering without marks
	prefix string // of all marks
	tries  int
}

// markable returns those of the cores that can be marked: all, or those of either half.
func (m *marker) markable(cores []string) []string {
	if len(cores) == 0 || m.tries >= maxTries {
		return nil
	}
	m.tries++
	if _, ok := m.parts(cores); ok {
		return cores
	}
	if len(cores) == 1 {
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
	var parts []Part
	for {
		before, after, found := strings.Cut(text, m.prefix)
		parts = join(parts, Part{Text: before})
		if !found {
			return parts
		}
		var i int
		number, rest, ended := strings.Cut(after, "z")
		if _, err := fmt.Sscanf(number, "%d", &i); !ended || err != nil || i < 0 || i >= len(cores) || fmt.Sprint(i) != number {
			parts = join(parts, Part{Text: m.prefix})
			text = after
			continue
		}
		parts = join(parts, Part{Text: cores[i], Content: true})
		text = rest
	}
}

// join appends a part, to the last one if that is of its kind.
func join(parts []Part, p Part) []Part {
	if p.Text == "" {
		return parts
	}
	if last := len(parts) - 1; last >= 0 && parts[last].Content == p.Content {
		parts[last].Text += p.Text
		return parts
	}
	return append(parts, p)
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

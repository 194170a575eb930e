package chat

import (
	"fmt"
	"strings"
	"unicode"
)

// prepare rewrites a template for the jinja library, to the same meaning:
//
//   - White space round tags is removed here, as Jinja2 does with trim_blocks and lstrip_blocks set and keep_trailing_newline not set, which is how
//     Hugging Face renders chat templates. (The library removes it also from text that lies behind further tags.) So that nothing is
//     left for the library to remove, text becomes an expression with a string literal.
//   - Guards are called where a template could run long or make much: see [guard].
//   - Each pass of a loop gets a scope of its own. (The library lets a variable that one pass sets be seen by the next.) Loops with break or
//     continue are left as they are.
//   - Closing braces of nested dict literals are set apart, since the library takes the first }} for the end of the tag.
//
// Dropped lines are made up for by a comment, so the library's messages still tell lines of the source.
func prepare(source string) (string, error) {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	p := preparer{rest: strings.TrimSuffix(source, "\n"), line: 1, lineStart: true}
	for p.rest != "" {
		if err := p.next(); err != nil {
			return "", err
		}
	}
	return strings.Join(p.out, ""), nil
}

type preparer struct {
	rest      string
	line      int  // of rest
	lineStart bool // rest starts a line, if white space that a tag removed counts
	out       []string
	pad       int // lines dropped and not made up for yet
	blocks    []block
}

// next takes the text up to a tag, and the tag.
func (p *preparer) next() error {
	open := nextTag(p.rest)
	if open < 0 {
		p.text(p.rest)
		p.rest = ""
		return nil
	}
	text, tag := p.rest[:open], p.rest[open:]
	kind := tag[1]
	inner := tag[2:]

	// The tag's left side.
	kept := text
	switch {
	case strings.HasPrefix(inner, "-"):
		kept = strings.TrimRightFunc(text, unicode.IsSpace)
	case strings.HasPrefix(inner, "+"), kind == '{':
	default:
		kept = p.lstrip(text)
	}
	p.text(kept)
	p.drop(text[len(kept):])
	inner = strings.TrimPrefix(strings.TrimPrefix(inner, "-"), "+")

	switch kind {
	case '#':
		return p.comment(inner)
	default:
		return p.tag(kind, inner)
	}
}

// nextTag is where the first tag opens, or -1.
func nextTag(s string) int {
	for at := 0; ; at++ {
		brace := strings.IndexByte(s[at:], '{')
		if brace < 0 || at+brace+1 == len(s) {
			return -1
		}
		at += brace
		if strings.IndexByte("{%#", s[at+1]) >= 0 {
			return at
		}
	}
}

// lstrip removes the white space between a line's start and a tag, if nothing else is there.
func (p *preparer) lstrip(text string) string {
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || p.lineStart) && strings.TrimSpace(text[start:]) == "" {
		return text[:start]
	}
	return text
}

func (p *preparer) comment(inner string) error {
	end := strings.Index(inner, "#}")
	if end < 0 {
		return fmt.Errorf("line %d: a comment is not closed", p.line)
	}
	p.drop(inner[:end])
	p.after(strings.HasSuffix(inner[:end], "-"), !strings.HasSuffix(inner[:end], "+"), inner[end+2:])
	return nil
}

// tag takes a {{ expression }} or a {% statement %}.
func (p *preparer) tag(kind byte, inner string) error {
	end, spaced, err := tagEnd(kind, inner)
	if err != nil {
		return fmt.Errorf("line %d: %w", p.line, err)
	}
	trim := strings.HasSuffix(spaced, "-")
	keepNewline := kind == '{' || strings.HasSuffix(spaced, "+")
	body := strings.TrimSuffix(strings.TrimSuffix(spaced, "-"), "+")
	after := inner[end+2:]

	if kind == '%' && strings.TrimSpace(body) == "raw" {
		return p.raw(trim, after)
	}
	if kind == '{' {
		p.emit("{{", putName+"("+body+")", "}}")
	} else {
		p.statement(body)
	}
	p.line += strings.Count(inner[:end], "\n")
	p.after(trim, !keepNewline, after)
	return nil
}

// raw takes text in which nothing is a tag.
func (p *preparer) raw(trim bool, after string) error {
	for at := 0; ; at += 2 {
		open := strings.Index(after[at:], "{%")
		if open < 0 {
			return fmt.Errorf("line %d: a raw block is not closed", p.line)
		}
		at += open
		end := strings.Index(after[at+2:], "%}")
		if end < 0 {
			return fmt.Errorf("line %d: a raw block is not closed", p.line)
		}
		inner := after[at+2 : at+2+end]
		if strings.Trim(inner, "+- \t\n") != "endraw" {
			continue
		}
		text := after[:at]
		if trim {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		switch inner[0] {
		case '-':
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		case '+':
		default:
			p.lineStart = false
			text = p.lstrip(text)
		}
		p.text(text)
		p.line += strings.Count(after[:at], "\n") - strings.Count(text, "\n")
		p.after(strings.HasSuffix(inner, "-"), !strings.HasSuffix(inner, "+"), after[at+2+end+2:])
		return nil
	}
}

// after goes on behind a tag: with trim all white space is dropped, else with trimNewline a line's end.
func (p *preparer) after(trim, trimNewline bool, rest string) {
	kept := rest
	switch {
	case trim:
		kept = strings.TrimLeftFunc(rest, unicode.IsSpace)
	case trimNewline:
		kept = strings.TrimPrefix(rest, "\n")
	}
	dropped := rest[:len(rest)-len(kept)]
	p.drop(dropped)
	p.lineStart = strings.HasSuffix(dropped, "\n")
	p.rest = kept
}

func (p *preparer) text(s string) {
	if s == "" {
		return
	}
	p.emit("{{", putName+`("`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)+`")`, "}}")
	p.line += strings.Count(s, "\n")
}

func (p *preparer) drop(s string) {
	n := strings.Count(s, "\n")
	p.line += n
	p.pad += n
}

func (p *preparer) emit(open, body, shut string) {
	if p.pad > 0 {
		p.out = append(p.out, "{#"+strings.Repeat("\n", p.pad)+"#}")
		p.pad = 0
	}
	p.out = append(p.out, open+" "+body+" "+shut)
}

func firstWord(s string) string {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	if end < 0 {
		return s
	}
	return s[:end]
}

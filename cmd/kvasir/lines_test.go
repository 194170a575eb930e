package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// typed is a person who types these lines, and then Ctrl-D. A line that ends with ^C is taken back.
type typed struct {
	lines   []string
	prompts []string
}

func (p *typed) ReadLine(prompt string) (string, error) {
	p.prompts = append(p.prompts, prompt)
	if len(p.lines) == 0 {
		return "", io.EOF
	}
	line := p.lines[0]
	p.lines = p.lines[1:]
	if before, ok := strings.CutSuffix(line, "^C"); ok {
		return before, errInterrupted
	}
	return line, nil
}

func TestMessagesOfSeveralLines(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string
		text   string
		quoted bool
		err    error
	}{
		{"one line", []string{"hello"}, "hello", false, nil},
		{"an empty line", []string{""}, "", false, nil},
		{"backslash", []string{`a\`, `b \`, "c"}, "a\nb \nc", false, nil},
		{"a backslash within", []string{`a\b`}, `a\b`, false, nil},
		{"block", []string{`"""`, "a", "", "  b", `"""`}, "a\n\n  b", true, nil},
		{"block on the quotes' lines", []string{`"""a`, `b"""`}, "a\nb", true, nil},
		{"block in one line", []string{`"""a"""`}, "a", true, nil},
		{"an empty block", []string{`"""`, `"""`}, "", true, nil},
		{"backslash in a block", []string{`"""`, `a\`, `b`, `"""`}, "a\\\nb", true, nil},
		{"pasted lines", []string{"a\n  b"}, "a\n  b", false, nil},
		{"a pasted block", []string{"\"\"\"\na\nb\n\"\"\""}, "a\nb", true, nil},
		{"a paste in a block", []string{`"""`, "a\nb", `"""`}, "a\nb", true, nil},
		{"command in a block", []string{`"""/bye"""`}, "/bye", true, nil},
		{"Ctrl-D", nil, "", false, io.EOF},
		{"Ctrl-C on an empty line", []string{"^C"}, "", false, io.EOF},
		{"Ctrl-C", []string{"a^C"}, "", false, errInterrupted},
		{"Ctrl-C in a block", []string{`"""`, "^C"}, "", true, errInterrupted},
		{"Ctrl-C after a backslash", []string{`a\`, "^C"}, "", false, errInterrupted},
		{"Ctrl-D in a block", []string{`"""`, "a"}, "", true, io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &typed{lines: tt.lines}
			text, quoted, err := readMessage(p)
			if text != tt.text || quoted != tt.quoted || !errors.Is(err, tt.err) {
				t.Errorf("got %q, quoted %v, error %v; want %q, %v, %v", text, quoted, err, tt.text, tt.quoted, tt.err)
			}
			for i, prompt := range p.prompts {
				want := morePrompt
				if i == 0 {
					want = firstPrompt
				}
				if prompt != want {
					t.Errorf("the prompt of line %d is %q, want %q", i, prompt, want)
				}
			}
		})
	}
}

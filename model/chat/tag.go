package chat

import (
	"errors"
	"fmt"
	"strings"
)

// maxNesting bounds brackets within brackets: the library's parser recurses over them, and Go ends a process whose stack overflows.
const maxNesting = 100

var errTagNotClosed = errors.New("a tag is not closed")

// tagEnd finds where the body of a tag ends: at }} or %} outside string literals and brackets. It also returns the body with a
// space between adjacent closing braces.
func tagEnd(kind byte, s string) (end int, spaced string, err error) {
	shut := "%}"
	if kind == '{' {
		shut = "}}"
	}
	var out strings.Builder
	var open []byte
	for i := 0; i < len(s); i++ {
		if len(open) == 0 && strings.HasPrefix(s[i:], shut) {
			return i, out.String(), nil
		}
		c := s[i]
		out.WriteByte(c)
		switch c {
		case '\'', '"':
			n := stringEnd(s[i:])
			if n < 0 {
				return 0, "", errTagNotClosed
			}
			out.WriteString(s[i+1 : i+n])
			i += n - 1
		case '(', '[', '{':
			if open = append(open, c); len(open) > maxNesting {
				return 0, "", fmt.Errorf("brackets are nested deeper than %d", maxNesting)
			}
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != opening(c) {
				return 0, "", fmt.Errorf("%q has no opening bracket", c)
			}
			open = open[:len(open)-1]
			if c == '}' {
				out.WriteByte(' ')
			}
		}
	}
	return 0, "", errTagNotClosed
}

// stringEnd is the length of the string literal at the start of s, or -1 if it is not closed.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return -1
}

func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	default:
		return '{'
	}
}

package main

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// edit reads input through k as readline would, with Enter at the end: characters are put in at the cursor, and k says what becomes of them.
func edit(t interface{ Fatal(...any) }, k *keys) string {
	input, err := io.ReadAll(k)
	if err != nil {
		t.Fatal(err)
	}
	var line []rune
	for _, r := range string(input) {
		line = append(line, r)
		if newLine, _, changed := k.OnChange(line, len(line), r); changed {
			line = newLine
		}
	}
	return fromMarks.Replace(string(line))
}

func TestPastesAreOnePiece(t *testing.T) {
	paste := func(text string) string { return pasteBegin + text + pasteEnd }
	tests := []struct{ name, typed, want string }{
		{"no paste", "žluť", "žluť"},
		{"one line", "a" + paste("b") + "c", "abc"},
		{"several lines", paste("a\rb\r\nc\n\td") + "e", "a\nb\nc\n\tde"},
		{"line ends at the end", paste("a\n\n"), "a"},
		{"two pastes", paste("a\nb") + "-" + paste("c\nd"), "a\nb-c\nd"},
		{"an empty paste", paste(""), ""},
		{"keys in a paste are none", paste("a\x03b\x04c\x1b[3~d"), "abc[3~d"},
		{"not UTF-8", paste("a\xff"), "a\ufffd"},
		{"without an end", pasteBegin + "a\nb", "a\nb"},
		{"the Delete key at the end of a line", "a" + deleteKey + "b", "ab"},
		{"other sequences", "a\x1b[2~b\x1b", "a\x1b[2~b\x1b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{"whole": strings.NewReader(tt.typed), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.typed))} {
				if got := edit(t, &keys{in: in}); got != tt.want {
					t.Errorf("%s: the line is %q, want %q", how, got, tt.want)
				}
			}
		})
	}
}

// However what is typed is cut into reads, the line is the same.
func TestReadsMayEndAnywhere(t *testing.T) {
	part := rapid.SampledFrom([]string{pasteBegin, pasteEnd, deleteKey, "\x1b", "\x1b[", "\x1b[20", "a", "\n", "é"})
	rapid.Check(t, func(t *rapid.T) {
		typed := strings.Join(rapid.SliceOf(part).Draw(t, "typed"), "")
		whole, cut := edit(t, &keys{in: strings.NewReader(typed)}), edit(t, &keys{in: iotest.OneByteReader(strings.NewReader(typed))})
		if whole != cut {
			t.Fatalf("%q is the line %q, and %q read byte by byte", typed, whole, cut)
		}
	})
}

func TestDeleteKey(t *testing.T) {
	tests := []struct {
		line string // | is the cursor
		want string
	}{{"|", "|"}, {"ab|", "ab|"}, {"a|bc", "a|c"}, {"|a", "|"}}
	for _, tt := range tests {
		before, after, _ := strings.Cut(tt.line, "|")
		line := []rune(before + string(deleteMark) + after)
		got, pos, changed := (&keys{}).OnChange(line, len(before)+1, deleteMark)
		if shown := string(got[:pos]) + "|" + string(got[pos:]); !changed || shown != tt.want {
			t.Errorf("Delete makes %s of %s, want %s", shown, tt.line, tt.want)
		}
	}
}

func TestMarksAreShown(t *testing.T) {
	if got := string((&keys{}).Paint([]rune(toMarks.Replace("a\n\tb")), 0)); got != "a↵ b" {
		t.Errorf("shown as %q", got)
	}
}

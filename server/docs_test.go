package server

import (
	"os"
	"strings"
	"testing"
)

// GitHub cuts a table's row at each | that no backslash escapes, also within `code`, and drops the cells that the header does not have.
func TestTablesOfTheDocumentationAreWhole(t *testing.T) {
	text, err := os.ReadFile("../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	cells := func(row string) int { return strings.Count(strings.ReplaceAll(row, `\|`, ""), "|") }
	header, rows := "", 0
	for line := range strings.Lines(string(text)) {
		switch {
		case !strings.HasPrefix(line, "|"):
			header = ""
		case header == "":
			header = line
		default:
			rows++
			if cells(line) != cells(header) {
				t.Errorf("a row of another length than its header:\n%s%s", header, line)
			}
		}
	}
	if rows == 0 {
		t.Error("there is no table")
	}
}

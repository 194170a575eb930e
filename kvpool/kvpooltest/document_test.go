package kvpooltest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/protocol.md names what there is: every mutant in its table and at its fault, every world, and no test or script that does not exist.
func TestDocument(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // by what stands first
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) > 3 {
			rows[strings.TrimPrefix(cells[0], "| ")] += line + "\n"
		}
	}
	named := map[string]bool{}
	for _, m := range Mutants() {
		named[m.Name] = true
		if !strings.Contains(rows[m.Name], "| "+m.Fault+" |") {
			t.Errorf("mutant %q is not in the table, or with another fault than %s", m.Name, m.Fault)
		}
		if !strings.Contains(rows[m.Fault], "*"+m.Name+"*") {
			t.Errorf("fault %s does not name mutant %q", m.Fault, m.Name)
		}
	}
	for _, found := range regexp.MustCompile(`[ ;]\*([^*]+)\*`).FindAllStringSubmatch(string(text), -1) {
		if !named[found[1]] && found[1] != "italics" {
			t.Errorf("there is no mutant %q", found[1])
		}
	}
	for _, w := range append(Small(), Large()...) {
		if name, _ := w.Titled(); rows[name] == "" {
			t.Errorf("world %q is in no table", name)
		}
	}
	tests, files := present(t, root)
	for _, found := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1) {
		if !tests[found[1]] {
			t.Errorf("there is no %s", found[1])
		}
	}
	for _, found := range regexp.MustCompile("`([a-z_]+\\.txt)`").FindAllStringSubmatch(string(text), -1) {
		if !files[found[1]] {
			t.Errorf("there is no script %s", found[1])
		}
	}
}

// present finds the names of all tests and of all scripts.
func present(t *testing.T, root string) (tests, files map[string]bool) {
	tests, files = map[string]bool{}, map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, ".txt") && strings.Contains(path, "testdata"):
			files[d.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, found := range function.FindAllStringSubmatch(string(text), -1) {
				tests[found[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests, files
}

package kvpooltest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var mutantsFlag = flag.String("mutants", "", "run the mutants whose names contain this; all: every one")

// What a mutant changes is there, once.
func TestMutantsApply(t *testing.T) {
	for _, m := range Mutants() {
		mutate(t, m, t.TempDir())
	}
}

// TestMutants builds kvpool with each rule broken in turn and searches a small world: what the checker does not find it cannot vouch for.
func TestMutants(t *testing.T) {
	if *mutantsFlag == "" {
		t.Skip("run by `make mutants`")
	}
	for _, m := range Mutants() {
		if *mutantsFlag != "all" && !strings.Contains(m.Name, *mutantsFlag) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			broken, out := kill(t, m)
			switch {
			case broken == "":
				t.Errorf("survives in world %q:\n%s", m.World, out)
			case !slices.Contains(m.Breaks, broken):
				t.Errorf("dies of %s, may break %v:\n%s", broken, m.Breaks, out)
			default:
				t.Logf("dies of %s", broken)
			}
		})
	}
}

// kill runs a mutant's world in a process of its own and tells the invariant found broken.
func kill(t *testing.T, m Mutant) (invariant, out string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay="+mutate(t, m, t.TempDir()), "-vet=off", "-count=1",
		"-run", "^TestWorlds$/^"+regexp.QuoteMeta(strings.ReplaceAll(m.World, " ", "_"))+"$", ".", "-args", "-states=60000", "-brief")
	b, err := cmd.CombinedOutput()
	out = string(b)
	found := regexp.MustCompile(`BROKEN .*?\b(I\d+)\b`).FindStringSubmatch(out)
	if found == nil {
		if err != nil {
			t.Fatalf("no verdict: %v\n%s", err, out)
		}
		return "", out
	}
	return found[1], out
}

// mutate writes the changed files and the overlay that puts them in place, and returns its path.
func mutate(t *testing.T, m Mutant, dir string) string {
	t.Helper()
	files := map[string]string{}
	for _, e := range m.Edits {
		path, err := filepath.Abs(filepath.Join("..", e.File))
		if err != nil {
			t.Fatal(err)
		}
		text, ok := files[path]
		if !ok {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			t.Errorf("%s: %s has %d times, not once:\n%s", m.Name, e.File, n, e.Old)
		}
		files[path] = strings.Replace(text, e.Old, e.New, 1)
	}
	replace := map[string]string{}
	for path, text := range files {
		to := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[path] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}

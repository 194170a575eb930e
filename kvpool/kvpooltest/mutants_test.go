package kvpooltest

import (
	"context"
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
		if _, err := m.Overlay("..", t.TempDir()); err != nil {
			t.Error(err)
		}
		if m.Script != "" {
			if _, err := os.Stat(filepath.Join("..", "testdata", m.Script+".txt")); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
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
			t.Parallel()
			if m.Script != "" {
				killByScript(t, m)
			} else {
				kill(t, m)
			}
		})
	}
}

// kill runs a mutant's world in a process of its own, and tells the invariant found broken and after how many actions.
func kill(t *testing.T, m Mutant) {
	out, err := testMutant(t, m, ".", "-run", inWorld("TestWorlds", m.World), ".", "-args", "-states=60000", "-brief")
	found := regexp.MustCompile(`BROKEN .*?\b(I\d+)\b.*`).FindStringSubmatch(out)
	after := regexp.MustCompile(`after (\d+) actions`).FindStringSubmatch(out)
	switch {
	case found == nil && err != nil:
		t.Fatalf("no verdict: %v\n%s", err, out)
	case found == nil:
		t.Errorf("survives in world %q:\n%s", m.World, out)
	case !slices.Contains(m.Breaks, found[1]):
		t.Errorf("dies of %s, may break %v:\n%s", found[1], m.Breaks, out)
	case *markdown:
		fmt.Printf("| %s | %s | %s | %s | %s |\n", m.Name, m.Fault, m.World, found[1], after[1])
	default:
		t.Logf("dies of %s in world %q after %s actions", found[1], m.World, after[1])
	}
}

func inWorld(test, world string) string {
	return "^" + test + "$/^" + regexp.QuoteMeta(strings.ReplaceAll(world, " ", "_")) + "$"
}

// killByScript runs a script of kvpool/testdata on a mutant: what it tells must be something else.
func killByScript(t *testing.T, m Mutant) {
	out, err := testMutant(t, m, "..", "-run", "^TestScripts$/^"+regexp.QuoteMeta(m.Script), ".")
	switch {
	case err == nil:
		t.Errorf("survives script %s:\n%s", m.Script, out)
	case !regexp.MustCompile(`(?m)^\s*--- FAIL: TestScripts/`).MatchString(out):
		t.Fatalf("no verdict: %v\n%s", err, out)
	case *markdown:
		fmt.Printf("| %s | %s | %s.txt | %s | |\n", m.Name, m.Fault, m.Script, strings.Join(m.Breaks, ", "))
	default:
		t.Logf("dies of script %s", m.Script)
	}
}

// testMutant runs the go command's tests on a mutant.
func testMutant(t *testing.T, m Mutant, dir string, args ...string) (out string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	overlay, err := m.Overlay("..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-overlay=" + overlay, "-vet=off", "-count=1"}, args...)...)
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	return string(b), err
}

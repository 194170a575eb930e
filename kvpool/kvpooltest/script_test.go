package kvpooltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A world that breaks the assumption about fences has a counterexample: a read lands in a page after it went home. The counterexample is a script for kvpool's own test of scripts.
func TestCounterexampleReplays(t *testing.T) {
	w := &World{
		Name: "reads outlive a fence", Nodes: []Node{{Pages: 2}, {Pages: 2, Others: 1}},
		Requests: []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "abc", Groups: []int{1, 1}}},
		Losses:   1, LateReads: true,
	}
	r := w.Explore(Bounds{})
	if r.Broken == nil || !strings.HasPrefix(r.Broken.Error(), "I4") {
		t.Fatalf("found %v", r.Broken)
	}
	text := w.Script(&r)
	if !strings.Contains(text, "d.fenced p\n") || !strings.Contains(text, "# Broken: I4") {
		t.Fatalf("not the story of a fence:\n%s", text)
	}
	filled := play(t, text)
	for _, want := range []string{"m1 to d, epoch 1: offer 1, group 0", "read job 1: attempt 1, p's 0@1 into", "fence p, epoch 1"} {
		if !strings.Contains(filled, want) {
			t.Errorf("the script does not tell %q:\n%s", want, filled)
		}
	}
	if strings.Contains(filled, "stale") {
		t.Errorf("the script has events that come to nothing:\n%s", filled)
	}
}

// play runs a script under kvpool's test of scripts, lets it fill in what happens, and runs it again with that.
func play(t *testing.T, text string) string {
	dir := t.TempDir()
	binary := filepath.Join(dir, "kvpool.test")
	command(t, "..", "go", "test", "-c", "-o", binary, ".")
	path := filepath.Join(dir, "testdata", "counterexample.txt")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, dir, binary, "-test.run", "^TestScripts$", "-rewrite")
	command(t, dir, binary, "-test.run", "^TestScripts$")
	filled, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(filled)
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

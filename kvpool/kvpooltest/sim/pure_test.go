package sim

import (
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/internal/puretest"
)

// TestPure: nothing but the seed decides a run. The package starts no goroutine, knows no clock, and never ranges over a map.
func TestPure(t *testing.T) {
	imports := puretest.Check(t, "seqs", "tables", "moved")
	for _, path := range []string{"time", "os", "sync", "context", "crypto/rand", "runtime"} {
		if slices.Contains(imports, path) {
			t.Errorf("imports %s", path)
		}
	}
}

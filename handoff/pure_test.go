package handoff

import (
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/internal/puretest"
)

// TestPure: nothing but events decides what a core does. It starts no goroutine, knows no clock, and never ranges over a map.
func TestPure(t *testing.T) {
	imports := puretest.Check(t, "byName", "named")
	for _, path := range []string{"time", "os", "sync", "context", "math/rand", "math/rand/v2", "crypto/rand", "runtime"} {
		if slices.Contains(imports, path) {
			t.Errorf("imports %s", path)
		}
	}
}

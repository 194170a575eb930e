package kvpool

import (
	"testing"

	"github.com/kvasir-engine/kvasir/internal/puretest"
)

// TestPure: the package imports nothing that has a clock, a thread, chance or the outside world in it, starts no goroutine, knows no channel, and never
// ranges over the one kind of thing whose order is not its own.
func TestPure(t *testing.T) {
	imports := puretest.Check(t, "byLink")
	allowed := map[string]bool{
		"crypto/sha256": true, "encoding/binary": true, "fmt": true, "hash": true, "math/bits": true, "strings": true,
		"github.com/kvasir-engine/kvasir/kvpool/page": true, "github.com/kvasir-engine/kvasir/request": true,
	}
	for _, path := range imports {
		if !allowed[path] {
			t.Errorf("imports %s", path)
		}
	}
}

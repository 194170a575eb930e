//go:build !ucx || !cgo

package ucx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/transport/ucx"
)

// A program without UCX says how to build one with it.
func TestNotBuilt(t *testing.T) {
	_, err := ucx.New(ucx.Config{})
	if !errors.Is(err, ucx.ErrNotBuilt) || !strings.Contains(err.Error(), "-tags ucx") {
		t.Errorf("%v", err)
	}
}

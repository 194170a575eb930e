package loopback_test

import (
	"testing"

	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/loopback"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
)

func TestLoopback(t *testing.T) {
	transporttest.Run(t, transporttest.Kind{New: func(testing.TB) func() transport.Transport {
		network := loopback.NewNetwork()
		return func() transport.Transport { return loopback.New(network) }
	}})
}

package tcp_test

import (
	"os"
	"testing"

	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/tcp"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
)

var plain = transporttest.Kind{
	New: func(t testing.TB) func() transport.Transport {
		return func() transport.Transport { return newTCP(t, tcp.Config{}) }
	},
	Processes: true,
}

func newTCP(t testing.TB, c tcp.Config) *tcp.Transport {
	tr, err := tcp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, plain)) }

func TestTCP(t *testing.T) { transporttest.Run(t, plain) }

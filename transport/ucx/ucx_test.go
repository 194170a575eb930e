//go:build ucx

package ucx_test

import (
	"os"
	"testing"

	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
	"github.com/kvasir-engine/kvasir/transport/ucx"
)

// transportsVariable says what a child's UCX uses.
const transportsVariable = "KVASIR_UCX_TRANSPORTS"

func kind(transports string) transporttest.Kind {
	return transporttest.Kind{
		New: func(t testing.TB) func() transport.Transport {
			return func() transport.Transport {
				tr, err := ucx.New(ucx.Config{Transports: transports, Trial: transports == "tcp"})
				if err != nil {
					t.Fatal(err)
				}
				return tr
			}
		},
		OneSided:   true,
		FearsDeath: transports == "tcp",
		Processes:  true,
	}
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, kind(os.Getenv(transportsVariable)))) }

func TestUCX(t *testing.T) {
	for _, transports := range []string{"tcp", "posix", "sysv"} {
		t.Run(transports, func(t *testing.T) {
			t.Setenv(transportsVariable, transports)
			transporttest.Run(t, kind(transports))
		})
	}
}

//go:build ucx && cgo

package ucx_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
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

func TestConfig(t *testing.T) {
	for _, c := range []struct{ name, transports, want string }{
		{"dc, which has no end per peer", "dc", "no end per peer"},
		{"dc among others", "rc,dc_mlx5", "dc_mlx5"},
		{"all of them", "all", "all"},
		{"one that reaches into this process", "posix,cma", "cma"},
		{"everything but", "^dc", "^dc"},
		{"a network and shared memory", "rc,posix", "alike"},
		{"tcp without asking for trials", "tcp", "Trial"},
	} {
		if _, err := ucx.New(ucx.Config{Transports: c.transports}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, must name %s", c.name, err, c.want)
		}
	}
}

// A device that is not there is told when a slab is exposed, not when the first peer dials.
func TestNoSuchDevice(t *testing.T) {
	for _, c := range []ucx.Config{{Transports: "rc", Devices: "mlx5_77:1"}, {Transports: "tcp", Trial: true, Devices: "nowhere0"}} {
		tr, err := ucx.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := tr.Expose(transporttest.NewSlab(t, 1, 4096), transport.NewExports()); err == nil {
			e.Close()
			t.Errorf("%s may be exposed", c.Devices)
		}
	}
}

// The connection over which nodes meet may be TLS.
func TestTLS(t *testing.T) {
	tr, err := ucx.New(ucx.Config{TLS: transporttest.TLS(t)})
	if err != nil {
		t.Fatal(err)
	}
	from, to := transporttest.NewSlab(t, 1, 4096), transporttest.NewSlab(t, 1, 4096)
	from.Bytes[77] = 7
	e, err := tr.Expose(from, transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	self := page.Link{Peer: 2, Incarnation: 2, Epoch: 1}
	c, err := tr.Dial(context.Background(), page.Link{Peer: 1, Incarnation: 1, Epoch: 1}, self, e.Descriptor(self), to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	end := make(chan error, 1)
	c.Read(transport.Read{Src: page.Ref{Node: 1, Incarnation: 1}}, func(err error) { end <- err })
	if err := <-end; err != nil || to.Bytes[77] != 7 {
		t.Errorf("%v, byte %d", err, to.Bytes[77])
	}
}

// Signals stay with Go: UCX would end the process where Go's runtime makes a panic of a fault.
func TestFaultsStayPanics(t *testing.T) {
	tr, err := ucx.New(ucx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := tr.Expose(transporttest.NewSlab(t, 1, 4096), transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	defer func() {
		if recover() == nil {
			t.Error("a nil pointer may be read")
		}
	}()
	var nothing *transport.Slab
	_ = nothing.PageBytes
}

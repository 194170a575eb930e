package kvasir

import (
	"strings"
	"testing"
)

// Pages travel in the clear without TLS: not off this machine, unless somebody says so.
func TestWherePagesMayBeFetched(t *testing.T) {
	for _, c := range []struct {
		name string
		node NodeConfig
		want string
	}{
		{"loopback", NodeConfig{Addr: "127.0.0.1:7001"}, ""},
		{"the host of Addr", NodeConfig{Addr: "10.0.0.1:7001"}, "10.0.0.1 is not a loopback address"},
		{"TransferAddr", NodeConfig{Addr: "127.0.0.1:7001", TransferAddr: "0.0.0.0:7002"}, "--transfer-addr"},
		{"one of several", NodeConfig{Addr: "127.0.0.1:7001", TransferAddr: ":7002", Transports: []string{"shm", "tcp"}}, "every address"},
		{"insecure", NodeConfig{Addr: "127.0.0.1:7001", TransferAddr: "0.0.0.0:7002", Security: Security{Insecure: true}}, ""},
		{"no network", NodeConfig{Addr: "10.0.0.1:7001", Transports: []string{"shm"}, Security: Security{Insecure: true}}, ""},
	} {
		_, err := c.node.transports(nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

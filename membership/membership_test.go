package membership

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEntriesThatAreNoNodes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "no node"},
		{`{"id":"x"}`, "no node"},
		{`[]`, "no node"},
		{`{"id":"1","incarnation":"2","prefill":true}`, "host:port"},
		{`{"id":"1","address":"host","prefill":true}`, "host:port"},
		{`{"id":"1","address":":7001","prefill":true}`, "host:port"},
		{`{"id":"1","address":"host:0","prefill":true}`, "host:port"},
		{`{"id":"1","address":"0.0.0.0:7001","prefill":true}`, "nobody can be reached"},
		{`{"id":"1","address":"[::]:7001","prefill":true}`, "nobody can be reached"},
		{`{"id":"1","address":"` + strings.Repeat("h", 300) + `:1","prefill":true}`, "256"},
		{`{"id":"1","address":"host:7001"}`, "neither"},
	} {
		if n, err := decode([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", c.text, n, err, c.want)
		}
	}
}

// What is taken for a node is written and read again as the same; anything else is refused, not believed in part.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(Node{ID: 1<<64 - 1, Incarnation: 3, Address: "10.0.0.1:7001", Prefill: true}.encode()))
	f.Add([]byte(`{"id":"1","incarnation":"2","address":"[::1]:7001","decode":true,"more":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := decode(text)
		if err != nil {
			return
		}
		again, err := decode([]byte(n.encode()))
		if err != nil || again != n {
			t.Errorf("%q: %+v, then %+v, %v", text, n, again, err)
		}
	})
}

func TestEtcdConfigErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  EtcdConfig
		want string
	}{
		{EtcdConfig{}, "--etcd"},
		{EtcdConfig{Endpoints: []string{""}}, "empty"},
		{EtcdConfig{Endpoints: []string{"h:1"}, TTL: 1}, "TTL"},
		{EtcdConfig{Endpoints: []string{"h:1"}, TLSCert: "x"}, "--etcd-key"},
		{EtcdConfig{Endpoints: []string{"h:1"}, TLSCert: "/nowhere", TLSKey: "/nowhere"}, "--etcd-cert"},
		{EtcdConfig{Endpoints: []string{"h:1"}, TLSCA: "/nowhere"}, "--etcd-ca"},
		{EtcdConfig{Endpoints: []string{"h:1"}, TLSCA: "membership.go"}, "PEM"},
	} {
		e, err := NewEtcd(c.cfg)
		if err == nil {
			e.Close()
			t.Errorf("%+v: no error", c.cfg)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

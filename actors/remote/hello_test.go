package remote

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

func TestCompatible(t *testing.T) {
	of := func(change func(*Hello)) Hello {
		h := hello(2)
		change(&h)
		return h
	}
	for _, c := range []struct {
		name string
		b    Hello
		want []string // each of them on a line of its own; none: they go together
	}{
		{"equal", hello(2), nil},
		{"a gateway", gateway(1), nil},
		{"another address, kernels", of(func(h *Hello) { h.Address, h.Kernels = "x:1", "go" }), nil},
		{"protocol", of(func(h *Hello) { h.Protocol, h.PageSize = 2, 1 }), []string{"protocol version: node 1 has 0, node 2 has 2"}},
		{"one id", of(func(h *Hello) { h.ID = 1 }), []string{"both are node 1"}},
		{"one incarnation", of(func(h *Hello) { h.Incarnation = hello(1).Incarnation }), []string{"incarnation: node 1 and node 2 both have"}},
		{"one model under two names", of(func(h *Hello) { h.Model = "another name" }), nil},
		{"layouts that begin alike", of(func(h *Hello) { h.Layout[31] = 9 }), []string{"layout hash (model, weights, KV type, page size, rope): node 1 has 0100000000000000, node 2 has 0100000000000000"}},
		{"model", of(func(h *Hello) { h.ModelDigest, h.Model = [32]byte{9}, "small" }), []string{"model digest: node 1 has 0200000000000000 (tiny), node 2 has 0900000000000000 (small)"}},
		{"layout", of(func(h *Hello) { h.Layout = [32]byte{8} }), []string{"layout hash (model, weights, KV type, page size, rope): node 1 has 0100000000000000, node 2 has 0800000000000000"}},
		{"page size", of(func(h *Hello) { h.PageSize = 32 }), []string{"page size: node 1 has 16, node 2 has 32"}},
		{"kernels", of(func(h *Hello) { h.Kernels, h.BitIdentity = "go", true }), []string{"kernel set (bit identity is required): node 1 has avx2, node 2 has go"}},
		{"small pool", of(func(h *Hello) { h.PoolPages = 63 }), []string{"pool size: the context of node 1, 1024 tokens, needs 64 pages; node 2 has 63"}},
		{"long context", of(func(h *Hello) { h.MaxModelLen, h.PoolPages = 1025, 65 }), []string{"pool size: the context of node 2, 1025 tokens, needs 65 pages; node 1 has 64"}},
		{"both", of(func(h *Hello) { h.MaxModelLen, h.PoolPages = 1025, 1 }), []string{"node 1 has 64", "node 2 has 1"}},
		{"transports", of(func(h *Hello) { h.Transports = []string{"shm", "ucx"} }), []string{"transports: node 1 has [tcp], node 2 has [shm ucx]; they need one in common"}},
		{"one of several", of(func(h *Hello) { h.Transports = []string{"shm", "tcp"} }), nil},
	} {
		a := hello(1)
		for i, err := range []error{Compatible(&a, &c.b), Compatible(&c.b, &a)} {
			if (err == nil) != (c.want == nil) {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if err == nil {
				continue
			}
			if lines := strings.Split(err.Error(), "\n"); len(lines) != len(c.want) {
				t.Errorf("%s: %d reasons, want %d: %v", c.name, len(lines), len(c.want), err)
			}
			for _, want := range c.want {
				if i == 0 && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", c.name, err, want)
				}
			}
		}
	}
	one, two := gateway(1), gateway(2)
	if err := Compatible(&one, &two); err == nil || !strings.Contains(err.Error(), "both gateways") {
		t.Errorf("two gateways: %v", err)
	}
	// Two nodes that only read prompts have nothing to hand over to each other.
	prefill := func(h Hello, transport string) Hello {
		h.Decode, h.Transports = false, []string{transport}
		return h
	}
	one, two = prefill(hello(1), "tcp"), prefill(hello(2), "shm")
	if err := Compatible(&one, &two); err != nil {
		t.Errorf("two prefill nodes: %v", err)
	}
	one, two = hello(1), of(func(h *Hello) { h.Kernels = "go" })
	if w := Warnings(&one, &two); len(w) != 1 || !strings.Contains(w[0], "avx2") || !strings.Contains(w[0], "go") {
		t.Errorf("warnings %q", w)
	}
	if w := Warnings(&one, &one); w != nil {
		t.Errorf("warnings %q", w)
	}
}

func TestHelloComesBack(t *testing.T) {
	full := hello(3)
	full.Protocol, full.Address, full.BitIdentity, full.Vocabulary = Protocol, "h:1", true, [32]byte{5}
	plain := gateway(4)
	plain.Protocol = Protocol
	for _, h := range []Hello{full, plain} {
		b, err := proto.Marshal(h.encode(7, 1<<20, credit{1, 2}.encode()))
		if err != nil {
			t.Fatal(err)
		}
		var landed pb.Hello
		if err := proto.Unmarshal(b, &landed); err != nil {
			t.Fatal(err)
		}
		got, err := decodeHello(&landed)
		if err != nil || !reflect.DeepEqual(*got, h) {
			t.Errorf("%+v came back as %+v, %v", h, got, err)
		}
	}
}

func TestDecodeHelloRefuses(t *testing.T) {
	for want, change := range map[string]func(*pb.Hello){
		"kind is 0":                                   func(h *pb.Hello) { h.Kind = 0 },
		"kind is 255":                                 func(h *pb.Hello) { h.Kind = 1 << 20 },
		"incarnation is 0":                            func(h *pb.Hello) { h.Incarnation = 0 },
		"epoch is 0":                                  func(h *pb.Hello) { h.Epoch = 0 },
		"epoch is 18446744073709551615":               func(h *pb.Hello) { h.Epoch = 1<<64 - 1 },
		"layout has 31 bytes, must have 32":           func(h *pb.Hello) { h.Layout = h.Layout[:31] },
		"vocabulary has 0 bytes, must have 32":        func(h *pb.Hello) { h.Vocabulary = nil },
		"page size is 0":                              func(h *pb.Hello) { h.PageSize = 0 },
		"page size is 4611686018427387904":            func(h *pb.Hello) { h.PageSize = 1<<64 - 1 },
		"pool pages is 0":                             func(h *pb.Hello) { h.PoolPages = 0 },
		"max model length is 4611686018427387904":     func(h *pb.Hello) { h.MaxModelLen = 1 << 63 },
		"must prefill or decode":                      func(h *pb.Hello) { h.Prefill, h.Decode = false, false },
		"17 transports":                               func(h *pb.Hello) { h.Transports = make([]string, 17) },
		"a text has 1025 bytes":                       func(h *pb.Hello) { h.Model = strings.Repeat("m", 1025) },
		"a text has 1 bytes or is not UTF-8; at most": func(h *pb.Hello) { h.Transports = []string{"\xff"} },
	} {
		h := hello(1)
		h.Protocol = Protocol
		p := h.encode(1, 1<<20, credit{1, 1 << 20}.encode())
		change(p)
		if got, err := decodeHello(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %+v, %v, want %q", got, err, want)
		}
	}
	// Of another version's hello nothing but the version is judged.
	if h, err := decodeHello(&pb.Hello{Protocol: 9}); err != nil || h.Protocol != 9 {
		t.Errorf("another version: %+v, %v", h, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"Config.Handler is missing":                                         func(c *Config) { c.Handler = nil },
		"Config.Self: hello: incarnation is 0":                              func(c *Config) { c.Self.Incarnation = 0 },
		"Config.LostAfter is 1000000000, must be at least 3000000":          func(c *Config) { c.LostAfter = 1e9 },
		"Config.WindowBytes is 1024, must be at least 16777216":             func(c *Config) { c.WindowBytes = 1024 },
		"Config.QueueMessages is -1, must be at least 1":                    func(c *Config) { c.QueueMessages = -1 },
		"Config.MaxMessageBytes is 1000, must be at least 1024":             func(c *Config) { c.MaxMessageBytes = 1000 },
		"Config.RedialMost is 1, must be at least 100000000":                func(c *Config) { c.RedialMost = 1 },
		"Config.Vocabulary has digest ba7816bf8f01cfea, Self.Vocabulary is": func(c *Config) { c.Vocabulary = []byte("abc") },
	} {
		c := Config{Self: hello(1), Handler: newRecorder()}
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestOneCluster(t *testing.T) {
	first := hello(1)
	for want, change := range map[string]func(*Hello){
		"":                                  func(h *Hello) { h.Kernels, h.Model, h.PoolPages = "go", "x", 1 },
		"layout hash":                       func(h *Hello) { h.Layout[31] = 9 },
		"page size: node 1 has 16":          func(h *Hello) { h.PageSize = 32 },
		"vocabulary":                        func(h *Hello) { h.Vocabulary[31]++ },
		"longest request (--max-model-len)": func(h *Hello) { h.MaxModelLen++ },
	} {
		other := hello(2)
		change(&other)
		if err := OneCluster(&first, &other); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

package kvasir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/kvasir-engine/kvasir/model/builtin"
)

// lines are what was logged, each with its fields.
func lines(logs *observer.ObservedLogs) string {
	var b strings.Builder
	for _, e := range logs.All() {
		fmt.Fprintf(&b, "%s %s %v\n", e.Level, e.Message, e.ContextMap())
	}
	return b.String()
}

// otherModel is the built-in model with one weight that differs.
func otherModel(t *testing.T) string {
	t.Helper()
	b := append([]byte(nil), builtin.GGUF...)
	b[len(b)-1] ^= 1
	path := filepath.Join(t.TempDir(), "kvasir-mini.gguf")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// G1: nodes that would not mean the same by a page refuse each other before anything moves, each side with a text that has both values; a gateway before them is never ready, and answers nobody.
func TestNodesThatDifferRefuseEachOther(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("a long secret of this cluster"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name            string
		prefill, decode Config
		security        Security // of the decode node
		want            []string // in each node's log
	}{
		{"page size", Config{PageSize: 16}, Config{PageSize: 32}, Security{}, []string{"page size: ", "has 16", "has 32"}},
		{"KV type", Config{KVCacheDType: "f16"}, Config{KVCacheDType: "f32"}, Security{}, []string{"layout hash", "KV type"}},
		{"model", Config{}, Config{Model: otherModel(t)}, Security{}, []string{"model digest: ", "layout hash"}},
		{"cluster key", Config{}, Config{}, Security{ClusterKeyFile: key}, []string{"layout hash"}},
		{"context of one over the pool of the other", Config{}, Config{MaxModelLen: 256, MaxTotalTokens: 512}, Security{}, []string{"pool size: ", "1024 tokens", "needs 64 pages", "has 32"}},
		{"transport", Config{Node: &NodeConfig{Transports: []string{"tcp"}}}, Config{Node: &NodeConfig{Transports: []string{"shm"}}}, Security{}, []string{"transports: ", "[tcp]", "[shm]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var logs [2]*observer.ObservedLogs
			var nodes [2]*Engine
			for i, cfg := range []Config{c.prefill, c.decode} {
				node := NodeConfig{}
				if cfg.Node != nil {
					node = *cfg.Node
				}
				node.Mode, node.ID, node.Addr = []string{"prefill", "decode"}[i], uint64(i+1), "127.0.0.1:0"
				if i == 1 {
					node.Peers, node.Security = []string{nodes[0].NodeAddr()}, c.security
				}
				var core zapcore.Core
				core, logs[i] = observer.New(zap.InfoLevel)
				cfg.Node, cfg.Logger = &node, zap.New(core)
				nodes[i] = open(t, cfg)
			}
			eventually(t, func() bool {
				for i := range nodes {
					for _, w := range c.want {
						if !strings.Contains(lines(logs[i]), w) {
							return false
						}
					}
				}
				return true
			}, func() string { return "prefill node:\n" + lines(logs[0]) + "decode node:\n" + lines(logs[1]) })

			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			g, err := OpenGateway(ctx, GatewayConfig{Nodes: []string{nodes[0].NodeAddr(), nodes[1].NodeAddr()}, Security: c.security})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			for range 30 {
				if g.Ready() == nil {
					t.Fatal("a gateway before nodes that refuse each other is ready")
				}
				time.Sleep(10 * time.Millisecond)
			}
			short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			for tok, err := range g.Generate(short, Request{Prompt: "hello", MaxTokens: 2}) {
				if err == nil {
					t.Errorf("answered with %+v", tok)
				}
			}
			if n := counter(t, nodes[1], "kvasir_kv_transfer_bytes_total"); n > 0 {
				t.Errorf("%v bytes were handed off", n)
			}
		})
	}
}

// A2: a node whose own pool is smaller than its context does not start.
func TestANodeWithAPoolUnderItsContextDoesNotStart(t *testing.T) {
	e, err := Open(t.Context(), Config{MaxModelLen: 512, MaxTotalTokens: 256, Node: &NodeConfig{Mode: "decode", Addr: "127.0.0.1:0"}})
	if err == nil {
		e.Close()
		t.Fatal("it started")
	}
	for _, w := range []string{"256", "512", "--max-total-tokens", "--max-model-len"} {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v; want %q in it", err, w)
		}
	}
}

// eventually waits for what must come.
func eventually(t *testing.T, done func() bool, otherwise func() string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this; %s", otherwise())
		}
	}
}

package kvasir

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/transport/ucx"
)

// generator is an engine, or a gateway before several.
type generator interface {
	Generate(context.Context, Request) iter.Seq2[Token, error]
}

// twoNodes is a cluster in this process.
type twoNodes struct {
	prefill, decode *Engine
	gateway         *Gateway
}

// openTwoNodes opens a prefill node, a decode node and a gateway, which talk over sockets on loopback as they would anywhere else.
func openTwoNodes(t *testing.T, cfg Config, node NodeConfig) twoNodes {
	t.Helper()
	var c twoNodes
	for i, mode := range []string{"prefill", "decode"} {
		own, one := node, cfg
		own.Mode, own.ID, own.Addr = mode, uint64(i+1), "127.0.0.1:0"
		one.Node = &own
		e := open(t, one)
		if i == 0 {
			c.prefill = e
		} else {
			c.decode = e
		}
	}
	c.gateway = openGateway(t, GatewayConfig{Nodes: []string{c.prefill.NodeAddr(), c.decode.NodeAddr()}, Security: node.Security})
	return c
}

// checkHome waits until all pages of both nodes have come home. No page may have been bad; stale messages are part of every day here, since what has had no answer is said again.
func (c twoNodes) checkHome(t *testing.T) {
	t.Helper()
	for _, e := range []*Engine{c.prefill, c.decode} {
		stats := home(t, e)
		if stats.Bad != 0 {
			t.Errorf("%d pages were bad, with no fault about", stats.Bad)
		}
		for kind := range stats.Stale {
			for reason, n := range stats.Stale[kind] {
				if n > 0 {
					t.Logf("%s: %d stale: %v, %v", e.cfg.Node.Mode, n, kvpool.EventKind(kind), kvpool.Reason(reason))
				}
			}
		}
	}
}

// openGateway opens a gateway and waits until its nodes can be used.
func openGateway(t *testing.T, cfg GatewayConfig) *Gateway {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	g, err := OpenGateway(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	for g.Ready() != nil {
		if ctx.Err() != nil {
			t.Fatal("the cluster does not become ready")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return g
}

// told is what one choice of a request was told: everything a client can see, but for what depends on what was cached.
type told struct {
	ids    []int32
	bits   []uint32 // of log-probabilities, and of rivals with their ids
	text   string
	finish FinishReason
	prompt int // tokens
	count  int
}

// answers is what a request was told, by choice.
func answers(t *testing.T, g generator, req Request) []told {
	all := make([]told, max(req.N, 1))
	for tok, err := range g.Generate(t.Context(), req) {
		if err != nil {
			t.Errorf("a request of %d tokens: %v", len(req.Tokens), err)
			return nil
		}
		a := &all[tok.Choice]
		if a.finish != "" {
			t.Errorf("choice %d goes on after its end", tok.Choice)
		}
		a.text += tok.Text
		if tok.ID >= 0 {
			a.ids = append(a.ids, tok.ID)
			a.bits = append(a.bits, math.Float32bits(tok.Logprob))
			for _, r := range tok.Top {
				a.bits = append(a.bits, uint32(r.ID), math.Float32bits(r.Logprob))
			}
		}
		if tok.Finish != "" {
			a.finish, a.prompt, a.count = tok.Finish, tok.Usage.PromptTokens, tok.Usage.CompletionTokens
		}
	}
	return all
}

// clusterRequests are n requests of two tenants, with prompts of 1 to 900 tokens of which many begin alike, and every kind of setting.
func clusterRequests(n int) []Request {
	seed := uint64(1)
	all := make([]Request, n)
	for i := range all {
		r := Request{Tenant: fmt.Sprint("tenant ", i%2), MaxTokens: 1 + i*7%32, IgnoreEOS: i%5 != 0}
		length := 1 + i*389%900
		r.Tokens = tokenIDs(i, length)
		if i%3 == 0 {
			copy(r.Tokens, tokenIDs(1000+i%4, length*2/3)) // a beginning that others have too, of either tenant
		}
		switch i % 8 {
		case 1:
			r.Sampling = Sampling{Logprobs: true, TopLogprobs: 5}
		case 2:
			seed := seed + uint64(i)
			r.Sampling = Sampling{Temperature: 1.1, TopK: 40, Seed: &seed, Logprobs: true}
		case 3:
			r.N, r.Sampling = 3, Sampling{Temperature: 0.9, Seed: &seed}
		case 4:
			r.Sampling = Sampling{RepetitionPenalty: 1.2, PresencePenalty: 0.3, FrequencyPenalty: 0.2}
		case 5:
			r.Stop = []string{"e", "qu"}
		case 6:
			r.Sampling = Sampling{LogitBias: map[int32]float32{int32(i): 6, 12: -4}, TopP: 0.9, Temperature: 0.7, Seed: &seed}
		}
		all[i] = r
	}
	// The longest that there can be, and one token of answer, which the prefill node computes alone.
	all[n-1] = Request{Tokens: tokenIDs(5, 900), MaxTokens: 1024 - 900, IgnoreEOS: true}
	all[n-2] = Request{Tokens: tokenIDs(6, 33), MaxTokens: 1, IgnoreEOS: true, Sampling: Sampling{Logprobs: true, TopLogprobs: 20}}
	return all
}

// prompts is how many there are: KVASIR_PROMPTS, or few.
func prompts(t *testing.T) int {
	v := os.Getenv("KVASIR_PROMPTS")
	if v == "" {
		return 40
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 16 {
		t.Fatalf("KVASIR_PROMPTS is %q, want a number from 16 on", v)
	}
	return n
}

// What a client is told by two nodes is what one node tells it, to the last bit of every log-probability: for prompts of any length, whatever their neighbours, whatever is cached where, whichever
// way the pages went, for each choice, with penalties, stop strings, and draws (whose random numbers depend on seed, choice and position alone).
func TestTwoNodesAnswerAsOne(t *testing.T) {
	requests := clusterRequests(prompts(t))
	alone := open(t, Config{DisablePrefixCache: true})
	want := make([][]told, len(requests))
	for i, r := range requests {
		want[i] = answers(t, alone, r)
	}
	dir := t.TempDir()
	if _, err := MakeCertificates(dir, []string{"127.0.0.1,localhost"}); err != nil {
		t.Fatal(err)
	}
	certificate := filepath.Join(dir, "127.0.0.1")
	tls := Security{TLSCert: certificate + ".pem", TLSKey: certificate + "-key.pem", TLSCA: filepath.Join(dir, "ca.pem")}
	for _, c := range []struct {
		name string
		node NodeConfig
		cfg  Config
	}{
		{"tcp", NodeConfig{}, Config{}},
		{"tcp with TLS", NodeConfig{Security: tls}, Config{}},
		{"shm", NodeConfig{Transports: []string{"shm", "tcp"}}, Config{}},
		{"ucx", NodeConfig{Transports: []string{"ucx"}}, Config{}},
		{"large pages, small steps, small pool", NodeConfig{}, Config{PageSize: 64, MaxPrefillChunk: 48, MaxTotalTokens: 4096}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ucx.New(ucx.Config{}); errors.Is(err, ucx.ErrNotBuilt) && slices.Contains(c.node.Transports, "ucx") {
				t.Skip("this build has no UCX: go test -tags ucx")
			}
			two := openTwoNodes(t, c.cfg, c.node)
			var wg sync.WaitGroup
			under := make(chan struct{}, 16)
			for i, r := range requests {
				under <- struct{}{}
				wg.Go(func() {
					defer func() { <-under }()
					if got := answers(t, two.gateway, r); !reflect.DeepEqual(got, want[i]) {
						t.Errorf("request %d, %d tokens of prompt:\n got %v\nwant %v", i, len(r.Tokens), got, want[i])
					}
				})
			}
			wg.Wait()
			if n := counter(t, two.decode, "kvasir_kv_transfer_bytes_total"); n == 0 {
				t.Error("no page went from one node to the other: the test shows nothing")
			}
			two.checkHome(t)
		})
	}
}

// C1, D10 in part: a client that goes away while its request is anywhere leaves nothing behind at either node.
func TestGatewayClientsThatGoAway(t *testing.T) {
	two := openTwoNodes(t, Config{MaxTotalTokens: 4096, MaxPrefillChunk: 32}, NodeConfig{})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*i)*50*time.Microsecond)
			defer cancel()
			for range two.gateway.Generate(ctx, Request{Tokens: tokenIDs(i, 40+i*14), MaxTokens: 100, IgnoreEOS: true}) {
			}
		})
	}
	wg.Wait()
	two.checkHome(t)
	if got := answers(t, two.gateway, Request{Tokens: tokenIDs(3, 90), MaxTokens: 8, IgnoreEOS: true}); len(got) != 1 || len(got[0].ids) != 8 {
		t.Errorf("afterwards: %v", got)
	}
}

// A request that no node can serve is refused as one node would, with the limit and both numbers, and nothing is handed off in its name (A1).
func TestGatewayRejects(t *testing.T) {
	two := openTwoNodes(t, Config{MaxModelLen: 256, MaxTotalTokens: 256}, NodeConfig{})
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Tokens: tokenIDs(1, 300)}, "300"},
		{Request{Tokens: tokenIDs(1, 200), MaxTokens: 100}, "300"},
		{Request{Tokens: []int32{1 << 20}}, "vocabulary"},
		{Request{}, "empty"},
	} {
		n := 0
		for tok, err := range two.gateway.Generate(t.Context(), c.req) {
			var r *Rejection
			if n++; !errors.As(err, &r) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: token %+v, error %v; want a rejection that says %q", c.req, tok, err, c.want)
			}
		}
		if n != 1 {
			t.Errorf("%+v: %d elements, want the rejection alone", c.req, n)
		}
	}
	if n := counter(t, two.decode, "kvasir_kv_transfer_bytes_total"); n > 0 {
		t.Errorf("%v bytes were handed off for rejected requests", n)
	}
	two.checkHome(t)
}

// A gateway that has no node says so at its start, and what configuration cannot be.
func TestOpenGatewayErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  GatewayConfig
		want string
	}{
		{GatewayConfig{}, "--prefill"},
		{GatewayConfig{Nodes: []string{"127.0.0.1:1"}, RequestTimeout: -1}, "--request-timeout"},
		{GatewayConfig{Nodes: []string{"127.0.0.1:1"}, DecodeLocalPrefill: -1}, "--decode-local-prefill"},
		{GatewayConfig{Nodes: []string{"example.com:1"}}, "TLS"},
		{GatewayConfig{Nodes: []string{"127.0.0.1:1"}, Security: Security{ClusterKeyFile: "/nowhere"}}, "--cluster-key"},
		{GatewayConfig{Nodes: []string{"127.0.0.1:1"}}, "no node has answered"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		g, err := OpenGateway(ctx, c.cfg)
		cancel()
		if err == nil {
			g.Close()
			t.Errorf("%+v: no error", c.cfg)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q in it", c.cfg, err, c.want)
		}
	}
}

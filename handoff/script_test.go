package handoff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// Scripts show one situation a file. Each command is one event; what follows it is what must be done then. Times are milliseconds. Pages have 4 slots.

const ms = int64(1e6)

// args reads a command's arguments.
type args struct {
	t *testing.T
	d *datadriven.TestData
}

func (a args) has(key string) bool { return a.d.HasArg(key) }

func (a args) int(key string, absent int) int {
	word := a.word(key, "")
	if word == "" {
		return absent
	}
	n, err := strconv.ParseInt(word, 0, 64)
	if err != nil {
		a.t.Fatalf("%s: %v", key, err)
	}
	return int(n)
}

func (a args) word(key, absent string) string {
	s := absent
	if a.has(key) {
		a.d.ScanArgs(a.t, key, &s)
	}
	return s
}

func (a args) list(key string) []int32 {
	var out []int32
	if !a.has(key) {
		return nil
	}
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			for _, v := range arg.Vals {
				var n int32
				fmt.Sscan(v, &n)
				out = append(out, n)
			}
		}
	}
	return out
}

// details has one for each token, its number after a d.
func details(tokens []int32) [][]byte {
	var out [][]byte
	for _, t := range tokens {
		out = append(out, []byte(fmt.Sprintf("d%d", t)))
	}
	return out
}

func (a args) spec() *Spec {
	prompt := make([]int32, a.int("prompt", 6))
	for i := range prompt {
		prompt[i] = int32(i)
	}
	return &Spec{Request: a.word("request", "1"), Prompt: prompt, MaxTokens: a.int("max", 3), StopTokens: a.list("stop"), Details: a.has("details")}
}

func refs(from, to int) []page.Ref {
	var out []page.Ref
	for i := from; i < to; i++ {
		out = append(out, page.Ref{Node: 1, Incarnation: 0x11, Page: page.Index(i), Generation: 1})
	}
	return out
}

func reasonOf(t *testing.T, name string) Reason {
	for r, n := range reasons {
		if strings.ReplaceAll(n, " ", "-") == name {
			return Reason(r)
		}
	}
	t.Fatalf("no reason is called %q", name)
	return 0
}

// TestNodeScripts: the node under test is 1 in its life 0x11; its peer is 2 in its life 0x22; the gateway is 7 in its life 0x77.
func TestNodeScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/node", func(t *testing.T, path string) {
		var n *Node
		var now int64
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			a := args{t, d}
			if d.Cmd == "node" {
				cfg := NodeConfig{
					Incarnation: 0x11, Prefill: !a.has("decode-only"), Decode: !a.has("prefill-only"), PageSize: 4, GroupPages: int64(a.int("group", 1)),
					MaxAttempts: int64(a.int("max-attempts", 0)), MaxEnded: int64(a.int("max-ended", 0)), MaxClosed: int64(a.int("max-closed", 0)), MaxGateways: int64(a.int("max-gateways", 0)),
				}
				var err error
				if n, err = NewNode(cfg); err != nil {
					return err.Error() + "\n"
				}
				n.Step(NodeEvent{Kind: EvGatewayUp, Gateway: 7, GatewayLife: 0x77}, nil)
				return ""
			}
			now += int64(a.int("after", 0)) * ms
			if d.Cmd == "stats" {
				s := n.Stats()
				return fmt.Sprintf("%d live, %d ended, %d imports, %d strange messages\n", s.Live, s.Ended, s.Imports, s.Strange)
			}
			ev := nodeEvent(a, d.Cmd)
			ev.Now = now
			var out strings.Builder
			fx := n.Step(ev, nil)
			for i := range fx {
				fmt.Fprintln(&out, describeNodeEffect(&fx[i]))
			}
			return out.String()
		})
	})
}

// nodeEvent is the event that a command stands for.
func nodeEvent(a args, cmd string) NodeEvent {
	gateway := uint64(a.int("gateway", 0x77))
	link := kvpool.Link{Peer: 2, Incarnation: 0x22, Epoch: uint64(a.int("epoch", 1))}
	attempt := kvpool.Attempt{Gateway: uint64(a.int("of", int(gateway))), Number: uint64(a.int("attempt", 1)), Prefill: 0x11}
	role := map[string]Role{"prefill": Prefill, "decode": Decode, "local": Local}[a.word("role", "prefill")]
	if role == Decode {
		attempt.Prefill = link.Incarnation
	}
	ev := NodeEvent{GatewayLife: gateway, Gateway: page.Node(a.int("place", 7)), Link: link, Seq: page.Seq(a.int("seq", a.int("attempt", 1)))}
	m := &Message{Attempt: attempt, Life: page.Incarnation(a.int("life", 0x11))}
	pool := &kvpool.Effect{Attempt: attempt, Seq: ev.Seq, Have: a.int("have", 0), Max: a.int("can", 0), Page: a.int("page", 0), First: int32(a.int("first", 0))}
	pool.Status = map[string]kvpool.Status{"done": kvpool.Done, "cancelled": kvpool.Cancelled, "refused": kvpool.Refused, "mismatch": kvpool.Mismatch, "lost": kvpool.Lost}[a.word("status", "done")]
	switch cmd {
	case "submit":
		m.Kind, m.Role, m.Remaining, m.Spec = MsgSubmit, role, int64(a.int("left", 60_000))*ms, a.spec()
		if role != Local {
			m.Link = link
		}
	case "poll":
		m.Kind, m.Have = MsgPoll, a.int("have", 0)
	case "cancel":
		m.Kind = MsgCancel
	case "gateway-up":
		ev.Kind = EvGatewayUp
	case "gateway-lost":
		ev.Kind = EvGatewayLost
	case "link-up":
		ev.Kind = EvLinkUp
	case "link-lost":
		ev.Kind = EvLinkLost
	case "admitted":
		ev.Kind, ev.MaxTokens = EvAdmitted, a.int("max", 3)
	case "rejected":
		ev.Kind, ev.Rejection = EvRejected, &request.Rejection{Limit: request.LimitContext, Why: "Too long."}
	case "sealed":
		ev.Kind, ev.Computed, ev.Last, ev.Token = EvSealed, a.int("computed", 0), a.has("last"), int32(a.int("token", 0))
		ev.Pages, ev.Detail = refs(0, (ev.Computed+3)/4), details([]int32{ev.Token})[0]
	case "token":
		ev.Kind, ev.Token = EvToken, int32(a.int("token", 0))
		ev.Detail = details([]int32{ev.Token})[0]
	case "preempted":
		ev.Kind = EvPreempted
	case "ended":
		ev.Kind, ev.Reason = EvEnded, reasonOf(a.t, a.word("reason", "length"))
	case "pool-refused":
		ev.Kind, ev.Pool, pool.Kind = EvPool, pool, kvpool.FxRefused
	case "pool-exported":
		ev.Kind, ev.Pool, pool.Kind = EvPool, pool, kvpool.FxExported
	case "pool-import-ended":
		ev.Kind, ev.Pool, pool.Kind = EvPool, pool, kvpool.FxImportEnded
	case "pool-start":
		ev.Kind, ev.Pool, pool.Kind, pool.Refs = EvPool, pool, kvpool.FxStart, refs(10, 10+a.int("pages", 2))
		if a.has("spare") {
			pool.Spare = refs(19, 20)[0]
		}
	case "drain":
		ev.Kind = EvDrain
	case "tick":
		ev.Kind, ev.Load = EvNodeTick, Load{FreePages: a.int("free", 8), TotalPages: 10}
	default:
		a.t.Fatalf("no command is called %q", cmd)
	}
	if m.Kind != 0 {
		ev.Kind, ev.Message = EvTold, m
	}
	return ev
}

// TestGatewayScripts: the gateway under test is in its life 0x77. Node i's first life is 0x10+i.
func TestGatewayScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/gateway", func(t *testing.T, path string) {
		var g *Gateway
		var now int64
		serials := map[page.Node]uint64{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			a := args{t, d}
			if d.Cmd == "gateway" {
				var err error
				if g, err = NewGateway(GatewayConfig{
					Incarnation: 0x77, PageSize: 4, MaxTries: int64(a.int("max-tries", 0)), MaxRequests: int64(a.int("max-requests", 0)), MaxClosing: int64(a.int("max-closing", 0)),
					LocalPrompts: int64(a.int("local-prompts", 0)),
				}); err != nil {
					return err.Error() + "\n"
				}
				return ""
			}
			now += int64(a.int("after", 0)) * ms
			if d.Cmd == "stats" {
				s := g.Stats()
				return fmt.Sprintf("%d requests, %d of them wait; %d attempts to close; %d strange messages\n", s.Requests, s.Waiting, s.Closing, s.Strange)
			}
			ev := gatewayEvent(a, d.Cmd, serials)
			ev.Now = now
			ev.Deadline += now
			var out strings.Builder
			fx := g.Step(ev, nil)
			for i := range fx {
				fmt.Fprintln(&out, describeGatewayEffect(&fx[i]))
			}
			return out.String()
		})
	})
}

// gatewayEvent is the event that a command stands for.
func gatewayEvent(a args, cmd string, serials map[page.Node]uint64) GatewayEvent {
	node := page.Node(a.int("node", 1))
	life := page.Incarnation(a.int("life", 0x10+int(node)))
	ev := GatewayEvent{Node: node, Life: life, Request: uint64(a.int("request", 1))}
	m := &Message{Attempt: kvpool.Attempt{Gateway: uint64(a.int("of", 0x77)), Number: uint64(a.int("attempt", 1)), Prefill: page.Incarnation(a.int("prefill-life", 0x11))}, Life: life}
	switch cmd {
	case "request":
		ev.Kind, ev.Spec, ev.Deadline = EvRequest, a.spec(), int64(a.int("deadline", 60_000))*ms
		for _, h := range a.list("hashes") {
			ev.Hashes = append(ev.Hashes, page.Hash{byte(h)})
		}
	case "abort":
		ev.Kind = EvAbort
	case "up":
		ev.Kind = EvNodeUp
	case "lost":
		ev.Kind = EvNodeLost
	case "ended":
		ev.Kind = EvNodeEnded
	case "tick":
		ev.Kind = EvGatewayTick
	case "status":
		m.Kind, m.Attempt = MsgStatus, kvpool.Attempt{}
		serials[node]++
		m.Status = &Status{
			Serial: uint64(a.int("serial", int(serials[node]))), Ready: true, Draining: a.has("draining"), Prefill: a.has("prefill"), Decode: a.has("decode"),
			Load: Load{FreePages: a.int("free", 100), TotalPages: 100, Waiting: a.int("waiting", 0)}, Limits: Limits{a.int("limit", 1000), a.int("limit", 1000)},
		}
		for _, peer := range a.list("links") {
			m.Status.Links = append(m.Status.Links, kvpool.Link{Peer: page.Node(peer), Incarnation: page.Incarnation(0x10 + peer), Epoch: 1})
		}
	case "accepted":
		m.Kind = MsgAccepted
	case "rejected":
		m.Kind, m.Rejection = MsgRejected, &request.Rejection{Limit: request.Limit(a.word("limit", string(request.LimitContext))), Why: "Not this one."}
	case "prefilled":
		m.Kind, m.Tokens = MsgPrefilled, []int32{int32(a.int("token", 0))}
		m.Details = details(m.Tokens)
	case "tokens":
		m.Kind, m.First, m.Tokens = MsgTokens, a.int("first", 0), a.list("tokens")
		if a.has("details") {
			m.Details = details(m.Tokens)
		}
	case "end":
		m.Kind, m.Reason, m.Total = MsgEnd, reasonOf(a.t, a.word("reason", "length")), a.int("total", 0)
	case "closed":
		m.Kind = MsgClosed
	default:
		a.t.Fatalf("no command is called %q", cmd)
	}
	if m.Kind != 0 {
		ev.Kind, ev.Message = EvHeard, m
	}
	return ev
}

// Every configuration that cannot work is refused by the name of its field.
func TestConfigs(t *testing.T) {
	for _, c := range []struct {
		want string
		err  error
	}{
		{"Incarnation", errorOf(NewNode(NodeConfig{PageSize: 4, Prefill: true}))},
		{"Prefill nor Decode", errorOf(NewNode(NodeConfig{Incarnation: 1, PageSize: 4}))},
		{"PageSize is 0", errorOf(NewNode(NodeConfig{Incarnation: 1, Prefill: true}))},
		{"GroupPages is -1", errorOf(NewNode(NodeConfig{Incarnation: 1, PageSize: 4, Prefill: true, GroupPages: -1}))},
		{"Incarnation", errorOf(NewGateway(GatewayConfig{PageSize: 4}))},
		{"PageSize is 0", errorOf(NewGateway(GatewayConfig{Incarnation: 1}))},
		{"MaxTries is -2", errorOf(NewGateway(GatewayConfig{Incarnation: 1, PageSize: 4, MaxTries: -2}))},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", c.err, c.want)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// Every reason, role and outcome has a name of its own.
func TestNames(t *testing.T) {
	var all []string
	for r := ReasonStop; r <= ReasonNoNode; r++ {
		all = append(all, r.String())
	}
	for r := Prefill; r <= Local; r++ {
		all = append(all, r.String())
	}
	for o := Completed; o <= Aborted; o++ {
		all = append(all, o.String())
	}
	slices.Sort(all)
	if n := len(all); len(slices.Compact(all)) != n || Reason(99).String() != "reason 99" {
		t.Errorf("names: %q", all)
	}
}

package kvpooltest

// Explorable is a world of either kind.
type Explorable interface {
	// Explore searches the world within bounds.
	Explore(b Bounds) Report
	// Script tells what a search found broken.
	Script(r *Report) string
	// Titled is the world's name, and the situations that it must get into.
	Titled() (name string, want []string)
}

// Explore searches the world within bounds.
func (w *World) Explore(b Bounds) Report {
	c := newCluster(w)
	c.ledgers.compare = b.Compare > 0
	r := explore[state](c, b)
	if b.Compare > 0 && r.Broken == nil {
		r.Broken = c.ledgers.alike()
	}
	r.World, r.Situation = w.Name, c.seen.all()
	return r
}

// Titled is the world's name, and the situations that it must get into.
func (w *World) Titled() (name string, want []string) { return w.Name, w.Want }

// Small are the worlds of `go test`.
func Small() []Explorable {
	two := []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "abc", Groups: []int{1, 1}}} // a full page and one with room
	one := []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "ab", Groups: []int{1}}}
	usual := []string{"started", "offer before expect", "Release repeated"}
	stops := append([]string{"cancel before Submit", "cancel while a read is out", "revoke of an unknown attempt", "page quarantined, then home"}, usual...)
	return []Explorable{
		&World{
			Name: "hand-off", Nodes: []Node{{Pages: 2, Others: 1}, {Pages: 2, Others: 1}}, Requests: two,
			Cancel: true, Revoke: true, Torn: true, Failures: 1,
			Want: append([]string{"mismatch", "refused for room", "page reused at the decode node", "page reused at the prefill node"}, stops...),
		},
		&World{
			Name: "seal alone", Nodes: []Node{{Pages: 1}, {Pages: 2}}, Requests: []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "ab", Groups: []int{1, 0}}},
			Cancel: true, Want: usual,
		},
		&World{
			Name: "one page, links", Nodes: []Node{{Pages: 1, Others: 1}, {Pages: 2, Others: 1}}, Requests: one,
			Losses: 1, Connections: 1,
			Want: append([]string{"link lost while a read is out", "message of an older connection", "export ended by a fence"}, usual...),
		},
		&World{
			Name: "one page, crash", Nodes: []Node{{Pages: 1, Others: 1}, {Pages: 2}}, Requests: one,
			Crashes: 1, Connections: 1,
			Want: append([]string{"message from before a restart", "read from a peer that crashed", "export ended by a restart"}, usual...),
		},
		&World{
			Name: "two", Nodes: []Node{{Pages: 2}, {Pages: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 0, Decode: 1, Tenant: "bob", Text: "b", Groups: []int{1}},
			}, Cancel: true,
			Want: append([]string{"two exports open", "refused for room"}, usual...),
		},
		&World{
			Name: "shared", Nodes: []Node{{Pages: 3, PrefixCache: true, ExportQuota: 4}, {Pages: 4, PrefixCache: true}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aab", Groups: []int{2}},
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aac", Groups: []int{2}},
			},
			Want: append([]string{"two exports of one page"}, usual...),
		},
		&World{
			Name: "both full", Nodes: []Node{{Pages: 1}, {Pages: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 1, Decode: 0, Tenant: "bob", Text: "b", Groups: []int{1}},
			},
			Want: []string{"both roles at one node", "refused for room", "started"},
		},
		&World{
			Name: "no tombstones", Nodes: []Node{{Pages: 1, MaxTombstones: -1}, {Pages: 1, MaxTombstones: -1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 0, Decode: 1, Tenant: "bob", Text: "b", Groups: []int{1}},
			}, Cancel: true,
			Want: append([]string{"tombstone folded"}, usual...),
		},
		&World{
			Name: "scrub, tcp", Nodes: []Node{{Pages: 1, Scrub: true, Others: 1}, {Pages: 2, Scrub: true, Others: 1}}, Requests: one,
			Cancel: true, Revoke: true, Losses: 1, Served: true,
			Want: append([]string{"serving refused"}, stops...),
		},
		&World{
			Name: "flip", Nodes: []Node{{Pages: 2, PrefixCache: true}, {Pages: 3}}, Requests: two, Flips: 1,
			Want: append([]string{"mismatch"}, usual...),
		},
		&Single{
			Name: "one node", Node: Node{Pages: 3, PrefixCache: true}, Lives: 1, Flips: 1, Patrols: 1, Returns: 1,
			Prompts: []Prompt{{"alice", "aabb"}, {"alice", "aacc"}},
			Want:    []string{"prefix hit", "idle page evicted", "released while its match is checked", "bad page met by a check", "duplicate page sealed", "page quarantined, then home"},
		},
		&Single{
			Name: "one node, scrub", Node: Node{Pages: 2, PrefixCache: true, Scrub: true}, Lives: 2, Returns: 1,
			Prompts: []Prompt{{"alice", "aa"}, {"bob", "aa"}},
			Want:    []string{"prefix hit", "idle page evicted", "page quarantined, then home"},
		},
	}
}

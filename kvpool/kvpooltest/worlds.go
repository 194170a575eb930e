package kvpooltest

// Explore searches a world within bounds.
func Explore(w *World, b Bounds) Report {
	c := newCluster(w)
	r := explore[state](c, b)
	r.World, r.Situation = w.Name, c.seen.all()
	return r
}

func two(pages int, n Node) []Node {
	n.Pages = pages
	return []Node{n, n}
}

// Small are the worlds of `go test`.
func Small() []*World {
	one := []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "abcd", Groups: []int{1, 1}}}
	return []*World{
		{
			Name: "hand-off", Nodes: []Node{{Pages: 2, Others: 1}, {Pages: 3, Others: 1}}, Requests: one,
			Cancel: true, Revoke: true, Torn: true, Failures: 1,
		},
		{
			Name: "links", Nodes: []Node{{Pages: 2, Others: 1}, {Pages: 3, Others: 1}}, Requests: one,
			Losses: 1, Connections: 1,
		},
		{
			Name: "crash", Nodes: []Node{{Pages: 2, Others: 1}, {Pages: 3, Others: 1}}, Requests: one,
			Crashes: 1, Connections: 1,
		},
		{
			Name: "crash and links", Nodes: []Node{{Pages: 1}, {Pages: 2}}, Requests: []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "ab", Groups: []int{1}}},
			Crashes: 1, Connections: 2, Losses: 1, Cancel: true,
		},
		{
			Name: "two", Nodes: []Node{{Pages: 1, Others: 1}, {Pages: 1, Others: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 0, Decode: 1, Tenant: "bob", Text: "b", Groups: []int{1}},
			}, Cancel: true, Revoke: true,
		},
		{
			Name: "shared", Nodes: []Node{{Pages: 3, PrefixCache: true}, {Pages: 4, PrefixCache: true}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aab", Groups: []int{2}},
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aac", Groups: []int{2}},
			}, Cancel: true,
		},
		{
			Name: "both roles", Nodes: []Node{{Pages: 2}, {Pages: 2}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 1, Decode: 0, Tenant: "bob", Text: "b", Groups: []int{1}},
			}, Losses: 1,
		},
		{
			Name: "no tombstones", Nodes: []Node{{Pages: 2, MaxTombstones: -1}, {Pages: 2, MaxTombstones: -1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 0, Decode: 1, Tenant: "bob", Text: "b", Groups: []int{1}},
			}, Cancel: true, Revoke: true,
		},
		{
			Name: "scrub, tcp", Nodes: []Node{{Pages: 1, Scrub: true, Others: 1}, {Pages: 2, Scrub: true, Others: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "ab", Groups: []int{1}},
			}, Cancel: true, Revoke: true, Losses: 1, Served: true,
		},
		{
			Name: "flip", Nodes: []Node{{Pages: 2, PrefixCache: true}, {Pages: 3}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "abcd", Groups: []int{1, 1}},
			}, Flips: 1,
		},
	}
}

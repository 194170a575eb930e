package kvpooltest

// Large are the worlds of `make check-protocol`.
func Large() []Explorable {
	twoPages := []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "abc", Groups: []int{1, 1}}}
	onePage := []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "ab", Groups: []int{1}}}
	pair := []Request{
		{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
		{Prefill: 0, Decode: 1, Tenant: "bob", Text: "b", Groups: []int{1}},
	}
	return []Explorable{
		&World{
			Name: "two pages, links, cancels", Nodes: []Node{{Pages: 2, Others: 1}, {Pages: 2, Others: 1}}, Requests: twoPages,
			Losses: 1, Connections: 1, Cancel: true, Revoke: true,
		},
		&World{
			Name: "two pages, crash, cancels", Nodes: []Node{{Pages: 2, Others: 1}, {Pages: 2, Others: 1}}, Requests: twoPages,
			Crashes: 1, Connections: 1, Cancel: true,
		},
		&World{
			Name: "two crashes", Nodes: []Node{{Pages: 1, Others: 1}, {Pages: 2}}, Requests: onePage,
			Crashes: 2, Connections: 2,
		},
		&World{
			Name: "crash, links, cancels", Nodes: []Node{{Pages: 1, Others: 1}, {Pages: 2, Others: 1}}, Requests: onePage,
			Crashes: 1, Losses: 1, Connections: 2, Cancel: true,
		},
		&World{
			Name: "two attempts, unrelated sequences, cancels", Nodes: []Node{{Pages: 1, Others: 1}, {Pages: 1, Others: 1}}, Requests: pair,
			Cancel: true, Revoke: true,
		},
		&World{
			Name: "two attempts, links", Nodes: []Node{{Pages: 1}, {Pages: 1}}, Requests: pair,
			Losses: 1, Connections: 1, Cancel: true,
		},
		&World{
			Name: "two attempts, crash", Nodes: []Node{{Pages: 1}, {Pages: 1}}, Requests: pair,
			Crashes: 1, Connections: 1,
		},
		&World{
			Name: "shared page, cancels, links", Nodes: []Node{{Pages: 3, PrefixCache: true, ExportQuota: 4}, {Pages: 3, PrefixCache: true}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aab", Groups: []int{2}},
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aac", Groups: []int{2}},
			},
			Cancel: true, Losses: 1,
		},
		&World{
			Name: "both roles, links", Nodes: []Node{{Pages: 1}, {Pages: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 1, Decode: 0, Tenant: "bob", Text: "b", Groups: []int{1}},
			},
			Losses: 1, Connections: 1, Cancel: true,
		},
		&World{
			Name: "three nodes", Nodes: []Node{{Pages: 1}, {Pages: 1}, {Pages: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 1, Decode: 2, Tenant: "bob", Text: "b", Groups: []int{1}},
			},
			Cancel: true, Losses: 1,
		},
		&World{
			Name: "no tombstones, links", Nodes: []Node{{Pages: 1, MaxTombstones: -1}, {Pages: 1, MaxTombstones: 1}}, Requests: pair,
			Losses: 1, Connections: 1, Cancel: true,
		},
		&World{
			Name: "shared page, two crashes", Nodes: []Node{{Pages: 3, PrefixCache: true, ExportQuota: 4}, {Pages: 4, PrefixCache: true}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aab", Groups: []int{1, 1}},
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "aac", Groups: []int{1, 1}},
			},
			Crashes: 2, Connections: 2, Cancel: true,
		},
		&World{
			Name: "alike, links", Nodes: []Node{{Pages: 2}, {Pages: 1}}, Requests: []Request{pair[0], pair[0]},
			Losses: 1, Connections: 1, Cancel: true,
		},
		&World{
			Name: "alike, crash", Nodes: []Node{{Pages: 2}, {Pages: 2}}, Requests: []Request{pair[0], pair[0]},
			Crashes: 1, Connections: 1, Cancel: true,
		},
		&World{
			Name: "three nodes, crash", Nodes: []Node{{Pages: 1}, {Pages: 2}, {Pages: 1}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 1, Decode: 2, Tenant: "bob", Text: "b", Groups: []int{1}},
			},
			Crashes: 1, Connections: 2, Cancel: true,
		},
		&World{
			Name: "served, scrubbed, both roles", Nodes: []Node{{Pages: 2, Scrub: true, Others: 1}, {Pages: 2, Scrub: true}}, Requests: []Request{
				{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
				{Prefill: 1, Decode: 0, Tenant: "bob", Text: "b", Groups: []int{1}},
			},
			Losses: 1, Connections: 1, Cancel: true, Revoke: true, Served: true,
		},
		&Single{
			Name: "one node, more", Node: Node{Pages: 3, PrefixCache: true}, Lives: 2, Flips: 1, Patrols: 1,
			Prompts: []Prompt{{"alice", "aabb"}, {"alice", "aacc"}},
		},
	}
}

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
	return []*World{
		{
			Name: "hand-off", Nodes: []Node{{Pages: 2}, {Pages: 3}},
			Requests: []Request{{Prefill: 0, Decode: 1, Tenant: "alice", Text: "abcd", Groups: []int{1, 1}}},
			Cancel:   true, Revoke: true,
		},
	}
}

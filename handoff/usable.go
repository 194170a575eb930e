package handoff

// Usable reports whether there are nodes to which a request could be sent now.
func (g *Gateway) Usable() bool {
	for _, d := range g.peers {
		if !d.usable() || !d.status.Decode {
			continue
		}
		if d.status.Prefill || g.cfg.LocalPrompts > 0 {
			return true
		}
		for _, link := range d.status.Links {
			if p := g.peerOf[link.Peer]; p != nil && p.usable() && p.status.Prefill && p.life == link.Incarnation {
				return true
			}
		}
	}
	return false
}

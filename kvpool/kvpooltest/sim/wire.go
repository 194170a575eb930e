package sim

import (
	"strconv"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// wire is the connection of one life of a gateway and one life of a node.
type wire struct {
	gate     *gate
	node     *node
	gateLife uint64
	nodeLife page.Incarnation
	upG, upN bool // the hello is done at that end
	cut      bool
}

func requestName(id int) string { return strconv.Itoa(id) }

// clientOf is who asked for it.
func (s *sim) clientOf(spec *handoff.Spec) *client {
	id, err := strconv.Atoi(spec.Request)
	if err != nil || id >= len(s.clients) {
		panic("sim: a request that nobody made: " + spec.Request)
	}
	return s.clients[id]
}

// connectGate has a gateway and a node say hello as soon as both are up.
func (s *sim) connectGate(g *gate, n *node) {
	if !g.dialing[n.id] {
		g.dialing[n.id] = true
		s.after(s.between(100, 5*milli)<<s.rng.IntN(3), func() { s.dialGate(g, n) })
	}
}

func (s *sim) dialGate(g *gate, n *node) {
	if g.down || n.down {
		s.after(s.between(milli, 5*milli), func() { s.dialGate(g, n) })
		return
	}
	w := &wire{gate: g, node: n, gateLife: g.life, nodeLife: n.life}
	g.wires[n.id], g.dialing[n.id] = w, false
	s.after(s.between(10, 2*milli), func() {
		if w.aliveG() && !w.cut {
			w.upG = true
			g.step(handoff.GatewayEvent{Kind: handoff.EvNodeUp, Node: page.Node(n.id), Life: w.nodeLife})
		}
	})
	s.after(s.between(10, 2*milli), func() {
		if w.aliveN() && !w.cut {
			w.upN = true
			n.tellCore(handoff.NodeEvent{Kind: handoff.EvGatewayUp, Gateway: g.place(), GatewayLife: w.gateLife})
		}
	})
}

func (w *wire) aliveG() bool { return !w.gate.down && w.gate.life == w.gateLife }
func (w *wire) aliveN() bool { return !w.node.down && w.node.life == w.nodeLife }

// cut ends a wire. Either end hears of it in its time, and a new one begins.
func (s *sim) cut(w *wire) {
	if w.cut {
		return
	}
	w.cut = true
	s.after(s.between(50, 20*milli), func() {
		if !w.upG || !w.aliveG() {
			return
		}
		ev := handoff.GatewayEvent{Kind: handoff.EvNodeLost, Node: page.Node(w.node.id)}
		if !w.aliveN() && s.chance(30) {
			ev.Kind, ev.Life = handoff.EvNodeEnded, w.nodeLife
		}
		w.gate.step(ev)
	})
	s.after(s.between(50, 20*milli), func() {
		if w.upN && w.aliveN() {
			w.node.tellCore(handoff.NodeEvent{Kind: handoff.EvGatewayLost, GatewayLife: w.gateLife})
		}
	})
	s.after(25*milli, func() { // hellos come after the word that the wire before is over
		if w.gate.wires[w.node.id] == w {
			s.connectGate(w.gate, w.node)
		}
	})
}

// sendTimes is how often a message between gateway and node gets there.
func (s *sim) sendTimes() int {
	switch {
	case s.on(Loss) && s.chance(7):
		return 0
	case s.on(Repeat) && s.chance(10):
		return 2
	}
	return 1
}

func (s *sim) wireDelay(n *node) int64 {
	delay := s.between(50, 500)
	if s.on(Delay) && s.chance(20) {
		delay = s.between(100, 30*milli)
	}
	return delay * int64(n.slowness)
}

// sendNode carries a gateway's message. It may come to a later life of the node, over the wire of that time.
func (s *sim) sendNode(g *gate, to int, b []byte) {
	w := g.wires[to]
	if w == nil || !w.upG {
		return
	}
	for range s.sendTimes() {
		s.after(s.wireDelay(w.node), func() {
			n := w.node
			if n.down || n.life != w.nodeLife && s.chance(50) {
				return
			}
			m, err := handoff.DecodeMessage(b)
			if err != nil {
				s.fail("gateway %d: %v", g.id, err)
				return
			}
			n.told(w.gateLife, &m)
		})
	}
}

// sendGate carries a node's message to a gateway's life.
func (s *sim) sendGate(n *node, life uint64, b []byte) {
	for _, g := range s.gates {
		w := g.wires[n.id]
		if w == nil || w.gateLife != life || !w.upN || w.nodeLife != n.life {
			continue
		}
		for range s.sendTimes() {
			s.after(s.wireDelay(n), func() {
				if g.down || g.life != life && s.chance(50) {
					return
				}
				m, err := handoff.DecodeMessage(b)
				if err != nil {
					s.fail("node %d: %v", n.id, err)
					return
				}
				if m.Kind == handoff.MsgStatus && g.only != nil {
					m.Status.Prefill, m.Status.Decode = m.Status.Prefill && n == g.only[0], m.Status.Decode && n == g.only[1]
				}
				g.step(handoff.GatewayEvent{Kind: handoff.EvHeard, Node: page.Node(n.id), Life: w.nodeLife, Message: &m})
			})
		}
	}
}

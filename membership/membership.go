// Package membership is the list of a cluster's nodes that is kept outside of it, so that gateways find nodes which nobody has named to them. Nodes announce themselves, gateways watch.
//
// The list says whom to dial, and nothing else. Whether a node lives its connections tell, and what becomes of pages its hellos and fences; so a list that is late, wrong or out of reach
// changes nothing between processes that are connected. It is no secret and no proof either: who may connect, certificates say.
package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
)

// Membership is a list of nodes. Its methods may be called from any goroutine.
type Membership interface {
	// Announce keeps node in the list until ctx ends; then it takes the node out, as far as that can be done at once, and returns. While the list cannot be reached it tries again.
	Announce(ctx context.Context, node Node)
	// Watch tells changed, until ctx ends, of all nodes that are in the list, ordered by ID: of those that are there now, and of all again after each change. While the list cannot be
	// reached nothing is told. The calls come one after another; their slice is the callee's.
	Watch(ctx context.Context, changed func([]Node))
}

// Node is what the list says of a node.
type Node struct {
	ID          uint64 `json:"id,string"`
	Incarnation uint64 `json:"incarnation,string"` // of the process; for people
	Address     string `json:"address"`            // where gateways and other nodes reach it, "host:port"
	Prefill     bool   `json:"prefill"`
	Decode      bool   `json:"decode"`
}

// maxAddress is the longest address that nodes can be told of.
const maxAddress = 256

func (n Node) validate() error {
	host, port, err := net.SplitHostPort(n.Address)
	switch {
	case err != nil || host == "" || port == "" || port == "0" || len(n.Address) > maxAddress:
		return fmt.Errorf("membership: the address is %q; it must be host:port, of at most %d bytes", n.Address, maxAddress)
	case net.ParseIP(host).IsUnspecified():
		return fmt.Errorf("membership: the address is %q, at which nobody can be reached; it must be the node's own", n.Address)
	case !n.Prefill && !n.Decode:
		return fmt.Errorf("membership: node %d neither computes prompts nor answers", n.ID)
	}
	return nil
}

// encode is a node as the list has it: JSON, for people to read.
func (n Node) encode() string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // of numbers, a string and flags
	}
	return string(b)
}

func decode(text []byte) (n Node, err error) {
	if err := json.Unmarshal(text, &n); err != nil {
		return Node{}, fmt.Errorf("membership: an entry is no node: %w", err)
	}
	return n, n.validate()
}

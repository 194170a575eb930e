package kvasir

import (
	"context"
	"fmt"
	"net"

	"github.com/kvasir-engine/kvasir/membership"
)

// Membership is a list of a cluster's nodes that is kept elsewhere: nodes enter themselves, and gateways connect with those they find in it. Etcd is one.
type Membership = membership.Membership

// NodeInfo is what a Membership says of a node.
type NodeInfo = membership.Node

// Etcd is a Membership in etcd.
type Etcd = membership.Etcd

// EtcdConfig says where an Etcd is.
type EtcdConfig = membership.EtcdConfig

// NewEtcd makes a Membership of a list in etcd, for NodeConfig and GatewayConfig. It does not wait for a connection. It must be closed, after the engine or the gateway that it was given to.
func NewEtcd(cfg EtcdConfig) (*Etcd, error) { return membership.NewEtcd(cfg) }

// validateMembership refuses an address that is of no use in a list.
func (n *NodeConfig) validateMembership() error {
	host, _, _ := net.SplitHostPort(n.Addr)
	if n.Membership != nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return fmt.Errorf("kvasir: Addr (--node-addr) is %q, at which nobody can be reached; with Membership (--etcd) it must be this node's own", n.Addr)
	}
	return nil
}

// announcement is a node's entry in a list, while it is there.
type announcement struct {
	leave context.CancelFunc
	left  chan struct{}
}

// announce enters this node into the list of nodes, for as long as it works.
func (e *Engine) announce() {
	n := e.cfg.Node
	if n == nil || n.Membership == nil {
		return
	}
	host, _, _ := net.SplitHostPort(n.Addr)
	_, port, _ := net.SplitHostPort(e.NodeAddr()) // that of Addr may be 0
	id, life := e.node.Life()
	info := NodeInfo{ID: uint64(id), Incarnation: uint64(life), Address: net.JoinHostPort(host, port), Prefill: n.Mode != "decode", Decode: n.Mode != "prefill"}
	ctx, cancel := context.WithCancel(context.Background())
	e.announced = &announcement{leave: cancel, left: make(chan struct{})}
	go func() {
		defer close(e.announced.left)
		n.Membership.Announce(ctx, info)
	}()
	go func() {
		select {
		case <-e.node.Failed():
			cancel()
		case <-ctx.Done():
		}
	}()
}

// unannounce takes this node out of the list and returns when it is out. It may be called again.
func (e *Engine) unannounce() {
	if e.announced != nil {
		e.announced.leave()
		<-e.announced.left
	}
}

// discover is how a gateway hears of the nodes in the list; nil without one.
func discover(m Membership) func(context.Context, func([]string)) {
	if m == nil {
		return nil
	}
	return func(ctx context.Context, found func([]string)) {
		m.Watch(ctx, func(nodes []NodeInfo) {
			addresses := make([]string, len(nodes))
			for i, n := range nodes {
				addresses[i] = n.Address
			}
			found(addresses)
		})
	}
}

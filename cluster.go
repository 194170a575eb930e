package kvasir

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kvasir-engine/kvasir/actors"
	"github.com/kvasir-engine/kvasir/actors/remote"
	"github.com/kvasir-engine/kvasir/internal/certs"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/shm"
	"github.com/kvasir-engine/kvasir/transport/tcp"
	"github.com/kvasir-engine/kvasir/transport/ucx"
)

// NodeConfig makes an engine a node of a cluster: a prefill node computes prompts whose pages others fetch, a decode node fetches them and writes the answers. The zero value of every field but
// Mode and Addr stands for the default that is named.
type NodeConfig struct {
	// Mode is "prefill", "decode", or "both".
	Mode string
	// Addr is where gateways and other nodes reach this one: "host:port". Without TLS it must be a loopback address, unless Insecure.
	Addr string
	// ID is the node's number, which no other node of the cluster has. 0: made from Addr, or drawn where its port is 0.
	ID uint64
	// Peers are addresses of prefill nodes that a decode node connects with, beside those of which gateways tell.
	Peers []string
	// Transports are the ways to move pages, best first: "shm" (nodes of one machine), "ucx" (with the build tag ucx), "tcp". Empty: tcp.
	Transports []string
	// TransferAddr is where peers fetch pages by tcp or ucx: "host:port". Empty: a free port at the host of Addr. Without TLS it must be a loopback address, unless Insecure.
	TransferAddr string
	// Membership is a list that this node enters itself into, at Addr, whose host must be its own then. nil: none. The caller closes it after the engine.
	Membership Membership
	// Security says who may connect.
	Security Security
	// LostAfter is the silence after which another process is taken to be lost; it is asked for a sign of life five times in that time. 0: 5 seconds.
	LostAfter time.Duration
	// RequireBitIdentity refuses peers whose kernels may compute other bits.
	RequireBitIdentity bool
}

// Security says how processes of a cluster know each other.
type Security struct {
	// TLSCert, TLSKey and TLSCA are PEM files: this process's certificate, its key, and the authority whose certificates are believed. All or none.
	TLSCert, TLSKey, TLSCA string
	// Insecure allows addresses that are not loopback without TLS.
	Insecure bool
	// ClusterKeyFile has the secret that goes into the names of cached pages; all processes of a cluster need the same. Empty: made from TLSCA, or known to everybody.
	ClusterKeyFile string
}

func (s *Security) tls() (*remote.TLS, error) {
	if s.TLSCert == "" && s.TLSKey == "" && s.TLSCA == "" {
		return nil, nil
	}
	return remote.LoadTLS(s.TLSCert, s.TLSKey, s.TLSCA)
}

// key is the cluster's.
func (s *Security) key() (kvpool.Key, error) {
	switch {
	case s.ClusterKeyFile != "":
		b, err := os.ReadFile(s.ClusterKeyFile)
		if err != nil {
			return kvpool.Key{}, fmt.Errorf("kvasir: the cluster key (--cluster-key): %w", err)
		}
		if len(strings.TrimSpace(string(b))) < 16 {
			return kvpool.Key{}, fmt.Errorf("kvasir: the cluster key (--cluster-key) in %s is shorter than 16 characters; take a long random one", s.ClusterKeyFile)
		}
		return kvpool.Key(sha256.Sum256([]byte("kvasir cluster key\x00" + strings.TrimSpace(string(b))))), nil
	case s.TLSCA != "":
		b, err := os.ReadFile(s.TLSCA)
		if err != nil {
			return kvpool.Key{}, fmt.Errorf("kvasir: the authority's certificate (--tls-ca): %w", err)
		}
		return kvpool.Key(sha256.Sum256(append([]byte("kvasir cluster of\x00"), b...))), nil
	}
	return kvpool.Key(sha256.Sum256([]byte("kvasir cluster without a key"))), nil
}

// validate refuses what cannot be.
func (n *NodeConfig) validate() error {
	switch n.Mode {
	case "prefill", "decode", "both":
	default:
		return fmt.Errorf("kvasir: Mode (--disaggregation-mode) is %q; it must be prefill, decode or both", n.Mode)
	}
	if _, _, err := net.SplitHostPort(n.Addr); err != nil {
		return fmt.Errorf("kvasir: Addr (--node-addr) is %q; it must be host:port, as in 127.0.0.1:7001", n.Addr)
	}
	if err := validateLostAfter(n.LostAfter); err != nil {
		return err
	}
	if err := n.validateMembership(); err != nil {
		return err
	}
	for _, name := range n.Transports {
		if !slices.Contains([]string{"tcp", "shm", "ucx"}, name) {
			return fmt.Errorf("kvasir: Transports (--transport) has %q; it must be tcp, shm or ucx", name)
		}
	}
	return nil
}

// pingsBeforeLost is how many times a process is asked for a sign of life before it is taken to be lost.
const pingsBeforeLost = 5

// leastLostAfter leaves a busy machine the time to answer.
const leastLostAfter = 100 * time.Millisecond

func validateLostAfter(d time.Duration) error {
	if d != 0 && d < leastLostAfter {
		return fmt.Errorf("kvasir: LostAfter (--lost-after) is %v; it must be at least %v", d, leastLostAfter)
	}
	return nil
}

// id is the node's number.
func (n *NodeConfig) id() page.Node {
	if n.ID != 0 {
		return page.Node(n.ID)
	}
	if _, port, _ := net.SplitHostPort(n.Addr); port == "0" { // many nodes may have it, and none has the same port in its next life
		return page.Node(rand.Uint64() | 1)
	}
	h := fnv.New64a()
	h.Write([]byte(n.Addr))
	return page.Node(h.Sum64() | 1)
}

// transports makes those that the configuration names.
func (n *NodeConfig) transports(t *remote.TLS) ([]transport.Transport, error) {
	names := n.Transports
	if len(names) == 0 {
		names = []string{"tcp"}
	}
	listen := n.TransferAddr
	if listen == "" {
		host, _, _ := net.SplitHostPort(n.Addr)
		listen = net.JoinHostPort(host, "0")
	}
	// Pages are what others must not see.
	for _, address := range []struct{ name, value string }{{"Addr (--node-addr)", n.Addr}, {"TransferAddr (--transfer-addr)", listen}} {
		if err := remote.MayUse(address.value, t != nil, n.Security.Insecure); err != nil {
			return nil, fmt.Errorf("kvasir: %s is %q: %w", address.name, address.value, err)
		}
	}
	var secured *tls.Config
	if t != nil {
		secured = t.Config()
	}
	var all []transport.Transport
	for _, name := range names {
		var one transport.Transport
		var err error
		switch name {
		case "tcp":
			one, err = tcp.New(tcp.Config{Listen: listen, TLS: secured})
		case "shm":
			one, err = shm.New(shm.Config{})
		case "ucx":
			one, err = ucx.New(ucx.Config{Listen: listen, TLS: secured})
		}
		if err != nil {
			return nil, fmt.Errorf("kvasir: Transports (--transport %s): %w", name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// cluster says what the engine's node needs to work with others.
func (e *Engine) cluster(cfg *actors.Config) error {
	n := e.cfg.Node
	tls, err := n.Security.tls()
	if err != nil {
		return fmt.Errorf("kvasir: %w", err)
	}
	transports, err := n.transports(tls)
	if err != nil {
		return err
	}
	vocabulary := e.file.Metadata()
	c := &actors.ClusterConfig{
		Prefill: n.Mode != "decode", Decode: n.Mode != "prefill", Listen: n.Addr, Peers: n.Peers, Transports: transports, Tracing: e.traces,
		Remote: remote.Config{TLS: tls, Insecure: n.Security.Insecure, LostAfter: n.LostAfter, PingEvery: n.LostAfter / pingsBeforeLost, Vocabulary: vocabulary, Self: remote.Hello{
			BitIdentity: n.RequireBitIdentity, Model: e.info.Name, ModelDigest: e.model.Digest(), Vocabulary: sha256.Sum256(vocabulary)}},
	}
	if slices.Contains(n.Transports, "shm") {
		slab, err := shm.NewSlab(cfg.Sched.TotalPages, cfg.Layout.PageBytes())
		if err != nil {
			return fmt.Errorf("kvasir: %w", err)
		}
		e.shared, c.Memory = &slab, &slab
	}
	if cfg.Key, err = n.Security.key(); err != nil {
		return err
	}
	cfg.Node, cfg.Cluster = n.id(), c
	// Nodes with other kernels may work together, and nodes with another key must not.
	fingerprint := sha256.Sum256(append([]byte("kvasir key fingerprint\x00"), cfg.Key[:]...))
	cfg.LayoutHash = layoutHash(e.model, cfg.Layout, hex.EncodeToString(fingerprint[:]))
	if n.Security.ClusterKeyFile == "" && n.Security.TLSCA == "" {
		e.log.Warn("the cluster has no key: the names of cached pages can be guessed by whoever reaches its nodes (--cluster-key, or --tls-ca, mends that)")
	}
	return nil
}

// freeShared gives back memory that other processes could read.
func (e *Engine) freeShared() error {
	if e.shared == nil {
		return nil
	}
	slab := *e.shared
	e.shared = nil
	return shm.Free(slab)
}

// NodeAddr is where other processes reach this engine's node; empty if it is none of a cluster.
func (e *Engine) NodeAddr() string { return e.node.Address() }

// MakeCertificates writes an authority and, for each host, a certificate and its key into dir, to try mutual TLS with. A host is a DNS name or an IP address; several names of one process are
// joined by commas. No file is overwritten. It returns the paths of the files that it wrote.
func MakeCertificates(dir string, hosts []string) ([]string, error) { return certs.Make(dir, hosts) }

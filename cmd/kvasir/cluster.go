package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kvasir-engine/kvasir"
)

// securityFlags say how processes of a cluster know each other.
type securityFlags struct {
	TLSCert    string `name:"tls-cert" placeholder:"FILE" help:"Certificate by which other processes of the cluster know this one (PEM)."`
	TLSKey     string `name:"tls-key" placeholder:"FILE" help:"Its private key."`
	TLSCA      string `name:"tls-ca" placeholder:"FILE" help:"Authority whose certificates are believed."`
	Insecure   bool   `help:"Allow addresses that are not loopback without TLS."`
	ClusterKey string `placeholder:"FILE" help:"File with the secret that goes into the names of cached pages (default: made from --tls-ca)."`
}

func (f *securityFlags) security() kvasir.Security {
	return kvasir.Security{TLSCert: f.TLSCert, TLSKey: f.TLSKey, TLSCA: f.TLSCA, Insecure: f.Insecure, ClusterKeyFile: f.ClusterKey}
}

// nodeFlags make a server a node of a cluster.
type nodeFlags struct {
	DisaggregationMode string        `default:"null" enum:"null,prefill,decode,both" placeholder:"MODE" help:"Work in a cluster: prefill reads prompts, decode writes answers, both does either; null works alone (default: null)."`
	NodeAddr           string        `placeholder:"HOST:PORT" help:"Where gateways and other nodes reach this one."`
	NodeID             uint64        `name:"node-id" placeholder:"N" help:"Number of this node, which no other has (default: made from --node-addr)."`
	PrefillPeers       []string      `placeholder:"HOST:PORT" help:"Prefill nodes that a decode node connects with (default: those of which gateways tell)."`
	Transport          []string      `placeholder:"NAME" help:"Ways to move pages, best first: shm, ucx, tcp (default: tcp)."`
	TransferAddr       string        `placeholder:"HOST:PORT" help:"Where peers fetch pages by tcp or ucx (default: a free port at the host of --node-addr)."`
	LostAfter          time.Duration `placeholder:"TIME" help:"Silence after which another process is taken to be lost (default: 5s)."`
	RequireBitIdentity bool          `help:"Refuse peers whose kernels may compute other bits."`

	etcdFlags
	securityFlags
}

// node is the configuration of a node of a cluster, nil for a server that works alone.
func (f *nodeFlags) node() (*kvasir.NodeConfig, error) {
	if f.DisaggregationMode == "null" {
		for _, given := range []struct {
			flag string
			is   bool
		}{
			{"node-addr", f.NodeAddr != ""}, {"node-id", f.NodeID != 0}, {"prefill-peers", len(f.PrefillPeers) > 0}, {"transport", len(f.Transport) > 0},
			{"transfer-addr", f.TransferAddr != ""}, {"lost-after", f.LostAfter != 0}, {"etcd", len(f.Etcd) > 0}, {"require-bit-identity", f.RequireBitIdentity},
		} {
			if given.is {
				return nil, usage("--%s is for nodes of a cluster; --disaggregation-mode says which", given.flag)
			}
		}
		return nil, nil
	}
	if f.NodeAddr == "" {
		return nil, usage("--disaggregation-mode %s needs --node-addr HOST:PORT, where others reach this node", f.DisaggregationMode)
	}
	return &kvasir.NodeConfig{
		Mode: f.DisaggregationMode, Addr: f.NodeAddr, ID: f.NodeID, Peers: f.PrefillPeers, Transports: f.Transport, TransferAddr: f.TransferAddr,
		LostAfter: f.LostAfter, RequireBitIdentity: f.RequireBitIdentity, Security: f.security(),
	}, nil
}

// certsCmd makes certificates.
type certsCmd struct {
	Dir  string   `arg:"" help:"Directory to write them to; made if it is not there."`
	Host []string `sep:"none" default:"localhost,127.0.0.1,::1" placeholder:"NAME" help:"Host name or IP address of a process, several names of one joined by commas; may be repeated, for a certificate each (default: localhost,127.0.0.1,::1)."`
}

// Help is the second paragraph of the command's help.
func (*certsCmd) Help() string {
	return "Writes an authority (ca.pem and its key) and for each --host a certificate and its key. They are good for a year. Existing files are never overwritten."
}

// Run implements the command.
func (c *certsCmd) Run(a *app) error {
	wrote, err := kvasir.MakeCertificates(c.Dir, c.Host)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, strings.Join(wrote, "\n"))
	return nil
}

// positive is a bound of a flag that must not be negative.
func positive(flag string, value float64) bound { return bound{flag, value, 0, math.MaxFloat64} }

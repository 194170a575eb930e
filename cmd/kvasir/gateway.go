package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kvasir-engine/kvasir"
)

// gatewayCmd serves a cluster's clients.
type gatewayCmd struct {
	httpFlags    `group:"HTTP"`
	clusterFlags `group:"Cluster"`
	logFlags     `group:"Log"`
	traceFlags   `group:"Log"`
}

// clusterFlags say which nodes there are.
type clusterFlags struct {
	Prefill            []string      `placeholder:"HOST:PORT" help:"Prefill nodes."`
	Decode             []string      `placeholder:"HOST:PORT" help:"Decode nodes."`
	ServedModelName    string        `placeholder:"NAME" help:"Name of the model for clients (default: the nodes')."`
	DecodeLocalPrefill int           `placeholder:"TOKENS" help:"Longest prompt that a decode node reads itself where no prefill node can be reached (default: 0, none)."`
	LostAfter          time.Duration `placeholder:"TIME" help:"Silence after which a node is taken to be lost (default: 5s)."`
	RequestTimeout     time.Duration `default:"10m" placeholder:"TIME" help:"How long a request may take (default: 10m)."`

	etcdFlags
	securityFlags
}

// Help is the second paragraph of the command's help.
func (*gatewayCmd) Help() string {
	return envHelp + " Only --port has another name, KVASIR_HTTP_PORT. A gateway needs no model file: it learns vocabulary and chat template from the nodes, keeps nothing, and several may serve one cluster."
}

// Run serves until a signal comes.
func (c *gatewayCmd) Run(a *app) error {
	if len(c.Prefill)+len(c.Decode)+len(c.Etcd) == 0 {
		return usage("a gateway needs nodes: --prefill HOST:PORT and --decode HOST:PORT, or --etcd HOST:PORT, where they are listed")
	}
	if err := check(positive("decode-local-prefill", float64(c.DecodeLocalPrefill)), positive("request-timeout", c.RequestTimeout.Seconds())); err != nil {
		return err
	}
	log, err := c.logger(a.err)
	if err != nil {
		return err
	}
	list, closing, err := c.membership(log)
	if err != nil {
		return err
	}
	defer closing()
	nodes := slices.Clone(c.Prefill)
	for _, addr := range c.Decode {
		if !slices.Contains(nodes, addr) {
			nodes = append(nodes, addr)
		}
	}
	cfg := kvasir.GatewayConfig{Nodes: nodes, Membership: list, ServedModelName: c.ServedModelName, Security: c.security(), DecodeLocalPrefill: c.DecodeLocalPrefill,
		LostAfter: c.LostAfter, RequestTimeout: c.RequestTimeout, Logger: log}
	provider, flush, err := c.provider("kvasir-gateway")
	if err != nil {
		return err
	}
	defer flush()
	cfg.TracerProvider = provider
	return c.serve(a, log, true, "waiting for a node", func(ctx context.Context) (engine, error) { return a.openGateway(ctx, cfg) })
}

type realGateway struct{ *kvasir.Gateway }

func (g realGateway) Converse(req kvasir.Request, system string) conversation {
	c := g.Chat(withSystem(system)...)
	c.Request = req
	return c
}

// NodeAddr implements engine.
func (realGateway) NodeAddr() string { return "" }

func openGateway(ctx context.Context, cfg kvasir.GatewayConfig) (engine, error) {
	g, err := kvasir.OpenGateway(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot join the cluster: %w", err)
	}
	return realGateway{g}, nil
}

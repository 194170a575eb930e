package main

import (
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir"
)

// etcdFlags say where the list of a cluster's nodes is.
type etcdFlags struct {
	Etcd       []string `placeholder:"HOST:PORT" help:"Servers of etcd, which keeps the list of nodes: nodes enter themselves, gateways find them (default: none)."`
	EtcdPrefix string   `placeholder:"KEY" help:"What the cluster's keys in etcd begin with (default: /kvasir)."`
	EtcdCert   string   `placeholder:"FILE" help:"Certificate by which etcd knows this process (PEM)."`
	EtcdKey    string   `placeholder:"FILE" help:"Its private key."`
	EtcdCA     string   `name:"etcd-ca" placeholder:"FILE" help:"Authority of etcd's certificates (default: no TLS)."`
}

// membership opens the list that the flags name. Without one it is nil. Close ends it, and may be called in either case.
func (f *etcdFlags) membership(log *zap.Logger) (m kvasir.Membership, closing func(), err error) {
	if len(f.Etcd) == 0 {
		for flag, value := range map[string]string{"etcd-prefix": f.EtcdPrefix, "etcd-cert": f.EtcdCert, "etcd-key": f.EtcdKey, "etcd-ca": f.EtcdCA} {
			if value != "" {
				return nil, nil, usage("--%s says something of etcd's servers; --etcd HOST:PORT says which", flag)
			}
		}
		return nil, func() {}, nil
	}
	e, err := kvasir.NewEtcd(kvasir.EtcdConfig{Endpoints: f.Etcd, Prefix: f.EtcdPrefix, TLSCert: f.EtcdCert, TLSKey: f.EtcdKey, TLSCA: f.EtcdCA, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	return e, func() {
		if err := e.Close(); err != nil {
			log.Warn("leaving etcd", zap.Error(err))
		}
	}, nil
}

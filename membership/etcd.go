package membership

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/internal/outage"
)

// EtcdConfig says where the list is. Endpoints is required; the zero value of every other field stands for the default that is named.
type EtcdConfig struct {
	// Endpoints are etcd's servers: "host:port", or a URL.
	Endpoints []string
	// Prefix is what the cluster's keys begin with; the nodes are at PREFIX/nodes/ID. Empty: "/kvasir". Clusters that share an etcd need one each.
	Prefix string
	// TLSCert and TLSKey are PEM files: the certificate by which etcd knows this process, and its key. Both or none.
	TLSCert, TLSKey string
	// TLSCA is a PEM file: the authority whose certificates etcd's servers have. Empty: no TLS, unless an endpoint begins with https or there is TLSCert; then the system's authorities.
	TLSCA string
	// TTL is how long a node stays in the list when nothing is heard of it any more, in whole seconds, at least two. 0: 10 seconds.
	TTL time.Duration
	// Logger hears when etcd cannot be reached, and when it can again. nil: nothing is logged.
	Logger *zap.Logger
}

const (
	etcdTimeout = 5 * time.Second        // of one question
	leaveWithin = 2 * time.Second        // to take a node out of the list; if that fails it goes with its lease
	retryLeast  = 250 * time.Millisecond // between tries; doubled up to
	retryMost   = 4 * time.Second
	listAgain   = 30 * time.Second // see Etcd.follow
)

// Etcd is a list of nodes in etcd. A node's entry hangs on a lease, which the node keeps alive.
type Etcd struct {
	client    *clientv3.Client
	prefix    string // of the nodes' keys
	ttl       int64  // seconds
	log       *zap.Logger
	listAgain time.Duration

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	mu     sync.Mutex // so that nothing begins after Close
	all    sync.WaitGroup
}

// NewEtcd does not wait for a connection. What it returns must be closed.
func NewEtcd(cfg EtcdConfig) (*Etcd, error) {
	if cfg.TTL == 0 {
		cfg.TTL = 10 * time.Second
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "/kvasir"
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.TTL < 2*time.Second || cfg.TTL%time.Second != 0 {
		return nil, fmt.Errorf("membership: TTL is %v; it must be whole seconds, two or more", cfg.TTL)
	}
	secure, err := cfg.tls()
	if err != nil {
		return nil, err
	}
	urls, err := cfg.urls(secure != nil)
	if err != nil {
		return nil, err
	}
	e := &Etcd{prefix: strings.TrimRight(cfg.Prefix, "/") + "/nodes/", ttl: int64(cfg.TTL / time.Second), log: cfg.Logger, listAgain: listAgain}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	// The client's own log tells every try.
	e.client, err = clientv3.New(clientv3.Config{Endpoints: urls, TLS: secure, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		e.cancel()
		return nil, fmt.Errorf("membership: etcd: %w", err)
	}
	return e, nil
}

func (c *EtcdConfig) urls(secure bool) ([]string, error) {
	if len(c.Endpoints) == 0 {
		return nil, errors.New("membership: no server of etcd is named (--etcd)")
	}
	urls := slices.Clone(c.Endpoints)
	for i, u := range urls {
		switch {
		case strings.TrimSpace(u) == "":
			return nil, errors.New("membership: a server of etcd (--etcd) has an empty address; it must be host:port")
		case strings.Contains(u, "://"):
		case secure:
			urls[i] = "https://" + u
		default:
			urls[i] = "http://" + u
		}
	}
	return urls, nil
}

func (c *EtcdConfig) tls() (*tls.Config, error) {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return nil, errors.New("membership: of the certificate for etcd and its key (--etcd-cert, --etcd-key) one is missing")
	}
	if c.TLSCert == "" && c.TLSCA == "" {
		return nil, nil
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("membership: the certificate for etcd (--etcd-cert, --etcd-key): %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	if c.TLSCA != "" {
		b, err := os.ReadFile(c.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("membership: the authority of etcd (--etcd-ca): %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(b) {
			return nil, fmt.Errorf("membership: the authority of etcd (--etcd-ca): %s has no certificate in PEM form", c.TLSCA)
		}
	}
	return secure, nil
}

// Close ends Announce and Watch, wherever they run, and waits for them: what was announced is taken out of the list.
func (e *Etcd) Close() error {
	e.mu.Lock()
	e.cancel()
	e.mu.Unlock()
	e.all.Wait()
	if err := e.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("membership: etcd: %w", err)
	}
	return nil
}

// Announce implements Membership.
func (e *Etcd) Announce(ctx context.Context, node Node) {
	e.persist(ctx, "this node cannot be entered into etcd's list of nodes; those that are connected stay so", func(ctx context.Context, works func()) error {
		if err := node.validate(); err != nil {
			return err
		}
		return e.hold(ctx, node, works)
	})
}

// Watch implements Membership.
func (e *Etcd) Watch(ctx context.Context, changed func([]Node)) {
	var told []Node
	first := true
	tell := func(nodes []Node) {
		if first || !slices.Equal(nodes, told) {
			first, told = false, slices.Clone(nodes)
			changed(nodes)
		}
	}
	e.persist(ctx, "etcd's list of nodes cannot be read; those that are known stay so", func(ctx context.Context, works func()) error {
		return e.follow(ctx, works, tell)
	})
}

// persist calls try again and again until ctx ends, with a pause after an error. Try calls works when it has succeeded so far.
func (e *Etcd) persist(ctx context.Context, trouble string, try func(ctx context.Context, works func()) error) {
	e.mu.Lock()
	if e.ctx.Err() != nil {
		e.mu.Unlock()
		return
	}
	e.all.Add(1)
	e.mu.Unlock()
	defer e.all.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()

	var out outage.Outage
	wait := retryLeast
	works := func() {
		wait = retryLeast
		if lasted, was := out.Over(time.Now()); was {
			e.log.Info("etcd can be reached again", zap.Duration("after", lasted))
		}
	}
	for ctx.Err() == nil {
		err := try(ctx, works)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if lasted, say := out.Failed(time.Now(), trouble); say {
			e.log.Warn(trouble, zap.Duration("for", lasted), zap.Error(err))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, retryMost)
	}
}

func (e *Etcd) key(n Node) string { return fmt.Sprint(e.prefix, n.ID) }

// hold enters node and keeps it there until ctx ends, when it is taken out, or until the lease is lost, which is an error. The entry of another process with the same number is replaced: it should be a
// former life.
func (e *Etcd) hold(ctx context.Context, node Node, works func()) error {
	asked, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	lease, err := e.client.Grant(asked, e.ttl)
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() != nil {
			e.leave(lease.ID)
		}
	}()
	put, err := e.client.Put(asked, e.key(node), node.encode(), clientv3.WithLease(lease.ID), clientv3.WithPrevKV())
	if err != nil {
		return err
	}
	if put.PrevKv != nil {
		e.compare(put.PrevKv.Value, node)
	}
	holding, stop := context.WithCancel(ctx)
	defer stop()
	alive, err := e.client.KeepAlive(holding, lease.ID)
	if err != nil {
		return err
	}
	for range alive { // three times in each TTL
		works()
		if err := e.mend(ctx, node, lease.ID); err != nil {
			return err
		}
	}
	return fmt.Errorf("the lease of %d s has not been kept alive", e.ttl)
}

// leave takes out what hangs on the lease. What another process has entered in its place stays.
func (e *Etcd) leave(lease clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), leaveWithin)
	defer cancel()
	if _, err := e.client.Revoke(ctx, lease); err != nil {
		e.log.Info("this node could not be taken out of etcd's list of nodes; it goes by itself", zap.Int64("within_seconds", e.ttl), zap.Error(err))
	}
}

// mend enters node again if somebody has taken it out.
func (e *Etcd) mend(ctx context.Context, node Node, lease clientv3.LeaseID) error {
	asked, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	key := e.key(node)
	said, err := e.client.Txn(asked).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, node.encode(), clientv3.WithLease(lease))).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return err
	}
	if said.Succeeded {
		e.log.Warn("somebody had taken this node out of etcd's list of nodes; it is there again")
		return nil
	}
	for _, kv := range said.Responses[0].GetResponseRange().Kvs {
		e.compare(kv.Value, node)
	}
	return nil
}

// compare warns of another process with the number of this node.
func (e *Etcd) compare(entry []byte, node Node) {
	if other, err := decode(entry); err == nil && other.Address != node.Address {
		e.log.Warn("another process is or was in etcd's list of nodes by the number of this node; each needs its own (--node-id)", zap.Uint64("id", node.ID),
			zap.String("its", other.Address), zap.String("ours", node.Address))
	}
}

// follow tells of the list as it is and as it changes. It returns without an error after a while, to list anew: an etcd that has come back with an older state, from a backup or with none, would let a
// watch wait for a revision that is far away.
func (e *Etcd) follow(ctx context.Context, works func(), tell func([]Node)) error {
	asked, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	got, err := e.client.Get(asked, e.prefix, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	works()
	nodes := map[string]Node{}
	for _, kv := range got.Kvs {
		e.enter(nodes, kv.Key, kv.Value)
	}
	tell(sorted(nodes))
	watching, stop := context.WithTimeout(ctx, e.listAgain)
	defer stop()
	for said := range e.client.Watch(clientv3.WithRequireLeader(watching), e.prefix, clientv3.WithPrefix(), clientv3.WithRev(got.Header.Revision+1)) {
		if err := said.Err(); err != nil {
			if watching.Err() != nil {
				return nil
			}
			return err
		}
		for _, ev := range said.Events {
			delete(nodes, string(ev.Kv.Key))
			if ev.Type == clientv3.EventTypePut {
				e.enter(nodes, ev.Kv.Key, ev.Kv.Value)
			}
		}
		tell(sorted(nodes))
	}
	return nil
}

// enter puts an entry of the list into nodes, if it is one.
func (e *Etcd) enter(nodes map[string]Node, key, value []byte) {
	n, err := decode(value)
	if err == nil && !bytes.Equal(key, []byte(e.key(n))) {
		err = fmt.Errorf("membership: the entry is of node %d", n.ID)
	}
	if err != nil {
		e.log.Warn("an entry in etcd's list of nodes is not used", zap.ByteString("key", key), zap.Error(err))
		return
	}
	nodes[string(key)] = n
}

func sorted(nodes map[string]Node) []Node {
	return slices.SortedFunc(maps.Values(nodes), func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
}

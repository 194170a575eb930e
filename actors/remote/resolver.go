package remote

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kvasir-engine/kvasir/actors/wire"
)

// Outbound is what a channel actor gets of a message that an actor of this process has sent to a PID of its peer: Message is for Peer.Send. The id in the PID is not sent; who takes a message at
// the peer follows from what it is.
type Outbound struct{ Message any }

// Resolver lets actors of a system send to other processes as they do to each other: a PID whose Address is a peer's stands for the channel actor of that peer. What cannot go there is a dead letter,
// as with any PID behind which there is nobody, and is counted: a message that is not of package wire, a peer without a channel, a wish to stop or watch, which no actor may have of another process's. A
// Resolver is a prometheus.Collector.
type Resolver struct {
	system *actor.ActorSystem
	dead   *prometheus.CounterVec

	mu       sync.RWMutex
	channels map[string]*actor.PID
}

// Why a message to a peer is a dead letter.
const (
	deadForeign = "foreign" // not of package wire
	deadUnbound = "unbound" // no channel to that address
	deadSystem  = "system"  // of the actor library itself
)

// NewResolver makes a Resolver and registers it with system, before any actor uses a PID of a peer.
func NewResolver(system *actor.ActorSystem) *Resolver {
	r := &Resolver{
		system: system, channels: map[string]*actor.PID{},
		dead: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kvasir_peer_dead_letters_total", Help: "Messages of actors to peers that could not go there."}, []string{"reason"}),
	}
	for _, reason := range []string{deadForeign, deadUnbound, deadSystem} {
		r.dead.WithLabelValues(reason)
	}
	system.ProcessRegistry.RegisterAddressResolver(r.resolve)
	return r
}

// Bind lets PIDs of address stand for channel from now on.
func (r *Resolver) Bind(address string, channel *actor.PID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.channels[address] = channel
}

// Unbind: channel is over. If another one has been bound to address meanwhile, that stays.
func (r *Resolver) Unbind(address string, channel *actor.PID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.channels[address].Equal(channel) {
		delete(r.channels, address)
	}
}

func (r *Resolver) channel(address string) *actor.PID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.channels[address]
}

// resolve is the library's question for a PID of another address. A PID keeps the answer for as long as it lives, so the answer is a process that looks anew for each message who is bound.
func (r *Resolver) resolve(*actor.PID) (actor.Process, bool) { return remoteProcess{r}, true }

// Describe implements prometheus.Collector.
func (r *Resolver) Describe(ch chan<- *prometheus.Desc) { r.dead.Describe(ch) }

// Collect implements prometheus.Collector.
func (r *Resolver) Collect(ch chan<- prometheus.Metric) { r.dead.Collect(ch) }

// remoteProcess stands for whatever is at another address.
type remoteProcess struct{ r *Resolver }

func (p remoteProcess) SendUserMessage(pid *actor.PID, message any) {
	m := actor.UnwrapEnvelopeMessage(message)
	reason := deadForeign
	if wire.Ours(m) {
		if channel := p.r.channel(pid.Address); channel != nil {
			p.r.system.Root.Send(channel, &Outbound{Message: m})
			return
		}
		reason = deadUnbound
	}
	p.r.dead.WithLabelValues(reason).Inc()
	p.r.system.DeadLetter.SendUserMessage(pid, message)
}

func (p remoteProcess) SendSystemMessage(pid *actor.PID, message any) {
	p.r.dead.WithLabelValues(deadSystem).Inc()
	p.r.system.DeadLetter.SendSystemMessage(pid, message) // which tells a watcher that there is nobody
}

func (p remoteProcess) Stop(pid *actor.PID) {
	p.r.dead.WithLabelValues(deadSystem).Inc()
	p.r.system.DeadLetter.Stop(pid)
}

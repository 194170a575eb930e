package kvpooltest

import (
	"encoding/binary"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// appendEvent appends an encoding of all fields of an event: two events are equal if theirs are.
func appendEvent(b []byte, ev *kvpool.Event) []byte {
	u := func(n ...uint64) {
		for _, x := range n {
			b = binary.AppendUvarint(b, x)
		}
	}
	r := func(refs ...page.Ref) {
		for _, x := range refs {
			u(uint64(x.Node), uint64(x.Incarnation), uint64(x.Page), uint64(x.Generation))
		}
	}
	flag := func(f bool) {
		if f {
			u(1)
		} else {
			u(0)
		}
	}
	u(uint64(ev.Kind), uint64(ev.N), uint64(ev.Seq), ev.Job, uint64(ev.Domain), uint64(ev.Checksum), uint64(ev.To), uint64(ev.Tokens), uint64(uint32(ev.First)))
	flag(ev.Last)
	flag(ev.Failed)
	r(ev.Ref)
	u(uint64(len(ev.Refs)))
	r(ev.Refs...)
	u(uint64(len(ev.Hashes)))
	for _, h := range ev.Hashes {
		b = append(b, h[:]...)
	}
	u(uint64(len(ev.Spends)))
	for _, s := range ev.Spends {
		r(s.Ref)
		u(uint64(s.Seq))
	}
	u(uint64(len(ev.Seals)))
	for _, s := range ev.Seals {
		r(s.Ref)
		u(uint64(s.Seq), uint64(s.Domain), uint64(s.Checksum))
		b = append(b, s.Chain[:]...)
		flag(s.Full)
	}
	u(uint64(len(ev.Bad)))
	for _, i := range ev.Bad {
		u(uint64(i))
	}
	u(uint64(ev.Link.Peer), uint64(ev.Link.Incarnation), ev.Link.Epoch, ev.Attempt.Gateway, ev.Attempt.Number, uint64(ev.Attempt.Prefill))
	if ev.Kind == kvpool.EvMessage {
		b = kvpool.AppendMessage(b, &ev.Message)
	}
	return b
}

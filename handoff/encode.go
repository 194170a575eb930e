package handoff

import (
	"encoding/binary"
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// AppendMessage appends the canonical encoding of m to b: its kind in one byte, then of the fields that count for it, in the order of [Message]:
//
//	numbers          8 bytes, little endian; bools and small names 1 byte
//	tokens           their count, then 4 bytes each
//	strings, bytes   their length, then themselves
//	lists            their count, then each
//
// Two messages are equal if their encodings are. A pointer that is nil is encoded as what it would point to, zero.
func AppendMessage(b []byte, m *Message) []byte {
	w := writer{b}
	w.byte(byte(m.Kind))
	if m.Kind != MsgStatus {
		w.attempt(m.Attempt)
	}
	w.uint64(uint64(m.Life))
	switch m.Kind {
	case MsgSubmit:
		w.byte(byte(m.Role))
		w.link(m.Link)
		w.uint64(uint64(m.Remaining))
		w.spec(orZero(m.Spec))
	case MsgPoll:
		w.int(m.Have)
	case MsgRejected:
		r := orZero(m.Rejection)
		w.string(string(r.Limit))
		w.string(r.Field)
		w.int(r.Have)
		w.int(r.Max)
		w.string(r.Why)
	case MsgPrefilled, MsgTokens:
		w.int(m.First)
		w.tokens(m.Tokens)
		w.int(len(m.Details))
		for _, d := range m.Details {
			w.string(string(d))
		}
	case MsgEnd:
		w.byte(byte(m.Reason))
		w.int(m.Total)
		w.int(m.Need)
		w.int(m.Max)
		w.string(m.Why)
	case MsgStatus:
		w.status(orZero(m.Status))
	}
	return w.b
}

// DecodeMessage is the inverse of AppendMessage: it takes exactly what that can write, and nothing after it. What the message says is not judged. The message shares no memory with b.
func DecodeMessage(b []byte) (Message, error) {
	r := reader{b: b}
	m := Message{Kind: MessageKind(r.byte())}
	if m.Kind != MsgStatus {
		m.Attempt = r.attempt()
	}
	m.Life = page.Incarnation(r.uint64())
	switch m.Kind {
	case MsgSubmit:
		m.Role, m.Link, m.Remaining = Role(r.byte()), r.link(), int64(r.uint64())
		m.Spec = r.spec()
	case MsgPoll:
		m.Have = r.int()
	case MsgRejected:
		m.Rejection = &request.Rejection{Limit: request.Limit(r.bytes()), Field: string(r.bytes()), Have: r.int(), Max: r.int(), Why: string(r.bytes())}
	case MsgPrefilled, MsgTokens:
		m.First, m.Tokens = r.int(), r.tokens()
		for range r.count(8) {
			m.Details = append(m.Details, r.bytes())
		}
	case MsgEnd:
		m.Reason, m.Total, m.Need, m.Max, m.Why = Reason(r.byte()), r.int(), r.int(), r.int(), string(r.bytes())
	case MsgStatus:
		m.Status = r.status()
	case MsgCancel, MsgAccepted, MsgClosed:
	default:
		return Message{}, fmt.Errorf("handoff: message: kind %d, must be %d to %d", m.Kind, MsgSubmit, MsgStatus)
	}
	switch {
	case r.short:
		return Message{}, fmt.Errorf("handoff: message: ends after %d bytes, too soon for what it announces", len(b))
	case r.strange:
		return Message{}, fmt.Errorf("handoff: message: a number is larger than its field")
	case len(r.b) > 0:
		return Message{}, fmt.Errorf("handoff: message: %d bytes follow its end", len(r.b))
	}
	return m, nil
}

func orZero[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

type writer struct{ b []byte }

func (w *writer) byte(v byte)     { w.b = append(w.b, v) }
func (w *writer) uint64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *writer) int(v int)       { w.uint64(uint64(v)) }

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

func (w *writer) string(s string) {
	w.int(len(s))
	w.b = append(w.b, s...)
}

func (w *writer) tokens(t []int32) {
	w.int(len(t))
	for _, v := range t {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(v))
	}
}

func (w *writer) attempt(a kvpool.Attempt) {
	w.uint64(a.Gateway)
	w.uint64(a.Number)
	w.uint64(uint64(a.Prefill))
}

func (w *writer) link(l kvpool.Link) {
	w.uint64(uint64(l.Peer))
	w.uint64(uint64(l.Incarnation))
	w.uint64(l.Epoch)
}

func (w *writer) spec(s *Spec) {
	w.string(s.Request)
	w.uint64(uint64(s.Choice))
	w.string(s.Tenant)
	w.string(s.Domain)
	w.tokens(s.Prompt)
	w.int(s.MaxTokens)
	w.tokens(s.StopTokens)
	w.string(string(s.Sampling))
	w.uint64(s.Seed)
	w.bool(s.Details)
}

func (w *writer) status(s *Status) {
	w.uint64(s.Serial)
	for _, v := range [...]bool{s.Ready, s.Draining, s.Prefill, s.Decode} {
		w.bool(v)
	}
	for _, v := range [...]int{s.Load.FreePages, s.Load.TotalPages, s.Load.Waiting, s.Load.Running, s.Limits.MaxModelLen, s.Limits.PoolTokens, len(s.Links)} {
		w.int(v)
	}
	for _, l := range s.Links {
		w.link(l)
	}
}

// reader takes values from the front of b, zeros where it is at an end.
type reader struct {
	b       []byte
	short   bool
	strange bool
}

// take is the next n bytes, or none.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.short, r.b = true, nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte {
	if v := r.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if v := r.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (r *reader) int() int { return int(r.uint64()) }

func (r *reader) bool() bool {
	v := r.byte()
	r.strange = r.strange || v > 1
	return v == 1
}

// count is the length of a list whose elements have so many bytes at least.
func (r *reader) count(size int) int {
	n := r.uint64()
	if n > uint64(len(r.b)/size) {
		r.short, r.b = true, nil
		return 0
	}
	return int(n)
}

// bytes is nil where there are none.
func (r *reader) bytes() []byte { return append([]byte(nil), r.take(r.uint64())...) }

func (r *reader) tokens() []int32 {
	n := r.count(4)
	if n == 0 {
		return nil
	}
	t := make([]int32, n)
	for i := range t {
		t[i] = int32(binary.LittleEndian.Uint32(r.take(4)))
	}
	return t
}

func (r *reader) attempt() kvpool.Attempt {
	return kvpool.Attempt{Gateway: r.uint64(), Number: r.uint64(), Prefill: page.Incarnation(r.uint64())}
}

func (r *reader) link() kvpool.Link {
	return kvpool.Link{Peer: page.Node(r.uint64()), Incarnation: page.Incarnation(r.uint64()), Epoch: r.uint64()}
}

func (r *reader) spec() *Spec {
	s := &Spec{Request: string(r.bytes())}
	choice := r.uint64()
	s.Choice, r.strange = uint32(choice), r.strange || choice > 1<<32-1
	s.Tenant, s.Domain, s.Prompt = string(r.bytes()), string(r.bytes()), r.tokens()
	s.MaxTokens, s.StopTokens, s.Sampling = r.int(), r.tokens(), r.bytes()
	s.Seed, s.Details = r.uint64(), r.bool()
	return s
}

func (r *reader) status() *Status {
	s := &Status{Serial: r.uint64(), Ready: r.bool(), Draining: r.bool(), Prefill: r.bool(), Decode: r.bool()}
	s.Load = Load{FreePages: r.int(), TotalPages: r.int(), Waiting: r.int(), Running: r.int()}
	s.Limits = Limits{MaxModelLen: r.int(), PoolTokens: r.int()}
	for range r.count(24) {
		s.Links = append(s.Links, r.link())
	}
	return s
}

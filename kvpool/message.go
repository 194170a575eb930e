package kvpool

import (
	"encoding/binary"
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Link and Attempt are the leaf's, which others name too.
type (
	Link    = page.Link
	Attempt = page.Attempt
)

// MessageKind says what a message between the two nodes of an attempt says.
type MessageKind uint8

const (
	// MsgOffer, from the prefill node: these pages may be read.
	MsgOffer MessageKind = iota + 1
	// MsgRelease, from the decode node: no read of this attempt is out, and none will ever be issued.
	MsgRelease
	// MsgRevoke, from the prefill node: read nothing more of this attempt; drain and answer MsgRelease.
	MsgRevoke
)

// Status says why a decode node released an attempt.
type Status uint8

const (
	Done      Status = iota + 1 // all pages accepted
	Cancelled                   // by the gateway, or revoked, or unknown here
	Refused                     // no room: Have pages were needed, Max could be had
	Mismatch                    // Page (its place in the prompt; -1: no single one) was not what the gateway's tokens say, or did not arrive as offered
	Lost                        // never sent: the connection was lost, or the peer has restarted
)

// Message is what the two nodes of an attempt tell each other. Which fields count is said at each kind; the others are zero. Its canonical encoding
// ([AppendMessage]) defines when two messages are equal.
type Message struct {
	Kind    MessageKind
	Attempt Attempt
	From    page.Incarnation // the sender's
	To      page.Incarnation // the receiver's, as the sender knows it
	Epoch   uint64

	// MsgOffer
	Total int     // pages of the whole attempt
	Group int     // 0, 1, ...: groups may arrive in any order
	First int     // place in the prompt of the group's first page
	Pages []Offer // in the prompt's order
	Seal  *SealOf // in the last group

	// MsgRelease
	Status    Status
	Page      int
	Have, Max int
}

// Offer is one page that may be read.
type Offer struct {
	Ref      page.Ref
	Chain    page.Hash // to the end of its last filled slot
	Checksum uint32    // of its bytes
	Fill     int       // slots filled
}

// SealOf ends the offers of an attempt: the sequence may start when all of this has been accepted, and nothing less.
type SealOf struct {
	Groups int   // groups of the attempt
	Tokens int   // of the prompt
	First  int32 // the first token of the answer
}

// AppendMessage appends the canonical encoding of m to b: of the fields that count for its kind, all numbers in 8 bytes, little endian. Two
// messages are equal if their encodings are.
func AppendMessage(b []byte, m *Message) []byte {
	le := binary.LittleEndian
	b = append(b, byte(m.Kind))
	for _, n := range [...]uint64{m.Attempt.Gateway, m.Attempt.Number, uint64(m.Attempt.Prefill), uint64(m.From), uint64(m.To), m.Epoch} {
		b = le.AppendUint64(b, n)
	}
	switch m.Kind {
	case MsgOffer:
		for _, n := range [...]int{m.Total, m.Group, m.First, len(m.Pages)} {
			b = le.AppendUint64(b, uint64(n))
		}
		for i := range m.Pages {
			o := &m.Pages[i]
			for _, n := range [...]uint64{uint64(o.Ref.Node), uint64(o.Ref.Incarnation), uint64(o.Ref.Page), uint64(o.Ref.Generation)} {
				b = le.AppendUint64(b, n)
			}
			b = append(b, o.Chain[:]...)
			b = le.AppendUint64(b, uint64(o.Checksum))
			b = le.AppendUint64(b, uint64(o.Fill))
		}
		if m.Seal == nil {
			return append(b, 0)
		}
		b = append(b, 1)
		for _, n := range [...]int{m.Seal.Groups, m.Seal.Tokens, int(m.Seal.First)} {
			b = le.AppendUint64(b, uint64(n))
		}
	case MsgRelease:
		b = append(b, byte(m.Status))
		for _, n := range [...]int{m.Page, m.Have, m.Max} {
			b = le.AppendUint64(b, uint64(n))
		}
	}
	return b
}

// offerSize is the size of an encoded Offer in bytes.
const offerSize = 4*8 + 16 + 2*8

// DecodeMessage is the inverse of AppendMessage: it takes exactly what that can write, and nothing after it. What the message says is not judged. The message shares no
// memory with b.
func DecodeMessage(b []byte) (Message, error) {
	r := reader{b: b}
	m := Message{Kind: MessageKind(r.byte())}
	m.Attempt = Attempt{Gateway: r.uint64(), Number: r.uint64(), Prefill: page.Incarnation(r.uint64())}
	m.From, m.To, m.Epoch = page.Incarnation(r.uint64()), page.Incarnation(r.uint64()), r.uint64()
	switch m.Kind {
	case MsgOffer:
		m.Total, m.Group, m.First = r.int(), r.int(), r.int()
		n := r.uint64()
		if n > uint64(len(r.b)/offerSize) {
			return Message{}, fmt.Errorf("kvpool: message: %d pages are announced, %d bytes follow", n, len(r.b))
		}
		for range n {
			m.Pages = append(m.Pages, r.offer())
		}
		switch has := r.byte(); has {
		case 0:
		case 1:
			m.Seal = &SealOf{Groups: r.int(), Tokens: r.int(), First: int32(r.within(-1<<31, 1<<31-1))}
		default:
			return Message{}, fmt.Errorf("kvpool: message: the seal's mark is %d, must be 0 or 1", has)
		}
	case MsgRelease:
		m.Status = Status(r.byte())
		m.Page, m.Have, m.Max = r.int(), r.int(), r.int()
	case MsgRevoke:
	default:
		return Message{}, fmt.Errorf("kvpool: message: kind %d, must be %d to %d", m.Kind, MsgOffer, MsgRevoke)
	}
	switch {
	case r.short:
		return Message{}, fmt.Errorf("kvpool: message: ends after %d bytes, too soon", len(b))
	case r.beyond:
		return Message{}, fmt.Errorf("kvpool: message: a number is larger than its field")
	case len(r.b) > 0:
		return Message{}, fmt.Errorf("kvpool: message: %d bytes follow its end", len(r.b))
	}
	return m, nil
}

// reader takes numbers from the front of b, zeros where it is at an end.
type reader struct {
	b      []byte
	short  bool
	beyond bool
}

func (r *reader) byte() byte {
	if len(r.b) < 1 {
		r.short = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uint64() uint64 {
	if len(r.b) < 8 {
		r.short, r.b = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *reader) int() int { return int(r.uint64()) }

func (r *reader) within(low, high int) int {
	n := r.int()
	r.beyond = r.beyond || n < low || n > high
	return n
}

func (r *reader) offer() Offer {
	o := Offer{Ref: page.Ref{Node: page.Node(r.uint64()), Incarnation: page.Incarnation(r.uint64())}}
	o.Ref.Page = page.Index(r.within(0, 1<<32-1))
	o.Ref.Generation = page.Generation(r.uint64())
	r.b = r.b[copy(o.Chain[:], r.b):]
	o.Checksum = uint32(r.within(0, 1<<32-1))
	o.Fill = r.int()
	return o
}

// Package page holds the names of KV pages and their headers: types and encodings only.
//
// It is a leaf: it imports the standard library only, and everyone may import it.
package page

import (
	"encoding/binary"
	"fmt"
)

// Node names a node of a cluster. A single node is 0.
type Node uint64

// Incarnation is new at each start of a process. A reference from another incarnation changes nothing.
type Incarnation uint64

// Index is a page's place in the slab: byte offset Index*pageBytes.
type Index uint32

// Generation grows each time a page leaves Free. 0 is never a valid generation.
type Generation uint64

// Seq names a sequence: one choice of one request in one incarnation. Never reused. 0 is nobody.
type Seq uint64

// Domain names a cache domain (a tenant, or a group of them). Cached pages never cross it.
type Domain uint64

// Hash is a token-chain hash: SHA-256 cut to 128 bits over cluster key, cache domain, layout hash and all tokens up to a point.
type Hash [16]byte

func (h Hash) String() string { return fmt.Sprintf("%x", h[:]) }

// Ref names one life of one page. Holding a Ref is not owning the page: the ledger says who owns it.
type Ref struct {
	Node        Node
	Incarnation Incarnation
	Page        Index
	Generation  Generation
}

func (r Ref) String() string {
	return fmt.Sprintf("%d/%x:%d@%d", r.Node, uint64(r.Incarnation), r.Page, r.Generation)
}

// Link is one connection with a peer, named by the hello of its control stream. Attempts live and die with it: a peer that reconnects is
// a new link.
type Link struct {
	Peer        Node
	Incarnation Incarnation // the peer's
	Epoch       uint64      // of the connection; ascending for a pair of incarnations
}

func (l Link) String() string { return fmt.Sprintf("%d/%x#%d", l.Peer, uint64(l.Incarnation), l.Epoch) }

// Attempt names one try of one request over one pair of nodes. Each try has a new one, and none is ever used again.
type Attempt struct {
	Gateway uint64      // the incarnation of the gateway that made it
	Number  uint64      // ascending in that gateway, from 1
	Prefill Incarnation // the life of the prefill node that it is for
}

func (a Attempt) String() string {
	return fmt.Sprintf("%x.%d@%x", a.Gateway, a.Number, uint64(a.Prefill))
}

// Valid: all parts of the name are set.
func (a Attempt) Valid() bool { return a.Gateway != 0 && a.Number != 0 && a.Prefill != 0 }

// Spend gives an allotted page to the sequence that fills it from now on.
type Spend struct {
	Ref Ref
	Seq Seq
}

// HeaderSize is the size of an encoded header in bytes.
const HeaderSize = 64

// Header lives beside a page's bytes on the device.
//
// While the page is filled, Writer is the sequence that fills it, Chain the hash up to the page's start, and Domain and Checksum are 0. Once sealed,
// Writer is 0, Chain is the hash up to the page's end (its last filled slot), and Domain and Checksum are set. A page never written in this
// life, or scrubbed, has the zero header.
type Header struct {
	Generation Generation
	Writer     Seq
	Domain     Domain
	Chain      Hash
	Fill       uint32 // slots filled
	Checksum   uint32 // crc32c (Castagnoli) of the page's bytes
	Sealed     bool
}

// Encode writes h into b[:HeaderSize].
func (h *Header) Encode(b []byte) {
	_ = b[HeaderSize-1]
	binary.LittleEndian.PutUint64(b[0:], uint64(h.Generation))
	binary.LittleEndian.PutUint64(b[8:], uint64(h.Writer))
	binary.LittleEndian.PutUint64(b[16:], uint64(h.Domain))
	copy(b[24:40], h.Chain[:])
	binary.LittleEndian.PutUint32(b[40:], h.Fill)
	binary.LittleEndian.PutUint32(b[44:], h.Checksum)
	clear(b[48:HeaderSize])
	if h.Sealed {
		b[48] = 1
	}
}

// Is reports whether h is what Decode would read from b[:HeaderSize], but for the checksum where that may be any.
func (h *Header) Is(b []byte, anyChecksum bool) bool {
	_ = b[HeaderSize-1]
	return binary.LittleEndian.Uint64(b[0:]) == uint64(h.Generation) &&
		binary.LittleEndian.Uint64(b[8:]) == uint64(h.Writer) &&
		binary.LittleEndian.Uint64(b[16:]) == uint64(h.Domain) &&
		Hash(b[24:40]) == h.Chain &&
		binary.LittleEndian.Uint32(b[40:]) == h.Fill &&
		(anyChecksum || binary.LittleEndian.Uint32(b[44:]) == h.Checksum) &&
		(b[48] == 1) == h.Sealed
}

// Decode reads h from b[:HeaderSize].
func (h *Header) Decode(b []byte) {
	_ = b[HeaderSize-1]
	h.Generation = Generation(binary.LittleEndian.Uint64(b[0:]))
	h.Writer = Seq(binary.LittleEndian.Uint64(b[8:]))
	h.Domain = Domain(binary.LittleEndian.Uint64(b[16:]))
	copy(h.Chain[:], b[24:40])
	h.Fill = binary.LittleEndian.Uint32(b[40:])
	h.Checksum = binary.LittleEndian.Uint32(b[44:])
	h.Sealed = b[48] == 1
}

package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// Protocol is the version of the control wire: of the files in protos/kvasir/v1 and of what this package says about them. Only equal versions talk.
const Protocol = 1

// Bounds of a hello's texts and lists.
const (
	maxText       = 1024
	maxTransports = wire.MaxDescriptors
)

// Kind is what a process is.
type Kind uint8

const (
	Node    Kind = iota + 1 // holds pages and computes
	Gateway                 // takes requests and spreads them over nodes
)

func (k Kind) String() string {
	switch k {
	case Node:
		return "node"
	case Gateway:
		return "gateway"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Hello is what a process says of itself at the beginning of a connection. Of a gateway only the first group counts.
type Hello struct {
	Protocol    uint32 // filled in by New
	Kind        Kind
	ID          page.Node        // of nodes and of gateways each unique in a cluster
	Incarnation page.Incarnation // new at each start; never 0
	Address     string           // where it listens; "": the address of the listener, or nowhere

	Prefill, Decode bool
	Layout          [32]byte // layout hash: model, weights, KV type, page size, rope
	PageSize        int      // token slots
	PoolPages       int
	MaxModelLen     int    // tokens of prompt and answer
	Kernels         string // the kernel set: two of one set compute the same bits
	BitIdentity     bool   // refuse nodes with other kernels
	Model           string // its name, for people
	ModelDigest     [32]byte
	Vocabulary      [32]byte // SHA-256 of what [Peer.Vocabulary] fetches
	Transports      []string // names of the ways to read its pages, best first
}

// name is what the process is called in texts for people.
func (h *Hello) name() string { return fmt.Sprintf("%v %d", h.Kind, h.ID) }

// Compatible says why two processes must not talk to each other: each thing in which they do not go together, with the values of both. It is nil if they may. It is symmetric.
func Compatible(a, b *Hello) error {
	if a.Protocol != b.Protocol { // nothing else can be relied on
		return fmt.Errorf("protocol version: %s has %d, %s has %d; both must be of the same release", a.name(), a.Protocol, b.name(), b.Protocol)
	}
	if a.Kind == Gateway && b.Kind == Gateway {
		return fmt.Errorf("kind: %s and %s are both gateways, which have nothing to say to each other", a.name(), b.name())
	}
	if a.Kind != b.Kind {
		return nil
	}
	if a.ID == b.ID {
		return fmt.Errorf("node id: both are node %d; each node needs one of its own", a.ID)
	}
	if a.Incarnation == b.Incarnation { // drawn at random: it is not by chance, and the ledger would not know the two apart
		return fmt.Errorf("incarnation: %s and %s both have %x; each start of a process draws its own", a.name(), b.name(), uint64(a.Incarnation))
	}
	d := differences{a: a, b: b}
	d.look("model digest", a.ModelDigest == b.ModelDigest, func(h *Hello) any { return fmt.Sprintf("%.8x (%s)", h.ModelDigest[:], h.Model) })
	d.layout()
	if a.BitIdentity || b.BitIdentity {
		d.look("kernel set (bit identity is required)", a.Kernels == b.Kernels, func(h *Hello) any { return h.Kernels })
	}
	return errors.Join(append(d.all, fits(a, b), fits(b, a), share(a, b))...)
}

// OneCluster says why a gateway must not use two nodes side by side: prompts would not mean the same at both, or not fit both. It is nil if it may.
func OneCluster(a, b *Hello) error {
	d := differences{a: a, b: b}
	d.layout()
	d.look("vocabulary", a.Vocabulary == b.Vocabulary, func(h *Hello) any { return fmt.Sprintf("%.8x", h.Vocabulary[:]) })
	d.look("longest request (--max-model-len)", a.MaxModelLen == b.MaxModelLen, func(h *Hello) any { return h.MaxModelLen })
	return errors.Join(d.all...)
}

// differences collects in what two hellos do not go together. What is compared is whole; of hashes people are shown the beginning.
type differences struct {
	a, b *Hello
	all  []error
}

func (d *differences) look(what string, same bool, shown func(*Hello) any) {
	if !same {
		d.all = append(d.all, fmt.Errorf("%s: %s has %v, %s has %v", what, d.a.name(), shown(d.a), d.b.name(), shown(d.b)))
	}
}

func (d *differences) layout() {
	d.look("layout hash (model, weights, KV type, page size, rope)", d.a.Layout == d.b.Layout, func(h *Hello) any { return fmt.Sprintf("%.8x", h.Layout[:]) })
	d.look("page size", d.a.PageSize == d.b.PageSize, func(h *Hello) any { return h.PageSize })
}

// fits: every prompt within the context of a must find room in the pool of b, or it would be taken at one and never served at the other.
func fits(a, b *Hello) error {
	if a.PageSize != b.PageSize || a.PageSize <= 0 {
		return nil // told already
	}
	if pages := (a.MaxModelLen + a.PageSize - 1) / a.PageSize; pages > b.PoolPages {
		return fmt.Errorf("pool size: the context of %s, %d tokens, needs %d pages; %s has %d", a.name(), a.MaxModelLen, pages, b.name(), b.PoolPages)
	}
	return nil
}

// share: nodes that can hand over pages to each other need a transport in common.
func share(a, b *Hello) error {
	if !(a.Prefill && b.Decode || a.Decode && b.Prefill) {
		return nil
	}
	for _, t := range a.Transports {
		if slices.Contains(b.Transports, t) {
			return nil
		}
	}
	return fmt.Errorf("transports: %s has [%s], %s has [%s]; they need one in common", a.name(), strings.Join(a.Transports, " "), b.name(), strings.Join(b.Transports, " "))
}

// Warnings are differences that are allowed and that people should know of.
func Warnings(a, b *Hello) []string {
	if a.Kind == Node && b.Kind == Node && a.Kernels != b.Kernels {
		return []string{fmt.Sprintf("kernel sets differ: %s has %s, %s has %s; answers may differ from those of one node in the last bits", a.name(), a.Kernels, b.name(), b.Kernels)}
	}
	return nil
}

// validate says what a process may not say of itself, whoever it talks to.
func (h *Hello) validate() error {
	texts := append([]string{h.Address, h.Kernels, h.Model}, h.Transports...)
	for _, s := range texts {
		if len(s) > maxText || !utf8.ValidString(s) {
			return fmt.Errorf("hello: a text has %d bytes or is not UTF-8; at most %d are allowed", len(s), maxText)
		}
	}
	switch {
	case h.Kind != Node && h.Kind != Gateway:
		return fmt.Errorf("hello: kind is %d, must be %d (node) or %d (gateway)", h.Kind, Node, Gateway)
	case h.Incarnation == 0:
		return errors.New("hello: incarnation is 0, must be new at each start")
	case len(h.Transports) > maxTransports:
		return fmt.Errorf("hello: %d transports; at most %d are allowed", len(h.Transports), maxTransports)
	case h.Kind == Gateway:
		return nil
	case !h.Prefill && !h.Decode:
		return errors.New("hello: a node must prefill or decode, or both")
	case h.PageSize < 1 || h.PageSize > 1<<16:
		return fmt.Errorf("hello: page size is %d, must be from 1 to %d", h.PageSize, 1<<16)
	case h.PoolPages < 1 || h.PoolPages > 1<<32:
		return fmt.Errorf("hello: pool pages is %d, must be from 1 to %d", h.PoolPages, 1<<32)
	case h.MaxModelLen < 1 || h.MaxModelLen > 1<<40:
		return fmt.Errorf("hello: max model length is %d, must be from 1 to %d", h.MaxModelLen, 1<<40)
	}
	return nil
}

func (h *Hello) encode(epoch uint64, maxMessage int, credit *pb.Credit) *pb.Hello {
	return &pb.Hello{
		Protocol: h.Protocol, Kind: pb.Kind(h.Kind), Prefill: h.Prefill, Decode: h.Decode, Node: uint64(h.ID), Incarnation: uint64(h.Incarnation), Epoch: epoch,
		Address: h.Address, Layout: h.Layout[:], PageSize: uint64(h.PageSize), PoolPages: uint64(h.PoolPages), MaxModelLen: uint64(h.MaxModelLen), Kernels: h.Kernels,
		BitIdentity: h.BitIdentity, Model: h.Model, ModelDigest: h.ModelDigest[:], Vocabulary: h.Vocabulary[:], Transports: h.Transports,
		MaxMessageBytes: uint64(maxMessage), Credit: credit,
	}
}

// decodeHello takes a peer's word. One of another protocol version is not judged further: [Compatible] will refuse it by that.
func decodeHello(p *pb.Hello) (*Hello, error) {
	h := &Hello{
		Protocol: p.GetProtocol(), Kind: Kind(max(0, min(p.GetKind(), 255))), Prefill: p.GetPrefill(), Decode: p.GetDecode(), ID: page.Node(p.GetNode()),
		Incarnation: page.Incarnation(p.GetIncarnation()), Address: p.GetAddress(), Kernels: p.GetKernels(), BitIdentity: p.GetBitIdentity(),
		Model: p.GetModel(), Transports: p.GetTransports(),
		PageSize: int(min(p.GetPageSize(), 1<<62)), PoolPages: int(min(p.GetPoolPages(), 1<<62)), MaxModelLen: int(min(p.GetMaxModelLen(), 1<<62)),
	}
	if h.Protocol != Protocol {
		return h, nil
	}
	if h.Kind == Node {
		for _, d := range []struct {
			name string
			from []byte
			to   *[32]byte
		}{{"layout", p.GetLayout(), &h.Layout}, {"model_digest", p.GetModelDigest(), &h.ModelDigest}, {"vocabulary", p.GetVocabulary(), &h.Vocabulary}} {
			if len(d.from) != len(d.to) {
				return nil, fmt.Errorf("hello: %s has %d bytes, must have %d", d.name, len(d.from), len(d.to))
			}
			copy(d.to[:], d.from)
		}
	}
	if p.GetEpoch() == 0 || p.GetEpoch() >= maxEpoch {
		return nil, fmt.Errorf("hello: epoch is %d, must be from 1 to %d", p.GetEpoch(), uint64(maxEpoch-1))
	}
	return h, h.validate()
}

// maxEpoch bounds what a peer can raise this side's epochs to.
const maxEpoch = 1 << 62

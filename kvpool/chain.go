package kvpool

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Key is the cluster key. It makes chain hashes and domains of one cluster meaningless, and unpredictable, elsewhere.
type Key [32]byte

// Chain is a running token-chain hash: SHA-256, cut to 128 bits, over
//
//	"kvasir chain 1\n"           15 bytes, to be told from other uses of the key
//	key                          32 bytes
//	length of domain             8 bytes, little endian
//	domain
//	layout                       32 bytes: the layout hash
//	token, token, ...            4 bytes each, little endian
//
// No two different inputs have one encoding, so two chains agree only for the same tokens, of the same tenant, in the same layout, in the same cluster.
type Chain struct {
	h   hash.Hash
	n   int
	buf [256]byte
}

const (
	chainTag  = "kvasir chain 1\n"
	domainTag = "kvasir domain1\n"
)

// NewChain returns the chain of no tokens: its Sum is the hash up to the start of page 0.
func NewChain(key Key, domain string, layout [32]byte) *Chain {
	c := &Chain{h: sha256.New()}
	head := append(c.buf[:0], chainTag...)
	head = append(head, key[:]...)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(domain)))
	c.h.Write(head)
	c.h.Write([]byte(domain))
	c.h.Write(layout[:])
	return c
}

// Add appends tokens to the chain.
func (c *Chain) Add(tokens []int32) {
	c.n += len(tokens)
	for len(tokens) > 0 {
		n := min(len(tokens), len(c.buf)/4)
		for i, t := range tokens[:n] {
			binary.LittleEndian.PutUint32(c.buf[4*i:], uint32(t))
		}
		c.h.Write(c.buf[:4*n])
		tokens = tokens[n:]
	}
}

// Sum is the hash of all tokens added so far. More may be added afterwards.
func (c *Chain) Sum() page.Hash { return page.Hash(c.h.Sum(c.buf[:0])[:16]) }

// Clone returns a chain that goes on from here by itself.
func (c *Chain) Clone() *Chain {
	h, err := c.h.(hash.Cloner).Clone()
	if err != nil {
		panic(fmt.Sprintf("kvpool: clone SHA-256: %v", err)) // the standard library's never fails
	}
	return &Chain{h: h, n: c.n}
}

// Len is the number of tokens added so far.
func (c *Chain) Len() int { return c.n }

// PageHashes returns the chain hashes to the end of page 0, 1, ... of tokens, for pages of pageSize tokens. A last page that
// is not full has none.
//
// Preconditions: pageSize is at least 1.
func PageHashes(key Key, domain string, layout [32]byte, tokens []int32, pageSize int) []page.Hash {
	c := NewChain(key, domain, layout)
	hashes := make([]page.Hash, 0, len(tokens)/pageSize)
	for len(tokens) >= pageSize {
		c.Add(tokens[:pageSize])
		hashes = append(hashes, c.Sum())
		tokens = tokens[pageSize:]
	}
	return hashes
}

// DomainOf numbers the cache domain of a name: SHA-256 of key and name, cut to 64 bits. Should two names ever meet in one number their pages are still kept
// apart by their chain hashes, which contain the name.
func DomainOf(key Key, name string) page.Domain {
	b := append([]byte(domainTag), key[:]...)
	sum := sha256.Sum256(append(b, name...))
	return page.Domain(binary.LittleEndian.Uint64(sum[:8]))
}

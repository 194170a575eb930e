package peer

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// A connection begins with three messages, integers little-endian:
//
//	from          bytes
//	exposing side 8 magic and version, 32 random
//	dialling side 24 link as the exposing side knows it (peer, incarnation, epoch), 32 random, 32 MAC
//	exposing side 32 MAC, 4 length, so many bytes of welcome
//
// Both MACs are HMAC-SHA256 under the link's key, which only the two ends of its control stream have seen, over who speaks, the transport's name, the binding (what ties the connection to its TLS
// session, if it has one), the link and both random values; the last one also over the welcome. So neither end can be played by a third, nor a message played again.

const (
	magic       = "KVASIR\x00\x01"
	nonceBytes  = 32
	macBytes    = sha256.Size
	linkBytes   = 24
	helloBytes  = linkBytes + nonceBytes + macBytes
	maxWelcome  = 64 << 10
	maxAddress  = 1 << 10
	keyBytes    = 32
	greetBytes  = len(magic) + nonceBytes
	answerBytes = macBytes + 4
)

// ErrImpostor: the other end has not proved that it is who it says.
var ErrImpostor = errors.New("transport: the other end does not know the link's key")

// Key is a secret.
type Key [keyBytes]byte

// NewKey returns a random key.
func NewKey() Key {
	var k Key
	rand.Read(k[:]) // never fails
	return k
}

// Of derives the key of a link.
func (k Key) Of(link page.Link) Key {
	m := hmac.New(sha256.New, k[:])
	m.Write([]byte("link"))
	m.Write(encodeLink(link))
	return Key(m.Sum(nil))
}

// Descriptor is what a peer needs to dial: where, and the link's key.
type Descriptor struct {
	Address string
	Key     Key
}

// Encode returns 1 byte of version, the key, the address.
func (d Descriptor) Encode() []byte {
	return append(append([]byte{1}, d.Key[:]...), d.Address...)
}

// ParseDescriptor is the inverse of Encode.
func ParseDescriptor(b []byte) (Descriptor, error) {
	if len(b) < 1+keyBytes || b[0] != 1 || len(b) > 1+keyBytes+maxAddress {
		return Descriptor{}, fmt.Errorf("transport: a descriptor of %d bytes is not one of version 1", len(b))
	}
	return Descriptor{Key: Key(b[1 : 1+keyBytes]), Address: string(b[1+keyBytes:])}, nil
}

// Secret is what both ends have in common before they speak.
type Secret struct {
	Name    string // of the transport
	Binding []byte // of the connection
}

func (s Secret) mac(k Key, who string, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, k[:])
	for _, p := range append([][]byte{[]byte(who), []byte(s.Name), s.Binding}, parts...) {
		m.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(p))))
		m.Write(p)
	}
	return m.Sum(nil)
}

// Greeting is the exposing side's part of a handshake, up to the proof of who the other is.
type Greeting struct {
	Link   page.Link
	secret Secret
	key    Key
	nonces []byte
}

// Greet learns over rw who dials. The error is ErrImpostor, or of rw. master is the key that link keys are made from.
func Greet(rw io.ReadWriter, s Secret, master Key) (Greeting, error) {
	greet := []byte(magic)
	nonce := NewKey()
	greet = append(greet, nonce[:]...)
	if _, err := rw.Write(greet); err != nil {
		return Greeting{}, err
	}
	var hello [helloBytes]byte
	if _, err := io.ReadFull(rw, hello[:]); err != nil {
		return Greeting{}, err
	}
	g := Greeting{Link: decodeLink(hello[:linkBytes]), secret: s}
	g.key = master.Of(g.Link)
	g.nonces = append(nonce[:], hello[linkBytes:linkBytes+nonceBytes]...)
	if !hmac.Equal(hello[linkBytes+nonceBytes:], s.mac(g.key, "dial", encodeLink(g.Link), g.nonces)) {
		return Greeting{}, ErrImpostor
	}
	return g, nil
}

// Welcome ends the handshake and tells the dialling side what the transport has to say.
func (g Greeting) Welcome(w io.Writer, welcome []byte) error {
	if len(welcome) > maxWelcome {
		panic(fmt.Sprintf("transport: a welcome of %d bytes, %d at most", len(welcome), maxWelcome))
	}
	answer := g.secret.mac(g.key, "expose", encodeLink(g.Link), g.nonces, welcome)
	answer = binary.LittleEndian.AppendUint32(answer, uint32(len(welcome)))
	_, err := w.Write(append(answer, welcome...))
	return err
}

// Dial is the dialling side's handshake; self is the link as the other side knows it. It returns the welcome.
func Dial(rw io.ReadWriter, s Secret, key Key, self page.Link) ([]byte, error) {
	var greet [greetBytes]byte
	if _, err := io.ReadFull(rw, greet[:]); err != nil {
		return nil, err
	}
	if string(greet[:len(magic)]) != magic {
		return nil, fmt.Errorf("transport: what answers is not a node of version %d", magic[len(magic)-1])
	}
	nonce := NewKey()
	nonces := append(greet[len(magic):len(magic)+nonceBytes:len(magic)+nonceBytes], nonce[:]...)
	link := encodeLink(self)
	hello := append(append(append([]byte{}, link...), nonce[:]...), s.mac(key, "dial", link, nonces)...)
	if _, err := rw.Write(hello); err != nil {
		return nil, err
	}
	var answer [answerBytes]byte
	if _, err := io.ReadFull(rw, answer[:]); err != nil {
		return nil, fmt.Errorf("transport: the peer refuses link %v: %w", self, err)
	}
	n := binary.LittleEndian.Uint32(answer[macBytes:])
	if n > maxWelcome {
		return nil, ErrImpostor
	}
	welcome := make([]byte, n)
	if _, err := io.ReadFull(rw, welcome); err != nil {
		return nil, err
	}
	if !hmac.Equal(answer[:macBytes], s.mac(key, "expose", link, nonces, welcome)) {
		return nil, ErrImpostor
	}
	return welcome, nil
}

func encodeLink(l page.Link) []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, linkBytes), uint64(l.Peer))
	b = binary.LittleEndian.AppendUint64(b, uint64(l.Incarnation))
	return binary.LittleEndian.AppendUint64(b, l.Epoch)
}

func decodeLink(b []byte) page.Link {
	return page.Link{
		Peer:        page.Node(binary.LittleEndian.Uint64(b)),
		Incarnation: page.Incarnation(binary.LittleEndian.Uint64(b[8:])),
		Epoch:       binary.LittleEndian.Uint64(b[16:]),
	}
}

package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"testing"
)

// A gateway fetches the vocabulary of a node, whoever of them dialed, and takes only what has the digest of the hello.
func TestVocabulary(t *testing.T) {
	content := bytes.Repeat([]byte("vocabulary "), 100_000) // several chunks
	self := hello(1)
	self.Vocabulary = sha256.Sum256(content)
	node := start(t, self, func(c *Config) { c.Vocabulary = content })
	dialing, dialed := start(t, gateway(1), nil), start(t, gateway(2), nil)
	nodeOfDialing, gatewayOfNode := meet(t, dialing, node)
	meet(t, node, dialed)
	nodeOfDialed := dialed.registry.peers[peerKey{Node, 1}].up.peer
	for _, p := range []*Peer{nodeOfDialing, nodeOfDialed} {
		got, err := p.Vocabulary(t.Context())
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("dialed %v: %d bytes, %v", p.Dialed(), len(got), err)
		}
	}

	if _, err := gatewayOfNode.Vocabulary(t.Context()); err == nil || !strings.Contains(err.Error(), "is not here") {
		t.Errorf("of a gateway: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nodeOfDialing.Vocabulary(canceled); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("cancelled: %v", err)
	}
	node.cfg.Vocabulary = append(bytes.Clone(content), '!') // a node that sends other than what it said
	if _, err := nodeOfDialing.Vocabulary(t.Context()); err == nil || !strings.Contains(err.Error(), "must have") {
		t.Errorf("other content: %v", err)
	}
}

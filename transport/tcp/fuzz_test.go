package tcp

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// Whatever a peer says, it gets pages that are exported to it, whole and as often as it asks, and no other byte of the slab.
func FuzzServe(f *testing.F) {
	const pageBytes, open, secret = 64, 0x11, 0x99
	link := page.Link{Peer: 2, Incarnation: 2, Epoch: 1}
	attempt := page.Attempt{Gateway: 1, Number: 1, Prefill: 1}
	good := ask{1, attempt, page.Ref{Node: 1, Incarnation: 1, Page: 1, Generation: 1}}
	other := good
	other.ref.Page = 2
	f.Add([]byte{})
	f.Add(appendRequest(nil, []ask{good}))
	f.Add(appendRequest(appendRequest(nil, []ask{other, good, good}), []ask{other}))
	f.Add(appendRequest(nil, []ask{good})[:20])
	f.Fuzz(func(t *testing.T, said []byte) {
		slab := transport.Slab{Bytes: bytes.Repeat([]byte{secret}, 4*pageBytes), PageBytes: pageBytes}
		copy(slab.Page(1), bytes.Repeat([]byte{open}, pageBytes))
		exports := transport.NewExports()
		exports.Offer(link, attempt, []page.Ref{good.ref})
		s := &server{slab: slab, exports: exports}
		var out bytes.Buffer
		if err := s.answer(link, bytes.NewReader(said), &out); err == nil {
			t.Fatal("it goes on without a request")
		}
		for b := out.Bytes(); len(b) > 0; {
			if len(b) < replyBytes {
				t.Fatalf("%d bytes that are no reply", len(b))
			}
			length := int(binary.LittleEndian.Uint64(b[16:]))
			if length != 0 && length != pageBytes || len(b) < replyBytes+length {
				t.Fatalf("a reply of %d bytes", length)
			}
			if !bytes.Equal(b[replyBytes:replyBytes+length], bytes.Repeat([]byte{open}, length)) {
				t.Fatalf("a page that is not exported: %x", b[replyBytes:replyBytes+length])
			}
			b = b[replyBytes+length:]
		}
		idle := false
		exports.End(link, attempt, func() { idle = true })
		if !idle {
			t.Fatal("a page is read for ever")
		}
	})
}

package tcp

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// After the handshake the reading side sends requests, and each page asked for is answered in order. Integers are little-endian.
//
//	request  4 magic, 4 count (1 to maxBatch), then for each page
//	         8 number, 24 attempt (gateway, number, prefill), 32 reference (node, incarnation, generation, 4 page, 4 zero)
//	reply    4 magic, 4 status, 8 number, 8 length, then so many bytes: those of a page if the status is ok, else none
const (
	requestMagic = 0x5152564b // "KVRQ"
	replyMagic   = 0x5052564b // "KVRP"
	requestBytes = 8
	askBytes     = 64
	replyBytes   = 24
	maxBatch     = 64

	statusOK      = 0
	statusRefused = 1
)

// ask is one page of a request.
type ask struct {
	number  uint64
	attempt page.Attempt
	ref     page.Ref
}

func appendRequest(b []byte, asks []ask) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, requestMagic)
	b = le.AppendUint32(b, uint32(len(asks)))
	for _, a := range asks {
		for _, v := range []uint64{
			a.number, a.attempt.Gateway, a.attempt.Number, uint64(a.attempt.Prefill),
			uint64(a.ref.Node), uint64(a.ref.Incarnation), uint64(a.ref.Generation), uint64(a.ref.Page),
		} {
			b = le.AppendUint64(b, v)
		}
	}
	return b
}

// requests reads requests; what it returns is valid until the next.
type requests struct {
	r    io.Reader
	buf  [maxBatch * askBytes]byte
	asks [maxBatch]ask
}

// next returns the next request. An error is peer.ErrMalformed, or io.EOF at a request's end, or of the reader.
func (q *requests) next() ([]ask, error) {
	head := q.buf[:requestBytes]
	if _, err := io.ReadFull(q.r, head); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	n := le.Uint32(head[4:])
	if le.Uint32(head) != requestMagic || n < 1 || n > maxBatch {
		return nil, fmt.Errorf("%w: a request that begins with %x", peer.ErrMalformed, head)
	}
	body := q.buf[:n*askBytes]
	if _, err := io.ReadFull(q.r, body); err != nil {
		return nil, err
	}
	for i := range q.asks[:n] {
		b := body[i*askBytes:]
		if le.Uint32(b[60:]) != 0 {
			return nil, fmt.Errorf("%w: a page number of 64 bits", peer.ErrMalformed)
		}
		q.asks[i] = ask{
			number:  le.Uint64(b),
			attempt: page.Attempt{Gateway: le.Uint64(b[8:]), Number: le.Uint64(b[16:]), Prefill: page.Incarnation(le.Uint64(b[24:]))},
			ref: page.Ref{
				Node: page.Node(le.Uint64(b[32:])), Incarnation: page.Incarnation(le.Uint64(b[40:])),
				Generation: page.Generation(le.Uint64(b[48:])), Page: page.Index(le.Uint32(b[56:])),
			},
		}
	}
	return q.asks[:n], nil
}

func putReply(b []byte, status uint32, number uint64, length int) {
	le := binary.LittleEndian
	le.PutUint32(b, replyMagic)
	le.PutUint32(b[4:], status)
	le.PutUint64(b[8:], number)
	le.PutUint64(b[16:], uint64(length))
}

// checkReply says whether the reply that b begins brings page number of pageBytes bytes: transport.ErrRefused if not, another error if it is no answer to that.
func checkReply(b []byte, number uint64, pageBytes int) error {
	le := binary.LittleEndian
	status, length := le.Uint32(b[4:]), le.Uint64(b[16:])
	switch {
	case le.Uint32(b) != replyMagic || le.Uint64(b[8:]) != number:
	case status == statusOK && length == uint64(pageBytes):
		return nil
	case status == statusRefused && length == 0:
		return transport.ErrRefused
	}
	return fmt.Errorf("%w: a reply that begins with %x", peer.ErrMalformed, b[:replyBytes])
}

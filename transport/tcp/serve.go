package tcp

import (
	"io"
	"net"
	"sync/atomic"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// sendBytes is about how many bytes go to the kernel in one call.
const sendBytes = 1 << 20

// server serves the pages of a slab.
type server struct {
	slab            transport.Slab
	exports         *transport.Exports
	served, refused atomic.Uint64
}

// serve answers one connection until it ends.
func (s *server) serve(v *peer.Visitor) error {
	if err := v.Welcome(welcome(s.slab)); err != nil {
		return err
	}
	return s.answer(v.Link, v.Conn, v.Conn)
}

func (s *server) answer(link page.Link, r io.Reader, w io.Writer) error {
	q := &requests{r: r}
	out := newReplies(s, link, w)
	for {
		asks, err := q.next()
		if err != nil {
			return err
		}
		for len(asks) > 0 {
			n := min(len(asks), out.room)
			if err := out.send(asks[:n]); err != nil {
				return err
			}
			asks = asks[n:]
		}
	}
}

// replies sends the answers to a few asks at a time.
type replies struct {
	s    *server
	link page.Link
	w    io.Writer
	room int // asks at a time
	head []byte
	vec  [][]byte
	open []page.Attempt // of the pages that are being read
}

func newReplies(s *server, link page.Link, w io.Writer) *replies {
	room := max(1, min(maxBatch, sendBytes/s.slab.PageBytes))
	return &replies{s: s, link: link, w: w, room: room, head: make([]byte, room*replyBytes)}
}

// send reads and sends the pages asked for, as far as they may be read now. The exports are held until the kernel has them all.
func (o *replies) send(asks []ask) error {
	vec, open := o.vec[:0], o.open[:0]
	for i, a := range asks {
		h := o.head[i*replyBytes:][:replyBytes]
		vec = append(vec, h)
		if !o.s.slab.Has(a.ref.Page) || !o.s.exports.Begin(o.link, a.attempt, a.ref) {
			putReply(h, statusRefused, a.number, 0)
			o.s.refused.Add(1)
			continue
		}
		open = append(open, a.attempt)
		putReply(h, statusOK, a.number, o.s.slab.PageBytes)
		vec = append(vec, o.s.slab.Page(a.ref.Page))
	}
	o.vec, o.open = vec, open
	o.s.served.Add(uint64(len(open))) // before the peer can know
	buffers := net.Buffers(vec)
	_, err := buffers.WriteTo(o.w)
	clear(vec)
	for _, a := range open {
		o.s.exports.Done(o.link, a)
	}
	return err
}

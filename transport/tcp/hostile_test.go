package tcp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
	"github.com/kvasir-engine/kvasir/transport/tcp"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
)

// A peer that is who it says, but speaks nonsense, loses its connection, is counted, and gets nothing that is not exported to it.
func TestHostilePeers(t *testing.T) {
	tr := newTCP(t, tcp.Config{})
	slab := transporttest.NewSlab(t, 4, 4096)
	for i := range slab.Bytes {
		slab.Bytes[i] = 0x77
	}
	e, err := tr.Expose(slab, transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	le := binary.LittleEndian
	frame := func(magic, count uint32, body []byte) []byte {
		return append(le.AppendUint32(le.AppendUint32(nil, magic), count), body...)
	}
	const right = 0x5152564b
	for _, c := range []struct {
		name      string
		say       []byte
		malformed uint64
	}{
		{"another protocol", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 1},
		{"no page", frame(right, 0, nil), 1},
		{"too many pages", frame(right, 65, make([]byte, 65*64)), 1},
		{"4 billion pages", frame(right, 1<<32-1, nil), 1},
		{"a page beyond 32 bits", frame(right, 1, bytes.Repeat([]byte{0xff}, 64)), 1},
		{"half a request", frame(right, 2, make([]byte, 70)), 0},
		{"nothing", nil, 0},
		{"pages nobody exports", frame(right, 2, make([]byte, 128)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := e.Stats()
			self := page.Link{Peer: 9, Incarnation: 9, Epoch: 1}
			conn := visit(t, e, self)
			conn.Write(c.say)
			conn.(*net.TCPConn).CloseWrite()
			said, _ := io.ReadAll(conn) // ends, with a reset if it must
			conn.Close()
			if bytes.Contains(said, []byte{0x77}) {
				t.Error("bytes of the slab have come")
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			for e.Stats().Malformed != before.Malformed+c.malformed {
				if ctx.Err() != nil {
					t.Fatalf("counted %+v, before %+v", e.Stats(), before)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	if s := e.Stats(); s.Served != 0 || s.Refused != 2 {
		t.Errorf("counted %+v", s)
	}
}

// visit dials as the peer of self and shakes hands.
func visit(t *testing.T, e transport.Exposed, self page.Link) net.Conn {
	t.Helper()
	d, err := peer.ParseDescriptor(e.Descriptor(self))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := peer.Dial(conn, peer.Secret{Name: "tcp"}, d.Key, self); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Connections that never say who they are do not keep others out for long, and end when the exposing side does.
func TestStrangersThatSayNothing(t *testing.T) {
	tr := newTCP(t, tcp.Config{})
	slab := transporttest.NewSlab(t, 1, 4096)
	e, err := tr.Expose(slab, transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	self := page.Link{Peer: 9, Incarnation: 9, Epoch: 1}
	d, _ := peer.ParseDescriptor(e.Descriptor(self))
	for range 80 {
		c, err := net.Dial("tcp", d.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for end := time.Now().Add(30 * time.Second); e.Stats().BadDials < 80-64; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("of 80 strangers %d were turned away, must be those beyond 64", e.Stats().BadDials)
		}
	}
	if err := e.Close(); err != nil { // does not wait for them
		t.Error(err)
	}
}

// What answers the reading side may be hostile too: it then loses the connection, and the reads that were out end without it.
func TestHostileAnswers(t *testing.T) {
	le := binary.LittleEndian
	reply := func(magic, status uint32, number, length uint64, body int) []byte {
		b := le.AppendUint32(le.AppendUint32(nil, magic), status)
		return append(le.AppendUint64(le.AppendUint64(b, number), length), make([]byte, body)...)
	}
	const right = 0x5052564b
	for _, c := range []struct {
		name string
		say  []byte
	}{
		{"another magic", reply(1, 0, 1, 4096, 4096)},
		{"another number", reply(right, 0, 2, 4096, 4096)},
		{"a longer page", reply(right, 0, 1, 8192, 8192)},
		{"a shorter page", reply(right, 0, 1, 1, 1)},
		{"an unknown status", reply(right, 7, 1, 0, 0)},
		{"a refusal with bytes", reply(right, 1, 1, 4096, 4096)},
		{"half a page", reply(right, 0, 1, 4096, 100)},
		{"an answer too many", append(reply(right, 0, 1, 4096, 4096), reply(right, 0, 2, 4096, 4096)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			link := page.Link{Peer: 1, Incarnation: 1, Epoch: 1}
			g := peer.NewGate(peer.GateOptions{Name: "tcp", Listener: ln, MaxPerLink: 1, Serve: func(v *peer.Visitor) error {
				v.Welcome(le.AppendUint64(nil, 4096))
				io.ReadFull(v.Conn, make([]byte, 72)) // one page is asked for
				v.Conn.Write(c.say)
				return nil
			}})
			defer g.Shut(context.Background())
			slab := transporttest.NewSlab(t, 4, 4096)
			conn, err := newTCP(t, tcp.Config{Streams: 1}).Dial(context.Background(), link, link, g.Descriptor(link, ln.Addr().String()), slab)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for i := range slab.Bytes {
				slab.Bytes[i] = 0xee
			}
			end := make(chan error, 2)
			conn.Read(transport.Read{Attempt: try, Src: src(0), Dst: 1}, func(err error) { end <- err })
			err, whole := <-end, strings.HasPrefix(c.name, "an answer too many")
			if (err == nil) != whole {
				t.Errorf("the read ends with %v", err)
			}
			<-conn.Lost()
			for i, b := range slab.Bytes {
				if b != 0xee && i/4096 != 1 {
					t.Fatalf("byte %d of another page was written", i)
				}
			}
		})
	}
}

func TestConfig(t *testing.T) {
	whole := transporttest.TLS(t)
	oneWay := whole.Clone()
	oneWay.ClientCAs = nil
	for _, c := range []struct {
		name, want string
		config     tcp.Config
	}{
		{"too many streams", "Streams", tcp.Config{Streams: 65}},
		{"negative streams", "Streams", tcp.Config{Streams: -1}},
		{"TLS that checks one side only", "ClientCAs", tcp.Config{TLS: oneWay}},
		{"TLS without anything", "Certificates", tcp.Config{TLS: &tls.Config{}}},
		{"every address, and none advertised", "Advertise", tcp.Config{Listen: "0.0.0.0:0"}},
		{"an address that is none", "listen", tcp.Config{Listen: "nowhere.invalid:1:2"}},
	} {
		tr, err := tcp.New(c.config)
		if err == nil {
			var e transport.Exposed
			if e, err = tr.Expose(transporttest.NewSlab(t, 1, 64), transport.NewExports()); err == nil {
				e.Close()
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, must name %s", c.name, err, c.want)
		}
	}
	tr := newTCP(t, tcp.Config{Listen: "0.0.0.0:0", Advertise: "127.0.0.1"})
	e, err := tr.Expose(transporttest.NewSlab(t, 1, 64), transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	visit(t, e, page.Link{Peer: 1}).Close()
}

func TestTLS(t *testing.T) {
	certs := transporttest.TLS(t)
	transporttest.Run(t, transporttest.Kind{New: func(t testing.TB) func() transport.Transport {
		return func() transport.Transport { return newTCP(t, tcp.Config{TLS: certs}) }
	}})
}

// Who has the key of a link but no certificate of the cluster, or speaks no TLS, gets nowhere.
func TestTLSRefusesStrangers(t *testing.T) {
	slab := transporttest.NewSlab(t, 1, 4096)
	e, err := newTCP(t, tcp.Config{TLS: transporttest.TLS(t)}).Expose(slab, transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	self := page.Link{Peer: 9, Incarnation: 9, Epoch: 1}
	for name, c := range map[string]tcp.Config{"another authority": {TLS: transporttest.TLS(t)}, "no TLS": {}} {
		before := e.Stats().BadDials
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond) // without TLS each waits for the other to speak
		conn, err := newTCP(t, c).Dial(ctx, page.Link{Peer: 1}, self, e.Descriptor(self), slab)
		cancel()
		if err == nil {
			conn.Close()
			t.Errorf("%s: may dial", name)
		}
		for end := time.Now().Add(30 * time.Second); e.Stats().BadDials == before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not counted", name)
			}
		}
	}
}

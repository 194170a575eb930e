package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

var link = page.Link{Peer: 2, Incarnation: 20, Epoch: 3}

// shake runs a handshake and returns how each side ended.
func shake(exposing, dialling Secret, master, key Key, self page.Link, between func(net.Conn) net.Conn) (g Greeting, exposeErr error, welcome []byte, dialErr error) {
	a, b := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer a.Close()
		if g, exposeErr = Greet(between(a), exposing, master); exposeErr == nil {
			exposeErr = g.Welcome(between(a), []byte("pages of 4096 bytes"))
		}
	}()
	welcome, dialErr = Dial(b, dialling, key, self)
	b.Close()
	<-ended
	return
}

func straight(c net.Conn) net.Conn { return c }

func TestHandshake(t *testing.T) {
	master := NewKey()
	good := Secret{Name: "tcp", Binding: []byte("session")}
	for _, c := range []struct {
		name     string
		dialling Secret
		key      Key
		self     page.Link
		want     bool
	}{
		{"the peer itself", good, master.Of(link), link, true},
		{"another link's key", good, master.Of(page.Link{Peer: 2, Incarnation: 20, Epoch: 4}), link, false},
		{"the master key", good, master, link, false},
		{"another transport", Secret{"shm", good.Binding}, master.Of(link), link, false},
		{"another TLS session", Secret{"tcp", []byte("other")}, master.Of(link), link, false},
		{"bytes moved from the name to the binding", Secret{"tc", []byte("psession")}, master.Of(link), link, false},
	} {
		g, exposeErr, welcome, dialErr := shake(good, c.dialling, master, c.key, c.self, straight)
		if (exposeErr == nil) != c.want || (dialErr == nil) != c.want {
			t.Errorf("%s: %v and %v", c.name, exposeErr, dialErr)
		}
		if c.want && (g.Link != link || string(welcome) != "pages of 4096 bytes") {
			t.Errorf("%s: link %v, welcome %q", c.name, g.Link, welcome)
		}
		if !c.want && !errors.Is(exposeErr, ErrImpostor) {
			t.Errorf("%s: %v, must be found an impostor", c.name, exposeErr)
		}
	}
}

// flipper changes one bit of what is written through it.
type flipper struct {
	net.Conn
	at, seen int
}

func (f *flipper) Write(b []byte) (int, error) {
	changed := bytes.Clone(b)
	if i := f.at - f.seen; i >= 0 && i < len(b) {
		changed[i] ^= 1
	}
	f.seen += len(b)
	return f.Conn.Write(changed)
}

// Whoever plays the exposing side without the key, or changes a bit of what it says, is found out.
func TestHandshakeTamper(t *testing.T) {
	master, s := NewKey(), Secret{Name: "tcp"}
	all := greetBytes + answerBytes + len("pages of 4096 bytes")
	for at := range all {
		f := &flipper{at: at}
		_, _, _, err := shake(s, s, master, master.Of(link), link, func(c net.Conn) net.Conn { f.Conn = c; return f })
		if err == nil {
			t.Errorf("bit of byte %d changed, and nobody sees it", at)
		}
	}
}

// A handshake that was overheard is worth nothing: the exposing side's random value is another.
func TestHandshakeReplay(t *testing.T) {
	master, s := NewKey(), Secret{Name: "tcp"}
	var heard bytes.Buffer
	a, b := net.Pipe()
	go func() { Greet(a, s, master); a.Close() }()
	Dial(struct {
		io.Reader
		io.Writer
	}{b, io.MultiWriter(b, &heard)}, s, master.Of(link), link)
	rw := struct {
		io.Reader
		io.Writer
	}{&heard, io.Discard}
	if heard.Len() != helloBytes {
		t.Fatalf("heard %d bytes", heard.Len())
	}
	if _, err := Greet(rw, s, master); !errors.Is(err, ErrImpostor) {
		t.Errorf("a repeated handshake: %v", err)
	}
}

func FuzzGreet(f *testing.F) {
	f.Add(make([]byte, helloBytes))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		if _, err := Greet(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(said), io.Discard}, Secret{Name: "tcp"}, NewKey()); err == nil {
			t.Error("a stranger is let in")
		}
	})
}

func FuzzDial(f *testing.F) {
	f.Add([]byte(magic))
	f.Add(append([]byte(magic), make([]byte, nonceBytes+answerBytes)...))
	f.Add(append(append([]byte(magic), make([]byte, nonceBytes+macBytes)...), 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, said []byte) {
		if _, err := Dial(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(said), io.Discard}, Secret{Name: "tcp"}, NewKey(), link); err == nil {
			t.Error("a stranger passes for the peer")
		}
	})
}

func FuzzDescriptor(f *testing.F) {
	f.Add(Descriptor{Address: "127.0.0.1:1", Key: NewKey()}.Encode())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDescriptor(b)
		if err == nil && !bytes.Equal(d.Encode(), b) {
			t.Errorf("%x is read as %+v", b, d)
		}
	})
}

// Which links may be served depends on fences alone, whatever the order of the rest; a fence returns when what it must end has left.
func TestRegistryAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Registry
		fenced := map[page.Link]bool{}
		type served struct {
			link  page.Link
			entry *Entry
		}
		var now []served
		aLink := func() page.Link {
			return page.Link{
				Peer:        page.Node(rapid.IntRange(1, 2).Draw(t, "peer")),
				Incarnation: page.Incarnation(rapid.IntRange(1, 2).Draw(t, "incarnation")),
				Epoch:       uint64(rapid.IntRange(0, 3).Draw(t, "epoch")),
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(*rapid.T) {
				l := aLink()
				e, ok := r.Enter(l, func() {})
				if ok == fenced[l] {
					t.Fatalf("%v may be served: %v, fenced: %v", l, ok, fenced[l])
				}
				if ok {
					now = append(now, served{l, e})
				}
			},
			"leave": func(*rapid.T) {
				if len(now) == 0 {
					t.Skip("nothing is served")
				}
				i := rapid.IntRange(0, len(now)-1).Draw(t, "which")
				r.Leave(now[i].entry)
				now = append(now[:i], now[i+1:]...)
			},
			"fence": func(*rapid.T) {
				l, there := aLink(), false
				for epoch := range l.Epoch + 1 {
					fenced[page.Link{Peer: l.Peer, Incarnation: l.Incarnation, Epoch: epoch}] = true
				}
				for _, s := range now {
					there = there || fenced[s.link] && s.link.Peer == l.Peer && s.link.Incarnation == l.Incarnation && s.link.Epoch <= l.Epoch
				}
				over, cancel := context.WithCancel(context.Background())
				cancel()
				if err := r.Fence(over, l); (err != nil) != there {
					t.Fatalf("fence of %v: %v, something is served: %v", l, err, there)
				}
			},
		})
	})
}

// Whatever is asked, taken, given back and failed, in whatever order: every read ends once, those before it in the order of asking are taken first, and none is told of the end while a worker is left.
func TestReadsEndOnce(t *testing.T) {
	slab := transport.Slab{Bytes: make([]byte, 4), PageBytes: 1}
	rapid.Check(t, func(t *rapid.T) {
		q := NewReads(link, slab, func() {})
		release := make(chan struct{})
		q.Go(func() { <-release })
		var ends []int
		var held []Item
		taken, failed := uint64(0), false
		t.Repeat(map[string]func(*rapid.T){
			"read": func(t *rapid.T) {
				i := len(ends)
				ends = append(ends, 0)
				src := page.Ref{Node: link.Peer, Incarnation: link.Incarnation}
				q.Read(transport.Read{Attempt: page.Attempt{Number: uint64(i)}, Src: src}, func(error) { ends[i]++ })
				if want := map[bool]int{true: 1}[failed]; ends[i] != want {
					t.Fatalf("read %d has ended %d times, must be %d", i, ends[i], want)
				}
			},
			"take": func(t *rapid.T) {
				if !failed && uint64(len(ends)) == taken {
					t.Skip("nothing waits")
				}
				n, takers := rapid.IntRange(1, 100).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "takers")
				got, ok := q.Take(nil, n, takers)
				if ok == failed {
					t.Fatalf("taken: %v, failed: %v", ok, failed)
				}
				if waiting := uint64(len(ends)) - taken; ok && (len(got) < 1 || len(got) > n || uint64(len(got)-1)*uint64(takers) >= waiting) {
					t.Fatalf("%d taken of %d, %d at most, by one of %d", len(got), waiting, n, takers)
				}
				for _, it := range got {
					if it.Attempt.Number != taken {
						t.Fatalf("read %d is taken, must be %d", it.Attempt.Number, taken)
					}
					taken++
				}
				held = append(held, got...)
			},
			"end": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("none is held")
				}
				held[0].Done(nil)
				held = held[1:]
			},
			"fail": func(*rapid.T) {
				q.Fail(io.ErrUnexpectedEOF)
				failed = true
			},
		})
		if failed && q.Err() != io.ErrUnexpectedEOF {
			t.Fatalf("it failed of %v", q.Err())
		}
		q.Orphan(held...)
		close(release)
		q.Close()
		<-q.Lost()
		for i, n := range ends {
			if n != 1 {
				t.Fatalf("read %d of %d has ended %d times", i, len(ends), n)
			}
		}
	})
}

package transporttest_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/shm"
	"github.com/kvasir-engine/kvasir/transport/tcp"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
	"github.com/kvasir-engine/kvasir/transport/ucx"
)

const (
	benchPages     = 64
	benchPageBytes = 1 << 20
	benchRounds    = 9
	benchTurn      = 250 * time.Millisecond
)

// contender moves bytes for about d and says how many.
type contender struct {
	name string
	move func(d time.Duration) int
	end  func()
}

// goals are what a transport must reach of a bare means that does the same.
var goals = []struct {
	name, of string
	least    float64
}{
	{"tcp", "io.Copy", 0.9},
	{"tls", "io.Copy tls", 0.9},
	{"shm", "memcpy", 0.5},
}

// BenchmarkPages moves pages of 1 MiB by every transport, and as many bytes by bare means, turn by turn in one run, so that a noisy machine is noisy to all. It prints the median rates, and the
// median over the rounds of each transport's rate against what it is measured by. Run it with -benchtime 1x.
func BenchmarkPages(b *testing.B) {
	cs := contenders(b)
	rates := map[string][]float64{}
	for range b.N * benchRounds {
		for _, c := range cs {
			began := time.Now()
			n := c.move(benchTurn)
			rates[c.name] = append(rates[c.name], float64(n)/1e9/time.Since(began).Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	var table strings.Builder
	for _, c := range cs {
		c.end()
		fmt.Fprintf(&table, "%-14s %6.2f GB/s\n", c.name, median(rates[c.name]))
	}
	for _, g := range goals {
		if len(rates[g.name]) == 0 {
			continue
		}
		var ratios []float64
		for i, r := range rates[g.name] {
			ratios = append(ratios, r/rates[g.of][i])
		}
		fmt.Fprintf(&table, "%s is %.2f of %s (goal %.2f)\n", g.name, median(ratios), g.of, g.least)
	}
	fmt.Print("\n", table.String()) // b.Log would cut it
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

func contenders(b *testing.B) []contender {
	certs := transporttest.TLS(b)
	cs := []contender{memcpy(b), stream(b, "io.Copy", nil), stream(b, "io.Copy tls", certs)}
	for _, t := range []struct {
		name string
		c    tcp.Config
	}{{"tcp", tcp.Config{}}, {"tcp, 1 stream", tcp.Config{Streams: 1}}, {"tls", tcp.Config{TLS: certs}}} {
		tr, err := tcp.New(t.c)
		if err != nil {
			b.Fatal(err)
		}
		cs = append(cs, pages(b, t.name, tr, transporttest.NewSlab(b, benchPages, benchPageBytes)))
	}
	shared, err := shm.New(shm.Config{})
	if err != nil {
		b.Log(err)
		return cs
	}
	slab, err := shm.NewSlab(benchPages, benchPageBytes)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { shm.Free(slab) })
	cs = append(cs, pages(b, "shm", shared, slab))
	for _, name := range []string{"posix", "tcp"} {
		tr, err := ucx.New(ucx.Config{Transports: name, Trial: true})
		if err != nil {
			b.Log(err)
			return cs
		}
		cs = append(cs, pages(b, "ucx "+name, tr, transporttest.NewSlab(b, benchPages, benchPageBytes)))
	}
	return cs
}

func memcpy(b *testing.B) contender {
	from, to := transporttest.NewSlab(b, benchPages, benchPageBytes), transporttest.NewSlab(b, benchPages, benchPageBytes)
	fill(from)
	return contender{"memcpy", func(d time.Duration) (n int) {
		for end := time.Now().Add(d); time.Now().Before(end); {
			i := page.Index(n / benchPageBytes % benchPages)
			n += copy(to.Page(i), from.Page(i))
		}
		return n
	}, func() {}}
}

func fill(s transport.Slab) {
	for i := range s.Bytes {
		s.Bytes[i] = byte(i)
	}
}

// memory is a writer into a slab.
type memory struct {
	slab transport.Slab
	at   int
}

func (m *memory) Write(b []byte) (int, error) {
	for n := 0; n < len(b); {
		k := copy(m.slab.Bytes[m.at:], b[n:])
		n, m.at = n+k, (m.at+k)%len(m.slab.Bytes)
	}
	return len(b), nil
}

// stream is one bare connection: a slab is written to it, and io.Copy brings it into another.
func stream(b *testing.B, name string, certs *tls.Config) contender {
	from, to := transporttest.NewSlab(b, benchPages, benchPageBytes), transporttest.NewSlab(b, benchPages, benchPageBytes)
	fill(from)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := ln.Accept()
		if certs != nil {
			s := certs.Clone()
			s.DynamicRecordSizingDisabled = true
			c = tls.Server(c, s)
		}
		accepted <- c
	}()
	near, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	if certs != nil {
		c := certs.Clone()
		c.ServerName = "127.0.0.1"
		near = tls.Client(near, c)
	}
	far := <-accepted
	sink := &memory{slab: to}
	const unit = 8 * benchPageBytes
	more := make(chan struct{}, 2) // units to be sent: one more is under way when one has come
	go func() {
		for range more {
			for i := range page.Index(unit / benchPageBytes) {
				far.Write(from.Page(i))
			}
		}
	}()
	return contender{name, func(d time.Duration) (n int) {
		more <- struct{}{}
		more <- struct{}{}
		out := 2
		for end := time.Now().Add(d); out > 0; out-- {
			k, err := io.Copy(sink, io.LimitReader(near, unit))
			if n += int(k); err != nil {
				b.Fatal(err)
			}
			if time.Now().Before(end) {
				more <- struct{}{}
				out++
			}
		}
		return n
	}, func() { close(more); near.Close(); far.Close() }}
}

// pages reads pages by a transport, 16 at a time.
func pages(b *testing.B, name string, tr transport.Transport, from transport.Slab) contender {
	to := transporttest.NewSlab(b, benchPages, benchPageBytes)
	fill(from)
	exports := transport.NewExports()
	e, err := tr.Expose(from, exports)
	if err != nil {
		b.Fatal(err)
	}
	link, self := page.Link{Peer: 1, Incarnation: 1, Epoch: 1}, page.Link{Peer: 2, Incarnation: 2, Epoch: 1}
	try := page.Attempt{Gateway: 1, Number: 1, Prefill: 1}
	var refs []page.Ref
	for i := range page.Index(benchPages) {
		refs = append(refs, page.Ref{Node: 1, Incarnation: 1, Page: i, Generation: 1})
	}
	exports.Offer(self, try, refs)
	c, err := tr.Dial(context.Background(), link, self, e.Descriptor(self), to)
	if err != nil {
		b.Fatal(err)
	}
	const out = 16
	ended := make(chan error, out)
	return contender{name, func(d time.Duration) int {
		begun, n := 0, 0
		begin := func() {
			i := begun % benchPages
			begun++
			c.Read(transport.Read{Attempt: try, Src: refs[i], Dst: page.Index(i)}, func(err error) { ended <- err })
		}
		for range out {
			begin()
		}
		for end := time.Now().Add(d); n < begun; n++ {
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
			if time.Now().Before(end) {
				begin()
			}
		}
		return n * benchPageBytes
	}, func() { c.Close(); e.Close() }}
}

package remote

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// echo answers each message with the same, or counts them.
type echo struct {
	answer bool
	heard  chan struct{}
	peer   chan *Peer
}

func (e *echo) Connected(p *Peer) { e.peer <- p }

func (e *echo) Message(p *Peer, m any, _ wire.Trace) {
	if e.answer {
		_ = p.Send(m)
	} else {
		e.heard <- struct{}{}
	}
}

func (e *echo) Lost(*Peer, error) {}

func pair(b *testing.B, answer bool) (*Peer, *echo) {
	first, second := &echo{heard: make(chan struct{}, 1<<16), peer: make(chan *Peer, 1)}, &echo{answer: answer, heard: make(chan struct{}, 1<<16), peer: make(chan *Peer, 1)}
	one, err := New(Config{Self: hello(1), Handler: first})
	if err != nil {
		b.Fatal(err)
	}
	two, err := New(Config{Self: hello(2), Handler: second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = errors.Join(one.Close(), two.Close()) })
	addr, err := two.Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	if err := one.Dial(context.Background(), addr.String()); err != nil {
		b.Fatal(err)
	}
	if answer {
		return <-first.peer, first
	}
	return <-first.peer, second
}

var oneToken = &handoff.Message{Kind: handoff.MsgTokens, Attempt: page.Attempt{Gateway: 1 << 60, Number: 1000, Prefill: 1 << 61}, Life: 1 << 62, First: 100, Tokens: []int32{12345}}

// BenchmarkTokens is one message with one token, from Send to the other side's handler, as many as go.
func BenchmarkTokens(b *testing.B) {
	p, at := pair(b, false)
	b.ReportAllocs()
	b.ResetTimer()
	sent, heard := 0, 0
	for heard < b.N {
		if sent < b.N && p.Send(oneToken) == nil {
			sent++
			continue
		}
		select {
		case <-at.heard:
			heard++
		default:
			runtime.Gosched()
		}
	}
}

// BenchmarkRoundTrip is one message and its answer.
func BenchmarkRoundTrip(b *testing.B) {
	p, at := pair(b, true)
	b.ResetTimer()
	for range b.N {
		if err := p.Send(oneToken); err != nil {
			b.Fatal(err)
		}
		<-at.heard
	}
}

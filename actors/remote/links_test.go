package remote

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/kvasir-engine/kvasir/kvpool"
)

// Who is not to be dialed any more stays connected, and is dialed no more once that connection is lost.
func TestTheEndOfADial(t *testing.T) {
	a, b := start(t, hello(1), nil), start(t, hello(2), nil)
	stop := a.dial(t, b.addr)
	bOfA := a.next(t, "connected").peer
	b.next(t, "connected")
	stop()
	if err := bOfA.Send(&kvpool.Message{Kind: kvpool.MsgRevoke}); err != nil {
		t.Fatal(err)
	}
	b.next(t, "message")

	again := a.dial(t, b.addr) // while the connection is up: it waits for its end
	again()
	bOfA.Close()
	a.next(t, "lost")
	b.next(t, "lost")
	select {
	case e := <-b.events:
		t.Errorf("%s after the dial had ended", e.what)
	case <-time.After(200 * time.Millisecond): // ten times RedialMost
	}
	meet(t, a, b)
}

// One line says who has connected, and a peer that is not there is said once, not at every try, and is no warning at first.
func TestWhatIsLoggedOfDials(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	b := start(t, hello(2), nil)
	a := start(t, hello(1), func(c *Config) { c.Logger = zap.New(core) })
	_, aOfB := meet(t, a, b)
	connected := logs.TakeAll()
	if len(connected) != 1 || connected[0].Level != zap.InfoLevel {
		t.Fatalf("logged at a connection: %+v", connected)
	}
	fields := connected[0].ContextMap()
	want := map[string]any{"kind": "node", "id": uint64(2), "address": b.addr, "link": aOfB.Self().String(), "prefill": true, "decode": true}
	for k, v := range want {
		if fields[k] != v {
			t.Errorf("%s is %v, want %v", k, fields[k], v)
		}
	}

	_ = b.Close()
	a.next(t, "lost")
	for range 5 {
		receive(t, a.failed)
	}
	var said []string
	for _, e := range logs.TakeAll() {
		if said = append(said, e.Message); e.Level != zap.InfoLevel {
			t.Errorf("%v: %s", e.Level, e.Message)
		}
	}
	if len(said) != 2 || said[0] != "peer lost" {
		t.Errorf("logged of a peer that has gone, after five tries: %q", said)
	}
}

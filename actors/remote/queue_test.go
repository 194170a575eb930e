package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// Two halves and the frames between them, at any speed of each: what is pushed comes out once and in order, the bounds hold, and nothing waits for ever.
func TestQueuesAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const largest = 200
		window := credit{uint64(rapid.IntRange(1, 5).Draw(t, "window")), uint64(rapid.IntRange(largest, 3*largest).Draw(t, "window bytes"))}
		room := credit{uint64(rapid.IntRange(1, 5).Draw(t, "room")), uint64(rapid.IntRange(largest, 3*largest).Draw(t, "room bytes"))}
		out, in := outbound{maxMessage: largest, room: room, allowed: window}, newInbound(window)

		var there []*pb.Payload // on the way
		var back []*pb.Ack
		var handling []received
		var want, got []string // the twin is a list
		check := func() {
			inflight := credit{}
			for _, p := range there {
				inflight.messages++
				inflight.bytes += uint64(proto.Size(p))
			}
			for _, r := range append(slices.Clone(in.queue), handling...) {
				inflight.messages++
				inflight.bytes += uint64(r.size)
			}
			if inflight.messages > window.messages || inflight.bytes > window.bytes {
				t.Fatalf("%+v are sent and not handled, the window is %+v", inflight, window)
			}
			if uint64(len(out.queue)) != out.waiting.messages || out.waiting.messages > room.messages || out.waiting.bytes > room.bytes {
				t.Fatalf("%+v wait, there is room for %+v", out.waiting, room)
			}
		}
		send := func() {
			if p, size := out.next(batchBytes); p != nil {
				if size != proto.Size(p) {
					t.Fatalf("size %d of %d", size, proto.Size(p))
				}
				there = append(there, p)
			}
		}
		arrive := func() {
			if len(there) == 0 {
				return
			}
			p := there[0]
			there = there[1:]
			if err := in.take(p.GetSequence(), received{message: p.GetTrace()["name"], size: proto.Size(p)}); err != nil {
				t.Fatal(err)
			}
			if err := in.take(p.GetSequence(), received{}); !errors.Is(err, errDuplicate) {
				t.Fatalf("twice: %v", err)
			}
		}
		begin := func() {
			if r, ok := in.pop(); ok {
				handling = append(handling, r)
				got = append(got, r.message.(string))
			}
		}
		finish := func() {
			if len(handling) > 0 {
				in.done(handling[0])
				handling = handling[1:]
			}
		}
		acknowledge := func() {
			if a := in.ack(); a != nil {
				back = append(back, a)
			}
		}
		hear := func(i int) {
			if len(back) == 0 {
				return
			}
			if err := out.ack(back[i%len(back)]); err != nil { // old ones may be repeated
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				name := fmt.Sprint(len(want), strings.Repeat("x", rapid.IntRange(0, largest-20).Draw(t, "size")))
				switch err := out.push(&pb.Payload{Trace: map[string]string{"name": name}}); {
				case err == nil:
					want = append(want, name)
				case !errors.Is(err, ErrBusy) && !errors.Is(err, ErrTooLarge):
					t.Fatal(err)
				}
			case 1:
				send()
			case 2:
				arrive()
			case 3:
				begin()
			case 4:
				finish()
			case 5:
				acknowledge()
				hear(rapid.IntRange(0, 99).Draw(t, "which"))
			}
			check()
		}
		for range 10 * (len(want) + 1) {
			send()
			arrive()
			begin()
			finish()
			acknowledge()
			hear(len(back) - 1)
			check()
		}
		if !slices.Equal(got, want) || out.acked != out.pushed || out.acked != uint64(len(want)) {
			t.Fatalf("%d of %d came, %d acknowledged", len(got), len(want), out.acked)
		}
	})
}

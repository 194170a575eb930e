package wire

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
	"github.com/kvasir-engine/kvasir/request"
)

// canonical is what defines when two messages are equal.
func canonical(m any) []byte {
	switch m := m.(type) {
	case *kvpool.Message:
		return kvpool.AppendMessage([]byte("pages"), m)
	case *handoff.Message:
		return handoff.AppendMessage([]byte("request"), m)
	case Descriptors:
		var b []byte
		for _, d := range m {
			b = append(append(append(append(b, d.Transport...), 0), d.Bytes...), 0)
		}
		return b
	case Members:
		return []byte(strings.Join(m, "\x00"))
	}
	return nil
}

// drawNatural draws a count, often large.
func drawNatural(t *rapid.T, name string) int { return rapid.IntMin(0).Draw(t, name) }

func drawAttempt(t *rapid.T) page.Attempt {
	return page.Attempt{Gateway: rapid.Uint64().Draw(t, "gateway"), Number: rapid.Uint64().Draw(t, "number"), Prefill: page.Incarnation(rapid.Uint64().Draw(t, "prefill"))}
}

func drawLink(t *rapid.T) page.Link {
	return page.Link{Peer: page.Node(rapid.Uint64().Draw(t, "peer")), Incarnation: page.Incarnation(rapid.Uint64().Draw(t, "life")), Epoch: rapid.Uint64().Draw(t, "epoch")}
}

// drawText draws bytes, since clients' texts need not be UTF-8.
func drawText(t *rapid.T, name string) string {
	return string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, name))
}

func drawPages(t *rapid.T) *kvpool.Message {
	m := &kvpool.Message{
		Kind: kvpool.MessageKind(rapid.IntRange(1, 3).Draw(t, "kind")), Attempt: drawAttempt(t),
		From: page.Incarnation(rapid.Uint64().Draw(t, "from")), To: page.Incarnation(rapid.Uint64().Draw(t, "to")), Epoch: rapid.Uint64().Draw(t, "epoch"),
	}
	switch m.Kind {
	case kvpool.MsgOffer:
		m.Total, m.Group, m.First = drawNatural(t, "total"), drawNatural(t, "group"), drawNatural(t, "first")
		for range rapid.IntRange(0, 3).Draw(t, "pages") {
			o := kvpool.Offer{Checksum: rapid.Uint32().Draw(t, "checksum"), Fill: drawNatural(t, "fill"), Ref: page.Ref{
				Node: page.Node(rapid.Uint64().Draw(t, "node")), Incarnation: page.Incarnation(rapid.Uint64().Draw(t, "life")),
				Page: page.Index(rapid.Uint32().Draw(t, "page")), Generation: page.Generation(rapid.Uint64().Draw(t, "generation")),
			}}
			copy(o.Chain[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "chain"))
			m.Pages = append(m.Pages, o)
		}
		if rapid.Bool().Draw(t, "sealed") {
			m.Seal = &kvpool.SealOf{Groups: drawNatural(t, "groups"), Tokens: drawNatural(t, "tokens"), First: rapid.Int32().Draw(t, "first token")}
		}
	case kvpool.MsgRelease:
		m.Status = kvpool.Status(rapid.IntRange(int(kvpool.Done), int(kvpool.Mismatch)).Draw(t, "status"))
		m.Page, m.Have, m.Max = rapid.IntMin(-1).Draw(t, "page"), rapid.Int().Draw(t, "have"), rapid.Int().Draw(t, "max")
	}
	return m
}

func drawRequest(t *rapid.T) *handoff.Message {
	m := &handoff.Message{Kind: handoff.MessageKind(rapid.IntRange(int(handoff.MsgSubmit), int(handoff.MsgStatus)).Draw(t, "kind")), Life: page.Incarnation(rapid.Uint64().Draw(t, "life"))}
	if m.Kind != handoff.MsgStatus {
		m.Attempt = drawAttempt(t)
	}
	tokens := rapid.SliceOfN(rapid.Int32(), 0, 5)
	switch m.Kind {
	case handoff.MsgSubmit:
		m.Role, m.Remaining = handoff.Role(rapid.IntRange(1, 3).Draw(t, "role")), rapid.Int64().Draw(t, "remaining")
		if m.Role != handoff.Local {
			m.Link = drawLink(t)
		}
		m.Spec = &handoff.Spec{
			Request: drawText(t, "request"), Choice: rapid.Uint32().Draw(t, "choice"), Tenant: drawText(t, "tenant"), Domain: drawText(t, "domain"),
			Prompt: tokens.Draw(t, "prompt"), MaxTokens: drawNatural(t, "max tokens"), StopTokens: tokens.Draw(t, "stops"),
			Sampling: rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "sampling"), Seed: rapid.Uint64().Draw(t, "seed"), Details: rapid.Bool().Draw(t, "details"),
		}
	case handoff.MsgPoll:
		m.Have = drawNatural(t, "have")
	case handoff.MsgRejected:
		m.Rejection = &request.Rejection{
			Limit: rapid.SampledFrom(limits[1:]).Draw(t, "limit"), Field: drawText(t, "field"), Have: rapid.Int().Draw(t, "have"), Max: rapid.Int().Draw(t, "max"), Why: drawText(t, "why"),
		}
	case handoff.MsgPrefilled, handoff.MsgTokens:
		m.First, m.Tokens = drawNatural(t, "first"), tokens.Draw(t, "tokens")
		if rapid.Bool().Draw(t, "with details") {
			for range m.Tokens {
				m.Details = append(m.Details, rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "detail"))
			}
		}
	case handoff.MsgEnd:
		m.Reason = handoff.Reason(rapid.IntRange(int(handoff.ReasonStop), int(handoff.ReasonBusy)).Draw(t, "reason"))
		m.Total, m.Need, m.Max, m.Why = drawNatural(t, "total"), rapid.Int().Draw(t, "need"), rapid.Int().Draw(t, "max"), drawText(t, "why")
	case handoff.MsgStatus:
		m.Status = &handoff.Status{
			Serial: rapid.Uint64().Draw(t, "serial"), Ready: rapid.Bool().Draw(t, "ready"), Draining: rapid.Bool().Draw(t, "draining"),
			Prefill: rapid.Bool().Draw(t, "prefill"), Decode: rapid.Bool().Draw(t, "decode"),
			Load:   handoff.Load{FreePages: drawNatural(t, "free"), TotalPages: drawNatural(t, "pages"), Waiting: drawNatural(t, "waiting"), Running: drawNatural(t, "running")},
			Limits: handoff.Limits{MaxModelLen: drawNatural(t, "context"), PoolTokens: drawNatural(t, "pool")},
		}
		for range rapid.IntRange(0, 3).Draw(t, "links") {
			m.Status.Links = append(m.Status.Links, drawLink(t))
		}
	}
	return m
}

func drawMessage(t *rapid.T) any {
	switch rapid.IntRange(0, 5).Draw(t, "of") {
	case 5:
		return Members(rapid.SliceOfN(rapid.StringN(0, 9, 36), 0, 3).Draw(t, "members"))
	case 0:
		ds := Descriptors{}
		for range rapid.IntRange(0, 3).Draw(t, "descriptors") {
			ds = append(ds, Descriptor{Transport: rapid.StringN(0, 4, MaxTransportName).Draw(t, "transport"), Bytes: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes")})
		}
		return ds
	case 1, 2:
		return drawPages(t)
	}
	return drawRequest(t)
}

// What is decoded equals what was encoded, over the wire, and the trace context comes along.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		trace := Trace(rapid.MapOfN(rapid.StringN(0, 5, -1), rapid.StringN(0, 5, -1), 0, 3).Draw(t, "trace"))
		if !Ours(m) {
			t.Fatalf("%T is not ours", m)
		}
		p, err := Encode(m, trace)
		if err != nil {
			t.Fatal(err)
		}
		b, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var landed pb.Payload
		if err := proto.Unmarshal(b, &landed); err != nil {
			t.Fatal(err)
		}
		got, gotTrace, err := Decode(&landed)
		if err != nil || !bytes.Equal(canonical(got), canonical(m)) || reflect.TypeOf(got) != reflect.TypeOf(m) {
			t.Fatalf("%+v came back as %+v, %v", m, got, err)
		}
		if len(trace) > 0 && !reflect.DeepEqual(gotTrace, trace) || len(gotTrace) != len(trace) {
			t.Fatalf("trace %v came back as %v", trace, gotTrace)
		}
	})
}

// A payload shares nothing with what its sender uses again.
func TestEncodeCopies(t *testing.T) {
	tokens := &handoff.Message{Kind: handoff.MsgTokens, Tokens: []int32{1, 2}, Details: [][]byte{{3}, {4}}}
	offer := &kvpool.Message{Kind: kvpool.MsgOffer, Pages: []kvpool.Offer{{Fill: 5, Chain: page.Hash{6}}}, Seal: &kvpool.SealOf{Tokens: 7}}
	for _, c := range []struct {
		m     any
		spoil func()
	}{
		{tokens, func() { tokens.Tokens[0], tokens.Details[1][0] = 9, 9 }},
		{offer, func() { offer.Pages[0], offer.Seal.Tokens = kvpool.Offer{}, 9 }},
	} {
		want := canonical(c.m)
		trace := Trace{"traceparent": "00-1-2-01"}
		p, err := Encode(c.m, trace)
		if err != nil {
			t.Fatal(err)
		}
		c.spoil()
		trace["traceparent"] = "other"
		got, gotTrace, err := Decode(p)
		if err != nil || !bytes.Equal(canonical(got), want) || gotTrace["traceparent"] != "00-1-2-01" {
			t.Errorf("got %+v, %v, %v", got, gotTrace, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		m    any
	}{
		{"string is no message", "text"},
		{"kvpool.Message is no message", (*kvpool.Message)(nil)},
		{"kvpool.Message is 0", &kvpool.Message{}},
		{"Offer.total is -1", &kvpool.Message{Kind: kvpool.MsgOffer, Total: -1}},
		{"Offer.pages[1].fill is -2", &kvpool.Message{Kind: kvpool.MsgOffer, Pages: []kvpool.Offer{{}, {Fill: -2}}}},
		{"Release.status is 5, must be from 1 to 4", &kvpool.Message{Kind: kvpool.MsgRelease, Status: kvpool.Lost}},
		{"Release.page is -2", &kvpool.Message{Kind: kvpool.MsgRelease, Status: kvpool.Done, Page: -2}},
		{"handoff.Message is 11, must be from 1 to 10", &handoff.Message{Kind: handoff.MsgStatus + 1}},
		{"Submit.role is 0", &handoff.Message{Kind: handoff.MsgSubmit, Spec: &handoff.Spec{}}},
		{"Submit.spec is missing", &handoff.Message{Kind: handoff.MsgSubmit, Role: handoff.Local}},
		{"Rejected.rejection is missing", &handoff.Message{Kind: handoff.MsgRejected}},
		{`Rejected.limit is "mood"`, &handoff.Message{Kind: handoff.MsgRejected, Rejection: &request.Rejection{Limit: "mood"}}},
		{"Tokens.piece.details has 1, must have one for each of 2", &handoff.Message{Kind: handoff.MsgTokens, Tokens: []int32{1, 2}, Details: [][]byte{nil}}},
		{"End.reason is 19", &handoff.Message{Kind: handoff.MsgEnd, Reason: handoff.ReasonBusy + 1}},
		{"NodeStatus.status is missing", &handoff.Message{Kind: handoff.MsgStatus}},
		{"descriptors[0].transport is not UTF-8", Descriptors{{Transport: "\xff"}}},
		{"descriptors[1].descriptor has 65537", Descriptors{{}, {Bytes: make([]byte, MaxDescriptorBytes+1)}}},
	} {
		if _, err := Encode(c.m, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.m, err, c.want)
		}
	}
	many := Trace{}
	for i := range MaxTraceEntries + 1 {
		many[string(rune('a'+i))] = ""
	}
	for want, trace := range map[string]Trace{"trace has 17": many, "trace is not UTF-8": {"traceparent": "\xff"}, "trace has 4097": {"tracestate": strings.Repeat("x", 4097)}} {
		if _, err := Encode(Descriptors{}, trace); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	envelope := &pb.Envelope{Attempt: &pb.Attempt{}}
	part := &pb.Part{Attempt: &pb.Attempt{}}
	offer := func(o *pb.Offer) *pb.Payload {
		o.Envelope = envelope
		return &pb.Payload{Message: &pb.Payload_Offer{Offer: o}}
	}
	fine := &pb.OfferedPage{Ref: &pb.PageRef{}, Chain: make([]byte, 16)}
	for _, c := range []struct {
		want string
		p    *pb.Payload
	}{
		{"Offer.envelope is missing", &pb.Payload{Message: &pb.Payload_Offer{Offer: &pb.Offer{}}}},
		{"Offer.total is 18446744073709551615", offer(&pb.Offer{Total: 1<<64 - 1})},
		{"Offer.pages[1].ref is missing", offer(&pb.Offer{Pages: []*pb.OfferedPage{fine, {Chain: make([]byte, 16)}}})},
		{"Offer.pages[0].chain has 15 bytes, must have 16", offer(&pb.Offer{Pages: []*pb.OfferedPage{{Ref: &pb.PageRef{}, Chain: make([]byte, 15)}}})},
		{"Offer.pages[0].chain has 17 bytes, must have 16", offer(&pb.Offer{Pages: []*pb.OfferedPage{{Ref: &pb.PageRef{}, Chain: make([]byte, 17)}}})},
		{"Release.status is 9", &pb.Payload{Message: &pb.Payload_Release{Release: &pb.Release{Envelope: envelope, Status: 9}}}},
		{"Revoke.envelope.attempt is missing", &pb.Payload{Message: &pb.Payload_Revoke{Revoke: &pb.Revoke{Envelope: &pb.Envelope{}}}}},
		{"Submit.part is missing", &pb.Payload{Message: &pb.Payload_Submit{Submit: &pb.Submit{}}}},
		{"Submit.role is 4", &pb.Payload{Message: &pb.Payload_Submit{Submit: &pb.Submit{Part: part, Role: 4}}}},
		{"Submit.spec is missing", &pb.Payload{Message: &pb.Payload_Submit{Submit: &pb.Submit{Part: part, Role: 1}}}},
		{"Rejected.limit is 6", &pb.Payload{Message: &pb.Payload_Rejected{Rejected: &pb.Rejected{Part: part, Limit: 6}}}},
		{"Rejected.limit is 0", &pb.Payload{Message: &pb.Payload_Rejected{Rejected: &pb.Rejected{Part: part}}}},
		{"Tokens.piece is missing", &pb.Payload{Message: &pb.Payload_Tokens{Tokens: &pb.Tokens{Part: part}}}},
		{"End.reason is -1", &pb.Payload{Message: &pb.Payload_End{End: &pb.End{Part: part, Reason: -1}}}},
		{"NodeStatus.load is missing", &pb.Payload{Message: &pb.Payload_Status{Status: &pb.NodeStatus{}}}},
		{"Members.prefill has 1025", &pb.Payload{Message: &pb.Payload_Members{Members: &pb.Members{Prefill: make([]string, 1025)}}}},
		{"Members.prefill[1] has 257", &pb.Payload{Message: &pb.Payload_Members{Members: &pb.Members{Prefill: []string{"", strings.Repeat("a", 257)}}}}},
		{"Descriptors.descriptors has 17", &pb.Payload{Message: &pb.Payload_Descriptors{Descriptors: &pb.Descriptors{Descriptors: make([]*pb.Descriptor, 17)}}}},
	} {
		if m, _, err := Decode(c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %+v, %v, want %q", c.p, m, err, c.want)
		}
	}
	if _, _, err := Decode(&pb.Payload{Sequence: 1}); !errors.Is(err, ErrUnknown) {
		t.Errorf("no message: %v", err)
	}
}

// Each kind has a name of its own in metrics, and a newer version's kind is unknown.
func TestNames(t *testing.T) {
	if names := Names(); len(names) != 16 || !slices.Contains(names, "offer") || !slices.Contains(names, "status") {
		t.Errorf("names %v", names)
	}
	p, err := Encode(&handoff.Message{Kind: handoff.MsgStatus, Status: &handoff.Status{}}, nil)
	if err != nil || Name(p) != "status" || Name(&pb.Payload{}) != "unknown" {
		t.Errorf("status is called %q, %v", Name(p), err)
	}
	var newer pb.Payload
	if err := proto.Unmarshal([]byte{0xa2, 0x06, 0}, &newer); err != nil || Name(&newer) != "unknown" { // field 100, empty
		t.Errorf("a newer kind is called %q, %v", Name(&newer), err)
	}
}

// FuzzDecode: no bytes make it panic, and what is taken can be said again.
func FuzzDecode(f *testing.F) {
	for _, m := range []any{
		Descriptors{{Transport: "tcp", Bytes: []byte("x")}},
		Members{"10.0.0.1:7001"},
		&kvpool.Message{Kind: kvpool.MsgOffer, Total: 1, Pages: make([]kvpool.Offer, 2), Seal: &kvpool.SealOf{First: -1}},
		&kvpool.Message{Kind: kvpool.MsgRelease, Status: kvpool.Refused, Page: -1},
		&handoff.Message{Kind: handoff.MsgSubmit, Role: handoff.Decode, Link: page.Link{Peer: 1}, Spec: &handoff.Spec{Prompt: []int32{1, 2}}},
		&handoff.Message{Kind: handoff.MsgRejected, Rejection: &request.Rejection{Limit: request.LimitPool}},
		&handoff.Message{Kind: handoff.MsgTokens, Tokens: []int32{1}, Details: [][]byte{{1}}},
		&handoff.Message{Kind: handoff.MsgEnd, Reason: handoff.ReasonStop},
		&handoff.Message{Kind: handoff.MsgStatus, Status: &handoff.Status{Links: make([]kvpool.Link, 1)}},
	} {
		p, err := Encode(m, Trace{"traceparent": "x"})
		if err != nil {
			f.Fatal(err)
		}
		b, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p pb.Payload
		if proto.Unmarshal(b, &p) != nil {
			return
		}
		m, trace, err := Decode(&p)
		if err != nil {
			return
		}
		again, err := Encode(m, trace)
		if err != nil {
			t.Fatalf("%+v was taken and cannot be said: %v", m, err)
		}
		got, _, err := Decode(again)
		if err != nil || !bytes.Equal(canonical(got), canonical(m)) {
			t.Fatalf("%+v became %+v, %v", m, got, err)
		}
	})
}

package handoff

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/request"
)

// samples has one message of each kind with every field that counts set.
func samples() []Message {
	a := kvpool.Attempt{Gateway: 7, Number: 1 << 40, Prefill: 9}
	link := kvpool.Link{Peer: 3, Incarnation: 4, Epoch: 5}
	spec := &Spec{Request: "r-1", Choice: 2, Tenant: "t", Domain: "d", Prompt: []int32{1, -2, 1 << 30}, MaxTokens: 16, StopTokens: []int32{0}, Sampling: []byte("greedy"), Seed: 1 << 63, Details: true}
	return []Message{
		{Kind: MsgSubmit, Attempt: a, Life: 11, Role: Decode, Link: link, Remaining: 1e9, Spec: spec},
		{Kind: MsgSubmit, Attempt: a, Life: 11, Role: Local, Remaining: -1, Spec: &Spec{}},
		{Kind: MsgPoll, Attempt: a, Life: 11, Have: 3},
		{Kind: MsgCancel, Attempt: a, Life: 11},
		{Kind: MsgAccepted, Attempt: a, Life: 11},
		{Kind: MsgRejected, Attempt: a, Life: 11, Rejection: &request.Rejection{Limit: request.LimitPool, Field: "messages", Have: 9, Max: 8, Why: "Too long."}},
		{Kind: MsgPrefilled, Attempt: a, Life: 11, Tokens: []int32{5}, Details: [][]byte{[]byte("-0.5")}},
		{Kind: MsgTokens, Attempt: a, Life: 11, First: 2, Tokens: []int32{5, 6}},
		{Kind: MsgTokens, Attempt: a, Life: 11, First: 2, Tokens: []int32{5, 6}, Details: [][]byte{nil, []byte("x")}},
		{Kind: MsgEnd, Attempt: a, Life: 11, Reason: ReasonNoRoom, Total: 1, Need: 20, Max: 10, Why: "full"},
		{Kind: MsgClosed, Attempt: a, Life: 11},
		{Kind: MsgStatus, Life: 11, Status: &Status{Serial: 6, Ready: true, Decode: true, Load: Load{1, 2, 3, 4}, Limits: Limits{5, 6}, Links: []kvpool.Link{link, {Peer: 8}}}},
	}
}

// Every message comes back from its encoding as it was, no two have the same, and no proper beginning of one, nor one with more behind it, is a message.
func TestEncoding(t *testing.T) {
	seen := map[string]int{}
	for i, m := range samples() {
		b := AppendMessage(nil, &m)
		got, err := DecodeMessage(b)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("message %d: got %+v, %v, want %+v", i, got, err, m)
		}
		if other, twice := seen[string(b)]; twice {
			t.Errorf("messages %d and %d have one encoding", i, other)
		}
		seen[string(b)] = i
		for n := range b {
			if _, err := DecodeMessage(b[:n]); err == nil {
				t.Errorf("message %d: its first %d bytes are taken", i, n)
			}
		}
		if _, err := DecodeMessage(append(b, 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow") {
			t.Errorf("message %d: a byte more: %v", i, err)
		}
	}
}

// What a nil pointer stands for is the zero of its type.
func TestEncodingOfNothing(t *testing.T) {
	for kind := MsgSubmit; kind <= MsgStatus; kind++ {
		m := Message{Kind: kind}
		b := AppendMessage(nil, &m)
		got, err := DecodeMessage(b)
		if err != nil || !bytes.Equal(AppendMessage(nil, &got), b) {
			t.Errorf("kind %d: %+v, %v", kind, got, err)
		}
	}
	if _, err := DecodeMessage([]byte{byte(MsgStatus) + 1}); err == nil || !strings.Contains(err.Error(), "must be 1 to 10") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// FuzzDecodeMessage: no bytes make it panic, and what it takes has just those bytes for its encoding.
func FuzzDecodeMessage(f *testing.F) {
	for _, m := range samples() {
		f.Add(AppendMessage(nil, &m))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err == nil && !bytes.Equal(AppendMessage(nil, &m), b) {
			t.Errorf("%x decodes to %+v, which is encoded as %x", b, m, AppendMessage(nil, &m))
		}
	})
}

package kvpool

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// messages draws any message whose fields that do not count for its kind are zero.
func messages(t *rapid.T) Message {
	m := Message{
		Kind:    MessageKind(rapid.IntRange(1, 3).Draw(t, "kind")),
		Attempt: Attempt{Gateway: rapid.Uint64().Draw(t, "gateway"), Number: rapid.Uint64().Draw(t, "number"), Prefill: page.Incarnation(rapid.Uint64().Draw(t, "prefill"))},
		From:    page.Incarnation(rapid.Uint64().Draw(t, "from")), To: page.Incarnation(rapid.Uint64().Draw(t, "to")), Epoch: rapid.Uint64().Draw(t, "epoch"),
	}
	switch m.Kind {
	case MsgOffer:
		m.Total, m.Group, m.First = rapid.Int().Draw(t, "total"), rapid.Int().Draw(t, "group"), rapid.Int().Draw(t, "first")
		for range rapid.IntRange(0, 3).Draw(t, "pages") {
			o := Offer{Checksum: rapid.Uint32().Draw(t, "checksum"), Fill: rapid.Int().Draw(t, "fill"), Ref: page.Ref{
				Node: page.Node(rapid.Uint64().Draw(t, "node")), Incarnation: page.Incarnation(rapid.Uint64().Draw(t, "life")),
				Page: page.Index(rapid.Uint32().Draw(t, "page")), Generation: page.Generation(rapid.Uint64().Draw(t, "generation")),
			}}
			copy(o.Chain[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "chain"))
			m.Pages = append(m.Pages, o)
		}
		if rapid.Bool().Draw(t, "sealed") {
			m.Seal = &SealOf{Groups: rapid.Int().Draw(t, "groups"), Tokens: rapid.Int().Draw(t, "tokens"), First: rapid.Int32().Draw(t, "first token")}
		}
	case MsgRelease:
		m.Status = Status(rapid.Byte().Draw(t, "status"))
		m.Page, m.Have, m.Max = rapid.Int().Draw(t, "page"), rapid.Int().Draw(t, "have"), rapid.Int().Draw(t, "max")
	}
	return m
}

func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := messages(t)
		b := AppendMessage([]byte("before"), &m)
		got, err := DecodeMessage(b[len("before"):])
		if err != nil || !reflect.DeepEqual(got, m) || !strings.HasPrefix(string(b), "before") {
			t.Fatalf("%+v came back as %+v, %v", m, got, err)
		}
	})
}

func TestDecodeMessageRefuses(t *testing.T) {
	offer := AppendMessage(nil, &Message{Kind: MsgOffer, Pages: make([]Offer, 2), Seal: &SealOf{}})
	edit := func(at int, v byte) []byte {
		b := bytes.Clone(offer)
		b[at] = v
		return b
	}
	pages := 1 + 6*8 + 3*8      // where the number of pages stands
	index := pages + 8 + 2*8    // the first page's number
	seal := len(offer) - 1 - 24 // the seal's mark
	for _, c := range []struct {
		want string
		b    []byte
	}{
		{"kind 0", nil},
		{"kind 4", []byte{4}},
		{"too soon", offer[:len(offer)-1]},
		{"too soon", offer[:20]},
		{"1 bytes follow", append(bytes.Clone(offer), 0)},
		{"3 pages are announced", edit(pages, 3)},
		{"pages are announced", edit(pages+7, 0xff)},
		{"larger than its field", edit(index+4, 1)},
		{"larger than its field", edit(len(offer)-1, 1)},
		{"the seal's mark is 2", edit(seal, 2)},
	} {
		if _, err := DecodeMessage(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: got %v, want %q", c.b, err, c.want)
		}
	}
}

// FuzzDecodeMessage: what is taken is the encoding of what it says, and of nothing else.
func FuzzDecodeMessage(f *testing.F) {
	for _, m := range []Message{
		{Kind: MsgRevoke, Attempt: attemptOf(1, 2, 3), From: 4, To: 5, Epoch: 6},
		{Kind: MsgRelease, Status: Mismatch, Page: -1, Have: 1, Max: 2},
		{Kind: MsgOffer, Total: 3, Group: 1, First: 2, Pages: []Offer{{Fill: 16}}},
		{Kind: MsgOffer, Pages: make([]Offer, 3), Seal: &SealOf{Groups: 1, Tokens: 2, First: -3}},
	} {
		f.Add(AppendMessage(nil, &m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err != nil {
			return
		}
		if again := AppendMessage(nil, &m); !bytes.Equal(again, b) {
			t.Errorf("%x says %+v, which is %x", b, m, again)
		}
	})
}

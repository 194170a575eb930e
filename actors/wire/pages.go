package wire

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

func encodePages(f *fields, p *pb.Payload, m *kvpool.Message) {
	e := &pb.Envelope{Attempt: encodeAttempt(m.Attempt), From: uint64(m.From), To: uint64(m.To), Epoch: m.Epoch}
	switch m.Kind {
	case kvpool.MsgOffer:
		p.Message = &pb.Payload_Offer{Offer: encodeOffer(f, e, m)}
	case kvpool.MsgRelease:
		r := &pb.Release{Envelope: e, Have: int64(m.Have), Max: int64(m.Max)}
		r.Status = pb.ReleaseStatus(f.enum("Release.status", int(m.Status), int(kvpool.Done), int(kvpool.Mismatch)))
		if m.Page != -1 {
			at := f.natural("Release.page", m.Page)
			r.Page = &at
		}
		p.Message = &pb.Payload_Release{Release: r}
	case kvpool.MsgRevoke:
		p.Message = &pb.Payload_Revoke{Revoke: &pb.Revoke{Envelope: e}}
	default:
		f.fail("kind of a kvpool.Message", "is %d, must be from %d to %d", m.Kind, kvpool.MsgOffer, kvpool.MsgRevoke)
	}
}

func encodeOffer(f *fields, e *pb.Envelope, m *kvpool.Message) *pb.Offer {
	o := &pb.Offer{Envelope: e, Total: f.natural("Offer.total", m.Total), Group: f.natural("Offer.group", m.Group), First: f.natural("Offer.first", m.First)}
	for i := range m.Pages {
		f.entry = i
		from := &m.Pages[i]
		o.Pages = append(o.Pages, &pb.OfferedPage{
			Ref:   &pb.PageRef{Node: uint64(from.Ref.Node), Incarnation: uint64(from.Ref.Incarnation), Page: uint32(from.Ref.Page), Generation: uint64(from.Ref.Generation)},
			Chain: append([]byte(nil), from.Chain[:]...), Checksum: from.Checksum, Fill: f.natural("Offer.pages[i].fill", from.Fill),
		})
	}
	if s := m.Seal; s != nil {
		o.Seal = &pb.Seal{Groups: f.natural("Offer.seal.groups", s.Groups), Tokens: f.natural("Offer.seal.tokens", s.Tokens), FirstToken: s.First}
	}
	return o
}

// decodePages is nil where p says nothing of pages.
func decodePages(f *fields, p *pb.Payload) *kvpool.Message {
	switch {
	case p.GetOffer() != nil:
		return decodeOffer(f, p.GetOffer())
	case p.GetRelease() != nil:
		r := p.GetRelease()
		m := decodeEnvelope(f, "Release.envelope", kvpool.MsgRelease, r.GetEnvelope())
		m.Status = kvpool.Status(f.enum("Release.status", int(r.GetStatus()), int(kvpool.Done), int(kvpool.Mismatch)))
		m.Page = -1
		if r.Page != nil {
			m.Page = f.int("Release.page", r.GetPage())
		}
		m.Have, m.Max = f.signed("Release.have", r.GetHave()), f.signed("Release.max", r.GetMax())
		return m
	case p.GetRevoke() != nil:
		return decodeEnvelope(f, "Revoke.envelope", kvpool.MsgRevoke, p.GetRevoke().GetEnvelope())
	}
	return nil
}

func decodeOffer(f *fields, o *pb.Offer) *kvpool.Message {
	m := decodeEnvelope(f, "Offer.envelope", kvpool.MsgOffer, o.GetEnvelope())
	m.Total, m.Group, m.First = f.int("Offer.total", o.GetTotal()), f.int("Offer.group", o.GetGroup()), f.int("Offer.first", o.GetFirst())
	for i, from := range o.GetPages() {
		if f.err != nil {
			break
		}
		f.entry = i
		m.Pages = append(m.Pages, decodeOffered(f, from))
	}
	if s := o.GetSeal(); s != nil {
		m.Seal = &kvpool.SealOf{Groups: f.int("Offer.seal.groups", s.GetGroups()), Tokens: f.int("Offer.seal.tokens", s.GetTokens()), First: s.GetFirstToken()}
	}
	return m
}

func decodeOffered(f *fields, from *pb.OfferedPage) kvpool.Offer {
	o := kvpool.Offer{Checksum: from.GetChecksum(), Fill: f.int("Offer.pages[i].fill", from.GetFill())}
	if r := from.GetRef(); present(f, "Offer.pages[i].ref", r) {
		o.Ref = page.Ref{Node: page.Node(r.GetNode()), Incarnation: page.Incarnation(r.GetIncarnation()), Page: page.Index(r.GetPage()), Generation: page.Generation(r.GetGeneration())}
	}
	if n := copy(o.Chain[:], from.GetChain()); n != len(o.Chain) || n != len(from.GetChain()) {
		f.fail("Offer.pages[i].chain", "has %d bytes, must have %d", len(from.GetChain()), len(o.Chain))
	}
	return o
}

func decodeEnvelope(f *fields, name string, kind kvpool.MessageKind, e *pb.Envelope) *kvpool.Message {
	present(f, name, e)
	return &kvpool.Message{
		Kind: kind, Attempt: decodeAttempt(f, name+".attempt", e.GetAttempt()),
		From: page.Incarnation(e.GetFrom()), To: page.Incarnation(e.GetTo()), Epoch: e.GetEpoch(),
	}
}

func encodeAttempt(a page.Attempt) *pb.Attempt {
	return &pb.Attempt{Gateway: a.Gateway, Number: a.Number, Prefill: uint64(a.Prefill)}
}

func decodeAttempt(f *fields, name string, a *pb.Attempt) page.Attempt {
	present(f, name, a)
	return page.Attempt{Gateway: a.GetGateway(), Number: a.GetNumber(), Prefill: page.Incarnation(a.GetPrefill())}
}

package wire

import (
	"bytes"
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
	"github.com/kvasir-engine/kvasir/request"
)

// limits are the values of a rejection's limit, in the order of pb.Limit.
var limits = []request.Limit{1: request.LimitContext, request.LimitPool, request.LimitQueue, request.LimitInput, request.LimitClosing}

func encodeRequest(f *fields, p *pb.Payload, m *handoff.Message) {
	part := &pb.Part{Attempt: encodeAttempt(m.Attempt), Life: uint64(m.Life)}
	switch m.Kind {
	case handoff.MsgSubmit:
		p.Message = &pb.Payload_Submit{Submit: encodeSubmit(f, part, m)}
	case handoff.MsgPoll:
		p.Message = &pb.Payload_Poll{Poll: &pb.Poll{Part: part, Have: f.natural("Poll.have", m.Have)}}
	case handoff.MsgCancel:
		p.Message = &pb.Payload_Cancel{Cancel: &pb.Cancel{Part: part}}
	case handoff.MsgAccepted:
		p.Message = &pb.Payload_Accepted{Accepted: &pb.Accepted{Part: part}}
	case handoff.MsgRejected:
		p.Message = &pb.Payload_Rejected{Rejected: encodeRejected(f, part, m.Rejection)}
	case handoff.MsgPrefilled:
		p.Message = &pb.Payload_Prefilled{Prefilled: &pb.Prefilled{Part: part, Piece: encodePiece(f, "Prefilled.piece", m)}}
	case handoff.MsgTokens:
		p.Message = &pb.Payload_Tokens{Tokens: &pb.Tokens{Part: part, Piece: encodePiece(f, "Tokens.piece", m)}}
	case handoff.MsgEnd:
		p.Message = &pb.Payload_End{End: &pb.End{
			Part: part, Reason: pb.Reason(f.enum("End.reason", int(m.Reason), int(handoff.ReasonStop), int(handoff.ReasonBusy))),
			Total: f.natural("End.total", m.Total), Need: int64(m.Need), Max: int64(m.Max), Why: []byte(m.Why),
		}}
	case handoff.MsgClosed:
		p.Message = &pb.Payload_Closed{Closed: &pb.Closed{Part: part}}
	case handoff.MsgStatus:
		p.Message = &pb.Payload_Status{Status: encodeStatus(f, m)}
	default:
		f.fail("kind of a handoff.Message", "is %d, must be from %d to %d", m.Kind, handoff.MsgSubmit, handoff.MsgStatus)
	}
}

// decodeRequest takes what is no message about pages and no descriptors.
func decodeRequest(f *fields, p *pb.Payload) *handoff.Message {
	m := &handoff.Message{}
	switch in := p.GetMessage().(type) {
	case *pb.Payload_Submit:
		decodePart(f, m, handoff.MsgSubmit, "Submit.part", in.Submit.GetPart())
		decodeSubmit(f, m, in.Submit)
	case *pb.Payload_Poll:
		decodePart(f, m, handoff.MsgPoll, "Poll.part", in.Poll.GetPart())
		m.Have = f.int("Poll.have", in.Poll.GetHave())
	case *pb.Payload_Cancel:
		decodePart(f, m, handoff.MsgCancel, "Cancel.part", in.Cancel.GetPart())
	case *pb.Payload_Accepted:
		decodePart(f, m, handoff.MsgAccepted, "Accepted.part", in.Accepted.GetPart())
	case *pb.Payload_Rejected:
		decodePart(f, m, handoff.MsgRejected, "Rejected.part", in.Rejected.GetPart())
		m.Rejection = decodeRejected(f, in.Rejected)
	case *pb.Payload_Prefilled:
		decodePart(f, m, handoff.MsgPrefilled, "Prefilled.part", in.Prefilled.GetPart())
		decodePiece(f, "Prefilled.piece", m, in.Prefilled.GetPiece())
	case *pb.Payload_Tokens:
		decodePart(f, m, handoff.MsgTokens, "Tokens.part", in.Tokens.GetPart())
		decodePiece(f, "Tokens.piece", m, in.Tokens.GetPiece())
	case *pb.Payload_End:
		decodePart(f, m, handoff.MsgEnd, "End.part", in.End.GetPart())
		m.Reason = handoff.Reason(f.enum("End.reason", int(in.End.GetReason()), int(handoff.ReasonStop), int(handoff.ReasonBusy)))
		m.Total, m.Need, m.Max = f.int("End.total", in.End.GetTotal()), f.signed("End.need", in.End.GetNeed()), f.signed("End.max", in.End.GetMax())
		m.Why = string(in.End.GetWhy())
	case *pb.Payload_Closed:
		decodePart(f, m, handoff.MsgClosed, "Closed.part", in.Closed.GetPart())
	case *pb.Payload_Status:
		m.Kind, m.Life = handoff.MsgStatus, page.Incarnation(in.Status.GetLife())
		m.Status = decodeStatus(f, in.Status)
	default:
		f.fail("message", "is empty")
	}
	return m
}

func decodePart(f *fields, m *handoff.Message, kind handoff.MessageKind, name string, p *pb.Part) {
	present(f, name, p)
	m.Kind, m.Attempt, m.Life = kind, decodeAttempt(f, name+".attempt", p.GetAttempt()), page.Incarnation(p.GetLife())
}

func encodeSubmit(f *fields, part *pb.Part, m *handoff.Message) *pb.Submit {
	s := &pb.Submit{Part: part, Link: encodeLink(m.Link), Remaining: m.Remaining}
	s.Role = pb.Role(f.enum("Submit.role", int(m.Role), int(handoff.Prefill), int(handoff.Local)))
	if from := m.Spec; present(f, "Submit.spec", from) {
		s.Spec = &pb.Spec{
			Request: []byte(from.Request), Choice: from.Choice, Tenant: []byte(from.Tenant), Domain: []byte(from.Domain),
			Prompt: from.Prompt, MaxTokens: f.natural("Submit.spec.max_tokens", from.MaxTokens), StopTokens: from.StopTokens,
			Sampling: from.Sampling, Seed: from.Seed, Details: from.Details,
		}
	}
	return s
}

func decodeSubmit(f *fields, m *handoff.Message, s *pb.Submit) {
	m.Role = handoff.Role(f.enum("Submit.role", int(s.GetRole()), int(handoff.Prefill), int(handoff.Local)))
	m.Link, m.Remaining = decodeLink(s.GetLink()), s.GetRemaining()
	if from := s.GetSpec(); present(f, "Submit.spec", from) {
		m.Spec = &handoff.Spec{
			Request: string(from.GetRequest()), Choice: from.GetChoice(), Tenant: string(from.GetTenant()), Domain: string(from.GetDomain()),
			Prompt: from.GetPrompt(), MaxTokens: f.int("Submit.spec.max_tokens", from.GetMaxTokens()), StopTokens: from.GetStopTokens(),
			Sampling: from.GetSampling(), Seed: from.GetSeed(), Details: from.GetDetails(),
		}
	}
}

func encodeRejected(f *fields, part *pb.Part, r *request.Rejection) *pb.Rejected {
	if !present(f, "Rejected.rejection", r) {
		return nil
	}
	limit := slices.Index(limits, r.Limit)
	if limit < 1 {
		f.fail("Rejected.limit", "is %q, must be one of %q", r.Limit, limits[1:])
	}
	return &pb.Rejected{Part: part, Limit: pb.Limit(limit), Field: []byte(r.Field), Have: int64(r.Have), Max: int64(r.Max), Why: []byte(r.Why)}
}

func decodeRejected(f *fields, r *pb.Rejected) *request.Rejection {
	return &request.Rejection{
		Limit: limits[f.enum("Rejected.limit", int(r.GetLimit()), 1, len(limits)-1)], Field: string(r.GetField()),
		Have: f.signed("Rejected.have", r.GetHave()), Max: f.signed("Rejected.max", r.GetMax()), Why: string(r.GetWhy()),
	}
}

func encodePiece(f *fields, name string, m *handoff.Message) *pb.AnswerPiece {
	p := &pb.AnswerPiece{First: f.natural(name+".first", m.First), Tokens: slices.Clone(m.Tokens)}
	for _, d := range m.Details {
		p.Details = append(p.Details, bytes.Clone(d))
	}
	f.details(name, p)
	return p
}

func decodePiece(f *fields, name string, m *handoff.Message, p *pb.AnswerPiece) {
	present(f, name, p)
	f.details(name, p)
	m.First, m.Tokens, m.Details = f.int(name+".first", p.GetFirst()), p.GetTokens(), p.GetDetails()
}

// details: one for each token, or none.
func (f *fields) details(name string, p *pb.AnswerPiece) {
	if n := len(p.GetDetails()); n != 0 && n != len(p.GetTokens()) {
		f.fail(name+".details", "has %d, must have one for each of %d tokens, or none", n, len(p.GetTokens()))
	}
}

func encodeStatus(f *fields, m *handoff.Message) *pb.NodeStatus {
	s := m.Status
	if !present(f, "NodeStatus.status", s) {
		return nil
	}
	out := &pb.NodeStatus{
		Life: uint64(m.Life), Serial: s.Serial, Ready: s.Ready, Draining: s.Draining, Prefill: s.Prefill, Decode: s.Decode,
		Load: &pb.Load{
			FreePages: f.natural("NodeStatus.load.free_pages", s.Load.FreePages), TotalPages: f.natural("NodeStatus.load.total_pages", s.Load.TotalPages),
			Waiting: f.natural("NodeStatus.load.waiting", s.Load.Waiting), Running: f.natural("NodeStatus.load.running", s.Load.Running),
		},
		Limits: &pb.Limits{
			MaxModelLen: f.natural("NodeStatus.limits.max_model_len", s.Limits.MaxModelLen), PoolTokens: f.natural("NodeStatus.limits.pool_tokens", s.Limits.PoolTokens),
		},
	}
	for _, k := range s.Links {
		out.Links = append(out.Links, linkName(k))
	}
	return out
}

func decodeStatus(f *fields, in *pb.NodeStatus) *handoff.Status {
	present(f, "NodeStatus.load", in.GetLoad())
	present(f, "NodeStatus.limits", in.GetLimits())
	s := &handoff.Status{
		Serial: in.GetSerial(), Ready: in.GetReady(), Draining: in.GetDraining(), Prefill: in.GetPrefill(), Decode: in.GetDecode(),
		Load: handoff.Load{
			FreePages: f.int("NodeStatus.load.free_pages", in.GetLoad().GetFreePages()), TotalPages: f.int("NodeStatus.load.total_pages", in.GetLoad().GetTotalPages()),
			Waiting: f.int("NodeStatus.load.waiting", in.GetLoad().GetWaiting()), Running: f.int("NodeStatus.load.running", in.GetLoad().GetRunning()),
		},
		Limits: handoff.Limits{
			MaxModelLen: f.int("NodeStatus.limits.max_model_len", in.GetLimits().GetMaxModelLen()), PoolTokens: f.int("NodeStatus.limits.pool_tokens", in.GetLimits().GetPoolTokens()),
		},
	}
	for _, k := range in.GetLinks() {
		s.Links = append(s.Links, decodeLink(k))
	}
	return s
}

func linkName(k page.Link) *pb.LinkName {
	return &pb.LinkName{Peer: uint64(k.Peer), Incarnation: uint64(k.Incarnation), Epoch: k.Epoch}
}

// encodeLink: the zero link, of an attempt at one node, is absent.
func encodeLink(k page.Link) *pb.LinkName {
	if k == (page.Link{}) {
		return nil
	}
	return linkName(k)
}

func decodeLink(k *pb.LinkName) page.Link {
	return page.Link{Peer: page.Node(k.GetPeer()), Incarnation: page.Incarnation(k.GetIncarnation()), Epoch: k.GetEpoch()}
}

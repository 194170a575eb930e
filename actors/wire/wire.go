package wire

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// Descriptors tells the peer of a connection how to dial each of the sender's transports over the link that is named by it.
type Descriptors []Descriptor

// Members tells a decode node where the prefill nodes listen, "host:port", whose prompts it may be sent.
type Members []string

// Descriptor is what one transport needs to be dialed; see transport.Exposed. It holds a secret of the link.
type Descriptor struct {
	Transport string
	Bytes     []byte
}

// Trace is the sender's trace context, W3C traceparent and tracestate by name: the type suits OpenTelemetry's propagation.MapCarrier.
type Trace map[string]string

// Bounds of a message's parts, on both sides.
const (
	MaxTraceBytes      = 4 << 10 // names and values together
	MaxTraceEntries    = 16
	MaxDescriptors     = 16
	MaxDescriptorBytes = 64 << 10
	MaxTransportName   = 32
	MaxMembers         = 1024
	MaxMemberAddress   = 256
)

// ErrUnknown: a payload whose message is of a kind that this version does not know.
var ErrUnknown = errors.New("wire: message of an unknown kind")

// Ours reports whether m is of a type that Encode takes: *kvpool.Message, *handoff.Message, Descriptors or Members.
func Ours(m any) bool {
	switch m := m.(type) {
	case *kvpool.Message:
		return m != nil
	case *handoff.Message:
		return m != nil
	case Descriptors, Members:
		return true
	}
	return false
}

// Encode returns m and the trace context of its sender as a payload without a sequence number. The payload shares memory with the [handoff.Spec] of m, which is never changed, and with
// descriptors; of everything else it has a copy.
func Encode(m any, trace Trace) (*pb.Payload, error) {
	if !Ours(m) {
		return nil, fmt.Errorf("wire: %T is no message for another process", m)
	}
	var f fields
	p := &pb.Payload{}
	switch m := m.(type) {
	case *kvpool.Message:
		encodePages(&f, p, m)
	case *handoff.Message:
		encodeRequest(&f, p, m)
	case Descriptors:
		encodeDescriptors(&f, p, m)
	case Members:
		p.Message = &pb.Payload_Members{Members: &pb.Members{Prefill: slices.Clone(m)}}
		f.members(p.GetMembers())
	}
	f.trace(trace)
	if f.err != nil {
		return nil, f.err
	}
	p.Trace = maps.Clone(map[string]string(trace))
	return p, nil
}

// Decode is the inverse of Encode. The message takes over the payload's memory.
func Decode(p *pb.Payload) (m any, trace Trace, err error) {
	var f fields
	switch {
	case p.GetMessage() == nil:
		return nil, nil, ErrUnknown
	case p.GetDescriptors() != nil:
		m = decodeDescriptors(&f, p.GetDescriptors())
	case p.GetMembers() != nil:
		f.members(p.GetMembers())
		m = Members(p.GetMembers().GetPrefill())
	default:
		if pages := decodePages(&f, p); pages != nil {
			m = pages
		} else {
			m = decodeRequest(&f, p)
		}
	}
	f.trace(p.GetTrace())
	if f.err != nil {
		return nil, nil, f.err
	}
	return m, p.GetTrace(), nil
}

// Name is what a payload's message is called in metrics: its name in protos/kvasir in lower case, or "unknown".
func Name(p *pb.Payload) string {
	m := p.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("message"))
	if field == nil {
		return "unknown"
	}
	return string(field.Name())
}

// Names are all that Name can return.
func Names() []string {
	names := []string{"unknown"}
	all := (*pb.Payload)(nil).ProtoReflect().Descriptor().Oneofs().ByName("message").Fields()
	for i := range all.Len() {
		names = append(names, string(all.Get(i).Name()))
	}
	return names
}

func encodeDescriptors(f *fields, p *pb.Payload, ds Descriptors) {
	out := &pb.Descriptors{}
	for _, d := range ds {
		out.Descriptors = append(out.Descriptors, &pb.Descriptor{Transport: d.Transport, Descriptor_: d.Bytes})
	}
	f.descriptors(out)
	p.Message = &pb.Payload_Descriptors{Descriptors: out}
}

func decodeDescriptors(f *fields, in *pb.Descriptors) Descriptors {
	f.descriptors(in)
	ds := make(Descriptors, 0, len(in.GetDescriptors()))
	for _, d := range in.GetDescriptors() {
		ds = append(ds, Descriptor{Transport: d.GetTransport(), Bytes: d.GetDescriptor_()})
	}
	return ds
}

func (f *fields) members(in *pb.Members) {
	f.count("Members.prefill", len(in.GetPrefill()), MaxMembers)
	for i, addr := range in.GetPrefill() {
		if f.err != nil {
			return
		}
		f.text(fmt.Sprintf("Members.prefill[%d]", i), addr, MaxMemberAddress)
	}
}

func (f *fields) descriptors(in *pb.Descriptors) {
	f.count("Descriptors.descriptors", len(in.GetDescriptors()), MaxDescriptors)
	for i, d := range in.GetDescriptors() {
		f.entry = i
		f.text("Descriptors.descriptors[i].transport", d.GetTransport(), MaxTransportName)
		f.count("Descriptors.descriptors[i].descriptor", len(d.GetDescriptor_()), MaxDescriptorBytes)
	}
}

func (f *fields) trace(t Trace) {
	f.count("trace", len(t), MaxTraceEntries)
	size := 0
	for name, value := range t {
		f.text("trace", name, MaxTraceBytes)
		f.text("trace", value, MaxTraceBytes)
		size += len(name) + len(value)
	}
	f.count("trace (bytes)", size, MaxTraceBytes)
}

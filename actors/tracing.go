package actors

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/kvasir-engine/kvasir/actors/wire"
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
)

// Tracer makes spans by p, or none that anybody sees where p is nil.
func Tracer(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return p.Tracer("github.com/kvasir-engine/kvasir")
}

// maxSpans bounds the spans that are open at a time; what is beyond is not traced.
const maxSpans = 8192

// TraceOf is the context of a trace as it travels between processes (W3C traceparent and tracestate); nil outside a trace.
func TraceOf(ctx context.Context) wire.Trace {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return nil
	}
	t := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, t)
	return wire.Trace(t)
}

// attemptSpans are a node's part of the traces of attempts: a span for its role, and within that of a decode node one for the transfer of the prompt.
type attemptSpans struct {
	tracer trace.Tracer
	open   map[kvpool.Attempt]*attemptSpan
}

type attemptSpan struct {
	whole    trace.Span
	transfer trace.Span // nil: not begun, or over
	ctx      context.Context
}

func newAttemptSpans(p trace.TracerProvider) *attemptSpans {
	return &attemptSpans{tracer: Tracer(p), open: map[kvpool.Attempt]*attemptSpan{}}
}

// submitted begins the spans of an attempt, when its Submit is heard first.
func (s *attemptSpans) submitted(m *handoff.Message, from wire.Trace) {
	if len(from) == 0 || s.open[m.Attempt] != nil || len(s.open) >= maxSpans || m.Spec == nil {
		return
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier(from))
	x := &attemptSpan{}
	x.ctx, x.whole = s.tracer.Start(ctx, m.Role.String(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("kvasir.attempt", m.Attempt.String()), attribute.String("kvasir.request", m.Spec.Request), attribute.Int("kvasir.prompt_tokens", len(m.Spec.Prompt))))
	if m.Role == handoff.Decode {
		_, x.transfer = s.tracer.Start(x.ctx, "transfer")
	}
	s.open[m.Attempt] = x
}

// said notes what the ledger says of an attempt: the transfer is over.
func (s *attemptSpans) said(fx *kvpool.Effect) {
	x := s.open[fx.Attempt]
	if x == nil {
		return
	}
	if fx.Kind == kvpool.FxExported {
		x.whole.AddEvent("exported", trace.WithAttributes(attribute.Int("kvasir.status", int(fx.Status))))
	}
	if x.transfer != nil {
		x.transfer.SetAttributes(attribute.Int("kvasir.pages", fx.N), attribute.Int("kvasir.own_pages", fx.Have))
		if fx.Kind != kvpool.FxStart {
			x.transfer.SetStatus(codes.Error, "the import has ended")
		}
		x.transfer.End()
		x.transfer = nil
	}
}

// reported ends the span of an attempt that has ended.
func (s *attemptSpans) reported(m *handoff.Message) {
	x := s.open[m.Attempt]
	if x == nil {
		return
	}
	switch m.Kind {
	case handoff.MsgEnd:
		x.whole.SetAttributes(attribute.String("kvasir.end", m.Reason.String()), attribute.Int("kvasir.answer_tokens", m.Total))
		if !m.Reason.Whole() && m.Reason != handoff.ReasonExported {
			x.whole.SetStatus(codes.Error, m.Why)
		}
	case handoff.MsgRejected:
		x.whole.SetStatus(codes.Error, "rejected: "+string(m.Rejection.Limit))
	case handoff.MsgClosed:
		x.whole.SetStatus(codes.Error, "cancelled")
	default:
		return
	}
	s.end(m.Attempt, x)
}

func (s *attemptSpans) end(a kvpool.Attempt, x *attemptSpan) {
	if x.transfer != nil {
		x.transfer.End()
	}
	x.whole.End()
	delete(s.open, a)
}

// gatewayGone ends the spans of attempts whose end nobody is told.
func (s *attemptSpans) gatewayGone(life uint64) {
	for a, x := range s.open {
		if a.Gateway == life {
			x.whole.SetStatus(codes.Error, "the gateway is gone")
			s.end(a, x)
		}
	}
}

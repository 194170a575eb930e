package actors

import (
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// A request's trace goes over the gateway, the prefill node, the transfer and the decode node, as one.
func TestOneTraceOverAllProcesses(t *testing.T) {
	rec := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec))
	traced := func(c *Config) { c.Cluster.Tracing = provider }
	p, d := member(t, 1, true, false, traced), member(t, 2, false, true, traced)
	g := newGateway(t, p, d)
	ctx, root := provider.Tracer("test").Start(t.Context(), "client")
	s, err := g.Submit(Spec{Tenant: "default", Prompt: prompt(1, 100), Choices: 1, MaxTokens: 5, Trace: TraceOf(ctx)})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := p.collect(s); err != nil || len(got) != 5 {
		t.Fatalf("%v, %v", got, err)
	}
	root.End()
	names := func() (names []string) {
		for _, span := range rec.Ended() {
			if span.SpanContext().TraceID() != root.SpanContext().TraceID() {
				t.Errorf("span %s is of another trace", span.Name())
			}
			names = append(names, span.Name())
		}
		slices.Sort(names)
		return names
	}
	want := []string{"client", "decode", "prefill", "transfer"}
	for deadline := time.Now().Add(20 * time.Second); !slices.Equal(names(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("spans %v, want %v", names(), want)
		}
	}
}

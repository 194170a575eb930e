package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// flushTimeout is how long the last spans may take to be sent.
const flushTimeout = 5 * time.Second

// traceFlags say where traces go.
type traceFlags struct {
	OTLPEndpoint string `name:"otlp-endpoint" placeholder:"URL" help:"OpenTelemetry collector that traces are sent to by gRPC, http://HOST:4317 (default: that of OTEL_EXPORTER_OTLP_ENDPOINT, or none)."`
}

// provider makes traces; nil where none are wanted. flush sends what is left, and must be called.
func (f *traceFlags) provider(service string) (p trace.TracerProvider, flush func(), err error) {
	var opts []otlptracegrpc.Option
	switch {
	case f.OTLPEndpoint != "":
		if u, err := url.Parse(f.OTLPEndpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" { // the library would send them elsewhere without a word
			return nil, nil, usage("--otlp-endpoint is %q; it must be http://HOST:PORT or https://HOST:PORT", f.OTLPEndpoint)
		}
		opts = append(opts, otlptracegrpc.WithEndpointURL(f.OTLPEndpoint))
	case os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "":
		return nil, func() {}, nil
	}
	exporter, err := otlptracegrpc.New(context.Background(), opts...)
	if err != nil {
		return nil, nil, fmt.Errorf("--otlp-endpoint %s: %w", f.OTLPEndpoint, err)
	}
	sdk := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", service))))
	return sdk, func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		_ = sdk.Shutdown(ctx) // a collector that cannot be reached is no reason to fail
	}, nil
}

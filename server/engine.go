package server

import (
	"context"
	"iter"
	"time"

	"github.com/kvasir-engine/kvasir/request"
)

// Engine is what the server needs of an engine; the root package implements it.
type Engine interface {
	// Generate answers req. A request that is refused yields one error that is a *request.Rejection, before any token. Breaking out of the loop, or the
	// end of ctx, cancels. An error ends the stream; without one, each choice ends with a Token that has Finish set.
	Generate(ctx context.Context, req request.Request) iter.Seq2[request.Token, error]
	// Model describes the one model that is served.
	Model() ModelInfo
	// Health is nil while the engine can work at all: its actors run.
	Health() error
	// Ready is nil while new requests are taken.
	Ready() error
}

// ModelInfo describes a served model.
type ModelInfo struct {
	Name          string // the served name
	ContextLength int    // tokens of prompt and answer
	VocabSize     int
	Created       time.Time
}

//go:build deps

// Package deps keeps modules in go.mod while the rooms that use them are being built.
package deps

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/ardanlabs/jinja"
	_ "github.com/asynkron/protoactor-go/actor"
	_ "github.com/chzyer/readline"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/edsrzf/mmap-go"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/uuid"
	_ "github.com/gpustack/gguf-parser-go"
	_ "github.com/openai/openai-go/v3"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/schollz/progressbar/v3"
	_ "go.uber.org/goleak"
	_ "go.uber.org/zap"
	_ "go.uber.org/zap/exp/zapslog"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "pgregory.net/rapid"
)

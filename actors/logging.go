package actors

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
)

// systemLogger gives the actor library a logger that never writes a message's content: dead letters would be logged whole, prompts included.
func systemLogger(l *zap.Logger) func(*actor.ActorSystem) *slog.Logger {
	return func(*actor.ActorSystem) *slog.Logger {
		return slog.New(bodiless{zapslog.NewHandler(l.Named("actor").Core(), zapslog.AddStacktraceAt(slog.Level(100)))})
	}
}

// bodiless replaces every attribute that is not a plain value by its type, and lowers the library's chatter to debug.
type bodiless struct{ slog.Handler }

func (h bodiless) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(bodilessAttr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h bodiless) Enabled(ctx context.Context, l slog.Level) bool {
	if l == slog.LevelInfo {
		l = slog.LevelDebug
	}
	return h.Handler.Enabled(ctx, l)
}

func (h bodiless) WithAttrs(as []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(as))
	for i, a := range as {
		clean[i] = bodilessAttr(a)
	}
	return bodiless{h.Handler.WithAttrs(clean)}
}

func (h bodiless) WithGroup(name string) slog.Handler { return bodiless{h.Handler.WithGroup(name)} }

func bodilessAttr(a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindAny {
		return a
	}
	if pid, ok := a.Value.Any().(*actor.PID); ok {
		return slog.String(a.Key, pid.String())
	}
	return slog.String(a.Key, fmt.Sprintf("%T", a.Value.Any()))
}

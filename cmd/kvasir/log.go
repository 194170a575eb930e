package main

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// warnings is the logger of commands that are used by a person: what went wrong, in a line.
func warnings(out io.Writer) *zap.Logger {
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey:       "message",
		LevelKey:         "level",
		ConsoleSeparator: " ",
		EncodeDuration:   zapcore.StringDurationEncoder,
		EncodeTime:       zapcore.ISO8601TimeEncoder,
		EncodeLevel: func(l zapcore.Level, enc zapcore.PrimitiveArrayEncoder) {
			name := l.String()
			if l == zapcore.WarnLevel {
				name = "warning"
			}
			enc.AppendString("kvasir: " + name + ":")
		},
	}), zapcore.Lock(zapcore.AddSync(out)), zapcore.WarnLevel))
}

type logFlags struct {
	LogLevel  string `default:"info" enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error (default: info)."`
	LogFormat string `default:"console" enum:"console,json" placeholder:"FORMAT" help:"console or json (default: console)."`
}

// logger is the logger of a server.
func (f *logFlags) logger(out io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(f.LogLevel)
	if err != nil {
		return nil, usage("--log-level: %w", err)
	}
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.RFC3339TimeEncoder
	enc.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(enc)
	if f.LogFormat == "console" {
		enc.ConsoleSeparator = "  "
		encoder = zapcore.NewConsoleEncoder(enc)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(out)), level)), nil
}

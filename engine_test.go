package kvasir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/kvasir-engine/kvasir/model/builtin"
)

// write puts bytes into a file named model.gguf and returns its path.
func write(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file answers like the built-in model that it is a copy of, under its own name.
func TestOpenAFile(t *testing.T) {
	var bytes int64
	e := open(t, Config{Model: write(t, builtin.GGUF), Progress: func(done, total int64) { bytes = total }})
	if m := e.Model(); m.Name != "model" || m.ContextLength != 1024 || m.VocabSize != 768 {
		t.Errorf("%+v", m)
	}
	if bytes < 900_000 {
		t.Errorf("progress told of %d bytes", bytes)
	}
	c := e.Chat()
	if got := say(t, c, doorCode); !strings.Contains(got, "QX-4821") {
		t.Errorf("got %q", got)
	}
}

func TestOpenErrors(t *testing.T) {
	// The magic of a file of another kind, in front of what would otherwise do.
	other := slices.Clone(builtin.GGUF)
	copy(other, "GGML")
	sentencePiece := slices.Clone(builtin.GGUF)
	i := strings.Index(string(sentencePiece), "gpt2")
	copy(sentencePiece[i:], "xyz2")
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"no such file":          {filepath.Join(t.TempDir(), "none.gguf"), []string{"none.gguf", "no such file"}},
		"a folder":              {t.TempDir(), []string{}},
		"empty":                 {write(t, nil), []string{"model.gguf"}},
		"not GGUF":              {write(t, other), []string{"model.gguf"}},
		"cut short":             {write(t, builtin.GGUF[:500_000]), []string{"model.gguf"}},
		"an unknown vocabulary": {write(t, sentencePiece), []string{"xyz2"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Open(t.Context(), Config{Model: c.path})
			if err == nil {
				e.Close()
			}
			mention(t, err, c.want...)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// A file without a chat template is talked to in ChatML, with a warning.
func TestNoChatTemplate(t *testing.T) {
	b := slices.Clone(builtin.GGUF)
	i := strings.Index(string(b), "tokenizer.chat_template")
	copy(b[i:], "tokenizer.chat_templatX")
	core, logs := observer.New(zap.WarnLevel)
	e := open(t, Config{Model: write(t, b), Logger: zap.New(core)})
	if logs.FilterMessageSnippet("ChatML").Len() != 1 {
		t.Errorf("no warning in %v", logs.All())
	}
	if got := say(t, e.Chat(), doorCode); !strings.Contains(got, "QX-4821") {
		t.Errorf("got %q", got)
	}
}

// Closing while requests run ends each of them with ErrClosed; nothing is read from memory that was given back.
func TestCloseWhileGenerating(t *testing.T) {
	e := open(t, Config{})
	var wg sync.WaitGroup
	began := make(chan struct{}, 8)
	for i := range 8 {
		wg.Go(func() {
			var last error
			n := 0
			for _, err := range e.Generate(context.Background(), Request{Tokens: tokenIDs(i, 30), IgnoreEOS: true}) {
				if last = err; n == 0 {
					began <- struct{}{}
				}
				n++
			}
			if !errors.Is(last, ErrClosed) {
				t.Errorf("request %d ended with %v", i, last)
			}
		})
	}
	for range 8 {
		<-began
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	for _, err := range e.Generate(t.Context(), Request{Prompt: "Hello"}) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if e.Health() == nil || e.Ready() == nil {
		t.Error("a closed engine says that it is well")
	}
}

// Shutdown lets answers under way come to their end; those that are not done in time are cut off, and said so.
func TestShutdown(t *testing.T) {
	e := open(t, Config{})
	text := ""
	first := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for tok, err := range e.Generate(context.Background(), Request{Messages: []Message{{Role: "user", Content: doorCode}}}) {
			if err != nil {
				t.Error(err)
			}
			if text == "" {
				close(first)
			}
			text += tok.Text
		}
	})
	<-first
	if err := e.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if !strings.Contains(text, "QX-4821") {
		t.Errorf("cut off at %q", text)
	}

	e = open(t, Config{})
	wg.Go(func() {
		for range e.Generate(context.Background(), Request{Tokens: tokenIDs(1, 10), IgnoreEOS: true, N: 64}) {
		}
	})
	for e.node.Ready() == nil && counter(t, e, "kvasir_prompt_tokens_total") == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := e.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "sequences had not ended") {
		t.Errorf("a shutdown that cuts off: %v", err)
	}
	wg.Wait()
}

func TestRequestErrors(t *testing.T) {
	e := open(t, Config{})
	nan := func() float64 { z := 0.0; return z / z }()
	for name, c := range map[string]struct {
		req   Request
		field string
		is    error
	}{
		"nothing to answer":        {Request{}, "prompt", ErrInvalid},
		"two prompts":              {Request{Prompt: "a", Tokens: []int32{1}}, "prompt", ErrInvalid},
		"no messages":              {Request{Messages: []Message{}}, "messages", ErrInvalid},
		"no tokens":                {Request{Tokens: []int32{}}, "prompt", ErrInvalid},
		"a token beyond":           {Request{Tokens: []int32{1, 768}}, "prompt", ErrInvalid},
		"a negative token":         {Request{Tokens: []int32{-1}}, "prompt", ErrInvalid},
		"max tokens":               {Request{Prompt: "a", MaxTokens: -1}, "max_tokens", ErrInvalid},
		"too many choices":         {Request{Prompt: "a", N: 129}, "n", ErrInvalid},
		"temperature":              {Request{Prompt: "a", Sampling: Sampling{Temperature: nan}}, "temperature", ErrInvalid},
		"a stop token beyond":      {Request{Prompt: "a", StopTokens: []int32{9999}}, "stop_token_ids", ErrInvalid},
		"an empty stop string":     {Request{Prompt: "a", Stop: []string{""}}, "stop", ErrInvalid},
		"a bias beyond":            {Request{Prompt: "a", Sampling: Sampling{LogitBias: map[int32]float32{768: 1}}}, "logit_bias", ErrInvalid},
		"a prompt over context":    {Request{Tokens: tokenIDs(1, 1024)}, "prompt", ErrContextLength},
		"messages over context":    {Request{Messages: []Message{{Role: "user", Content: strings.Repeat("words and ", 900)}}}, "messages", ErrContextLength},
		"an answer over context":   {Request{Prompt: "a", MaxTokens: 1024}, "max_tokens", ErrContextLength},
		"a prompt that just fits":  {Request{Tokens: tokenIDs(1, 1023), IgnoreEOS: true}, "", nil},
		"an answer that just fits": {Request{Tokens: tokenIDs(1, 1000), MaxTokens: 24, IgnoreEOS: true}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var last error
			n := 0
			for tok, err := range e.Generate(t.Context(), c.req) {
				if last = err; err == nil && tok.ID >= 0 {
					n++
				}
			}
			if c.is == nil {
				if last != nil || n == 0 {
					t.Errorf("%d tokens, %v", n, last)
				}
				return
			}
			r := &Rejection{}
			if !errors.Is(last, ErrRejected) || !errors.Is(last, c.is) || !errors.As(last, &r) || r.Field != c.field || n != 0 {
				t.Errorf("%d tokens, %v (field %q); want a rejection of %q", n, last, r.Field, c.field)
			}
		})
	}
	checkHome(t, e)
}

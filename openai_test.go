package kvasir

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const doorCode = "Remember that the door code is QX-4821. What is the door code?"

// serve puts an engine behind a real listening socket; keys, if any, is a file of API keys.
func serve(t *testing.T, cfg Config, keys ...string) (*Engine, *httptest.Server) {
	t.Helper()
	e := open(t, cfg)
	var opts []HandlerOption
	for _, path := range keys {
		k, err := LoadAPIKeys(path)
		if err != nil {
			t.Fatal(err)
		}
		opts = append(opts, WithAPIKeys(k))
	}
	s := httptest.NewServer(e.Handler(opts...))
	t.Cleanup(s.Close)
	return e, s
}

// The official OpenAI client drives the real server: chat, streaming, completions, and what goes wrong.
func TestOfficialOpenAIClient(t *testing.T) {
	e, s := serve(t, Config{MaxModelLen: 512})
	c := openai.NewClient(option.WithBaseURL(s.URL+"/v1/"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	ctx := t.Context()
	chat := openai.ChatCompletionNewParams{Model: "kvasir-mini", Temperature: openai.Float(0),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(doorCode)}}

	var whole string
	t.Run("chat", func(t *testing.T) {
		r, err := c.Chat.Completions.New(ctx, chat)
		if err != nil {
			t.Fatal(err)
		}
		whole = r.Choices[0].Message.Content
		if !strings.Contains(whole, "QX-4821") || r.Choices[0].FinishReason != "stop" || r.Model != "kvasir-mini" {
			t.Errorf("got %q, finish %q, model %q", whole, r.Choices[0].FinishReason, r.Model)
		}
		if r.Usage.PromptTokens < 10 || r.Usage.CompletionTokens < 5 || r.Usage.TotalTokens != r.Usage.PromptTokens+r.Usage.CompletionTokens {
			t.Errorf("usage %+v", r.Usage)
		}
	})
	t.Run("chat, streaming, with usage", func(t *testing.T) {
		p := chat
		p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
		stream := c.Chat.Completions.NewStreaming(ctx, p)
		acc := openai.ChatCompletionAccumulator{}
		chunks := 0
		for stream.Next() {
			chunks++
			if !acc.AddChunk(stream.Current()) {
				t.Fatal("a chunk does not fit the others")
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if got := acc.Choices[0].Message.Content; got != whole || acc.Choices[0].FinishReason != "stop" {
			t.Errorf("streamed %q (%s), whole %q", got, acc.Choices[0].FinishReason, whole)
		}
		if chunks < 5 || acc.Usage.CompletionTokens < 5 {
			t.Errorf("%d chunks, usage %+v", chunks, acc.Usage)
		}
	})
	t.Run("three choices, log-probabilities and a seed", func(t *testing.T) {
		p := chat
		p.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Tell me a story.")}
		p.N, p.Seed, p.Temperature, p.MaxTokens = openai.Int(3), openai.Int(7), openai.Float(1.5), openai.Int(20)
		p.Logprobs, p.TopLogprobs = openai.Bool(true), openai.Int(2)
		var texts [2][]string
		for i := range texts {
			r, err := c.Chat.Completions.New(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, ch := range r.Choices {
				texts[i] = append(texts[i], ch.Message.Content)
				for _, l := range ch.Logprobs.Content {
					if l.Logprob > 0 || len(l.TopLogprobs) != 2 || l.TopLogprobs[0].Logprob < l.TopLogprobs[1].Logprob {
						t.Errorf("log-probability %+v", l)
					}
				}
			}
		}
		if len(texts[0]) != 3 || !slices.Equal(texts[0], texts[1]) {
			t.Errorf("the same seed gave %q and %q", texts[0], texts[1])
		}
		if texts[0][0] == texts[0][1] && texts[0][1] == texts[0][2] {
			t.Errorf("three choices at temperature 1.5 are all %q", texts[0][0])
		}
	})
	t.Run("completions, streaming and not, with a stop string", func(t *testing.T) {
		p := openai.CompletionNewParams{Model: "default", Temperature: openai.Float(0), MaxTokens: openai.Int(40),
			Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("<|im_start|>user\n" + doorCode + "<|im_end|>\n<|im_start|>assistant\n")}}
		r, err := c.Completions.New(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Choices[0].Text != whole {
			t.Errorf("completion %q, chat %q", r.Choices[0].Text, whole)
		}
		p.Stop = openai.CompletionNewParamsStopUnion{OfStringArray: []string{"X-48"}} // across token borders: digits are single tokens
		stream := c.Completions.NewStreaming(ctx, p)
		var b strings.Builder
		finish := ""
		for stream.Next() {
			for _, ch := range stream.Current().Choices {
				b.WriteString(ch.Text)
				finish += string(ch.FinishReason)
			}
		}
		if want, _, _ := strings.Cut(whole, "X-48"); stream.Err() != nil || b.String() != want || finish != "stop" {
			t.Errorf("stopped at %q (%s), want %q: %v", b.String(), finish, want, stream.Err())
		}
	})
	t.Run("models", func(t *testing.T) {
		r, err := c.Models.List(ctx)
		if err != nil || len(r.Data) != 1 || r.Data[0].ID != "kvasir-mini" {
			t.Errorf("%+v %v", r, err)
		}
	})
	t.Run("errors", func(t *testing.T) {
		var apiErr *openai.Error
		long := chat
		long.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Repeat("many words ", 300))}
		if _, err := c.Chat.Completions.New(ctx, long); !errors.As(err, &apiErr) || apiErr.StatusCode != 400 || apiErr.Code != "context_length_exceeded" ||
			!strings.Contains(apiErr.Message, "512") {
			t.Errorf("a prompt that does not fit: %v", err)
		}
		other := chat
		other.Model = "gpt-4"
		if _, err := c.Chat.Completions.New(ctx, other); !errors.As(err, &apiErr) || apiErr.StatusCode != 404 || apiErr.Code != "model_not_found" {
			t.Errorf("an unknown model: %v", err)
		}
		hot := chat
		hot.TopP = openai.Float(7)
		if _, err := c.Chat.Completions.New(ctx, hot); !errors.As(err, &apiErr) || apiErr.StatusCode != 400 || apiErr.Param != "top_p" {
			t.Errorf("top_p 7: %v", err)
		}
	})
	checkHome(t, e)
}

func TestHealthReadyAndMetrics(t *testing.T) {
	_, s := serve(t, Config{})
	for path, want := range map[string]string{"/health": "", "/ready": "", "/metrics": `kvasir_kv_pages{model_name="kvasir-mini",state="free"}`} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != 200 || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %d, no %q in\n%s", path, r.StatusCode, want, b.String())
		}
	}
}

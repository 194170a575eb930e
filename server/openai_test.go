//go:build !fuzz

// OpenAI's client takes long to compile with the instrumentation for fuzzing: make fuzz leaves it out.

package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/kvasir-engine/kvasir/request"
)

// client is OpenAI's own client, talking to a listening server.
func client(t *testing.T, e Engine, cfg Config, options ...option.RequestOption) openai.Client {
	t.Helper()
	srv := listen(t, New(e, cfg))
	options = append([]option.RequestOption{
		option.WithBaseURL(srv.URL + "/v1/"), option.WithAPIKey("sk-test"), option.WithHTTPClient(srv.Client()), option.WithMaxRetries(0),
	}, options...)
	return openai.NewClient(options...)
}

var question = openai.ChatCompletionNewParams{
	Model: "acme/tiny",
	Messages: []openai.ChatCompletionMessageParamUnion{
		openai.SystemMessage("be brief"),
		openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("hi"), openai.TextContentPart("there")}),
	},
	Seed: openai.Int(7),
}

func TestClientChat(t *testing.T) {
	e := says("Hel", "lo")
	c := client(t, e, Config{})
	ask := question
	ask.N, ask.Logprobs, ask.TopLogprobs = openai.Int(2), openai.Bool(true), openai.Int(1)
	got, err := c.Chat.Completions.New(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Choices) != 2 || got.Choices[1].Index != 1 || got.Choices[1].Message.Content != "Hello" || got.Choices[1].FinishReason != "stop" {
		t.Errorf("choices %s", got.RawJSON())
	}
	logs := got.Choices[0].Logprobs.Content
	if len(logs) != 2 || logs[1].Token != "lo" || logs[1].Logprob != -0.5 || len(logs[1].Bytes) != 2 || len(logs[1].TopLogprobs) != 1 || logs[1].TopLogprobs[0].Token != "<&>" {
		t.Errorf("log-probabilities %s", got.RawJSON())
	}
	if got.Usage.PromptTokens != 7 || got.Usage.CompletionTokens != 4 || got.Usage.PromptTokensDetails.CachedTokens != 3 {
		t.Errorf("usage %s", got.Usage.RawJSON())
	}
	asked := e.requests()[0]
	if len(asked.Messages) != 2 || asked.Messages[1].Content != "hi\nthere" || *asked.Sampling.Seed != 7 {
		t.Errorf("the engine was asked %+v", asked)
	}
}

func TestClientChatStream(t *testing.T) {
	c := client(t, says("Hel", "", "lo"), Config{})
	ask := question
	ask.N = openai.Int(2)
	ask.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(context.Background(), ask)
	defer stream.Close()
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			t.Fatalf("the client cannot add %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(whole.Choices) != 2 || whole.Choices[0].Message.Content != "Hello" || whole.Choices[1].Message.Content != "Hello" ||
		whole.Choices[1].FinishReason != "stop" || whole.Choices[0].Message.Role != "assistant" || whole.Usage.TotalTokens != 13 {
		t.Errorf("%+v", whole.ChatCompletion)
	}
}

func TestClientCompletions(t *testing.T) {
	c := client(t, says("Hel", "lo"), Config{})
	got, err := c.Completions.New(context.Background(), openai.CompletionNewParams{
		Model: "default", Prompt: openai.CompletionNewParamsPromptUnion{OfArrayOfTokenArrays: [][]int64{{1, 2}, {3}}}, Logprobs: openai.Int(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Choices) != 2 || got.Choices[1].Text != "Hello" || got.Choices[1].Index != 1 || got.Usage.PromptTokens != 14 {
		t.Errorf("%s", got.RawJSON())
	}
	logs := got.Choices[0].Logprobs
	if strings.Join(logs.Tokens, "|") != "Hel|lo" || logs.TextOffset[1] != 3 || logs.TokenLogprobs[0] != -0.5 || logs.TopLogprobs[0]["<&>"] != -0.25 {
		t.Errorf("%s", logs.RawJSON())
	}

	stream := c.Completions.NewStreaming(context.Background(), openai.CompletionNewParams{
		Model: "default", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("x")},
	})
	defer stream.Close()
	text := ""
	for stream.Next() {
		text += stream.Current().Choices[0].Text
	}
	if err := stream.Err(); err != nil || text != "Hello" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestClientModels(t *testing.T) {
	c := client(t, says("a"), Config{})
	page, err := c.Models.List(context.Background())
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != "acme/tiny" {
		t.Errorf("%+v, %v", page, err)
	}
	if m, err := c.Models.Get(context.Background(), "acme/tiny"); err != nil || m.Created != 1700000000 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestClientErrors(t *testing.T) {
	keys, err := ParseKeys(strings.NewReader("sk-other"), "keys")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		engine Engine
		cfg    Config
		ask    func(*openai.ChatCompletionNewParams)
		status int
		code   string
		param  string
	}{
		{"a field out of range", says("a"), Config{}, func(p *openai.ChatCompletionNewParams) { p.Temperature = openai.Float(9) }, 400, "invalid_value", "temperature"},
		{"a tool", says("a"), Config{}, func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "f"})}
		}, 400, "unsupported_parameter", "tools"},
		{"an image", says("a"), Config{}, func(p *openai.ChatCompletionNewParams) {
			p.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "x"})})}
		}, 400, "invalid_value", "messages[0].content[0].type"},
		{"another model", says("a"), Config{}, func(p *openai.ChatCompletionNewParams) { p.Model = "gpt-4o" }, 404, "model_not_found", "model"},
		{"a wrong key", says("a"), Config{APIKeys: keys}, nil, 401, "invalid_api_key", ""},
		{"too long", fails(&request.Rejection{Limit: request.LimitContext, Field: "messages", Why: "200 of 128"}), Config{}, nil, 400, "context_length_exceeded", "messages"},
		{"a full queue", fails(&request.Rejection{Limit: request.LimitQueue, Why: "full"}), Config{}, nil, 429, "queue_full", ""},
		{"a failed engine", fails(request.ErrEngineFailed), Config{}, nil, 503, "engine_failed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := question
			if c.ask != nil {
				c.ask(&ask)
			}
			cl := client(t, c.engine, c.cfg)
			check := func(err error) {
				t.Helper()
				var e *openai.Error
				if !errors.As(err, &e) || e.StatusCode != c.status || e.Code != c.code || e.Param != c.param || e.Message == "" {
					t.Errorf("%v\n%+v", err, e)
				}
			}
			_, err := cl.Chat.Completions.New(context.Background(), ask)
			check(err)
			stream := cl.Chat.Completions.NewStreaming(context.Background(), ask)
			for stream.Next() {
				t.Errorf("a chunk: %s", stream.Current().RawJSON())
			}
			check(stream.Err())
			stream.Close()
		})
	}
}

// The client notices an error in mid-stream.
func TestClientErrorInStream(t *testing.T) {
	c := client(t, fails(request.ErrPageCheck, "a"), Config{})
	stream := c.Chat.Completions.NewStreaming(context.Background(), question)
	defer stream.Close()
	text := ""
	for stream.Next() {
		text += stream.Current().Choices[0].Delta.Content
	}
	if err := stream.Err(); err == nil || !strings.Contains(err.Error(), "page_check_failed") || text != "a" {
		t.Errorf("%q, %v", text, err)
	}
}

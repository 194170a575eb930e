package server

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const pathChat, pathCompletions = "/v1/chat/completions", "/v1/completions"

// checkAnswer: whatever was sent, the answer is a whole answer, a whole stream, or an error in OpenAI's shape that is the client's fault.
func checkAnswer(t fataler, path, body string) {
	t.Helper()
	w := post(newServer(says("a", "b"), Config{}), path, body)
	switch w.Code {
	case 200:
	case 400, 404, 413:
		errorOf(t, w.Body.Bytes())
		return
	default:
		t.Fatalf("status %d for %s\n%s", w.Code, body, w.Body)
	}
	answers := []string{w.Body.String()}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		stream, ok := strings.CutSuffix(w.Body.String(), "data: [DONE]\n\n")
		if !ok {
			t.Fatalf("a stream without its end: %s", w.Body)
		}
		answers = strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n")
	}
	for _, a := range answers {
		if a = strings.TrimPrefix(a, "data: "); !json.Valid([]byte(a)) {
			t.Fatalf("not JSON: %s", a)
		}
	}
}

// bodies draws requests that are nearly right: known fields with values of any kind.
func bodies(path string) *rapid.Generator[string] {
	names := []string{"model", "n", "stop", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "seed",
		"presence_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs", "stop_token_ids", "ignore_eos", "tools", "response_format", "echo",
		"best_of", "messages", "prompt", "unknown"}
	return rapid.Custom(func(t *rapid.T) string {
		body := map[string]any{}
		if path == pathChat {
			body["messages"] = []any{map[string]any{"role": "user", "content": values(2).Draw(t, "content")}}
		} else {
			body["prompt"] = values(2).Draw(t, "prompt")
		}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			body[rapid.SampledFrom(names).Draw(t, "name")] = values(3).Draw(t, "value")
		}
		text, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		return string(text)
	})
}

// values draws JSON values of a depth, many of them of use to some field.
func values(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.IntRange(-3, 130).AsAny(),
		rapid.Float64Range(-3, 3).AsAny(),
		rapid.SampledFrom([]string{"", "user", "text", "default", "acme/tiny", "x", "5"}).AsAny(),
		rapid.String().AsAny(),
	}
	if depth > 0 {
		kinds = append(kinds, rapid.SliceOfN(values(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.SampledFrom([]string{"type", "text", "role", "content", "include_usage", "5", "x"}), values(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(kinds...)
}

func TestRandomBodies(t *testing.T) {
	for _, path := range []string{pathChat, pathCompletions} {
		generator := bodies(path)
		for range 5 { // of a hundred checks each
			rapid.Check(t, func(t *rapid.T) { checkAnswer(t, path, generator.Draw(t, "body")) })
		}
	}
}

func FuzzChat(f *testing.F) {
	f.Add(hello)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stream":true,"n":2,"logprobs":true,"top_logprobs":2,"stop":["a"]}`)
	f.Add(`{"messages":[{"role":"user","content":"hi"}],"logit_bias":{"5":-1},"seed":-1,"tools":[],"response_format":{"type":"text"}}`)
	f.Fuzz(func(t *testing.T, body string) { checkAnswer(t, pathChat, body) })
}

func FuzzCompletions(f *testing.F) {
	f.Add(`{"prompt":"a","max_tokens":1e1,"logprobs":2}`)
	f.Add(`{"prompt":["a","b"],"stream":true,"stream_options":{"include_usage":true}}`)
	f.Add(`{"prompt":[[1,2],[3]],"n":2,"best_of":2,"echo":false}`)
	f.Add(`{"prompt":[1, 2 ,3]} `)
	f.Fuzz(func(t *testing.T, body string) { checkAnswer(t, pathCompletions, body) })
}

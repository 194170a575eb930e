package server

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/request"
)

func TestCompletionAnswer(t *testing.T) {
	for _, c := range []struct{ name, body, choices, usage string }{
		{
			"plain", `{"prompt":"x"}`,
			`[{"text":"añb","index":0,"logprobs":null,"finish_reason":"stop"}]`,
			`{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}`,
		},
		{
			"choice j of prompt i has index i*n+j", `{"prompt":["x","y"],"n":2}`,
			`[{"text":"añb","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"añb","index":1,"logprobs":null,"finish_reason":"stop"},
			  {"text":"añb","index":2,"logprobs":null,"finish_reason":"stop"},{"text":"añb","index":3,"logprobs":null,"finish_reason":"stop"}]`,
			`{"prompt_tokens":14,"completion_tokens":8,"total_tokens":22,"prompt_tokens_details":{"cached_tokens":6}}`,
		},
		{
			"log-probabilities with alternatives", `{"prompt":"x","logprobs":1}`,
			`[{"text":"añb","index":0,"logprobs":{"tokens":["añ","b"],"token_logprobs":[-0.5,-0.5],
				"top_logprobs":[{"<&>":-0.25,"añ":-0.5},{"<&>":-0.25,"b":-0.5}],"text_offset":[0,2]},"finish_reason":"stop"}]`,
			`{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}`,
		},
		{
			"log-probabilities of the chosen tokens only", `{"prompt":"x","logprobs":0}`,
			`[{"text":"añb","index":0,"logprobs":{"tokens":["añ","b"],"token_logprobs":[-0.5,-0.5],"top_logprobs":null,"text_offset":[0,2]},"finish_reason":"stop"}]`,
			`{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(newServer(says("añ", "b"), Config{}), "/v1/completions", c.body)
			if w.Code != 200 {
				t.Errorf("status %d", w.Code)
			}
			sameJSON(t, plain(w.Body.String()), `{"id":"CMPL","object":"text_completion","created":1800000000,"model":"acme/tiny",
				"system_fingerprint":"FP","choices":`+c.choices+`,"usage":`+c.usage+`}`)
		})
	}
}

func TestCompletionStream(t *testing.T) {
	chunk := func(rest string) string {
		return `data: {"id":"CMPL","object":"text_completion","created":1800000000,"model":"acme/tiny","system_fingerprint":"FP","choices":[` + rest + "}\n\n"
	}
	w := post(newServer(says("añ", "", "b"), Config{}), "/v1/completions", `{"prompt":"x","stream":true,"stream_options":{"include_usage":true}}`)
	want := chunk(`{"text":"añ","index":0,"logprobs":null,"finish_reason":null}],"usage":null`) +
		chunk(`{"text":"b","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":null`) +
		chunk(`],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":4}}`) + "data: [DONE]\n\n"
	if got := plain(w.Body.String()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	// Offsets go on from chunk to chunk.
	w = post(newServer(says("añ", "b"), Config{}), "/v1/completions", `{"prompt":"x","stream":true,"logprobs":0}`)
	for _, part := range []string{`"tokens":["añ"],"token_logprobs":[-0.5],"top_logprobs":null,"text_offset":[0]`,
		`"tokens":["b"],"token_logprobs":[-0.5],"top_logprobs":null,"text_offset":[2]`} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("no %s in\n%s", part, w.Body)
		}
	}
}

// Bytes of an unfinished character are spelled out, and what JSON cannot say stays within what it can.
func TestTokensThatAreNoText(t *testing.T) {
	token := request.Token{ID: 5, Bytes: []byte("\xf0\x9f"), Logprob: float32(math.Inf(-1)), Finish: request.FinishLength, Usage: &request.Usage{}}
	e := &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) { yield(token, nil) }}
	w := post(newServer(e, Config{}), "/v1/completions", `{"prompt":"x","logprobs":0}`)
	if want := `"tokens":["bytes:\\xf0\\x9f"],"token_logprobs":[-9999]`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in %s", want, w.Body)
	}
	w = post(newServer(e, Config{}), "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"logprobs":true}`)
	if want := `{"token":"bytes:\\xf0\\x9f","logprob":-9999,"bytes":[240,159],"top_logprobs":[]}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in %s", want, w.Body)
	}
}

// A token of ID -1 brings text and the end, and has no log-probability.
func TestEndWithoutToken(t *testing.T) {
	e := &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) {
		yield(request.Token{ID: -1, Text: "held", Finish: request.FinishStop, Usage: &request.Usage{}}, nil)
	}}
	w := post(newServer(e, Config{}), "/v1/completions", `{"prompt":"x","logprobs":1}`)
	if want := `{"text":"held","index":0,"logprobs":{"tokens":[],"token_logprobs":[],"top_logprobs":null,"text_offset":[]},"finish_reason":"stop"}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in %s", want, w.Body)
	}
	w = post(newServer(e, Config{}), "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"logprobs":true}`)
	if want := `"logprobs":{"content":[],"refusal":null}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in %s", want, w.Body)
	}
}

// textOffset against the obvious way: the characters of all bytes before, without the one that is not whole.
func TestTextOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var offset textOffset
		for begin := 0; begin < len(text); {
			end := rapid.IntRange(begin, len(text)).Draw(t, "end")
			want := 0
			for i, r := range text {
				if i+len(string(r)) <= begin {
					want++
				}
			}
			if got := offset.next([]byte(text[begin:end])); got != want {
				t.Fatalf("the token at byte %d has offset %d, want %d", begin, got, want)
			}
			begin = end
		}
	})
}

// Every prompt of a request gets the answer that is its own, however many run side by side.
func TestManyPrompts(t *testing.T) {
	e := &fake{script: func(_ context.Context, r request.Request, yield func(request.Token, error) bool) {
		for choice := range r.N {
			text := fmt.Sprintf("%s/%d", r.Prompt, choice)
			if !yield(request.Token{Choice: choice, Text: text, Finish: request.FinishLength, Usage: &request.Usage{PromptTokens: 1, CompletionTokens: 1}}, nil) {
				return
			}
		}
	}}
	var prompts, want []string
	for i := range 100 {
		prompts = append(prompts, fmt.Sprintf(`"p%d"`, i))
		for j := range 3 {
			want = append(want, fmt.Sprintf(`{"text":"p%d/%d","index":%d,"logprobs":null,"finish_reason":"length"}`, i, j, i*3+j))
		}
	}
	w := post(newServer(e, Config{}), "/v1/completions", `{"n":3,"prompt":[`+strings.Join(prompts, ",")+`]}`)
	sameJSON(t, plain(w.Body.String()), `{"id":"CMPL","object":"text_completion","created":1800000000,"model":"acme/tiny","system_fingerprint":"FP","choices":[`+
		strings.Join(want, ",")+`],"usage":{"prompt_tokens":100,"completion_tokens":300,"total_tokens":400,"prompt_tokens_details":{"cached_tokens":0}}}`)
}

package server

import (
	"context"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/request"
)

func TestChatAnswer(t *testing.T) {
	for _, c := range []struct{ name, body, choices, usage string }{
		{
			"plain", hello,
			`[{"index":0,"message":{"role":"assistant","content":"Hello <b>&\u2028 \"you\"","refusal":null},"logprobs":null,"finish_reason":"stop"}]`,
			`{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}`,
		},
		{
			"two choices share a prompt, which counts once",
			`{"messages":[{"role":"user","content":"hi"}],"n":2}`,
			`[{"index":0,"message":{"role":"assistant","content":"Hello <b>&\u2028 \"you\"","refusal":null},"logprobs":null,"finish_reason":"stop"},
			  {"index":1,"message":{"role":"assistant","content":"Hello <b>&\u2028 \"you\"","refusal":null},"logprobs":null,"finish_reason":"stop"}]`,
			`{"prompt_tokens":7,"completion_tokens":4,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":3}}`,
		},
		{
			"log-probabilities",
			`{"messages":[{"role":"user","content":"hi"}],"logprobs":true,"top_logprobs":1}`,
			`[{"index":0,"message":{"role":"assistant","content":"Hello <b>&\u2028 \"you\"","refusal":null},"logprobs":{"content":[
				{"token":"Hello","logprob":-0.5,"bytes":[72,101,108,108,111],"top_logprobs":[{"token":"<&>","logprob":-0.25,"bytes":[60,38,62]}]},
				{"token":" <b>&\u2028 \"you\"","logprob":-0.5,"bytes":[32,60,98,62,38,226,128,168,32,34,121,111,117,34],
					"top_logprobs":[{"token":"<&>","logprob":-0.25,"bytes":[60,38,62]}]}],"refusal":null},"finish_reason":"stop"}]`,
			`{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(newServer(says("Hello", " <b>&\u2028 \"you\""), Config{}), "/v1/chat/completions", c.body)
			if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("status %d, %s", w.Code, w.Header().Get("Content-Type"))
			}
			sameJSON(t, plain(w.Body.String()), `{"id":"CHATCMPL","object":"chat.completion","created":1800000000,"model":"acme/tiny",
				"system_fingerprint":"FP","choices":`+c.choices+`,"usage":`+c.usage+`}`)
			if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(w.Body.String(), id) {
				t.Errorf("X-Request-Id %q is not the id of the body", id)
			}
		})
	}
}

// chunks is a stream of chat chunks with these choices.
func chunks(choices ...string) string {
	var b strings.Builder
	for _, c := range choices {
		b.WriteString(`data: {"id":"CHATCMPL","object":"chat.completion.chunk","created":1800000000,"model":"acme/tiny","system_fingerprint":"FP",` + c + "}\n\n")
	}
	return b.String()
}

func TestChatStream(t *testing.T) {
	const (
		role = `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`
		a    = `"choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}]`
		b    = `"choices":[{"index":0,"delta":{"content":"b"},"logprobs":null,"finish_reason":null}]`
		stop = `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`
		done = "data: [DONE]\n\n"
		null = `,"usage":null`
	)
	one := func(s string) string { return strings.ReplaceAll(s, `"index":0`, `"index":1`) }
	withLogprobs := func(piece string) string {
		return `"choices":[{"index":0,"delta":{"content":"` + piece + `"},"logprobs":{"content":[{"token":"` + piece + `","logprob":-0.5,"bytes":[` +
			map[string]string{"a": "97", "b": "98"}[piece] + `],"top_logprobs":[]}],"refusal":null},"finish_reason":null}]`
	}
	for _, c := range []struct {
		name   string
		engine *fake
		fields string
		want   string
	}{
		{"plain", says("a", "b"), ``, chunks(role, a, b, stop) + done},
		{"held-back text makes no chunk", says("a", "", "b", ""), ``, chunks(role, a, b, stop) + done},
		{"two choices", says("a", "b"), `,"n":2`, chunks(role, a, one(role), one(a), b, stop, one(b), one(stop)) + done},
		{"usage", says("a"), `,"stream_options":{"include_usage":true}`, chunks(role+null, a+null, stop+null,
			`"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":4}}`) + done},
		{"log-probabilities", says("a", "b"), `,"logprobs":true`, chunks(role, withLogprobs("a"), withLogprobs("b"), stop) + done},
		{"an error after the first token ends the stream without [DONE]", fails(request.ErrPageCheck, "a"), ``, chunks(role, a) +
			`data: {"error":{"message":"a cache page of this request failed its check; no token was made from it","type":"server_error","param":null,"code":"page_check_failed"}}` + "\n\n"},
		{"an answer that is not finished is an error", &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) {
			yield(request.Token{Text: "a"}, nil)
		}}, ``, chunks(role, a) +
			`data: {"error":{"message":"the server failed to answer this request","type":"server_error","param":null,"code":"internal_error"}}` + "\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(newServer(c.engine, Config{}), "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"hi"}]`+c.fields+`}`)
			if w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream; charset=utf-8" {
				t.Errorf("status %d, %s", w.Code, w.Header().Get("Content-Type"))
			}
			if got := plain(w.Body.String()); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

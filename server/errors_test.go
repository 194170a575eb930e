package server

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kvasir-engine/kvasir/request"
)

// The engine's errors before the first token, streaming or not: status, body, headers.
func TestEngineErrors(t *testing.T) {
	reject := func(l request.Limit, field, why string) error {
		return fmt.Errorf("wrapped: %w", &request.Rejection{Limit: l, Field: field, Why: why})
	}
	for _, c := range []struct {
		err        error
		status     int
		retryAfter string
		body       string
	}{
		{reject(request.LimitContext, "max_tokens", "needs 200 tokens, and 128 is the most"), 400, "",
			`{"message":"needs 200 tokens, and 128 is the most","type":"invalid_request_error","param":"max_tokens","code":"context_length_exceeded"}`},
		{reject(request.LimitPool, "", "needs 200 of 100"), 400, "",
			`{"message":"needs 200 of 100","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}`},
		{reject(request.LimitQueue, "", "9 wait"), 429, "1", `{"message":"9 wait","type":"rate_limit_error","param":null,"code":"queue_full"}`},
		{reject(request.LimitInput, "tokens", "too odd"), 400, "", `{"message":"too odd","type":"invalid_request_error","param":"prompt","code":"invalid_value"}`},
		{reject(request.LimitInput, "stop", "too odd"), 400, "", `{"message":"too odd","type":"invalid_request_error","param":"stop","code":"invalid_value"}`},
		{reject(request.LimitClosing, "", "closing down"), 503, "", `{"message":"closing down","type":"server_error","param":null,"code":"closing"}`},
		{fmt.Errorf("x: %w", request.ErrClosed), 503, "", `{"message":"the engine is closed","type":"server_error","param":null,"code":"closing"}`},
		{fmt.Errorf("x: %w", request.ErrEngineFailed), 503, "", `{"message":"the engine failed","type":"server_error","param":null,"code":"engine_failed"}`},
		{fmt.Errorf("x: %w", request.ErrPageCheck), 500, "",
			`{"message":"a cache page of this request failed its check; no token was made from it","type":"server_error","param":null,"code":"page_check_failed"}`},
		{fmt.Errorf("x: %w", request.ErrNoLogits), 500, "",
			`{"message":"the model computed no number to choose a token by","type":"server_error","param":null,"code":"no_logits"}`},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), 504, "", `{"message":"the time for this request is over","type":"server_error","param":null,"code":"timeout"}`},
		{errors.New("secret path /root"), 500, "", `{"message":"the server failed to answer this request","type":"server_error","param":null,"code":"internal_error"}`},
	} {
		for _, stream := range []string{"", `,"stream":true`} {
			t.Run(c.err.Error()+stream, func(t *testing.T) {
				w := post(newServer(fails(c.err), Config{}), "/v1/completions", `{"prompt":"x"`+stream+`}`)
				if w.Code != c.status || w.Header().Get("Retry-After") != c.retryAfter || w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("status %d, headers %v", w.Code, w.Header())
				}
				sameJSON(t, w.Body.String(), `{"error":`+c.body+`}`)
			})
		}
	}
}

// An answer that fails half-way is no answer: not a word of it leaves.
func TestNoTextWithAnError(t *testing.T) {
	w := post(newServer(fails(request.ErrPageCheck, "half an answer"), Config{}), "/v1/chat/completions", hello)
	if e := errorOf(t, w.Body.Bytes()); w.Code != 500 || deref(e.Code) != "page_check_failed" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Of several prompts the one that was refused is named.
func TestRefusedPromptIsNamed(t *testing.T) {
	e := &fake{script: func(_ context.Context, r request.Request, yield func(request.Token, error) bool) {
		if r.Prompt == "bad" {
			yield(request.Token{}, request.Invalid("prompt", "is bad"))
			return
		}
		yield(request.Token{Text: "a", Finish: request.FinishStop, Usage: &request.Usage{}}, nil)
	}}
	w := post(newServer(e, Config{}), "/v1/completions", `{"prompt":["good","good","bad"]}`)
	if got := errorOf(t, w.Body.Bytes()); w.Code != 400 || deref(got.Param) != "prompt[2]" || got.Message != "is bad" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

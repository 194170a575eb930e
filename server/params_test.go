package server

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kvasir-engine/kvasir/request"
)

// What the engine is asked, for each field that a client may send.
func TestRequests(t *testing.T) {
	seed := func(s uint64) *uint64 { return &s }
	const chat, completions = "/v1/chat/completions", "/v1/completions"
	for _, c := range []struct {
		path, fields string
		change       func(*request.Request)
	}{
		{chat, ``, func(*request.Request) {}},
		{chat, `"model":"acme/tiny"`, func(*request.Request) {}},
		{chat, `"model":"default"`, func(*request.Request) {}},
		{chat, `"model":""`, func(*request.Request) {}},
		{chat, `"model":null,"n":null,"stop":null,"seed":null,"logit_bias":null,"tools":null`, func(*request.Request) {}},
		{chat, `"something_new":{"a":[1]},"user":"u","store":true,"metadata":{"a":"b"}`, func(*request.Request) {}},
		{chat, `"tools":[],"tool_choice":"none","response_format":{"type":"text"},"modalities":[ "text" ],"min_tokens":0`, func(*request.Request) {}},
		{chat, `"max_tokens":5`, func(r *request.Request) { r.MaxTokens = 5 }},
		{chat, `"max_completion_tokens":6,"max_tokens":5`, func(r *request.Request) { r.MaxTokens = 6 }},
		{chat, `"max_tokens":5.0`, func(r *request.Request) { r.MaxTokens = 5 }},
		{chat, `"max_tokens":1e1`, func(r *request.Request) { r.MaxTokens = 10 }},
		{chat, `"n":3`, func(r *request.Request) { r.N = 3 }},
		{chat, `"n":2,"best_of":2`, func(r *request.Request) { r.N = 2 }},
		{chat, `"stop":"x"`, func(r *request.Request) { r.Stop = []string{"x"} }},
		{chat, `"stop":["x","\n"]`, func(r *request.Request) { r.Stop = []string{"x", "\n"} }},
		{chat, `"stop_token_ids":[0,999]`, func(r *request.Request) { r.StopTokens = []int32{0, 999} }},
		{chat, `"ignore_eos":true`, func(r *request.Request) { r.IgnoreEOS = true }},
		{chat, `"temperature":0`, func(r *request.Request) { r.Sampling.Temperature = 0 }},
		{chat, `"temperature":0.25,"top_p":0.5,"top_k":7,"min_p":0.125`, func(r *request.Request) {
			r.Sampling.Temperature, r.Sampling.TopP, r.Sampling.TopK, r.Sampling.MinP = 0.25, 0.5, 7, 0.125
		}},
		{chat, `"top_k":-1`, func(*request.Request) {}},
		{chat, `"top_p":0`, func(r *request.Request) { r.Sampling.TopK = 1 }}, // the smallest set is one token
		{chat, `"presence_penalty":-2,"frequency_penalty":2,"repetition_penalty":1.5`, func(r *request.Request) {
			r.Sampling.PresencePenalty, r.Sampling.FrequencyPenalty, r.Sampling.RepetitionPenalty = -2, 2, 1.5
		}},
		{chat, `"seed":42`, func(r *request.Request) { r.Sampling.Seed = seed(42) }},
		{chat, `"seed":-1`, func(r *request.Request) { r.Sampling.Seed = seed(math.MaxUint64) }},
		{chat, `"logit_bias":{"0":-100,"999":1.5}`, func(r *request.Request) { r.Sampling.LogitBias = map[int32]float32{0: -100, 999: 1.5} }},
		{chat, `"logit_bias":{}`, func(*request.Request) {}},
		{chat, `"logprobs":true`, func(r *request.Request) { r.Sampling.Logprobs = true }},
		{chat, `"logprobs":true,"top_logprobs":20`, func(r *request.Request) { r.Sampling.Logprobs, r.Sampling.TopLogprobs = true, 20 }},
		{chat, `"logprobs":false,"top_logprobs":0`, func(*request.Request) {}},
		{chat, `"messages":[{"role":"developer","content":"a"},{"role":"user","name":"n","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
			{"role":"assistant","content":"","tool_calls":[]}]`,
			func(r *request.Request) {
				r.Messages = []request.Message{{Role: "system", Content: "a"}, {Role: "user", Name: "n", Content: "b\nc"}, {Role: "assistant"}}
			}},
		{completions, ``, func(*request.Request) {}},
		{completions, `"max_tokens":1000`, func(r *request.Request) { r.MaxTokens = 1000 }},
		{completions, `"logprobs":0`, func(r *request.Request) { r.Sampling.Logprobs = true }},
		{completions, `"logprobs":5`, func(r *request.Request) { r.Sampling.Logprobs, r.Sampling.TopLogprobs = true, 5 }},
		{completions, `"prompt":["only"]`, func(r *request.Request) { r.Prompt = "only" }},
		{completions, `"prompt":[1, 2,999]`, func(r *request.Request) { r.Prompt, r.Tokens = "", []int32{1, 2, 999} }},
		{completions, `"prompt":[ 1.0 ]`, func(r *request.Request) { r.Prompt, r.Tokens = "", []int32{1} }},
		{completions, `"prompt":[[3]]`, func(r *request.Request) { r.Prompt, r.Tokens = "", []int32{3} }},
		{completions, `"echo":false,"suffix":"","best_of":1`, func(*request.Request) {}},
	} {
		t.Run(c.path+" "+c.fields, func(t *testing.T) {
			e := says("a")
			want := request.Request{Tenant: "default", N: 1, Sampling: request.Sampling{Temperature: 1, TopP: 1, RepetitionPenalty: 1}}
			given := `"messages":[{"role":"user","content":"hi"}]`
			want.Messages = []request.Message{{Role: "user", Content: "hi"}}
			if c.path == completions {
				given = `"prompt":"hi"`
				want.Messages, want.Prompt, want.MaxTokens = nil, "hi", 16
			}
			if c.fields != "" {
				given += "," + c.fields // of duplicate fields the last counts
			}
			c.change(&want)
			w := post(newServer(e, Config{}), c.path, "{"+given+"}")
			if w.Code != 200 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			got := e.requests()[0]
			if !strings.Contains(w.Body.String(), `"id":"`+got.ID+`"`) {
				t.Errorf("the engine knows the request as %q, the client as %s", got.ID, w.Body)
			}
			got.ID = ""
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestSeveralPrompts(t *testing.T) {
	e := says("a")
	post(newServer(e, Config{}), "/v1/completions", `{"prompt":[[1,2],"x",[3]]}`)
	got := map[string]bool{}
	for _, r := range e.requests() {
		got[r.Prompt] = true
		for _, id := range r.Tokens {
			got[string(rune('0'+id))] = true
		}
		if !strings.HasSuffix(r.ID, "-0") && !strings.HasSuffix(r.ID, "-1") && !strings.HasSuffix(r.ID, "-2") {
			t.Errorf("request %q does not say which prompt it is", r.ID)
		}
	}
	if want := map[string]bool{"": true, "x": true, "1": true, "2": true, "3": true}; len(e.requests()) != 3 || !cmp.Equal(got, want) {
		t.Errorf("the engine was asked %v", e.requests())
	}
}

// Every refusal names the field and what would be right; the engine is not asked.
func TestRefusals(t *testing.T) {
	const chat, completions = "/v1/chat/completions", "/v1/completions"
	m := func(fields string) string { return `{"messages":[{"role":"user","content":"hi"}],` + fields + `}` }
	p := func(fields string) string { return `{"prompt":"x",` + fields + `}` }
	messages := func(list string) string { return `{"messages":` + list + `}` }
	for _, c := range []struct{ path, body, param, code, message string }{
		{chat, ``, "", "invalid_json", "not valid JSON"},
		{chat, `{`, "", "invalid_json", "not valid JSON, at byte 1"},
		{chat, hello + `x`, "", "invalid_json", "at byte 46: invalid character 'x' after top-level value"},
		{chat, hello + hello, "", "invalid_json", "after top-level value"},
		{chat, `null`, "", "invalid_type", "must be a JSON object, not null"},
		{chat, ` [1]`, "", "invalid_type", "must be a JSON object, not an array"},
		{chat, `"x"`, "", "invalid_type", "must be a JSON object, not a string"},
		{chat, strings.Repeat("[", 1<<20), "", "invalid_json", "max depth"},
		{chat, `{"messages":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`, "messages[0]", "invalid_type", "must be an object, not an array"},
		{chat, `{}`, "messages", "missing_required_parameter", "messages is missing"},
		{chat, messages(`"hi"`), "messages", "invalid_type", "must be an array of messages, not a string"},
		{chat, messages(`[]`), "messages", "invalid_value", "at least one"},
		{chat, messages(`[1]`), "messages[0]", "invalid_type", "messages[0] must be an object, not a number"},
		{chat, messages(`[{"role":"user","content":"a"},{"content":"b"}]`), "messages[1].role", "missing_required_parameter", "one of system, developer, user, assistant"},
		{chat, messages(`[{"role":7,"content":"b"}]`), "messages[0].role", "invalid_type", "must be a string, not a number"},
		{chat, messages(`[{"role":"tool","content":"b"}]`), "messages[0].role", "invalid_value", `one of system, developer, user, assistant, not "tool"`},
		{chat, messages(`[{"role":"user"}]`), "messages[0].content", "missing_required_parameter", "a string or an array of text parts"},
		{chat, messages(`[{"role":"user","content":null}]`), "messages[0].content", "missing_required_parameter", "is missing"},
		{chat, messages(`[{"role":"user","content":{"a":1}}]`), "messages[0].content", "invalid_type", "must be a string or an array of text parts, not an object"},
		{chat, messages(`[{"role":"user","content":[]}]`), "messages[0].content", "invalid_value", "at least one part"},
		{chat, messages(`[{"role":"user","content":["a"]}]`), "messages[0].content[0]", "invalid_type", "must be an object, not a string"},
		{chat, messages(`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]}]`), "messages[0].content[1].type", "invalid_value", `must be "text"`},
		{chat, messages(`[{"role":"user","content":[{"type":"text"}]}]`), "messages[0].content[0].text", "missing_required_parameter", "is missing"},
		{chat, messages(`[{"role":"user","content":[{"text":"a"}]}]`), "messages[0].content[0].type", "missing_required_parameter", "is missing"},
		{chat, messages(`[{"role":"assistant","content":"a","tool_calls":[{"id":"1"}]}]`), "messages[0].tool_calls", "unsupported_parameter", "not supported"},
		{chat, m(`"model":4`), "model", "invalid_type", "must be a string, not a number"},
		{chat, m(`"temperature":"hot"`), "temperature", "invalid_type", "must be a number from 0 to 2, not a string"},
		{chat, m(`"temperature":2.5`), "temperature", "invalid_value", "must be from 0 to 2, not 2.5"},
		{chat, m(`"temperature":1e999`), "temperature", "invalid_value", "must be from 0 to 2"},
		{chat, m(`"top_p":-0.1`), "top_p", "invalid_value", "from 0 to 1"},
		{chat, m(`"top_k":-2`), "top_k", "invalid_value", "from -1"},
		{chat, m(`"min_p":1.5`), "min_p", "invalid_value", "from 0 to 1"},
		{chat, m(`"repetition_penalty":0`), "repetition_penalty", "invalid_value", "greater than 0"},
		{chat, m(`"presence_penalty":3`), "presence_penalty", "invalid_value", "from -2 to 2"},
		{chat, m(`"frequency_penalty":[]`), "frequency_penalty", "invalid_type", "number from -2 to 2, not an array"},
		{chat, m(`"max_tokens":0`), "max_tokens", "invalid_value", "whole number from 1"},
		{chat, m(`"max_tokens":1.5`), "max_tokens", "invalid_value", "not 1.5"},
		{chat, m(`"max_completion_tokens":-1`), "max_completion_tokens", "invalid_value", "whole number from 1"},
		{chat, m(`"max_tokens":99999999999999999999`), "max_tokens", "invalid_value", "whole number from 1"},
		{chat, m(`"n":0`), "n", "invalid_value", "from 1 to 128"},
		{chat, m(`"n":129`), "n", "invalid_value", "from 1 to 128"},
		{chat, m(`"n":"2"`), "n", "invalid_type", "not a string"},
		{chat, m(`"seed":1.5`), "seed", "invalid_value", "whole number"},
		{chat, m(`"stream":"true"`), "stream", "invalid_type", "must be true or false, not a string"},
		{chat, m(`"stream_options":{"include_usage":true}`), "stream_options", "invalid_value", "set stream to true"},
		{chat, m(`"stream":true,"stream_options":[]`), "stream_options", "invalid_type", "must be an object"},
		{chat, m(`"stream":true,"stream_options":{"include_usage":1}`), "stream_options.include_usage", "invalid_type", "true or false"},
		{chat, m(`"stop":[1]`), "stop[0]", "invalid_type", "must be a string, not a number"},
		{chat, m(`"stop":["a",""]`), "stop[1]", "invalid_value", "must not be empty"},
		{chat, m(`"stop":7`), "stop", "invalid_type", "a string or an array of strings"},
		{chat, m(`"stop":[` + strings.Repeat(`"a",`, 16) + `"a"]`), "stop", "invalid_value", "at most 16"},
		{chat, m(`"stop_token_ids":[1,1000]`), "stop_token_ids[1]", "invalid_value", "from 0 to 999, not 1000"},
		{chat, m(`"stop_token_ids":7`), "stop_token_ids", "invalid_type", "array of token ids"},
		{chat, m(`"logit_bias":[]`), "logit_bias", "invalid_type", "must be an object"},
		{chat, m(`"logit_bias":{"cat":1}`), "logit_bias", "invalid_value", `token ids from "0" to "999" as keys, not "cat"`},
		{chat, m(`"logit_bias":{"1000":1}`), "logit_bias", "invalid_value", "as keys"},
		{chat, m(`"logit_bias":{"05":1}`), "logit_bias", "invalid_value", "as keys"},
		{chat, m(`"logit_bias":{"5":101}`), "logit_bias.5", "invalid_value", "from -100 to 100"},
		{chat, m(`"logprobs":5`), "logprobs", "invalid_type", "true or false"},
		{chat, m(`"top_logprobs":2`), "top_logprobs", "invalid_value", "needs logprobs"},
		{chat, m(`"logprobs":true,"top_logprobs":21`), "top_logprobs", "invalid_value", "from 0 to 20"},
		{chat, m(`"tools":[{"type":"function"}]`), "tools", "unsupported_parameter", "tools is not supported"},
		{chat, m(`"tool_choice":"required"`), "tool_choice", "unsupported_parameter", "not supported"},
		{chat, m(`"functions":[{}]`), "functions", "unsupported_parameter", "not supported"},
		{chat, m(`"response_format":{"type":"json_object"}`), "response_format", "unsupported_parameter", `{"type": "text"}`},
		{chat, m(`"response_format":"text"`), "response_format", "invalid_type", "must be an object"},
		{chat, m(`"audio":{"voice":"a"}`), "audio", "unsupported_parameter", "not supported"},
		{chat, m(`"modalities":["text","audio"]`), "modalities", "unsupported_parameter", "not supported"},
		{chat, m(`"guided_json":{}`), "guided_json", "unsupported_parameter", "not supported"},
		{chat, m(`"min_tokens":3`), "min_tokens", "unsupported_parameter", "not supported"},
		{chat, m(`"skip_special_tokens":false`), "skip_special_tokens", "unsupported_parameter", "not supported"},
		{completions, `{}`, "prompt", "missing_required_parameter", "a string, an array of strings"},
		{completions, `{"prompt":7}`, "prompt", "invalid_type", "not a number"},
		{completions, `{"prompt":""}`, "prompt", "invalid_value", "must not be empty"},
		{completions, `{"prompt":[]}`, "prompt", "invalid_value", "must not be empty"},
		{completions, `{"prompt":["a",""]}`, "prompt[1]", "invalid_value", "must not be empty"},
		{completions, `{"prompt":["a",7]}`, "prompt[1]", "invalid_type", "a string or an array of token ids, not a number"},
		{completions, `{"prompt":[1,"a"]}`, "prompt[1]", "invalid_type", "whole number from 0 to 999, not a string"},
		{completions, `{"prompt":[1,null]}`, "prompt[1]", "invalid_type", "not null"},
		{completions, `{"prompt":[5,-1]}`, "prompt[1]", "invalid_value", "from 0 to 999, not -1"},
		{completions, `{"prompt":[[5],[6,1000]]}`, "prompt[1][1]", "invalid_value", "from 0 to 999, not 1000"},
		{completions, `{"prompt":[[]]}`, "prompt[0]", "invalid_value", "must not be empty"},
		{completions, `{"prompt":[` + strings.Repeat(`"a",`, 1024) + `"a"]}`, "prompt", "invalid_value", "at most 1024"},
		{completions, p(`"logprobs":true`), "logprobs", "invalid_type", "whole number from 0 to 20"},
		{completions, p(`"echo":true`), "echo", "unsupported_parameter", "not supported"},
		{completions, p(`"suffix":"end"`), "suffix", "unsupported_parameter", "not supported"},
		{completions, p(`"best_of":3`), "best_of", "unsupported_parameter", "equal to n"},
	} {
		t.Run(c.path+" "+clip(c.body), func(t *testing.T) {
			e := says("a")
			w := post(newServer(e, Config{}), c.path, c.body)
			got := errorOf(t, w.Body.Bytes())
			if w.Code != 400 || got.Type != "invalid_request_error" || deref(got.Param) != c.param || deref(got.Code) != c.code || !strings.Contains(got.Message, c.message) {
				t.Errorf("%d %s\nwant param %q, code %q, and in the message %q", w.Code, w.Body, c.param, c.code, c.message)
			}
			if len(e.requests()) != 0 {
				t.Error("the engine was asked nevertheless")
			}
		})
	}
}

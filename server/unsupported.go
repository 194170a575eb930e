package server

import (
	"slices"

	"github.com/kvasir-engine/kvasir/request"
)

// unsupported are fields of OpenAI's, vLLM's and llama-server's APIs that change an answer in ways that do not exist here. Ignoring them would give a wrong
// answer without a word, so they are refused, except with values that ask for nothing: null, false, 0, "", [], {} unless neutral lists others.
var unsupported = []struct {
	name    string
	neutral []string // JSON texts
}{
	// OpenAI
	{name: "tools"},
	{name: "tool_choice", neutral: []string{`"none"`, `"auto"`}},
	{name: "functions"},
	{name: "function_call", neutral: []string{`"none"`, `"auto"`}},
	{name: "audio"},
	{name: "modalities", neutral: []string{`["text"]`}},
	{name: "web_search_options", neutral: []string{`null`}},
	{name: "echo"},
	{name: "suffix"},
	// vLLM and llama-server
	{name: "add_generation_prompt", neutral: []string{`true`}},
	{name: "add_special_tokens", neutral: []string{`true`}},
	{name: "allowed_token_ids", neutral: []string{`null`}},
	{name: "bad_words"},
	{name: "chat_template"},
	{name: "chat_template_kwargs"},
	{name: "continue_final_message"},
	{name: "documents"},
	{name: "grammar"},
	{name: "guided_choice"},
	{name: "guided_grammar"},
	{name: "guided_json", neutral: []string{`null`}},
	{name: "guided_regex"},
	{name: "include_stop_str_in_output"},
	{name: "json_schema", neutral: []string{`null`}},
	{name: "length_penalty", neutral: []string{`1`, `1.0`}},
	{name: "logits_processors"},
	{name: "min_tokens"},
	{name: "mirostat"},
	{name: "prompt_logprobs", neutral: []string{`null`}},
	{name: "skip_special_tokens", neutral: []string{`true`}},
	{name: "structured_outputs"},
	{name: "truncate_prompt_tokens", neutral: []string{`null`}},
	{name: "use_beam_search"},
}

var nothing = []string{`null`, `false`, `0`, `0.0`, `""`, `[]`, `{}`}

// refuseUnsupported fails on the first field that asks for what does not exist here.
func refuseUnsupported(f *fields) {
	for _, u := range unsupported {
		neutral := u.neutral
		if neutral == nil {
			neutral = nothing
		}
		f.refuseUnless(u.name, neutral)
	}
	if raw, ok := f.get("response_format"); ok {
		o, ok := f.object(raw, "response_format")
		if kind := o.text("type"); ok && kind != "text" {
			f.fail(codeUnsupported, "response_format", "is not supported, other than {\"type\": \"text\"}")
		}
	}
	if n, best := f.integer("n", 1, request.MaxChoices, 1), f.integer("best_of", 1, request.MaxChoices, 0); best != 0 && best != n {
		f.fail(codeUnsupported, "best_of", "is not supported, other than equal to n")
	}
}

// refuseUnless fails where a field is there and none of the neutral values.
func (f *fields) refuseUnless(name string, neutral []string) {
	if raw, ok := f.get(name); ok && !slices.Contains(neutral, compact(raw)) {
		f.fail(codeUnsupported, f.at(name), "is not supported")
	}
}

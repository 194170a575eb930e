package server

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/kvasir-engine/kvasir/request"
)

// params are the fields that conversations and completions share.
type params struct {
	request      request.Request // all but the prompt and what the two forms of log-probabilities ask for
	stream       bool
	includeUsage bool
}

// params reads the shared fields. Where neither length is given the answer may have fallback tokens (0: until the context is full).
func (s *server) params(r *http.Request, f *fields, fallback int64) params {
	model := s.engine.Model()
	s.checkModel(f, model)
	p := params{request: request.Request{
		Tenant:     tenant(r),
		MaxTokens:  readMaxTokens(f, fallback),
		N:          int(f.integer("n", 1, request.MaxChoices, 1)),
		Stop:       readStop(f),
		StopTokens: readTokenIDs(f, "stop_token_ids", model.VocabSize),
		IgnoreEOS:  f.boolean("ignore_eos"),
		Sampling:   readSampling(f, model.VocabSize),
	}}
	p.stream = f.boolean("stream")
	p.includeUsage = readStreamOptions(f, p.stream)
	return p
}

// checkModel: the model may be left out, or called "default".
func (s *server) checkModel(f *fields, model ModelInfo) {
	asked := f.text("model")
	if asked != "" && asked != "default" && asked != model.Name && f.problem.first == nil {
		f.problem.first = modelNotFound(asked, model.Name)
	}
}

// readMaxTokens: max_completion_tokens is the newer name, and counts where both are given.
func readMaxTokens(f *fields, fallback int64) int {
	old := f.integer("max_tokens", 1, math.MaxInt32, fallback)
	return int(f.integer("max_completion_tokens", 1, math.MaxInt32, old))
}

func readStop(f *fields) []string {
	raw, ok := f.get("stop")
	if !ok {
		return nil
	}
	var stops []string
	add := func(raw json.RawMessage, path string) bool {
		s, ok := f.asText(raw, path, "a string")
		if ok && s == "" {
			f.fail(codeInvalidValue, path, "must not be empty")
		}
		stops = append(stops, s)
		if len(stops) > request.MaxStops {
			f.fail(codeInvalidValue, "stop", "must have at most %d strings", request.MaxStops)
		}
		return f.err() == nil
	}
	switch raw[0] {
	case '"':
		add(raw, "stop")
	case '[':
		f.list(raw, "stop", add)
	default:
		f.fail(codeInvalidType, "stop", "must be a string or an array of strings, not %s", kindOf(raw))
	}
	return stops
}

// readTokenIDs reads an array of token ids.
func readTokenIDs(f *fields, name string, vocab int) []int32 {
	raw, ok := f.get(name)
	if !ok {
		return nil
	}
	return f.tokenIDs(raw, f.at(name), vocab)
}

func (f *fields) tokenIDs(raw json.RawMessage, path string, vocab int) []int32 {
	if raw[0] != '[' {
		f.fail(codeInvalidType, path, "must be an array of token ids, not %s", kindOf(raw))
		return nil
	}
	if ids, ok := quickTokenIDs(raw, vocab); ok {
		return ids
	}
	var ids []int32
	f.list(raw, path, func(raw json.RawMessage, path string) bool {
		id, ok := f.asInteger(raw, path, 0, int64(vocab)-1)
		ids = append(ids, int32(id))
		return ok
	})
	return ids
}

// quickTokenIDs reads an array where nothing is wrong, which may be a long prompt; the slow way then tells what is wrong.
func quickTokenIDs(raw []byte, vocab int) ([]int32, bool) {
	var ids []int32
	if bytes.IndexByte(raw, 'n') >= 0 || json.Unmarshal(raw, &ids) != nil { // null would be read as 0
		return nil, false
	}
	for _, id := range ids {
		if id < 0 || int(id) >= vocab {
			return nil, false
		}
	}
	return ids, true
}

func readSampling(f *fields, vocab int) request.Sampling {
	s := request.Sampling{
		Temperature:       f.number("temperature", 0, 2, 1),
		TopK:              int(max(0, f.integer("top_k", -1, math.MaxInt32, 0))), // -1 is vLLM's word for all
		TopP:              f.number("top_p", 0, 1, 1),
		MinP:              f.number("min_p", 0, 1, 0),
		RepetitionPenalty: f.number("repetition_penalty", 0, 100, 1),
		PresencePenalty:   f.number("presence_penalty", -2, 2, 0),
		FrequencyPenalty:  f.number("frequency_penalty", -2, 2, 0),
		LogitBias:         readLogitBias(f, vocab),
	}
	if f.has("repetition_penalty") && s.RepetitionPenalty == 0 {
		f.fail(codeInvalidValue, "repetition_penalty", "must be greater than 0 (1 is none)")
	}
	if f.has("top_p") && s.TopP == 0 {
		// The smallest set of tokens is one token; in a request.Sampling a TopP of 0 would mean all of them.
		s.TopK, s.TopP = 1, 1
	}
	if f.has("seed") {
		seed := uint64(f.integer("seed", math.MinInt64, math.MaxInt64, 0))
		s.Seed = &seed
	}
	return s
}

// readLogitBias: the keys of the object are token ids, as JSON has no other keys than strings.
func readLogitBias(f *fields, vocab int) map[int32]float32 {
	raw, ok := f.get("logit_bias")
	if !ok {
		return nil
	}
	o, ok := f.object(raw, f.at("logit_bias"))
	if !ok || len(o.raw) == 0 {
		return nil
	}
	bias := make(map[int32]float32, len(o.raw))
	for _, key := range sortedKeys(o.raw) {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil || id < 0 || id >= int64(vocab) || strconv.FormatInt(id, 10) != key {
			f.fail(codeInvalidValue, "logit_bias", "must have token ids from \"0\" to \"%d\" as keys, not %q", vocab-1, clip(key))
			return nil
		}
		bias[int32(id)] = float32(o.number(key, -100, 100, 0))
	}
	return bias
}

// sortedKeys makes the first error of an object the same each time.
func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func readStreamOptions(f *fields, stream bool) (includeUsage bool) {
	raw, ok := f.get("stream_options")
	if !ok {
		return false
	}
	o, ok := f.object(raw, "stream_options")
	if !ok {
		return false
	}
	if !stream {
		f.fail(codeInvalidValue, "stream_options", "is for streams only; set stream to true")
	}
	if o.boolean("continuous_usage_stats") {
		f.fail(codeUnsupported, "stream_options.continuous_usage_stats", "is not supported; include_usage gives the counts at the end")
	}
	return o.boolean("include_usage")
}

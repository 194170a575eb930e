// Package server answers HTTP as OpenAI's API does, over an [Engine].
//
//	POST /v1/chat/completions   a conversation
//	POST /v1/completions        prompts as text or token ids
//	GET  /v1/models             the one model that is served
//	GET  /v1/models/{name}
//	GET  /health                200 while the engine can work at all, else 503
//	GET  /ready                 200 while new requests are taken, else 503
//	GET  /metrics               Prometheus, where a Gatherer is given
//
// The shapes of requests, answers, streams and errors are those of OpenAI's API reference (platform.openai.com/docs/api-reference),
// with the further sampling fields of vLLM and llama-server: top_k, min_p, repetition_penalty, ignore_eos, stop_token_ids.
//
// Fields nobody knows are accepted, as elsewhere. Fields that ask for something which does not exist here (tools, JSON schemas, echo, ...) are
// refused by name, for an answer that ignores them would be a wrong answer.
//
// An error before the first token has a proper HTTP status. Afterwards it is a line `data: {"error": ...}` of the stream, which then ends without
// `data: [DONE]`, so that a cut answer cannot be taken for a whole one.
//
// Prompts and answers are never logged.
package server

// Package kvasir is an inference engine for large language models that many customers can share: no answer is ever made from a KV page that its request does
// not own.
//
// Open an engine, ask it, close it:
//
//	eng, err := kvasir.Open(ctx, kvasir.Config{})
//	if err != nil { ... }
//	defer eng.Close()
//	for tok, err := range eng.Generate(ctx, kvasir.Request{Prompt: "Once upon a time"}) {
//		if err != nil { ... }
//		fmt.Print(tok.Text)
//	}
//
// [Engine.Generate] streams tokens; breaking out of the loop cancels the request. [Engine.Chat] keeps a conversation. [Engine.Handler] is the OpenAI-compatible
// HTTP API as an [http.Handler]. Many goroutines may use one Engine at once: their requests are batched together, and greedy output is bit-identical
// whatever they are batched with.
package kvasir

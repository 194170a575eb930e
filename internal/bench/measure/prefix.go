package measure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kvasir-engine/kvasir"
)

// Prefix says how requests begin alike: each has the same PrefixTokens and then NewTokens of its own.
type Prefix struct {
	PrefixTokens int `json:"prefix_tokens"`
	NewTokens    int `json:"new_tokens"`
}

// Context is how long the context must be.
func (p Prefix) Context() int { return p.PrefixTokens + p.NewTokens + 1 }

// FirstTokens are the times to the first token of two requests that begin alike, the first of which nobody has seen.
type FirstTokens struct {
	Cold, Warm time.Duration
	Cached     int // tokens of the second prompt that were found in the prefix cache
}

// FirstTokensOf sends two requests with a common prefix one after the other, to an idle engine.
func FirstTokensOf(ctx context.Context, eng Engine, p Prefix, random *rand.Rand) (f FirstTokens, err error) {
	vocab := eng.Model().VocabSize
	prefix := RandomTokens(random, p.PrefixTokens, vocab)
	ask := func() (time.Duration, int, error) {
		return firstToken(ctx, eng, slices.Concat(prefix, RandomTokens(random, p.NewTokens, vocab)))
	}
	if f.Cold, _, err = ask(); err != nil {
		return f, err
	}
	f.Warm, f.Cached, err = ask()
	return f, err
}

// firstToken is the time to the first token, and how many tokens of the prompt were cached.
func firstToken(ctx context.Context, eng Engine, prompt []int32) (took time.Duration, cached int, err error) {
	asked := time.Now()
	for tok, err := range eng.Generate(ctx, kvasir.Request{Tokens: prompt, MaxTokens: 1, IgnoreEOS: true}) {
		if err != nil {
			return 0, 0, err
		}
		if tok.ID >= 0 {
			took = time.Since(asked)
		}
		if tok.Usage != nil {
			return took, tok.Usage.CachedTokens, nil
		}
	}
	return 0, 0, fmt.Errorf("measure: an answer without an end")
}

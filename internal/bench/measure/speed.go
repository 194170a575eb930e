package measure

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kvasir-engine/kvasir"
)

// Engine is what is measured.
type Engine interface {
	Generate(context.Context, kvasir.Request) iter.Seq2[kvasir.Token, error]
	Model() kvasir.ModelInfo
}

// Case says what is measured: Batch sequences at once, each with a prompt of PromptTokens and an answer of GenTokens.
type Case struct {
	PromptTokens int `json:"prompt_tokens"`
	GenTokens    int `json:"gen_tokens"`
	Batch        int `json:"batch"`
}

// Speed is one measurement, in tokens a second over all sequences together.
type Speed struct {
	Prompt float64
	Decode float64
}

// Context is how long the context must be for the case, with a token budget a step of so many tokens.
func (c Case) Context(budget int) int { return c.PromptTokens + c.answer(budget) }

// Pages is how many pages of size tokens the case takes.
func (c Case) Pages(budget, size int) int { return c.Batch * ((c.Context(budget) + size - 1) / size) }

// answer is how many tokens each sequence may write. Those that start first write while the others' prompts are still read, at most a token a step; after these, all are to
// write GenTokens together.
func (c Case) answer(budget int) int {
	if c.Batch == 1 {
		return c.GenTokens + 1
	}
	room := max(1, budget-c.Batch)
	steps := (c.Batch*c.PromptTokens+room-1)/room + 2*c.Batch
	return c.GenTokens + 1 + steps
}

// Run measures a case once on an idle engine, with prompts of random tokens that no prefix cache knows. Budget is the engine's token budget a step.
//
// Prompt speed is the time until the first token of one sequence. Of several sequences it is the time until all prompts are read, each for an answer of one token; then the
// same is done again, with new prompts and long answers, and decode speed is measured from the moment when all sequences write until one has ended.
func Run(ctx context.Context, eng Engine, c Case, budget int, random *rand.Rand) (Speed, error) {
	if c.Batch == 1 {
		a, err := answers(ctx, eng, c, c.answer(budget), random)
		if err != nil {
			return Speed{}, err
		}
		return Speed{Prompt: a.promptSpeed(c), Decode: a.decodeSpeed()}, nil
	}
	reading, err := answers(ctx, eng, c, 1, random)
	if err != nil {
		return Speed{}, err
	}
	for range maxTries {
		writing, err := answers(ctx, eng, c, c.answer(budget), random)
		if err != nil {
			return Speed{}, err
		}
		if decode := writing.decodeSpeed(); decode > 0 {
			return Speed{Prompt: reading.promptSpeed(c), Decode: decode}, nil
		}
	}
	return Speed{}, errors.New("measure: of several sequences some had ended before all wrote; longer answers would tell more")
}

// maxTries is how often answers are asked for where the first sequences have ended before the last began: when another process took the processor just then.
const maxTries = 5

// arrivals are the times at which the tokens of each sequence came.
type arrivals struct {
	asked  time.Time
	tokens [][]time.Time
}

// answers asks for all answers of a case at once, and cuts the others off when the first has ended.
func answers(ctx context.Context, eng Engine, c Case, maxTokens int, random *rand.Rand) (arrivals, error) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	requests := make([]kvasir.Request, c.Batch)
	for i := range requests {
		requests[i] = kvasir.Request{Tokens: RandomTokens(random, c.PromptTokens, eng.Model().VocabSize), MaxTokens: maxTokens, IgnoreEOS: true}
	}
	a := arrivals{tokens: make([][]time.Time, c.Batch)}
	errs := make([]error, c.Batch)
	var begun, ended sync.WaitGroup
	begun.Add(c.Batch)
	a.asked = time.Now()
	for i := range requests {
		ended.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first()
			for tok, err := range eng.Generate(ctx, requests[i]) {
				if err != nil {
					errs[i] = err
					return
				}
				if tok.ID >= 0 {
					a.tokens[i] = append(a.tokens[i], time.Now())
					first()
				}
			}
			begun.Wait() // where answers have one token, all must have it
			enough()
		})
	}
	ended.Wait()
	return a, a.check(errs, maxTokens)
}

// check: some sequence must have its whole answer, and each must have begun.
func (a *arrivals) check(errs []error, maxTokens int) error {
	whole := false
	for _, t := range a.tokens {
		whole = whole || len(t) == maxTokens
	}
	for i, t := range a.tokens {
		if errs[i] != nil && !(whole && errors.Is(errs[i], context.Canceled)) {
			return errs[i]
		}
		if len(t) == 0 || !whole {
			return fmt.Errorf("measure: sequence %d has %d of %d tokens", i, len(t), maxTokens)
		}
	}
	return nil
}

// promptSpeed counts the prompts' tokens until the last sequence has its first token.
func (a *arrivals) promptSpeed(c Case) float64 {
	return float64(c.Batch*c.PromptTokens) / a.allWrite().Sub(a.asked).Seconds()
}

// decodeSpeed counts the tokens that came after all sequences had one, until the first of them ended.
func (a *arrivals) decodeSpeed() float64 {
	begin, end, longest, count := a.allWrite(), time.Time{}, 0, 0
	for _, t := range a.tokens {
		if last := t[len(t)-1]; len(t) > longest || len(t) == longest && last.Before(end) {
			longest, end = len(t), last
		}
	}
	for _, seq := range a.tokens {
		for _, t := range seq {
			if t.After(begin) && !t.After(end) {
				count++
			}
		}
	}
	if !end.After(begin) {
		return 0
	}
	return float64(count) / end.Sub(begin).Seconds()
}

// allWrite is when the last sequence had its first token.
func (a *arrivals) allWrite() time.Time {
	var last time.Time
	for _, t := range a.tokens {
		if t[0].After(last) {
			last = t[0]
		}
	}
	return last
}

// RandomTokens is a prompt of n tokens that nobody has seen.
func RandomTokens(random *rand.Rand, n, vocab int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = random.Int32N(int32(vocab))
	}
	return tokens
}

// StepTime is how long a step takes that decodes one sequence, on average over gen tokens after prompt.
func StepTime(ctx context.Context, eng Engine, prompt []int32, gen int) (time.Duration, error) {
	var first, last time.Time
	tokens := 0
	for tok, err := range eng.Generate(ctx, kvasir.Request{Tokens: prompt, MaxTokens: gen + 1, IgnoreEOS: true}) {
		if err != nil {
			return 0, err
		}
		if tok.ID < 0 {
			continue
		}
		last = time.Now()
		if tokens == 0 {
			first = last
		}
		tokens++
	}
	if tokens != gen+1 {
		return 0, fmt.Errorf("measure: %d tokens, want %d", tokens, gen+1)
	}
	return last.Sub(first) / time.Duration(gen), nil
}

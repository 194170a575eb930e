package measure

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kvasir-engine/kvasir"
)

const (
	readTime  = time.Millisecond      // of a prompt's token
	writeTime = 10 * time.Millisecond // of an answer's
)

// slow reads prompts one after the other and writes answers all together, in exactly known times. It remembers what it was asked.
type slow struct {
	reading chan struct{} // one at a time; not a mutex, which fake time does not pass

	mu    sync.Mutex
	asked []kvasir.Request
	fail  error
}

func newSlow() *slow { return &slow{reading: make(chan struct{}, 1)} }

func (s *slow) Model() kvasir.ModelInfo { return kvasir.ModelInfo{VocabSize: 1 << 30} }

func (s *slow) Generate(ctx context.Context, req kvasir.Request) iter.Seq2[kvasir.Token, error] {
	return func(yield func(kvasir.Token, error) bool) {
		s.reading <- struct{}{}
		s.mu.Lock()
		cached := 0
		for _, r := range s.asked {
			cached = max(cached, common(r.Tokens, req.Tokens))
		}
		s.asked = append(s.asked, req)
		s.mu.Unlock()
		time.Sleep(time.Duration(len(req.Tokens)-cached) * readTime)
		<-s.reading
		if s.fail != nil {
			yield(kvasir.Token{}, s.fail)
			return
		}
		for i := range req.MaxTokens {
			if i > 0 {
				time.Sleep(writeTime)
			}
			if err := ctx.Err(); err != nil {
				yield(kvasir.Token{}, err)
				return
			}
			if !yield(kvasir.Token{ID: 1}, nil) {
				return
			}
		}
		yield(kvasir.Token{ID: -1, Finish: kvasir.FinishLength, Usage: &kvasir.Usage{CachedTokens: cached}}, nil)
	}
}

func common(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestSpeedOfOneSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng := newSlow()
		s, err := Run(t.Context(), eng, Case{PromptTokens: 200, GenTokens: 16, Batch: 1}, 512, random())
		if err != nil || s != (Speed{Prompt: 1000, Decode: 100}) {
			t.Errorf("%+v, %v; want 1000 tokens/s read and 100 written", s, err)
		}
		if len(eng.asked) != 1 || len(eng.asked[0].Tokens) != 200 || eng.asked[0].MaxTokens != 17 || !eng.asked[0].IgnoreEOS {
			t.Errorf("asked %+v", eng.asked)
		}
	})
}

// The answers of sequences that wait for others' prompts count neither for reading nor for writing.
func TestSpeedOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng := newSlow()
		c := Case{PromptTokens: 200, GenTokens: 16, Batch: 4}
		s, err := Run(t.Context(), eng, c, 14, random()) // 10 tokens of prompts beside 4 of answers in the time of one
		// When the first sequence ends the others are cut off, maybe before the token of the same moment.
		if err != nil || s.Prompt != 1000 || s.Decode < 400-3/(16*writeTime).Seconds() || s.Decode > 400 {
			t.Errorf("%+v, %v; want 1000 tokens/s read and 400 written", s, err)
		}
		for i, a := range eng.asked {
			for _, b := range eng.asked[i+1:] {
				if slices.Equal(a.Tokens, b.Tokens) {
					t.Error("two prompts are alike")
				}
			}
		}
		if len(eng.asked) != 8 {
			t.Errorf("%d requests, want 4 that read and 4 that write", len(eng.asked))
		}
	})
}

// A batch has room to write GenTokens together after its last prompt was read, at a budget in which reading takes many steps.
func TestRoomOfACase(t *testing.T) {
	c := Case{PromptTokens: 1000, GenTokens: 64, Batch: 8}
	if got := c.Context(512); got < 1000+64+8*1000/504 {
		t.Errorf("a context of %d tokens", got)
	}
	if got, want := c.Pages(512, 16), 8*((c.Context(512)+15)/16); got != want {
		t.Errorf("%d pages, want %d", got, want)
	}
	if got := (Case{PromptTokens: 100, GenTokens: 10, Batch: 1}).Context(512); got != 111 {
		t.Errorf("a context of %d tokens, want 111", got)
	}
}

func TestAFailureIsTold(t *testing.T) {
	broken := errors.New("broken")
	for _, batch := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			eng := newSlow()
			eng.fail = broken
			if _, err := Run(t.Context(), eng, Case{PromptTokens: 10, GenTokens: 2, Batch: batch}, 512, random()); !errors.Is(err, broken) {
				t.Errorf("batch %d: %v", batch, err)
			}
		})
	}
}

// Answers that have ended before all sequences write tell nothing, which must not look like a speed.
func TestAnswersThatAreTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := Run(t.Context(), newSlow(), Case{PromptTokens: 1000, GenTokens: 1, Batch: 2}, 1<<20, random())
		if err == nil || !strings.Contains(err.Error(), "longer answers") {
			t.Errorf("%v", err)
		}
	})
}

func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := Run(ctx, newSlow(), Case{PromptTokens: 100, GenTokens: 1000, Batch: 2}, 512, random()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

func TestPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng := newSlow()
		f, err := FirstTokensOf(t.Context(), eng, Prefix{PrefixTokens: 500, NewTokens: 20}, random())
		if err != nil || f.Cold != 520*readTime || f.Warm != 20*readTime || f.Cached != 500 {
			t.Errorf("%+v, %v", f, err)
		}
	})
}

func TestStepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got, err := StepTime(t.Context(), newSlow(), []int32{1, 2, 3}, 3); err != nil || got != writeTime {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestReadBandwidth(t *testing.T) {
	got, err := readBandwidth(t.Context(), []int{1, 3}, 3<<20+1)
	if err != nil || len(got) != 2 || slices.Min(got) < 1e7 || slices.Max(got) > 1e14 {
		t.Errorf("%v bytes/s, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readBandwidth(ctx, []int{1}, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestCPU(t *testing.T) {
	if name := CPU(); strings.TrimSpace(name) != name || name == "" {
		t.Errorf("%q", name)
	}
}

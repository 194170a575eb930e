package sched

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// machine is one on which a step takes base, and token more for each prompt token; some steps take longer for reasons of their own.
type machine struct{ base, token int64 }

func (m machine) step(prompt int) int64 { return m.base + m.token*int64(prompt) }

func pacer(target int64) pace {
	return newPace(Config{PageSize: 16, MaxBatchedTokens: 512, TargetStepNanos: target})
}

// On a steady machine the steps of a long prompt, computed while answers grow, soon take no longer than the target, and not much less.
func TestPaceSettlesAtTheTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const target = 50_000
		m := machine{base: rapid.Int64Range(0, 40_000).Draw(t, "base"), token: rapid.Int64Range(1, 600).Draw(t, "token")}
		p := pacer(target)
		if rapid.Bool().Draw(t, "the base is known") {
			p.observe(4, 0, m.step(0))
		}
		if n := rapid.IntRange(0, 512).Draw(t, "alone"); n > 0 {
			p.observe(0, n, m.step(n))
		}
		over := 0
		for range 40 {
			took := m.step(p.bound)
			if took > target && p.bound > p.least {
				over++
			}
			p.observe(4, p.bound, took)
		}
		if over > 8 {
			t.Errorf("%+v: %d of 40 steps over the target", m, over)
		}
		switch took := m.step(p.bound); {
		case took > target && p.bound > p.least:
			t.Errorf("%+v: %d tokens take %d", m, p.bound, took)
		case m.step(p.bound+max(4, p.bound/4)) < target*8/10 && p.bound < p.most:
			t.Errorf("%+v: only %d tokens, which take %d", m, p.bound, took)
		}
	})
}

// Where the machine becomes faster or slower, or more answers grow, the bound follows.
func TestPaceFollows(t *testing.T) {
	const target = 50_000
	p := pacer(target)
	for i, c := range []struct {
		m         machine
		min, most int
	}{
		{machine{10_000, 200}, 130, 200}, {machine{30_000, 200}, 50, 100}, {machine{10_000, 1_000}, 26, 40}, {machine{10_000, 100}, 300, 400}, {machine{60_000, 100}, 16, 16},
		{machine{1_000, 1}, 512, 512},
	} {
		for range 30 {
			p.observe(8, 0, c.m.step(0))
			p.observe(8, p.bound, c.m.step(p.bound))
		}
		if p.bound < c.min || p.bound > c.most {
			t.Errorf("machine %d: %d tokens, want %d to %d", i, p.bound, c.min, c.most)
		}
	}
}

// One slow step costs a few steps, no more.
func TestPaceForgetsAnOutlier(t *testing.T) {
	m, p := machine{10_000, 100}, pacer(50_000)
	for range 30 {
		p.observe(1, p.bound, m.step(p.bound))
	}
	before := p.bound
	p.observe(1, p.bound, 100*m.step(p.bound))
	if p.bound >= before {
		t.Errorf("%d tokens before and %d after a step over the target", before, p.bound)
	}
	for range 12 {
		p.observe(1, p.bound, m.step(p.bound))
	}
	if p.bound < before*3/4 {
		t.Errorf("%d tokens before a slow step, %d twelve steps after", before, p.bound)
	}
}

// Whatever is measured, the bound stays one, and without a target nothing is bounded.
func TestPaceStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pacer(rapid.SampledFrom([]int64{0, 1, 50_000, math.MaxInt64}).Draw(t, "target"))
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			p.observe(rapid.IntRange(0, 512).Draw(t, "answers"), rapid.IntRange(0, 512).Draw(t, "prompt"), rapid.Int64().Draw(t, "nanos"))
			if p.bound < 16 || p.bound > 512 {
				t.Fatalf("%+v", p)
			}
			answers := rapid.IntRange(0, 512).Draw(t, "answers")
			switch b := p.budget(answers); {
			case b > 512, b < answers, (p.target == 0 || answers == 0) && b != 512:
				t.Errorf("a budget of %d with %d answers: %+v", b, answers, p)
			}
		}
	})
}

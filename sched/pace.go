package sched

// pace bounds the prompt tokens of a step in which answers grow, so that the step takes no longer than a target. It learns from how long steps took, and from nothing else: the same
// durations give the same bounds.
//
// A step is taken to cost what it costs without prompt tokens, and the same again for each of these. That is not quite so (a token at the end of a long prompt costs more than one at its
// start), but every step corrects it: one over the target lowers the bound to what would have fit, one well under it raises the bound, by half the way and never more than double.
type pace struct {
	target int64 // nanoseconds; 0: no bound
	least  int
	most   int
	bound  int   // prompt tokens that a step with answers may have now
	base   int64 // what a step without prompt tokens takes, smoothed; 0: not known
}

func newPace(cfg Config) pace {
	return pace{target: cfg.TargetStepNanos, least: min(cfg.PageSize, cfg.MaxBatchedTokens), most: cfg.MaxBatchedTokens, bound: cfg.MaxBatchedTokens}
}

// observe takes note of a step with rows of so many answers and so many prompt tokens.
func (p *pace) observe(answers, prompt int, nanos int64) {
	if p.target == 0 || nanos <= 0 {
		return
	}
	bound := p.bound
	switch aim := p.target - p.target/10; {
	case prompt == 0 && p.base == 0:
		p.base = nanos
	case prompt == 0:
		p.base += (nanos - p.base) / 4
	case answers == 0: // nobody waited for it, but it tells what prompt tokens cost before anybody does
		if prompt >= p.least { // few tell more of the rest of the step
			bound = fit(prompt, nanos-p.base, aim-p.base)
		}
	case nanos > p.target:
		bound = min(bound, fit(prompt, nanos-p.base, aim-p.base))
	case nanos < aim && prompt >= bound:
		bound += max(1, (min(fit(prompt, nanos-p.base, aim-p.base), 2*bound)-bound)/2)
	}
	p.bound = min(max(bound, p.least), p.most)
}

// fit is how many tokens take room if so many take nanos. Where these took no time that can be told, any number fits.
func fit(tokens int, nanos, room int64) int {
	switch {
	case room <= 0:
		return 0
	case nanos <= 0 || room/nanos >= 1<<20:
		return tokens << 20
	}
	return int(float64(tokens) * (float64(room) / float64(nanos)))
}

// budget is how many tokens a step in which so many answers grow may have.
func (p *pace) budget(answers int) int {
	if p.target == 0 || answers == 0 {
		return p.most
	}
	return min(p.most, answers+p.bound)
}

// Package sample chooses the next token from a row of logits.
//
// # Order of work
//
// Logit bias, then repetition, presence and frequency penalties, change the logits of single tokens. Then, where the
// temperature is 0, the first of the largest logits is the answer (on a tie the lowest id). Otherwise each token has the weight
//
//	w = exp((logit - largest logit) / temperature)
//
// and these cuts follow one another, all on the tokens in the order (logit descending, id ascending):
//
//   - top-k keeps the first K tokens;
//   - top-p keeps the shortest beginning whose weight reaches P of the weight of all tokens that top-k left
//     (Holtzman et al. 2020);
//   - min-p keeps the tokens with w >= MinP: the largest weight is 1 (Nguyen et al. 2024).
//
// The draw takes the first token at which the cumulative weight exceeds u times the weight of all kept tokens, in the order above. Where
// no cut is set no order is needed, and the draw runs in the order of ids, in blocks of a fixed size.
//
// # Determinism
//
// u is the first output of Philox4x32-10 (Salmon et al. 2011) keyed by the seed and counted by (position, choice): it depends on
// nothing else. Weights are summed in float64 in the fixed orders above, with an exponential function of our own and without fused
// multiply-add, so the same logits give the same token on every processor. What a [Sampler] remembers is a function of
// its parameters, the prompt and the accepted tokens, so one can be rebuilt anywhere at any time.
//
// # Log-probabilities
//
// They are those of the model: log-softmax of the logits as they came, before bias, penalties and temperature
// (as OpenAI's API and vLLM's default, raw_logprobs, give them).
//
// # What is no number
//
// NaN, -Inf and +Inf are never chosen and weigh nothing. A row without any finite logit has [None] as its result.
package sample

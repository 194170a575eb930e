package load

import (
	"time"

	"github.com/kvasir-engine/kvasir/internal/bench/stats"
)

// Latency is a distribution of times, in seconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func latencyOf(times []time.Duration) (l Latency) {
	if len(times) == 0 {
		return l
	}
	seconds, sum := make([]float64, len(times)), 0.0
	for i, t := range times {
		seconds[i] = t.Seconds()
		sum += seconds[i]
	}
	at := func(p float64) float64 { return stats.Percentile(seconds, p) }
	return Latency{Mean: sum / float64(len(times)), P50: at(50), P90: at(90), P99: at(99), Max: at(100)}
}

// How tokens were counted.
const (
	CountedByUsage  = "usage"  // as the server says
	CountedByChunks = "chunks" // events with text, since the server does not say: some may have several tokens, some tokens have no text
)

// Report is what a run showed. Times and tokens are of the requests that were answered.
type Report struct {
	Requests int            `json:"requests"`
	Answered int            `json:"answered"`
	Errors   map[string]int `json:"errors"`            // by kind
	Example  string         `json:"example,omitempty"` // of an error
	Seconds  float64        `json:"seconds"`           // from the first request to the end of the last

	RequestsPerSecond     float64 `json:"requests_per_second"`
	OutputTokensPerSecond float64 `json:"output_tokens_per_second"`
	PromptTokens          int     `json:"prompt_tokens"` // 0 where the server does not say
	CachedTokens          int     `json:"cached_tokens"`
	OutputTokens          int     `json:"output_tokens"`
	Counted               string  `json:"tokens_counted_by"`

	TTFT Latency `json:"ttft_seconds"` // time to the first token
	ITL  Latency `json:"itl_seconds"`  // between one token and the next, of all gaps in all answers
	TPOT Latency `json:"tpot_seconds"` // time per output token after the first, of each answer
	E2E  Latency `json:"e2e_seconds"`  // to the end of the answer
}

// NewReport sums up answers that together took so long.
func NewReport(answers []Answer, took time.Duration) Report {
	r := Report{Requests: len(answers), Errors: map[string]int{}, Seconds: took.Seconds(), Counted: CountedByUsage}
	var first, gaps, perToken, whole []time.Duration
	for i := range answers {
		a := &answers[i]
		if a.Kind != "" {
			r.Errors[a.Kind]++
			if r.Example == "" && a.Kind != Unsent {
				r.Example = a.Kind + ": " + a.Err.Error()
			}
			continue
		}
		r.Answered++
		if a.CompletionTokens == 0 {
			r.Counted = CountedByChunks
		}
		r.PromptTokens += a.PromptTokens
		r.CachedTokens += a.CachedTokens
		first, whole, gaps = append(first, a.First), append(whole, a.Whole), append(gaps, a.Gaps...)
		if n := a.Tokens(); n > 1 {
			perToken = append(perToken, sum(a.Gaps)/time.Duration(n-1))
		}
	}
	for i := range answers {
		switch a := &answers[i]; {
		case a.Kind != "":
		case r.Counted == CountedByUsage: // one way for all
			r.OutputTokens += a.CompletionTokens
		default:
			r.OutputTokens += a.Chunks
		}
	}
	if took > 0 {
		r.RequestsPerSecond, r.OutputTokensPerSecond = float64(r.Answered)/took.Seconds(), float64(r.OutputTokens)/took.Seconds()
	}
	r.TTFT, r.ITL, r.TPOT, r.E2E = latencyOf(first), latencyOf(gaps), latencyOf(perToken), latencyOf(whole)
	return r
}

func sum(times []time.Duration) (all time.Duration) {
	for _, t := range times {
		all += t
	}
	return all
}

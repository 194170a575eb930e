package kvasir

import (
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// outcomes reads kvasir_request_outcomes_total by outcome.
func outcomes(t *testing.T, e *Engine) map[string]float64 {
	t.Helper()
	all, err := e.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(f *dto.MetricFamily) bool { return f.GetName() == "kvasir_request_outcomes_total" })
	got := map[string]float64{}
	for _, m := range all[i].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "outcome" && m.GetCounter().GetValue() > 0 {
				got[l.GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return got
}

// Stop strings end an answer before their first occurrence, across token borders and for each choice by itself, and count as a stop.
func TestStopStrings(t *testing.T) {
	e := open(t, Config{})
	ask := []Message{{Role: "user", Content: doorCode}}
	for _, c := range []struct {
		stop []string
		want string
	}{
		{nil, "The door code is QX-4821."},
		{[]string{"X-4"}, "The door code is Q"},
		{[]string{"1.", "21"}, "The door code is QX-48"},
		{[]string{"T"}, ""},
		{[]string{"."}, "The door code is QX-4821"},
		{[]string{"QX-4821.and more"}, "The door code is QX-4821."},
		{[]string{"<|im_end|>"}, "The door code is QX-4821."}, // the end of turn is no text
	} {
		texts := make([]string, 3)
		finishes := make([]int, 3)
		for tok, err := range e.Generate(t.Context(), Request{Messages: ask, Stop: c.stop, N: 3}) {
			if err != nil {
				t.Fatal(err)
			}
			texts[tok.Choice] += tok.Text
			if finishes[tok.Choice] > 0 {
				t.Errorf("stop %q: choice %d goes on after its end", c.stop, tok.Choice)
			}
			if tok.Finish != "" {
				finishes[tok.Choice]++
				if tok.Finish != FinishStop || tok.Usage == nil || tok.Usage.CompletionTokens < 1 || tok.Usage.PromptTokens < 10 {
					t.Errorf("stop %q: %+v", c.stop, tok)
				}
			}
		}
		for i := range texts {
			if texts[i] != c.want || finishes[i] != 1 {
				t.Errorf("stop %q, choice %d: %q, want %q", c.stop, i, texts[i], c.want)
			}
		}
	}
	checkHome(t, e)
	if got := outcomes(t, e); len(got) != 1 || got["stop"] != 21 {
		t.Errorf("outcomes %v, want 21 stops", got)
	}
}

// MaxTokens counts tokens, and ends with what was held back.
func TestMaxTokensGivesHeldText(t *testing.T) {
	e := open(t, Config{})
	whole := ""
	for tok, err := range e.Generate(t.Context(), Request{Messages: []Message{{Role: "user", Content: doorCode}}, MaxTokens: 6, Stop: []string{"QX-4821."}}) {
		if err != nil {
			t.Fatal(err)
		}
		if whole += tok.Text; tok.Finish != "" && (tok.Finish != FinishLength || tok.Usage.CompletionTokens != 6) {
			t.Errorf("%+v %+v", tok, tok.Usage)
		}
	}
	if !strings.HasPrefix("The door code is QX-4821.", whole) || whole == "" {
		t.Errorf("got %q", whole)
	}
}

package actors

import (
	"slices"
	"testing"

	"github.com/kvasir-engine/kvasir/sched"
)

// Under a target that no machine can meet, long prompts that come while an answer grows are computed a page a step. Every answer is the one it is without a target.
func TestATargetChangesNoAnswer(t *testing.T) {
	const page = 16
	var want [][]int32
	for i := range 3 {
		want = append(want, alone(t, prompt(i, 30+150*i), 200))
	}
	growing, most := 0, 0 // steps in which prompts and answers grew; prompt tokens in one
	submitted := make(chan struct{})
	l := newLab(t, func(role string, m any) any {
		if m, ok := m.(*run); ok && role == "runner" {
			if m.batch.Step == 3 {
				<-submitted // the first answer has begun, and is not over
			}
			answers, prompt := 0, 0
			for _, it := range m.batch.Items {
				if it.Count == 1 {
					answers++
				} else {
					prompt += it.Count
				}
			}
			if answers > 0 && prompt > 0 {
				growing, most = growing+1, max(most, prompt)
			}
		}
		return m
	}, func(c *Config) { c.Sched.TargetStepNanos, c.PrefixCache = 1, false })
	var streams []*Stream
	for i := range want {
		streams = append(streams, l.submit(prompt(i, 30+150*i), 200))
		if i == 0 {
			if _, _, err := streams[0].Next(t.Context()); err != nil { // its first token: it grows from now on
				t.Fatal(err)
			}
		}
	}
	close(submitted)
	for i, s := range streams {
		got, end, err := l.collect(s)
		if i == 0 {
			got = append(want[0][:1:1], got...)
		}
		if err != nil || end != sched.EndLength || !slices.Equal(got, want[i]) {
			t.Errorf("request %d: %v %v\n got %v\nwant %v", i, end, err, got, want[i])
		}
	}
	l.home()
	if growing < 10 || most > page {
		t.Errorf("%d steps with both answers and prompts, of at most %d prompt tokens; want many, of at most %d", growing, most, page)
	}
}

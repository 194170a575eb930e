package outage

import (
	"testing"
	"time"
)

func TestOutage(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	var o Outage
	if _, was := o.Over(at(0)); was {
		t.Error("over before it began")
	}
	for _, c := range []struct {
		at  int
		why string
		say bool
	}{
		{0, "refused", true}, {1, "refused", false}, {29, "refused", false}, {30, "refused", true}, {31, "refused", false},
		{40, "no route", true}, {41, "no route", false}, {69, "no route", false}, {70, "no route", true},
	} {
		if lasted, say := o.Failed(at(c.at), c.why); say != c.say || lasted != time.Duration(c.at)*time.Second {
			t.Errorf("after %d s, %s: said %v, lasted %v; want %v", c.at, c.why, say, lasted, c.say)
		}
	}
	if lasted, was := o.Over(at(75)); !was || lasted != 75*time.Second {
		t.Errorf("over after %v, %v", lasted, was)
	}
	if _, say := o.Failed(at(76), "no route"); !say {
		t.Error("the beginning of the next one is not said")
	}
}

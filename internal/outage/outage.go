// Package outage decides when to say that something goes on failing: at the beginning, and now and then while it lasts, so that neither log nor reader is worn out by every try.
package outage

import "time"

// Every is how often an outage that lasts is said again.
const Every = 30 * time.Second

// Outage is one thing that may fail again and again. The zero value is one that has not. It is not safe for concurrent use.
type Outage struct {
	since, told time.Time
	why         string
}

// Failed notes a failure at now, why being its text, and reports whether it should be said: the first one, one that is not for the reason said before, and after Every. Lasted is the time since the first.
func (o *Outage) Failed(now time.Time, why string) (lasted time.Duration, say bool) {
	if o.since.IsZero() {
		o.since = now
	}
	if say = o.told.IsZero() || why != o.why || now.Sub(o.told) >= Every; say {
		o.told, o.why = now, why
	}
	return now.Sub(o.since), say
}

// Over notes that it works at now, and reports whether it had failed before, and for how long.
func (o *Outage) Over(now time.Time) (lasted time.Duration, was bool) {
	if o.since.IsZero() {
		return 0, false
	}
	lasted = now.Sub(o.since)
	*o = Outage{}
	return lasted, true
}

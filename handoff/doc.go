// Package handoff holds the rules round an attempt: what a gateway does with a request, and what a node does with its part of it. It is pure: no goroutine, clock, I/O or randomness.
//
// There are two cores, [Gateway] and [Node]. Each has one function, Step, which takes an event and appends effects; a shell (an actor in production, the simulator in tests) translates
// messages to events and performs the effects in their order. Time comes with the events. The pages themselves are [kvpool.Ledger]'s: a node speaks to it in its events and hears its effects,
// and to the scheduler in a few words of this package.
//
// This comment is the specification, with the comments at each event, effect and message.
package handoff

import "fmt"

// nameOf is the name of a small number, also where it has none.
func nameOf(what string, names []string, i int) string {
	if i > 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s %d", what, i)
}

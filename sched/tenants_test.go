package sched

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// obviousTenants is the slow twin of tenants: it scans everybody, and forgets nobody while anybody is there.
type obviousTenants struct {
	counters map[string]int
	waits    []*sequence // in order of arrival
	live     map[string]int
	last     string // the last tenant that ceased to wait
}

func (o *obviousTenants) waiting(tenant string) bool {
	for _, q := range o.waits {
		if q.tenant.name == tenant {
			return true
		}
	}
	return false
}

// floor is the smallest counter of those who wait, or that of the last who did.
func (o *obviousTenants) floor() int {
	if len(o.waits) == 0 {
		return o.counters[o.last]
	}
	least := o.counters[o.waits[0].tenant.name]
	for _, q := range o.waits {
		least = min(least, o.counters[q.tenant.name])
	}
	return least
}

func (o *obviousTenants) wait(q *sequence) {
	if name := q.tenant.name; !o.waiting(name) {
		o.counters[name] = max(o.counters[name], o.floor())
	}
	i := 0
	for i < len(o.waits) && o.waits[i].arrival < q.arrival {
		i++
	}
	o.waits = append(o.waits[:i], append([]*sequence{q}, o.waits[i:]...)...)
}

// next is the earliest of the tenant with the smallest counter; of equal tenants, the earliest.
func (o *obviousTenants) next() (best *sequence) {
	for _, q := range o.waits {
		if best == nil || o.counters[q.tenant.name] < o.counters[best.tenant.name] {
			best = q
		}
	}
	return best
}

func (o *obviousTenants) remove(q *sequence) {
	for i := range o.waits {
		if o.waits[i] == q {
			o.waits = append(o.waits[:i], o.waits[i+1:]...)
			break
		}
	}
	if !o.waiting(q.tenant.name) {
		o.last = q.tenant.name
	}
}

func (o *obviousTenants) leave(name string) {
	o.live[name]--
	for _, n := range o.live {
		if n > 0 {
			return
		}
	}
	clear(o.counters) // all start even
	o.last = ""
}

// TestTenantsTwin compares each turn with that of the twin.
func TestTenantsTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ts := newTenants()
		twin := &obviousTenants{counters: map[string]int{}, live: map[string]int{}}
		var out []*sequence // neither waiting nor ended
		arrivals := uint64(0)
		pick := func() *sequence {
			i := rapid.IntRange(0, len(out)-1).Draw(rt, "which")
			q := out[i]
			out = append(out[:i], out[i+1:]...)
			return q
		}
		rt.Repeat(map[string]func(*rapid.T){
			"ask": func(rt *rapid.T) {
				arrivals++
				name := fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "tenant"))
				q := &sequence{tenant: ts.ask(name), arrival: arrivals}
				twin.live[name]++
				if rapid.Bool().Draw(rt, "gated") {
					q.phase = gated
					out = append(out, q)
					return
				}
				ts.wait(q)
				twin.wait(q)
			},
			"turn": func(rt *rapid.T) {
				q := ts.next()
				if want := twin.next(); q != want {
					rt.Fatalf("next is %+v, obviously it is %+v", q, want)
				}
				if q != nil {
					ts.remove(q)
					twin.remove(q)
					out = append(out, q)
				}
			},
			"cancel waiting": func(rt *rapid.T) {
				if len(twin.waits) > 0 {
					q := twin.waits[rapid.IntRange(0, len(twin.waits)-1).Draw(rt, "which")]
					ts.remove(q)
					twin.remove(q)
					ts.leave(q.tenant)
					twin.leave(q.tenant.name)
				}
			},
			"wait again": func(rt *rapid.T) {
				if len(out) > 0 {
					q := pick()
					q.phase = waiting
					ts.wait(q)
					twin.wait(q)
				}
			},
			"charge": func(rt *rapid.T) {
				if len(out) > 0 && out[0].phase != gated { // what is charged has waited before
					q, tokens := out[0], rapid.IntRange(0, 9).Draw(rt, "tokens")
					ts.charge(q.tenant, tokens)
					twin.counters[q.tenant.name] += tokens
				}
			},
			"end": func(rt *rapid.T) {
				if len(out) > 0 {
					q := pick()
					ts.leave(q.tenant)
					twin.leave(q.tenant.name)
				}
			},
			"": func(rt *rapid.T) {
				if err := ts.check(); err != nil {
					rt.Fatal(err)
				}
				for name := range twin.live {
					if t := ts.byName[name]; t != nil && t.live != twin.live[name] {
						rt.Fatalf("tenant %s has %d live, not %d", name, t.live, twin.live[name])
					}
				}
			},
		})
	})
}

// TestFairShares: two tenants that always have something waiting get the same weighted tokens, whatever the size of their requests.
func TestFairShares(t *testing.T) {
	w, err := newWorld(Config{PageSize: 4, TotalPages: 64, MaxModelLen: 64, MaxNumSeqs: 4, MaxBatchedTokens: 32, MaxQueue: 200})
	if err != nil {
		t.Fatal(err)
	}
	id := 0
	ask := func(tenant string, prompt, answer int) {
		id++
		w.submit(testAsk(id, tenant, prompt, answer), id)
	}
	for range 100 {
		ask("many words", 40, 8)
		ask("few words", 5, 4)
	}
	served := func(tenant string) (tokens int) {
		for _, c := range w.seqs {
			if c.ask.Tenant == tenant && len(c.tokens) > 0 {
				tokens += promptWeight*c.ask.PromptLen + answerWeight*len(c.tokens)
			}
		}
		return tokens
	}
	for range 150 {
		w.deliver()
		w.done(func(Item) Result { return Result{Token: 1} })
	}
	few, many := served("few words"), served("many words")
	// One request of each running sequence may be more than the other's: 4 * (40 + 2*8).
	if few < 500 || many < 500 || max(few, many)-min(few, many) > 4*(40+2*8) {
		t.Errorf("few words got %d, many words %d", few, many)
	}
	if err := w.err(); err != nil {
		t.Fatal(err)
	}
}

package kvpooltest

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// unmoved gives a ledger events that name nothing alive, and reports the first that it does not leave it as it was (I6).
func unmoved(cfg kvpool.Config, l *kvpool.Ledger) error {
	was, c := l.AppendState(nil), l.Clone()
	for _, ev := range staleEvents(cfg, l) {
		if fx := c.Step(ev, nil); len(fx) > 0 || string(c.AppendState(nil)) != string(was) {
			return fmt.Errorf("I6: %v of what is not alive has %d effects, or moves something: %+v", ev.Kind, len(fx), ev)
		}
	}
	return nil
}

func staleEvents(cfg kvpool.Config, l *kvpool.Ledger) []kvpool.Event {
	events := []kvpool.Event{
		{Kind: kvpool.EvVerified, Job: 1 << 40}, {Kind: kvpool.EvRead, Job: 1 << 40}, {Kind: kvpool.EvRelease, Seq: 1 << 40},
		{Kind: kvpool.EvLost, Link: kvpool.Link{Peer: 99, Incarnation: 99, Epoch: 1}}, {Kind: kvpool.EvFenced, Link: kvpool.Link{Peer: 99, Incarnation: 99, Epoch: 1}},
	}
	for i := range cfg.Pages {
		_, g := l.Page(page.Index(i))
		now := page.Ref{Node: cfg.Node, Incarnation: cfg.Incarnation, Page: page.Index(i), Generation: g}
		for _, change := range []func(r *page.Ref){
			func(r *page.Ref) { r.Generation-- }, func(r *page.Ref) { r.Generation++ }, func(r *page.Ref) { r.Incarnation-- }, func(r *page.Ref) { r.Node += 9 },
			func(r *page.Ref) { r.Page += page.Index(cfg.Pages) },
		} {
			r := now
			if change(&r); r.Generation > g+1 {
				continue // the page has had no life
			}
			for seq := page.Seq(10); seq < 13; seq++ {
				events = append(events,
					kvpool.Event{Kind: kvpool.EvSpend, Spends: []page.Spend{{Ref: r, Seq: seq}}},
					kvpool.Event{Kind: kvpool.EvSeal, Seals: []kvpool.Seal{{Ref: r, Seq: seq, Domain: 1, Checksum: 1}}},
					kvpool.Event{Kind: kvpool.EvBadPage, Ref: r, Seq: seq},
				)
			}
			events = append(events, kvpool.Event{Kind: kvpool.EvReturn, Refs: []page.Ref{r}}, kvpool.Event{Kind: kvpool.EvScrubbed, Ref: r})
		}
	}
	return events
}

package kvpooltest

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// unmoved gives a ledger events that name nothing alive, and reports the first that has an effect, or that they do not leave it as it was (I6).
func unmoved(cfg kvpool.Config, l *kvpool.Ledger) error {
	c := l.Clone()
	for _, ev := range staleEvents(cfg, l) {
		if fx := c.Step(ev, nil); len(fx) > 0 {
			return fmt.Errorf("I6: %v of what is not alive has %d effects: %+v", ev.Kind, len(fx), ev)
		}
	}
	if string(c.AppendState(nil)) != string(l.AppendState(nil)) {
		return fmt.Errorf("I6: events of what is not alive move something")
	}
	return nil
}

// staleEvents have, for each page, references to another node, another life of this one, other lives of the page, and a page that is not there.
func staleEvents(cfg kvpool.Config, l *kvpool.Ledger) []kvpool.Event {
	nobody := kvpool.Link{Peer: 99, Incarnation: 99, Epoch: 1}
	events := []kvpool.Event{
		{Kind: kvpool.EvVerified, Job: 1 << 40}, {Kind: kvpool.EvRead, Job: 1 << 40}, {Kind: kvpool.EvRelease, Seq: 1 << 40}, {Kind: kvpool.EvLost, Link: nobody}, {Kind: kvpool.EvFenced, Link: nobody},
	}
	var refs []page.Ref
	for i := range cfg.Pages {
		_, g := l.Page(page.Index(i))
		r := page.Ref{Node: cfg.Node, Incarnation: cfg.Incarnation, Page: page.Index(i), Generation: g}
		other, before, beyond, next := r, r, r, r
		other.Node += 9
		before.Incarnation--
		beyond.Page += page.Index(cfg.Pages)
		next.Generation++
		refs = append(refs, other, before, beyond, next)
		if g > 0 { // it has had a life
			r.Generation--
			refs = append(refs, r)
		}
	}
	spend, seal := kvpool.Event{Kind: kvpool.EvSpend}, kvpool.Event{Kind: kvpool.EvSeal}
	for _, r := range refs {
		for seq := page.Seq(10); seq < 13; seq++ {
			spend.Spends = append(spend.Spends, page.Spend{Ref: r, Seq: seq})
			seal.Seals = append(seal.Seals, kvpool.Seal{Ref: r, Seq: seq, Domain: 1, Checksum: 1})
			events = append(events, kvpool.Event{Kind: kvpool.EvBadPage, Ref: r, Seq: seq})
		}
		events = append(events, kvpool.Event{Kind: kvpool.EvScrubbed, Ref: r})
	}
	return append(events, spend, seal, kvpool.Event{Kind: kvpool.EvReturn, Refs: refs})
}

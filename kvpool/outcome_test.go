package kvpool

// outcomes holds each end of an attempt against what was done to it: the status is the right one for the event that brought it.
func (n *node) outcomes(ev *Event, fx []Effect, before Counts) {
	n.w.t.Helper()
	mismatch := false
	for i := range fx {
		x := &fx[i]
		ok := true
		switch x.Kind {
		case FxImportEnded:
			ok = n.importMayEnd(ev, x, before)
			mismatch = mismatch || x.Status == Mismatch
		case FxExported:
			m := &ev.Message
			switch x.Status {
			case Lost:
				ok = ev.Kind == EvFenced || ev.Kind == EvConnected
			default:
				ok = ev.Kind == EvMessage && m.Kind == MsgRelease && m.Attempt == x.Attempt && m.Status == x.Status && m.From != n.inc
			}
		case FxRefused:
			_, up := n.up(int(ev.Link.Peer) - 1)
			switch x.Status {
			case Refused: // by this node, or before by either, in its numbers
				ok = x.Max < x.Have
			case Lost:
				ok = !up || n.ledger.upLink(ev.Link) == none
			}
		}
		if !ok {
			n.w.t.Fatalf("node %d: after %v %v ends with the wrong status: %+v (before: %+v)", n.id, ev.Kind, x.Attempt, *x, before)
		}
	}
	if n.wrong(ev) && !mismatch {
		n.w.t.Fatalf("node %d: a read that failed, or brought other bytes, did not end %v", n.id, n.landing.fx.Attempt)
	}
}

// wrong: the event says that a read for an import that goes on has failed, or has brought other bytes than were offered.
func (n *node) wrong(ev *Event) bool {
	if ev.Kind != EvRead || n.landing == nil {
		return false
	}
	_, goesOn := n.imports[n.landing.fx.Attempt]
	return goesOn && (ev.Failed || ev.Checksum != n.landing.fx.Checksum)
}

func (n *node) importMayEnd(ev *Event, x *Effect, before Counts) bool {
	m, try := &ev.Message, n.w.byName[x.Attempt]
	switch x.Status {
	case Lost:
		return ev.Kind == EvLost || ev.Kind == EvFenced || ev.Kind == EvConnected
	case Cancelled:
		return ev.Kind == EvCancel && ev.Attempt == x.Attempt || ev.Kind == EvMessage && m.Kind == MsgRevoke && m.Attempt == x.Attempt
	case Mismatch: // nobody lies here, so it is always a read; the offer says which page it was for
		return n.wrong(ev) && n.landing.fx.Attempt == x.Attempt && n.landing.fx.Checksum == sum(content(try.chain(x.Page+1)))
	case Refused:
		offer := ev.Kind == EvMessage && m.Kind == MsgOffer && m.Attempt == x.Attempt
		found := ev.Kind == EvVerified || ev.Kind == EvBadPage // its own pages are bad, and there is no room to read them
		return (offer || found) && x.Max < x.Have && x.Have <= try.pages()+1 && (found || before.Free < x.Have)
	}
	return false
}

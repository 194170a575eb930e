package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// Sealed is what page i must hold while it is Resident: the bytes and header that its readers count on. Preconditions: the pool has it.
func (l *Ledger) Sealed(i page.Index) (c Check, ok bool) {
	s := &l.pages[i]
	if s.state != Resident {
		return Check{}, false
	}
	return Check{Ref: l.ref(i), Domain: s.domain, Chain: s.chain, Checksum: s.checksum}, true
}

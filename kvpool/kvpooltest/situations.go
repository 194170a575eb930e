package kvpooltest

import "sync/atomic"

// situation is something interesting that a world should get into: a search that found nothing wrong has shown nothing if it never did.
type situation int

const (
	started situation = iota
	cancelWhileReading
	lostWhileReading
	cancelFirst
	revokeUnknown
	offerFirst
	refusedForRoom
	refusedAtPrefill
	mismatch
	tornRead
	staleBytes
	twoExports
	sharedExport
	quarantinedThenHome
	releaseLost
	exportFenced
	exportRestarted
	restartStale
	readOfDeadPeer
	oldLinkMessage
	folded
	reusedAtDecode
	reusedAtPrefill
	bothRoles
	servedRefused
	idleEvicted
	prefixHit
	releasedWhileChecked
	badInCheck
	distrusted
	duplicate
	lastSituation
)

func (s situation) String() string {
	return [lastSituation]string{
		"started", "cancel while a read is out", "link lost while a read is out", "cancel before Submit", "revoke of an unknown attempt", "offer before expect", "refused for room",
		"refused at the prefill node", "mismatch", "torn read", "read of a reused page", "two exports open", "two exports of one page", "page quarantined, then home", "Release repeated",
		"export ended by a fence", "export ended by a restart", "message from before a restart", "read from a peer that crashed", "message of an older connection", "tombstone folded",
		"page reused at the decode node", "page reused at the prefill node", "both roles at one node", "serving refused", "idle page evicted", "prefix hit",
		"released while its match is checked", "bad page met by a check", "page distrusted", "duplicate page sealed",
	}[s]
}

type situations struct{ reached [lastSituation]atomic.Bool }

func newSituations() *situations { return &situations{} }

func (x *situations) note(s situation, is bool) {
	if is && !x.reached[s].Load() {
		x.reached[s].Store(true)
	}
}

func (x *situations) noteAll(all []situation) {
	for _, s := range all {
		x.note(s, true)
	}
}

func (x *situations) all() map[string]bool {
	m := map[string]bool{}
	for i := range x.reached {
		if x.reached[i].Load() {
			m[situation(i).String()] = true
		}
	}
	return m
}

// Package kvpool decides who owns which KV page. It is the heart of the engine and has no other organ: no goroutine, lock, clock, I/O or
// randomness. One type, [Ledger], holds the state of every page of a node; one function, [Ledger.Step], changes it. A step takes an [Event], that something
// has happened, and appends [Effect] values, what must be done now. An actor feeds it and performs the effects; tests feed it and look.
//
// This comment is the specification. Code and tests cite the invariants below by number.
//
// # Names
//
// A page is a fixed run of token slots: a place in the slab ([page.Index]). A [page.Ref] names one life of a page, {node, incarnation, page, generation}: the
// generation grows each time the page leaves Free, and the incarnation is new each time the process starts. So a reference that was kept too long, or repeated, or that
// comes from before a restart, names nothing that is alive. An event acts on a page only if its reference names the page's present life, the
// page is in a state in which that event can happen, and the sequence it names owns the page. Otherwise it changes nothing and is
// counted by kind and reason ([Stats]). One event may carry many references; each is judged alone.
//
// # The life of a page
//
//	                  EvReturn
//	         +-----------------------+
//	         v                       |
//	 +--> Free ----EvAllot----> Allotted
//	 |    ^  ^                       | EvSpend
//	 |    |  |                       v
//	 |    |  +-----EvRelease---- Filling ------EvBadPage----+
//	 |    |                          | EvSeal               |
//	 |    |  last owner gone,        v                      v
//	 |    +--or evicted--------- Resident --bad bytes--> Quarantined
//	 |                                                      |
//	 +-------------last owner gone, and EvScrubbed----------+
//
//	Coming with the hand-off between nodes:  Free -> Importing -> Resident | Filling | Quarantined
//
// Free: nobody's. Its bytes are of no meaning.
//
// Allotted: the scheduler's. It gets pages in bulk, so that the two need not talk for each token, and may spend them or return them. Nothing has been written.
//
// Filling: one sequence writes it, and nobody else owns it. The scheduler says in one EvSpend a step which pages that step begins.
//
// Resident: sealed, never written again, owned by its readers. Each reader has a name ([Owner]): the sequences that have it in their
// tables; a check of bytes that is running; the prefix index. The writer becomes the first reader. (Exports to other nodes will be readers of one more kind.)
// A page without a reader goes to Free.
//
// Quarantined: it did not hold what it must, or it waits for its bytes to be zeroed. Nobody can gain it. Who owned it keeps it until he lets go: the step that
// reads it may be running. When the last has let go FxScrub is sent, and EvScrubbed takes it to Free. Under [Config.Scrub] every page that was written goes this
// way home, also where nothing was wrong with it.
//
// A release ends everything that a sequence owns, in whatever state, and may be repeated.
//
// # The chain hash and the prefix index
//
// The chain hash of a page ([Chain]) stands for all tokens from the start of the sequence to the page's end, together with the cluster
// key, the cache domain (the tenant) and the layout hash (model, weights, KV type, page size). Keys and values depend on nothing else, so two
// pages with one chain hash hold the same bytes; and a page of another tenant never has that hash.
//
// The index knows at most one Resident page for a domain and chain hash, and only full ones. Two sequences that compute the same prefix at the same time both seal a page of it: the
// second is a duplicate, which is not entered and ends with its sequence.
//
// EvMatch walks the hashes of a prompt's pages from the first and stops where the index knows none. The sequence becomes a reader of the
// pages found, and so does a check of its own name, since the sequence may end before the check does. FxVerify asks for the bytes and headers to be compared; EvVerified
// brings the verdict. The pages before the first bad one are the sequence's (FxMatched); at and behind it it lets go. A sequence that has been released or
// told to fail meanwhile hears nothing more.
//
// An indexed page that no sequence reads is idle. Idle pages are evicted for want of Free ones, least recently used first. A sequence lets go of its last
// page first, so of a chain the deepest page goes first, and what is left of the chain can still be matched. A duplicate's end counts as a use of the page
// that it repeats, for the same reason. A page that a check pins is not evicted. EvPatrol has idle pages checked in turn, so that bytes which went bad are found though
// nobody asks for them; it does not count as a use.
//
// # Bad pages
//
// A page is bad if its header or its bytes are not what they must be: EvVerified says so of pages about to gain a reader or on patrol, EvBadPage of a page
// in a running sequence's table. It leaves the index and is Quarantined, and every sequence that owns it is told once to end with an error (FxFailed). Two
// need not be told: the one that reported it, and the one whose own match was being checked, which gets a shorter match and never reads the page.
//
// What was computed from bad bytes has a checksum that fits, so no later check would find it. Therefore a sequence that has read a bad page enters nothing into
// the index any more, and when a sealed page turns out bad, every page of its domain that was sealed since the bad one was last found good leaves the index.
//
// # Invariants
//
//   - I1 every page is Free, or every owner it has is known to the ledger and knows it
//   - I2 a page that can be written has no reader; a page that can be read has no writer
//   - I3 only this node's own sequences, own reads and own copy jobs write its pages
//   - I4 every read in flight lands in an Importing or Quarantined page of the same attempt and generation
//   - I5 a sequence reads only bytes made for it, or for the identical prefix in its own cache domain
//   - I6 (Incarnation, Page, Generation) never repeats; an event that does not match changes nothing
//   - I7 Release means no read outstanding and none to come, from that incarnation and connection, for that attempt
//   - I8 an exported page is freed only by Release, a completed fence or proof of a restart; an Importing page only by its read's completion or a completed
//     fence; Quarantined only by one of these
//   - I9 a sequence starts at a decode node at most once per attempt, and only with every page of the seal accepted
//   - I10 pages reserved, allotted and owned never exceed the pool
//   - I11 from every reachable state all pages can return to Free
//   - I12 every request has exactly one terminal outcome; a rejected one has no message after it
//
// On one node I1, I2 and I10 hold by [Ledger.Check], as does of I5 that the index finds the page that was entered, of I6 that nothing lives without a generation, and of I11
// that no page is lost to all lists. That generations never repeat, that stale events change nothing, and that all pages come home is shown by the package's tests, which compare
// every step with an obvious model. I3 holds as far as EvSpend and EvSeal name one writer. I4, I7, I8 and I9 speak of the hand-off and come with it; I12 is the scheduler's.
//
// # Cost
//
// Step costs time in proportion to the pages an event names, frees or evicts and (where an owner of one page is looked for) that page's owners, never to the pool; the one
// exception is a bad page. It allocates only while the number of owners in use at a time grows.
package kvpool

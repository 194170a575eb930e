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
//	By the hand-off between nodes:  Free --first Offer--> Importing --FxStart--> Resident | Filling, or --the attempt ends--> Free | Quarantined
//	By a copy that is kept:         Free --EvRestore--> Restoring --EvRestored--> Resident | Quarantined
//
// Free: nobody's. Its bytes are of no meaning.
//
// Allotted: the scheduler's. It gets pages in bulk, so that the two need not talk for each token, and may spend them or return them. Nothing has been written.
//
// Filling: one sequence writes it, and nobody else owns it. The scheduler says in one EvSpend a step which pages that step begins.
//
// Resident: sealed, never written again, owned by its readers. Each reader has a name ([Owner]): the sequences that have it in their
// tables; a check of bytes, or a copy to outside the pool, that is running; the prefix index; exports, each for one attempt of another node. The writer becomes the first reader. A
// page without a reader goes to Free.
//
// Importing: an import's, which holds it for one place of its prompt. This node's own read writes it, and owns it too, by the number of its job, until it is known to be over.
//
// Restoring: a copy job's, which writes it from a copy that was kept outside the pool, and owns it until it is known to be over. The sequence that asked for it holds it meanwhile, to
// read it afterwards.
//
// Quarantined: it did not hold what it must, or it waits for its bytes to be zeroed. Nobody can gain it. Who owned it keeps it until he lets go: the step that
// reads it may be running. When the last has let go FxScrub is sent, and EvScrubbed takes it to Free. Under [Config.Scrub] every page that was written goes this
// way home, also where nothing was wrong with it.
//
// A release ends everything that a sequence owns, in whatever state, and may be repeated. It revokes what the sequence was to export and has not offered to its end.
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
// # Cache groups
//
// A cache group ([Group]) is the set of a model's layers whose keys live equally long: one for most models, two where some layers see a window only. A page holds the keys of one group's layers,
// so each group has a range of the slab for its own, with lists of Free and idle pages for its own; a reference says by its page's number which group it is of. A sequence has pages in each, and fills,
// seals and reads them by the same events; EvAllot, EvPatrol and EvRestore say for which group.
//
// Of a group with a window a sequence lets go of what has slid out of it (EvSlide), which then goes home, or stays idle in the index, while the sequence runs.
//
// A prompt is matched as a whole: FxMatched gives the longest prefix of which every group has what it needs, which is all pages, or the last Window of them. If one of these is found bad there is no match at
// all: a shorter prefix needs other pages of a windowed group.
//
// A sequence that has let go of a page may have read it when it was bad already. So when a page turns out bad, every sequence that has slid a page of its domain since it was last found good is told to
// end, as one that still holds it. To be known it keeps one page at least.
//
// The hand-off takes models of one group without a window: with others [New] refuses a PageSize, and so nothing can be reserved or expected.
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
// # Copies outside the pool
//
// Cached pages may be copied to the host's memory or to a disk, where they outlive their eviction, and be brought back. Who keeps the copies, where, and which, is no matter of the
// ledger's; that they are copies of what they should be is. A copy job is an owner like any other. (Preempted pages were freed while a copy still read them, and what was then written into
// them was stored under their hashes.)
//
//	EvCopyOut --FxCopyOut--> the copy runs; its pages are pinned --EvCopied--> FxCopied: these may be kept
//	EvRestore --FxRestore--> the copy runs; its pages are Restoring --EvRestored--> good: Resident, the sequence's (FxRestored); else Quarantined
//
// Only what the prefix index has is copied, and kept only if the index still has it when the copy is over: no tier keeps what the index would not. Where a page repeats an indexed
// one, that one is copied.
//
// The end of a copy is that nothing reads, or writes, for it any more; an error, a timeout or a cancel is not that. Until then its pages are neither freed nor given to anybody, whatever
// becomes of the sequence: a release leaves them to the job.
//
// A page that is brought back is verified against what its sequence asked for: domain, chain hash and checksum, and the life of the page that was to be written. (A foreign
// conversation was restored; a tenant was a tenant in one tier and not in the next.) A page found good enters the index, though its sequence has ended or the page before it was bad; the
// sequence gets the pages before the first bad one. Every other page is Quarantined, and scrubbed.
//
// When a sealed page turns out bad, copies of its domain may have been computed from it, with checksums that fit. FxDistrust says so, if there are copies; a restore in flight is not
// taken, and neither is one whose asker has not heard of it yet.
//
// # The hand-off
//
// A prompt may be computed at one node, the prefill node P, and answered at another, the decode node D. D pulls: P offers sealed pages, D reads their bytes into pages of its own.
// No node ever writes into another's memory, so whoever may still write a page is always the node that owns it. One ledger plays both parts, P of some attempts and D of others.
//
// An [Attempt] is one try of one request over one pair of nodes; a new try has a new one. A [Link] is one connection of two lives of two nodes; a peer that connects anew is a new link, and
// attempts die with theirs. The gateway tells both nodes of an attempt (EvReserve, EvExpect, EvCancel); they tell each other:
//
//	message   from  says                                                     is answered by
//	Offer     P     these pages, of so many, may be read; the last group     reads, in the end Release; by Release if the attempt is closed; by nothing
//	                has the seal: groups, tokens, first token                before EvExpect
//	Revoke    P     read nothing more of this attempt                        Release, when the last read is over; at once if the attempt is closed or unknown
//	Release   D     no read of this attempt is out, and none will ever be    nothing; P lets go of its pages
//
// A message may be lost, come twice, late, or in any order. EvTick has P repeat what has had no answer; D answers again whatever it is asked again. Arrival is never assumed.
//
// Of an attempt at P (the pages it has offered have one reader more, an export):
//
//	EvReserve -> open --EvOffer (groups 0, 1, ...; the last has the seal)--> open
//	             open --EvRevoke, EvCancel, a bad page, the end of a sequence that has not offered the seal--> revoked
//	             open, revoked --Release, EvFenced, proof that D restarted--> ended: FxExported
//
// Of an attempt at D:
//
//	EvExpect -> expecting --first offer: pages for all of the prompt that is not here--> reading --all accepted, and sealed--> started: FxStart, Release
//	            expecting, reading --EvCancel, Revoke, mismatch, refused, EvLost--> draining: FxImportEnded
//	            draining --no read is out--> ended: Release
//
// # The rules, and what harm is done without each
//
//   - Only what EvReserve created can be offered, and admission makes it. (A rejected prompt was handed off like any other, and answered from other people's pages.)
//   - D acts on an offer only after EvExpect, and holds it against the chain hashes that the gateway's tokens have: not P but the gateway says what the prompt is. Before that it stores nothing.
//     (One tenant's pages for another's prompt.)
//   - The first offer, whichever group it is, makes D reserve the whole prompt and room for the answer, or refuse. (Two nodes that wait for each other's pages wait for ever.) P bounds what
//     it promises. (A slow D pins P's pages.)
//   - A page is accepted when the read is over and the bytes that landed have the offer's checksum; a failed read has none. (Absence taken for a pass: garbage with status 200.)
//   - What D has of the prompt's beginning in its own index counts as accepted and is not read: the first offer makes the import its reader, and it is verified as for a match. From the first
//     bad page on, then or later, D reads instead, or refuses if there is no room left. It starts no sooner for it: P must offer every place, and its seal covers them all.
//   - A sequence starts when groups 0, 1, ... have covered each place once and the seal says just these. (A prompt with a hole.)
//   - An Importing page goes home when its read is over or fenced, never because the attempt is. (The late read lands in a page that is another's by then.) EvRead means that nothing more will
//     land: an error or a timeout of a transport is not that.
//   - D releases when no read is out. (P reuses a page that is being read; the checksum turns that into a failed attempt, so that tests of answers do not see it.)
//   - P lets go on Release from that life over that link, on the completed fence of that link, or on the proof that the life has ended; never on a timer, a suspicion, or its own revoke. (As before.)
//   - EvLost frees nothing, and the link says nothing more: messages that still come over it are not heard. EvFenced ends what is left. A new epoch makes the link before it lost.
//   - The first verdict on an attempt counts, and is told once: FxExported at P; FxStart or FxImportEnded at D. (Two ends of one request.)
//   - An export that holds a page which turns out bad, or whose sequence has read one, is revoked, and offers nothing more. (What was computed from bad bytes has a checksum that fits.) After a mismatch
//     P takes the page out of its index and checks it.
//
// # Closed attempts
//
// Each node remembers attempts that have ended, or were cancelled or revoked before it knew them, by a tombstone: EvReserve and EvExpect of such an attempt are refused, and D answers its offers
// and revokes with the same Release. The answer is true over any link between the two lives, since a closed attempt has no read out anywhere.
//
// A tombstone outlives its link: the gateway's word may be repeated after a fence, over the next link, and would start the attempt a second time (I9). It goes for one of two reasons, neither a
// timer. The first: a new life of P has said hello. An attempt names P's life, nothing is expected without a link to that life that is up, and there will be none. The second: there are more than
// [Config.MaxTombstones]. Then the oldest is folded into the watermark of its gateway and life of P: every attempt numbered at or below it that is not alive here is closed, as Cancelled. This is
// safe because it says more than what it replaces. Whatever was closed stays closed; what else it closes was never begun here, has no page and no read, and will be refused by both its nodes in the end: D's
// refusal is P's Release. What is lost is the verdict (a start is told again as Cancelled, to a P that only wants its pages back), and maybe an attempt that is so late that as many others have ended
// since; its request is tried anew under a new name. An attempt that is alive below the watermark goes on. Watermarks are kept apart by P's life, so that a P which speaks of attempts that do not exist
// closes its own alone; if they become too many for one life, one watermark for all its gateways takes the place of further ones.
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
// [Ledger.Check] shows of one ledger, at any moment: I1, I2, I10; of I4 that a read is known to the page it lands in, which is Importing or Quarantined and held by that read's own import for the same
// place; of I5 that the index finds the page that was entered, and that what an import takes for this node's own page has its place's domain and chain; of I6 that nothing lives without a generation; of I7 that an import counts its reads and ends with the last; of I8 that
// exported pages are Resident or Quarantined, with an export that is alive and a link that is not proved dead, and that an ended import keeps those pages alone into which reads may land; of I9 that nothing closed by name is
// alive, and nothing complete has not started; of I11 that no page is lost to all lists.
//
// What takes more than one node, or the bytes, is shown by the package's tests, which play several nodes and the network between them and know what every page really holds: I4 and I8 when each half of a
// read is sampled and lands, I5 and I9 at each start, I7 at each Release and each read, I11 when the faults have ended. I3 holds as far as EvSpend, EvSeal, FxRead and FxRestore name one
// writer, and Check shows that a page being restored has that job for its one writer. I12 is the scheduler's,
// who is told exactly one end of each attempt.
//
// What the world must keep: hellos of one peer in their order; EvFenced only when serving that peer has ended and none of this node's reads from it can land; EvRead and EvRestored only when nothing more will land, EvCopied
// only when nothing is read any more; page headers of imported pages stamped by the shell at FxStart, before the sequence runs, and those of restored pages before EvRestored; copies dropped when FxCopied
// does not name them or FxDistrust names their domain; the connection closed as part of a fence, so that the other side hears of it; a new life with fresh memory;
// two lives of one node never at the same time (a hello of a new life is taken as proof that the old one reads no more, so whoever starts a process at an old address must know that the
// old process is gone, or have fenced it); the gateway told of every FxRefused, FxImportEnded and FxExported that is not Done, so that it cancels at the other side; a Submit and a Cancel acted on over the link
// that they name, never over whatever link is up when they come; and some deadline at which a node that hears no more of an attempt revokes (P) or cancels (D) it, since the gateway may be gone.
//
// # Cost
//
// Step costs time in proportion to the pages an event names, frees or evicts and (where an owner of one page is looked for) that page's owners, never to the pool; the
// exceptions are a bad page, and the loss or fence of a link, which looks at every attempt. A match over a window looks at each page of the prompt once a group and once more for each time that the groups
// disagree. A tick repeats every offer without an answer: how often is the shell's. Step allocates only while the number of owners, attempts or tombstones in use at a time grows.
//
// What grows with the pool nevertheless is how often the processor has to wait for memory: a page costs its slot, which lies next to its neighbour's as long as pages come and go in runs, and a place in the
// prefix index, which lies anywhere, when it is entered, looked for or evicted.
package kvpool

// Package kvpooltest searches small worlds of nodes exhaustively: every order in which messages, reads, crashes, suspicions, fences, cancels and unrelated sequences can come. It drives
// the real [kvpool.Ledger.Step]; nothing of the protocol is written down here a second time.
//
// # What a world does
//
// The network is a set of messages that only grows, so that each may arrive never, late, twice, and in any order, over its own connection or another between the same nodes. A
// read takes the two halves of a page at moments of their own, before or after the page is reused, and lands or fails at any later time, whatever the ledger thinks of the page by then.
// A crash is amnesia: a new incarnation, new memory. The ends of a connection learn of it, suspect it and fence it each for itself. The gateway submits, hears, and cancels, and
// its words arrive in any order and again. Sequences that have nothing to do with a hand-off take pages and fill them with bytes of their own.
//
// # What is checked
//
// Of every ledger reached: [kvpool.Ledger.Check], that generations never come back, and that events which name what is not alive change nothing (I1, I2, I6, I10). Of every state of a world,
// with what no node can know: that each read in flight lands in a page that is still its own (I4) and, while the other side could be read, finds the page that was offered (I8); that
// no read is out after a Release (I7); that pages hold what their sequences think, all of them, whenever a sequence runs (I3, I5, I9); that what begins ends once (I12). Of a world as
// a whole: that from every state all pages can come home, and everyone who asked is told (I11), by going back from the states where that is so.
//
// # What is merged
//
// States that differ in the numbers of pages, or in the names of attempts of equal requests, are one: of all namings and numberings a state stands for its likes under which the encodings of its ledgers, and then
// its own, are least. Numbers of jobs are no part of a state. A ledger is stepped once for each event, since the states of a world share few ledgers; that makes the real Step cheap enough.
//
// What is merged must go on alike. Bounds.Compare holds merged states, and ledgers of one encoding, against each other.
//
// # What is found
//
// The nearest broken state, as a script in the language of kvpool/testdata ([World.Script]): put it there, run `go test -rewrite`, and it stays as a test. [Mutants] shows that the search
// finds what it should.
package kvpooltest

// Package shm reads pages of other nodes of the same machine from shared memory: the reading side maps the other's slab, read-only, and copies page by page.
//
// The slab must be allocated by [NewSlab]. It is a memory file, sealed so that whoever gets it can neither write it nor make it shorter. The exposing side hands it over a unix socket to a peer
// that has proved which link it is. It sees no reads and can refuse none: a peer that maps the slab can read all of it, whatever [transport.Exports] says. So shm is for nodes of one operator; the
// reader's own checks are what keeps it to the pages that it was offered.
//
// What a fence is. A mapping cannot be taken back. At the exposing side: the peer was asked to unmap and has said that it did, or its process is dead, as a pidfd tells; the end of the
// socket alone proves nothing. Until then Fence waits, the pages stay pinned, and so they do if its context ends. At the reading side (Close): the goroutines that copy have ended and the
// mapping is gone. A new life of a node has a memory file of its own, and what the old one gave away stays with the old one's peers.
//
// A peer that hands the memory file on to others, or forks, is beyond what a fence here can see.
//
// It works on Linux from 5.4.
package shm

// Config says how nodes of one machine find each other. The zero value is for nodes of one network namespace.
type Config struct {
	// Directory is where the socket is made; "" is no directory, but an abstract name, which every process of the network namespace can dial and none without the link's key gets past.
	Directory string
	// Copiers is how many pages of a link are copied at a time; 0 is 2.
	Copiers int
}

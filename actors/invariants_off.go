//go:build !invariants

package actors

// invariants makes every freed page be scrubbed, which in such a build poisons it, and verifies the ledger's invariants after every event.
const invariants = false

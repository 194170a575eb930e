//go:build race

package kvpooltest

// raced: the race detector makes a search ten times slower; the workers meet each other in a few thousand states too.
const raced = true

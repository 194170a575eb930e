//go:build !race

package kvpooltest

const raced = false

//go:build race

package chaos

// raced: the race detector sees this process alone, and not those that a test starts.
const raced = true

//go:build !linux

package host

// preferHuge does nothing: there is no way to ask for huge pages.
func preferHuge([]byte) {}

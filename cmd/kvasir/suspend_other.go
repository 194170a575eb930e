//go:build !unix

package main

// suspendProcess does nothing: this system has no Ctrl-Z.
func suspendProcess() {}

//go:build unix

package main

import "golang.org/x/sys/unix"

// suspendProcess stops this process and those it shares its group with, as Ctrl-Z does, until the shell lets them go on.
func suspendProcess() {
	unix.Kill(0, unix.SIGTSTP) // to a group of our own: cannot fail
}

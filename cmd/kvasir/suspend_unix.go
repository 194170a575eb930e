//go:build unix

package main

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// suspendProcess stops this process and those it shares its group with, as Ctrl-Z does, until the shell lets them go on.
func suspendProcess() {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, unix.SIGCONT)
	defer signal.Stop(resumed)
	unix.Kill(0, unix.SIGTSTP) // to our own group: cannot fail
	// The stop may come a little after Kill returns, and never where no shell could undo it.
	select {
	case <-resumed:
	case <-time.After(100 * time.Millisecond):
	}
}

package main

import "syscall"

// childAttributes puts a process into a group of its own, and has it killed when the thread that started it ends, however that comes: whoever kills this process with -9 is rid of its children too.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

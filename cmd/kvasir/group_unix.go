//go:build unix && !linux

package main

import "syscall"

// childAttributes puts a process into a group of its own. It outlives a parent that is killed until it next writes to its log, whose end is gone.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

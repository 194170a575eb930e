//go:build !unix

package main

import "syscall"

// ownGroup does nothing here.
func ownGroup() *syscall.SysProcAttr { return nil }

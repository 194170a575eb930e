//go:build !unix

package main

import "syscall"

// childAttributes are none here.
func childAttributes() *syscall.SysProcAttr { return nil }

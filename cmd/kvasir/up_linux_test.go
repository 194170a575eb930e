package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// freeAddr is a loopback address that nobody uses.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// parentOf is the parent of a process that runs; 0 if there is none, or it has ended and nobody has asked how.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // after the name, which may have spaces
	if fields[0] == "Z" {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

func childrenOf(t *testing.T, pid int) (children []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		if child, _ := strconv.Atoi(filepath.Base(dir)); parentOf(child) == pid {
			children = append(children, child)
		}
	}
	return children
}

// Whoever kills "kvasir up" with -9 is rid of its nodes and its gateway too.
func TestNothingOutlivesUp(t *testing.T) {
	c := theCommand(t, "up", "--port", "0", "--prefill-addr", freeAddr(t), "--decode-addr", freeAddr(t), "--threads", "1")
	var said output
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the gateway serves", func() bool { return strings.Contains(said.String(), "serving") })
	children := childrenOf(t, c.Process.Pid)
	if len(children) != 3 {
		t.Errorf("it has %d children, want 3", len(children))
	}
	defer func() {
		for _, pid := range children {
			if parentOf(pid) != 0 { // it has outlived, and must not outlive this test
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}()
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if status := exitStatus(t, c); status != -1 {
		t.Errorf("exit status %d", status)
	}
	for _, pid := range children {
		eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return parentOf(pid) == 0 })
	}
}

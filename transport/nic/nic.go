// Package nic says which RDMA port is nearest to a GPU, or to a part of the machine's memory. [Choose] is a pure function of what a machine has; [Sysfs] reads that from Linux.
//
// Nearest is: the longest common path in the PCI tree (bytes between devices under one switch never reach the CPU), then the same NUMA node, then the higher rate, then the name. Ports that are not
// active, and devices that this process may not open, are not chosen.
package nic

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Inventory is what a machine has.
type Inventory struct{ Devices []Device }

// Device is an RDMA device.
type Device struct {
	Name   string   // "mlx5_0"
	Path   []string // in the PCI tree from the root: "pci0000:16", "0000:16:02.0", "0000:17:00.0"
	NUMA   int      // its node, -1 if it is not known
	Usable bool     // this process has its device files
	Ports  []Port
}

// Port is a port of a device.
type Port struct {
	Number int
	State  string  // in Linux's words: "ACTIVE", "DOWN", "INIT", "ARMED"
	Rate   float64 // gigabits a second
	Layer  string  // "InfiniBand" or "Ethernet" (RoCE)
}

// Place is what a port is to be near to. The zero Place is NUMA node 0.
type Place struct {
	Path []string // of a GPU in the PCI tree; nil: memory of the machine
	NUMA int      // -1 if it is not known
}

// Choice is the port chosen.
type Choice struct {
	Device string
	Port   int
	// Common is how many steps of the PCI path it has in common with the place; SameNUMA is whether it is of the same node.
	Common   int
	SameNUMA bool
	Rate     float64
	Layer    string
}

// String is the port as UCX names it: "mlx5_0:1".
func (c Choice) String() string { return fmt.Sprintf("%s:%d", c.Device, c.Port) }

// ErrNone is wrapped with why no port can be used. It is no fault: nodes without RDMA use tcp.
var ErrNone = errors.New("nic: no RDMA port")

// Choose returns the port of inv that is nearest to place, or an error that is ErrNone and says why there is none.
func Choose(inv Inventory, place Place) (Choice, error) {
	if len(inv.Devices) == 0 {
		return Choice{}, fmt.Errorf("%w: this machine has no RDMA device", ErrNone)
	}
	var found []Choice
	var reasons []string
	for _, d := range inv.Devices {
		if !d.Usable {
			reasons = append(reasons, d.Name+" has no device files for this process (/dev/infiniband)")
			continue
		}
		if len(d.Ports) == 0 {
			reasons = append(reasons, d.Name+" has no port")
		}
		for _, p := range d.Ports {
			c := Choice{d.Name, p.Number, common(d.Path, place.Path), d.NUMA >= 0 && d.NUMA == place.NUMA, p.Rate, p.Layer}
			if p.State != "ACTIVE" {
				reasons = append(reasons, fmt.Sprintf("%v is %s", c, p.State))
				continue
			}
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return Choice{}, fmt.Errorf("%w: %s", ErrNone, strings.Join(reasons, ", "))
	}
	return slices.MinFunc(found, nearer), nil
}

// nearer is negative if a is nearer than b.
func nearer(a, b Choice) int {
	return cmp.Or(
		-cmp.Compare(a.Common, b.Common),
		-cmp.Compare(one(a.SameNUMA), one(b.SameNUMA)),
		-cmp.Compare(a.Rate, b.Rate),
		cmp.Compare(len(a.Device), len(b.Device)), // mlx5_2 before mlx5_10
		cmp.Compare(a.Device, b.Device),
		cmp.Compare(a.Port, b.Port),
	)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Address brings a PCI address into Linux's form, "0000:17:00.0". NVML writes domains with eight digits.
func Address(s string) (string, error) {
	domain, rest, ok := strings.Cut(strings.ToLower(s), ":")
	n, err := strconv.ParseUint(domain, 16, 32)
	if !ok || err != nil || !isFunction("0000:"+rest) {
		return "", fmt.Errorf("nic: %q is not a PCI address, must be like 0000:17:00.0", s)
	}
	return fmt.Sprintf("%04x:%s", n, rest), nil
}

// isFunction is whether a step of a path is a PCI function, "0000:17:00.0".
func isFunction(s string) bool {
	i := strings.LastIndexByte(s, '.')
	parts := strings.Split(s[:max(i, 0)], ":")
	return len(parts) == 3 && len(parts[0]) >= 4 && isHex(parts[0]) && len(parts[1]) == 2 && isHex(parts[1]) && len(parts[2]) == 2 && isHex(parts[2]) && len(s)-i == 2 && s[i+1] >= '0' && s[i+1] <= '7'
}

// isRoot is whether a step of a path is a root of the PCI tree, "pci0000:16".
func isRoot(s string) bool {
	domain, bus, ok := strings.Cut(strings.TrimPrefix(s, "pci"), ":")
	return strings.HasPrefix(s, "pci") && ok && isHex(domain) && isHex(bus)
}

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}

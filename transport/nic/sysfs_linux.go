package nic

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/Mellanox/rdmamap"
)

// Sysfs reads what a machine has from its /sys. The zero value reads this machine's.
type Sysfs struct {
	// Root is where the tree with sys in it begins; "" is /.
	Root string
	// DeviceFiles are the files by which a process uses an RDMA device; nil is those in /dev/infiniband.
	DeviceFiles func(device string) []string
}

func (s Sysfs) path(parts ...string) string {
	return filepath.Join(append([]string{cmp.Or(s.Root, "/")}, parts...)...)
}

// Inventory reads all RDMA devices. A machine without any has an empty inventory, which is no error; a file that cannot be understood is.
func (s Sysfs) Inventory() (Inventory, error) {
	entries, err := os.ReadDir(s.path(rdmamap.RdmaClassDir))
	if errors.Is(err, fs.ErrNotExist) {
		return Inventory{}, nil
	}
	if err != nil {
		return Inventory{}, fmt.Errorf("nic: %w", err)
	}
	var inv Inventory
	for _, e := range entries {
		d, err := s.device(e.Name())
		if err != nil {
			return Inventory{}, fmt.Errorf("nic: device %s: %w", e.Name(), err)
		}
		inv.Devices = append(inv.Devices, d)
	}
	return inv, nil
}

func (s Sysfs) device(name string) (Device, error) {
	files := s.DeviceFiles
	if files == nil {
		files = rdmamap.GetRdmaCharDevices
	}
	uverbs := func(f string) bool { return strings.HasPrefix(filepath.Base(f), rdmamap.RdmaUverbsFilxPrefix) }
	d := Device{Name: name, Usable: slices.ContainsFunc(files(name), uverbs)}
	dir := s.path(rdmamap.RdmaClassDir, name)
	var err error
	if d.Path, d.NUMA, err = locate(dir); err != nil {
		return d, err
	}
	ports, err := os.ReadDir(filepath.Join(dir, rdmamap.RdmaPortsdir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	for _, p := range ports {
		port, err := readPort(filepath.Join(dir, rdmamap.RdmaPortsdir, p.Name()))
		if err != nil {
			return d, err
		}
		d.Ports = append(d.Ports, port)
	}
	return d, nil
}

// readPort reads files like state "4: ACTIVE", rate "100 Gb/sec (4X EDR)", link_layer "InfiniBand".
func readPort(dir string) (Port, error) {
	number, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return Port{}, fmt.Errorf("port %q is not a number", filepath.Base(dir))
	}
	p := Port{Number: number}
	state, err := readLine(dir, "state")
	if err != nil {
		return p, err
	}
	_, p.State, _ = strings.Cut(state, ": ")
	rate, err := readLine(dir, "rate")
	if err != nil {
		return p, err
	}
	digits, unit, _ := strings.Cut(rate, " ")
	if p.Rate, err = strconv.ParseFloat(digits, 64); err != nil || !strings.HasPrefix(unit, "Gb/sec") {
		return p, fmt.Errorf("port %d: rate is %q, must be like 100 Gb/sec", number, rate)
	}
	p.Layer, err = readLine(dir, "link_layer")
	return p, err
}

// Place finds a GPU by its PCI address, in Linux's form or NVML's.
func (s Sysfs) Place(pci string) (Place, error) {
	address, err := Address(pci)
	if err != nil {
		return Place{}, err
	}
	path, numa, err := locate(s.path(rdmamap.PciDevDir, address))
	if err != nil {
		return Place{}, fmt.Errorf("nic: PCI device %s: %w", address, err)
	}
	return Place{Path: path, NUMA: numa}, nil
}

// locate follows a link of /sys/class or /sys/bus to the device itself, whose directory tells its place in the PCI tree.
func locate(link string) (path []string, numa int, err error) {
	dir, err := filepath.EvalSymlinks(link)
	if err != nil {
		return nil, 0, err
	}
	function := "" // the directory of the last PCI function in the path
	at := ""
	for step := range strings.SplitSeq(dir, "/") {
		at += step + "/"
		switch {
		case isRoot(step):
			path = []string{step}
		case isFunction(step):
			path, function = append(path, step), at
		}
	}
	if function == "" {
		return nil, -1, nil // a device without hardware, rxe or siw
	}
	line, err := readLine(function, "numa_node")
	if errors.Is(err, fs.ErrNotExist) {
		return path, -1, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if numa, err = strconv.Atoi(line); err != nil {
		return nil, 0, fmt.Errorf("numa_node is %q, must be a number", line)
	}
	return path, numa, nil
}

func readLine(dir, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(b)), err
}

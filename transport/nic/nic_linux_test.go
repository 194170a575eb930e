package nic

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// machine is a made-up tree, and what is asked of it. A line of a file in testdata is one of
//
//	file PATH CONTENT
//	link PATH TARGET
//	uverbs DEVICE                   this process has its device file
//	ask PLACE WANT                  PLACE is a PCI address or memory:NODE
type machine struct {
	Sysfs
	asks []string
}

func build(t *testing.T, file string) machine {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	usable := map[string]bool{}
	m := machine{Sysfs: Sysfs{Root: t.TempDir(), DeviceFiles: func(d string) []string {
		if usable[d] {
			return []string{"/dev/infiniband/umad0", "/dev/infiniband/uverbs0"}
		}
		return []string{"/dev/infiniband/umad0"}
	}}}
	for line := range strings.Lines(string(text)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, content, _ := strings.Cut(rest, " ")
		path = filepath.Join(m.Root, path)
		switch verb {
		case "file":
			os.MkdirAll(filepath.Dir(path), 0o755)
			err = os.WriteFile(path, []byte(content+"\n"), 0o644)
		case "link":
			os.MkdirAll(filepath.Dir(path), 0o755)
			os.MkdirAll(filepath.Join(filepath.Dir(path), content), 0o755)
			err = os.Symlink(content, path)
		case "uverbs":
			usable[rest] = true
		case "ask":
			m.asks = append(m.asks, rest)
		case "#":
		default:
			err = fmt.Errorf("no such verb: %q", verb)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// answer is what Choose says of a place, in the words of testdata.
func (m machine) answer(inv Inventory, place string) string {
	var at Place
	if node, ok := strings.CutPrefix(place, "memory:"); ok {
		fmt.Sscan(node, &at.NUMA)
	} else {
		var err error
		if at, err = m.Place(place); err != nil {
			return err.Error()
		}
	}
	c, err := Choose(inv, at)
	if errors.Is(err, ErrNone) {
		return strings.Replace(err.Error(), ErrNone.Error()+":", "none", 1)
	}
	said := fmt.Sprintf("%v common %d", c, c.Common)
	if c.SameNUMA {
		said += " numa"
	}
	return said
}

func TestMachines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d machines, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			m := build(t, file)
			inv, err := m.Inventory()
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range m.asks {
				place, want, _ := strings.Cut(a, " ")
				if got := m.answer(inv, place); got != want {
					t.Errorf("near %s: %s, must be %s", place, got, want)
				}
			}
		})
	}
}

func TestPortsAreRead(t *testing.T) {
	inv, err := build(t, "testdata/rate-and-name.txt").Inventory()
	if err != nil {
		t.Fatal(err)
	}
	want := Device{
		Name: "mlx5_2", Path: []string{"pci0000:97", "0000:97:02.0", "0000:9a:00.0"}, NUMA: 1, Usable: true,
		Ports: []Port{{1, "ACTIVE", 200, "Ethernet"}, {2, "ACTIVE", 200, "Ethernet"}},
	}
	for _, d := range inv.Devices {
		if d.Name == want.Name && fmt.Sprint(d) != fmt.Sprint(want) {
			t.Errorf("%+v, must be %+v", d, want)
		}
	}
	if len(inv.Devices) != 3 {
		t.Errorf("%d devices, must be 3", len(inv.Devices))
	}
}

// A file that says something unheard of is an error that names it.
func TestUnreadableTrees(t *testing.T) {
	const port = "sys/devices/pci0000:97/0000:97:02.0/0000:9a:00.0/infiniband/mlx5_2/ports/1/"
	for path, content := range map[string]string{
		port + "rate": "fast", port + "link_layer": "",
		"sys/devices/pci0000:97/0000:97:02.0/0000:9a:00.0/numa_node": "left",
	} {
		m := build(t, "testdata/rate-and-name.txt")
		var err error
		if content == "" {
			err = os.Remove(filepath.Join(m.Root, path))
		} else {
			err = os.WriteFile(filepath.Join(m.Root, path), []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Inventory(); err == nil || !strings.Contains(err.Error(), "mlx5_2") || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s is %q: %v", path, content, err)
		}
	}
}

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"0000:17:00.0": "0000:17:00.0", "00000000:17:00.0": "0000:17:00.0", "0000:3A:1F.7": "0000:3a:1f.7", "10000:01:00.0": "10000:01:00.0",
		"": "", "17:00.0": "", "0000:17:00": "", "0000:17:00.8": "", "0000:17:00.0:1": "", "../../etc": "", "0000:../..:00.0": "", "123456789:17:00.0": "",
	} {
		got, err := Address(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; must be %q", in, got, err, want)
		}
	}
}

// This machine's own tree, whatever it has, is read without an error.
func TestThisMachine(t *testing.T) {
	inv, err := Sysfs{}.Inventory()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Choose(inv, Place{}); err != nil && !errors.Is(err, ErrNone) {
		t.Errorf("%v, %v", c, err)
	}
}

// No port that could be used is nearer than the chosen one, by the order of the package's comment, whatever the order of the inventory.
func TestNothingIsNearer(t *testing.T) {
	step := rapid.SampledFrom([]string{"a", "b"})
	rapid.Check(t, func(t *rapid.T) {
		place := Place{Path: rapid.SliceOfN(step, 0, 3).Draw(t, "place"), NUMA: rapid.IntRange(-1, 1).Draw(t, "node")}
		var inv Inventory
		for i := range rapid.IntRange(0, 4).Draw(t, "devices") {
			d := Device{Name: fmt.Sprint("d", i), Path: rapid.SliceOfN(step, 0, 3).Draw(t, "path"), NUMA: rapid.IntRange(-1, 1).Draw(t, "numa"), Usable: rapid.Bool().Draw(t, "usable")}
			for n := range rapid.IntRange(0, 2).Draw(t, "ports") {
				d.Ports = append(d.Ports, Port{Number: n + 1, State: rapid.SampledFrom([]string{"ACTIVE", "DOWN"}).Draw(t, "state"), Rate: float64(rapid.IntRange(1, 2).Draw(t, "rate"))})
			}
			inv.Devices = append(inv.Devices, d)
		}
		c, err := Choose(inv, place)
		seen := false
		for _, d := range inv.Devices {
			for _, p := range d.Ports {
				if !d.Usable || p.State != "ACTIVE" {
					continue
				}
				seen = true
				path := 0
				for path < min(len(d.Path), len(place.Path)) && d.Path[path] == place.Path[path] {
					path++
				}
				same := d.NUMA == place.NUMA && d.NUMA != -1
				if path > c.Common || path == c.Common && (same && !c.SameNUMA || same == c.SameNUMA && p.Rate > c.Rate) {
					t.Fatalf("%s:%d is nearer than %v", d.Name, p.Number, c)
				}
			}
		}
		if seen != (err == nil) {
			t.Fatalf("a port can be used: %v, %v", seen, err)
		}
	})
}

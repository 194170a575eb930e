package kvasir

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/kvasir-engine/kvasir"

// rules say what of this module each room may import. A room covers its sub-folders unless they have a rule of their own. Everyone may import the leaves.
var rules = map[string][]string{
	"request":               {},
	"kvpool/page":           {},
	"kvpool":                {},
	"kvpool/kvpooltest":     {"kvpool", "handoff"},
	"kvpool/kvpooltest/sim": {"kvpool", "kvpool/kvpooltest", "sched", "handoff"},
	"sched":                 {},
	"gpu":                   {},
	"gpu/host":              {"gpu"},
	"model":                 {"gpu", "model"},
	"server":                {},
	"handoff":               {"kvpool"},
	"transport":             {"transport"},
	"protos":                {},
	"membership":            {},
	"actors":                {"sched", "kvpool", "handoff", "transport", "protos", "model", "gpu", "actors"},
	"":                      {"server", "actors", "sched", "kvpool", "handoff", "transport", "model", "gpu", "gpu/host", "membership"},
	"cmd/kvasir":            {""},
}

// pure rooms import nothing but the standard library and the leaves: no library of others either.
var pure = []string{"request", "kvpool/page", "kvpool", "sched", "handoff"}

var leaves = []string{"request", "kvpool/page"}

// Imports run one way: cmd -> root -> {server, actors} -> {sched, kvpool, model} -> gpu, and everyone may import the two leaves.
func TestImportDirections(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := strings.TrimPrefix(strings.TrimPrefix(fields[0], module), "/")
		if strings.HasPrefix(from, "internal/") {
			continue
		}
		room, ok := roomOf(from)
		if !ok {
			t.Errorf("%s has no rule; add one", fields[0])
			continue
		}
		seen++
		for _, to := range fields[1:] {
			if why := forbidden(room, to); why != "" {
				t.Errorf("%s imports %s: %s", fields[0], to, why)
			}
		}
	}
	if seen < len(rules) {
		t.Errorf("saw %d packages, fewer than there are rules", seen)
	}
}

func forbidden(room, to string) string {
	if to != module && !strings.HasPrefix(to, module+"/") {
		if host, _, _ := strings.Cut(to, "/"); in(pure, room) && strings.Contains(host, ".") {
			return "a pure room imports the standard library and the leaves only"
		}
		return ""
	}
	if strings.HasPrefix(to, module+"/internal/") && !in(pure, room) {
		return "" // tools of no room, which import the standard library and each other
	}
	target, _ := roomOf(strings.TrimPrefix(strings.TrimPrefix(to, module), "/"))
	if in(leaves, target) || target == room && room != "" || in(rules[room], target) {
		return ""
	}
	return "imports run the other way"
}

// roomOf is the rule that a package falls under.
func roomOf(pkg string) (room string, ok bool) {
	for {
		if _, ok := rules[pkg]; ok {
			return pkg, true
		}
		i := strings.LastIndex(pkg, "/")
		if i < 0 {
			return "", false
		}
		pkg = pkg[:i]
	}
}

func in(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// The rules do forbid what they should.
func TestImportRulesBite(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"kvpool", module + "/sched"}, {"sched", module + "/kvpool"}, {"kvpool", module + "/actors"}, {"gpu", module + "/model"},
		{"server", module + "/actors"}, {"server", module}, {"actors", module + "/server"}, {"model", module + "/kvpool"}, {"kvpool", "go.uber.org/zap"}, {"actors", module}, {"kvpool", module + "/internal/certs"},
	} {
		if forbidden(c.from, c.to) == "" {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
	for _, c := range []struct{ from, to string }{
		{"kvpool", module + "/kvpool/page"}, {"sched", module + "/request"}, {"cmd/kvasir", module}, {"actors", "go.uber.org/zap"},
	} {
		if why := forbidden(c.from, c.to); why != "" {
			t.Errorf("%s may not import %s: %s", c.from, c.to, why)
		}
	}
}

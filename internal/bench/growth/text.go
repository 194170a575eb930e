package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// replace puts text between the comments <!-- NAME --> and <!-- /NAME --> of a page.
func replace(page []byte, name, text string) ([]byte, error) {
	open, shut := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := bytes.Cut(page, []byte(open))
	_, after, closed := bytes.Cut(rest, []byte(shut))
	if !ok || !closed {
		return nil, fmt.Errorf("there must be the lines %q and %q", strings.TrimSpace(open), shut)
	}
	return slices.Concat(before, []byte(open), []byte(text), []byte(shut), after), nil
}

// parseBenchmark reads the output of go test: nanoseconds by the number that follows prefix in a benchmark's name.
func parseBenchmark(out, prefix string) (map[int]float64, error) {
	times := map[int]float64{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line) // BenchmarkStep/waiting=10-2  147250  2543 ns/op ...
		if len(fields) < 4 || fields[3] != "ns/op" {
			continue
		}
		name, ok := strings.CutPrefix(fields[0], prefix)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(name, "-") // the number of processors
		n, err1 := strconv.Atoi(number)
		ns, err2 := strconv.ParseFloat(fields[2], 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("a line that is none of a benchmark: %q", line)
		}
		times[n] = ns
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("no benchmark %s... in %q", prefix, out)
	}
	return times, nil
}

func sortedKeys(m map[int]float64) []int { return slices.Sorted(maps.Keys(m)) }

package load

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// all reads a stream to its end.
func all(r io.Reader) (data []string, err error) {
	for e := newEvents(r); ; {
		d, err := e.next()
		if err != nil {
			return data, err
		}
		data = append(data, string(d))
	}
}

// dumb does the same to a text that is whole.
func dumb(text string) (data []string) {
	var lines []string
	rest := strings.Split(text, "\n")
	for _, line := range rest[:len(rest)-1] { // what no line end follows is dropped
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			if lines != nil {
				data = append(data, strings.Join(lines, "\n"))
			}
			lines = nil
		}
		if line == "data" {
			lines = append(lines, "")
		}
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			lines = append(lines, strings.TrimPrefix(value, " "))
		}
	}
	return data
}

func TestEventsAreBounded(t *testing.T) {
	for _, text := range []string{"data: " + strings.Repeat("x", maxEventBytes+1<<20), strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxEventBytes/1000+10)} {
		if _, err := all(strings.NewReader(text)); err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%v", err)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "data:a\r\ndata: b\r\n\r\ndata: [DONE]\n\n", ": c\nevent: x\nid: 1\n\ndata\n\ndata: cut", "\n\n\ndata:  two\n\n", "datax: 1\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := dumb(text)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got, err := all(r)
			if !errors.Is(err, io.EOF) || strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
				t.Fatalf("%q: %q, %v; want %q", text, got, err, want)
			}
		}
	})
}

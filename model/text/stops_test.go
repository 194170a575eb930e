package text

import (
	"errors"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/request"
	"pgregory.net/rapid"
)

// twin is the rule on the whole text: it ends before the earliest start of any stop string.
func twin(stops []string, whole string) (out string, hit bool) {
	for at := range len(whole) {
		for _, stop := range stops {
			if strings.HasPrefix(whole[at:], stop) {
				return whole[:at], true
			}
		}
	}
	return whole, false
}

// mayBegin is the longest end of the text that is the beginning of a stop string, but not all of one.
func mayBegin(stops []string, text string) string {
	for at := range len(text) {
		for _, stop := range stops {
			if strings.HasPrefix(stop, text[at:]) && stop != text[at:] {
				return text[at:]
			}
		}
	}
	return ""
}

func TestStops(t *testing.T) {
	tests := []struct {
		name   string
		stops  []string
		pieces []string
		outs   []string // after each piece, then after Flush
		hit    bool
	}{
		{"no stops", nil, []string{"a", "b"}, []string{"a", "b", ""}, false},
		{"in one piece", []string{"END"}, []string{"so END of it"}, []string{"so ", ""}, true},
		{"across pieces", []string{"END"}, []string{"so E", "N", "D of it"}, []string{"so ", "", "", ""}, true},
		{"nothing comes after it", []string{"END"}, []string{"END", "more"}, []string{"", "", ""}, true},
		{"held text that was none is released", []string{"END"}, []string{"E", "N", "Q"}, []string{"", "", "ENQ", ""}, false},
		{"held text comes at the end", []string{"END"}, []string{"the EN"}, []string{"the ", "EN"}, false},
		{"only the part that can begin a stop is held", []string{"aab"}, []string{"aa", "a"}, []string{"", "a", "aa"}, false},
		{"an occurrence that starts inside a failed one", []string{"aab"}, []string{"aa", "ab"}, []string{"", "a", ""}, true},
		{"the earliest start wins", []string{"bc", "abcd"}, []string{"xabc", "d"}, []string{"x", "", ""}, true},
		{"the earlier start comes to nothing", []string{"bc", "abcd"}, []string{"xabc", "x"}, []string{"x", "a", ""}, true},
		{"the text ends while the earlier start is open", []string{"bc", "abcd"}, []string{"xabc"}, []string{"x", "a"}, true},
		{"the shorter of two at one place does not wait", []string{"abc", "ab"}, []string{"xab"}, []string{"x", ""}, true},
		{"a newline", []string{"\n\n"}, []string{"a\n", "b\n", "\n"}, []string{"a", "\nb", "", ""}, true},
		{"more than ASCII", []string{"終わり"}, []string{"ここで終", "わり"}, []string{"ここで", "", ""}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewStops(tt.stops)
			hit := false
			for i, piece := range append(tt.pieces, "") {
				var out string
				if i < len(tt.pieces) {
					out, hit = s.Push(piece)
				} else {
					out, hit = s.Flush()
				}
				if out != tt.outs[i] {
					t.Errorf("after piece %d: %q, want %q", i, out, tt.outs[i])
				}
			}
			if hit != tt.hit {
				t.Errorf("hit %v, want %v", hit, tt.hit)
			}
		})
	}
}

// checkAgainstTwin cuts the text after each of the lengths in turn and compares with the rule on the whole.
func checkAgainstTwin(t interface {
	Helper()
	Fatalf(string, ...any)
}, stops []string, whole string, lengths []int) {
	t.Helper()
	s := NewStops(stops)
	var got strings.Builder
	came, hit := 0, false
	for i := 0; came < len(whole); i++ {
		n := min(1+lengths[i%len(lengths)], len(whole)-came)
		out, now := s.Push(whole[came : came+n])
		came += n
		got.WriteString(out)
		hit = now
		if held := whole[got.Len():came]; !hit && held != mayBegin(stops, whole[:came]) {
			t.Fatalf("stops %q, text %q: %q is held, need be only %q", stops, whole[:came], held, mayBegin(stops, whole[:came]))
		}
	}
	out, now := s.Flush()
	got.WriteString(out)
	hit = hit || now
	want, wantHit := twin(stops, whole)
	if got.String() != want || hit != wantHit {
		t.Fatalf("stops %q, text %q: got %q, %v, want %q, %v", stops, whole, got.String(), hit, want, wantHit)
	}
}

func TestStopsAgreeWithTheTwinHoweverTheTextIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stops := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,4}c?`), 0, 4).Draw(t, "stops")
		whole := rapid.StringMatching(`[abc]{0,30}`).Draw(t, "text")
		lengths := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 10).Draw(t, "lengths")
		checkAgainstTwin(t, stops, whole, lengths)
	})
}

func FuzzStops(f *testing.F) {
	f.Add("END", "abcd", "so EN END", byte(2))
	f.Add("\n\n", "bc", "abc\n", byte(0))
	f.Fuzz(func(t *testing.T, a, b, whole string, length byte) {
		if stops := []string{a, b}; ValidateStops(stops) == nil && len(whole) < 500 { // the twin is slow
			checkAgainstTwin(t, stops, whole, []int{int(length)})
		}
	})
}

func TestValidateStops(t *testing.T) {
	good := [][]string{nil, {"\n"}, {strings.Repeat("x", 1024)}, strings.Split(strings.Repeat("x", request.MaxStops), "")}
	for _, stops := range good {
		if r := ValidateStops(stops); r != nil {
			t.Errorf("%q was refused: %v", stops, r)
		}
	}
	bad := [][]string{{""}, {"a", ""}, {strings.Repeat("x", 1025)}, {"\xff"}, strings.Split(strings.Repeat("x", request.MaxStops+1), "")}
	for _, stops := range bad {
		if r := ValidateStops(stops); r == nil || r.Field != "stop" || !errors.Is(r, request.ErrInvalid) {
			t.Errorf("%q: rejection %v, want one of the field stop", stops, r)
		}
	}
}

func BenchmarkPush(b *testing.B) {
	s := NewStops([]string{"\n\nHuman:", "</s>", "END"})
	b.ReportAllocs()
	for b.Loop() {
		s.Push(" token")
	}
}

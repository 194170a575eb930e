package wire

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// fields notes the first field of a message that cannot be taken over as it is.
type fields struct {
	err   error
	entry int // of the list that is being gone through: what [i] in a field's name stands for
}

func (f *fields) fail(name, format string, args ...any) {
	if f.err == nil {
		name = strings.Replace(name, "[i]", fmt.Sprintf("[%d]", f.entry), 1)
		f.err = fmt.Errorf("wire: %s %s", name, fmt.Sprintf(format, args...))
	}
}

// natural is n for a field that has no sign.
func (f *fields) natural(name string, n int) uint64 {
	if n < 0 {
		f.fail(name, "is %d, must not be negative", n)
		return 0
	}
	return uint64(n)
}

// int is the inverse of natural.
func (f *fields) int(name string, n uint64) int {
	if n > math.MaxInt {
		f.fail(name, "is %d, must be at most %d", n, math.MaxInt)
		return 0
	}
	return int(n)
}

// signed is n as an int.
func (f *fields) signed(name string, n int64) int {
	if n < math.MinInt || n > math.MaxInt {
		f.fail(name, "is %d, must be from %d to %d", n, math.MinInt, math.MaxInt)
		return 0
	}
	return int(n)
}

// enum is n, if it is from first to last.
func (f *fields) enum(name string, n, first, last int) int {
	if n < first || n > last {
		f.fail(name, "is %d, must be from %d to %d", n, first, last)
		return 0
	}
	return n
}

func (f *fields) count(name string, n, most int) {
	if n > most {
		f.fail(name, "has %d, must have at most %d", n, most)
	}
}

func (f *fields) text(name, s string, most int) {
	f.count(name, len(s), most)
	if !utf8.ValidString(s) {
		f.fail(name, "is not UTF-8")
	}
}

// present reports whether a part that must be there is.
func present[T any](f *fields, name string, part *T) bool {
	if part == nil {
		f.fail(name, "is missing")
	}
	return part != nil
}

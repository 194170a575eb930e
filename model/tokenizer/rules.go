package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// A rule finds pieces of text, as one regular expression of a published pre-tokenizer does: it returns the end of the match that begins at s[i:],
// or i if none does. i is never len(s). The rules here are those expressions written out by hand; \s is White_Space, and
// \p{L}, \p{N} and so on are the general categories of package unicode.
type rule func(s string, i int) int

// split cuts s into the matches of the first rule and what lies between them, cuts each of these by the next rule, and so on, and hands the pieces to emit in order.
func split(rules []rule, s string, emit func(piece string)) {
	if len(rules) == 0 {
		emit(s)
		return
	}
	start := 0 // of what lies before the next match
	for i := 0; i < len(s); {
		end := rules[0](s, i)
		if end == i {
			_, n := utf8.DecodeRuneInString(s[i:])
			i += n
			continue
		}
		if start < i {
			split(rules[1:], s[start:i], emit)
		}
		split(rules[1:], s[i:end], emit)
		i, start = end, end
	}
	if start < len(s) {
		split(rules[1:], s[start:], emit)
	}
}

// class says whether a rune belongs to a character class.
type class func(r rune) bool

func letter(r rune) bool      { return unicode.IsLetter(r) }            // \p{L}
func mark(r rune) bool        { return unicode.IsMark(r) }              // \p{M}
func number(r rune) bool      { return unicode.IsNumber(r) }            // \p{N}
func space(r rune) bool       { return unicode.IsSpace(r) }             // \s
func punct(r rune) bool       { return unicode.IsPunct(r) }             // \p{P}
func symbol(r rune) bool      { return unicode.IsSymbol(r) }            // \p{S}
func newline(r rune) bool     { return r == '\r' || r == '\n' }         // [\r\n]
func asciiLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' } // [A-Za-z]
func blank(r rune) bool       { return r == ' ' }

// other is [^\s\p{L}\p{N}].
func other(r rune) bool { return !space(r) && !letter(r) && !number(r) }

// prefix is [^\r\n\p{L}\p{N}]: what may stand before the letters of a word and go with them.
func prefix(r rune) bool { return !newline(r) && !letter(r) && !number(r) }

// letterOrMark is [\p{L}\p{M}].
func letterOrMark(r rune) bool { return letter(r) || mark(r) }

// in is a class of ranges: pairs of first and last rune, ascending.
func in(pairs string) class {
	bounds := []rune(pairs)
	return func(r rune) bool {
		lo, hi := 0, len(bounds)/2 // the ranges before lo end below r, those from hi on begin above it
		for lo < hi {
			switch mid := (lo + hi) / 2; {
			case r < bounds[2*mid]:
				hi = mid
			case r > bounds[2*mid+1]:
				lo = mid + 1
			default:
				return true
			}
		}
		return false
	}
}

// one is the end of the rune at i if it is of the class, else i.
func one(s string, i int, c class) int {
	if i < len(s) {
		if r, n := utf8.DecodeRuneInString(s[i:]); c(r) {
			return i + n
		}
	}
	return i
}

// many is the end of the run of runes of the class that begins at i: c*.
func many(s string, i int, c class) int {
	for {
		end := one(s, i, c)
		if end == i {
			return i
		}
		i = end
	}
}

// upTo is c{0,n}.
func upTo(s string, i, n int, c class) int {
	for range n {
		i = one(s, i, c)
	}
	return i
}

// after is p?c+: a run of c, with one rune of p before it if there is one.
func after(s string, i int, p, c class) int {
	if start := one(s, i, p); start > i {
		if end := many(s, start, c); end > start {
			return end
		}
	}
	return many(s, i, c)
}

// run is the rule c+.
func run(c class) rule {
	return func(s string, i int) int { return many(s, i, c) }
}

// runAfter is the rule p?c+.
func runAfter(p, c class) rule {
	return func(s string, i int) int { return after(s, i, p, c) }
}

// atMost is the rule c{1,n}.
func atMost(n int, c class) rule {
	return func(s string, i int) int { return upTo(s, i, n, c) }
}

// contraction is the end of 's, 't, 're, 've, 'm, 'll or 'd at i, else i; fold takes capitals too.
func contraction(s string, i int, fold bool) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	at := func(j int) byte {
		switch {
		case j >= len(s):
			return 0
		case fold && 'A' <= s[j] && s[j] <= 'Z':
			return s[j] | 0x20
		}
		return s[j]
	}
	switch first, second := at(i+1), at(i+2); {
	case first == 's', first == 't', first == 'm', first == 'd':
		return i + 2
	case first == 'r' && second == 'e', first == 'v' && second == 'e', first == 'l' && second == 'l':
		return i + 3
	}
	return i
}

// whitespace is \s+(?!\S)|\s+: a run of white space, less its last rune if text follows, since that belongs to the word behind it.
func whitespace(s string, i int) int {
	end := many(s, i, space)
	if end == len(s) || end == i {
		return end
	}
	_, last := utf8.DecodeLastRuneInString(s[i:end])
	if end-last > i {
		return end - last
	}
	return end
}

// lines is \s*[\r\n]+|\s+(?!\S)|\s+: white space up to the last line break of the run, else as whitespace.
func lines(s string, i int) int {
	end := many(s, i, space)
	for j := end; j > i; j-- {
		if newline(rune(s[j-1])) {
			return j
		}
	}
	return whitespace(s, i)
}

// trailing is \s+$.
func trailing(s string, i int) int {
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && space(before) {
		return i // tried from the start of the run, and what failed there fails here: no second look, or long runs would cost their square
	}
	if end := many(s, i, space); end == len(s) {
		return end
	}
	return i
}

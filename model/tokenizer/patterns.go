package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gpt2 is the expression of GPT-2:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2(s string, i int) int {
	if end := contraction(s, i, false); end > i {
		return end
	}
	if end := after(s, i, blank, letter); end > i {
		return end
	}
	if end := after(s, i, blank, number); end > i {
		return end
	}
	if end := after(s, i, blank, other); end > i {
		return end
	}
	return whitespace(s, i)
}

// words is the expression of Llama 3, with numbers cut into groups of up to n digits; Qwen 2 has the same with n = 1:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// With marks, [\p{L}\p{M}] stands for \p{L} in the words, and marks are no symbols (Qwen 3.5).
func words(n int, marks bool) rule {
	word, symbols := class(letter), class(other)
	if marks {
		word = letterOrMark
		symbols = func(r rune) bool { return other(r) && !mark(r) }
	}
	return func(s string, i int) int {
		if end := contraction(s, i, true); end > i {
			return end
		}
		if end := after(s, i, prefix, word); end > i {
			return end
		}
		if end := upTo(s, i, n, number); end > i {
			return end
		}
		if end := after(s, i, blank, symbols); end > i {
			return many(s, end, newline)
		}
		return lines(s, i)
	}
}

// deepseek3 is the last expression of DeepSeek V3, which sees no numbers:
//
//	[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func deepseek3(s string, i int) int {
	if c := rune(s[i]); c < utf8.RuneSelf && (punct(c) || symbol(c)) {
		if end := many(s, i+1, asciiLetter); end > i+1 {
			return end
		}
	}
	before := func(r rune) bool { return !newline(r) && !letter(r) && !punct(r) && !symbol(r) }
	if end := after(s, i, before, letterOrMark); end > i {
		return end
	}
	if end := after(s, i, blank, func(r rune) bool { return punct(r) || symbol(r) }); end > i {
		return many(s, end, newline)
	}
	return lines(s, i)
}

// cased is the expression of GPT-4o, where a word also ends before a capital, with numbers cut into groups of up to n digits:
//
//	[^\r\n\p{L}\p{N}]?U*L+C?|[^\r\n\p{L}\p{N}]?U+L*C?|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// U is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L is [\p{Ll}\p{Lm}\p{Lo}\p{M}], and C is (?i:'s|'t|'re|'ve|'m|'ll|'d), which Mistral's (tekken) has not.
func cased(n int, contractions bool) rule {
	return func(s string, i int) int {
		if end := casedWord(s, i); end > i {
			if contractions {
				return contraction(s, end, true)
			}
			return end
		}
		if end := upTo(s, i, n, number); end > i {
			return end
		}
		if end := after(s, i, blank, other); end > i {
			return many(s, end, func(r rune) bool { return newline(r) || r == '/' })
		}
		return lines(s, i)
	}
}

// casedWord is [^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*.
func casedWord(s string, i int) int {
	starts := [2]int{one(s, i, prefix), i} // greedy: with the optional rune first
	for _, start := range starts {
		if end := capitalised(s, start); end > start {
			return end
		}
	}
	for _, start := range starts {
		if capitals := many(s, start, upper); capitals > start {
			return many(s, capitals, lower)
		}
	}
	return i
}

// capitalised is U*L+. A rune may be of both classes: where no L follows the run of U, the run is given back as far as its last L.
func capitalised(s string, i int) int {
	capitals := many(s, i, upper)
	if end := many(s, capitals, lower); end > capitals {
		return end
	}
	for end := capitals; end > i; {
		r, n := utf8.DecodeLastRuneInString(s[i:end])
		if lower(r) {
			return end
		}
		end -= n
	}
	return i
}

// upper is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], which is every letter but a small one, and marks.
func upper(r rune) bool { return letterOrMark(r) && !unicode.Is(unicode.Ll, r) }

// lower is [\p{Ll}\p{Lm}\p{Lo}\p{M}].
func lower(r rune) bool {
	return letterOrMark(r) && !unicode.Is(unicode.Lu, r) && !unicode.Is(unicode.Lt, r)
}

// punctOrOperator is [\p{P}$+<=>^~|].
func punctOrOperator(r rune) bool { return punct(r) || strings.ContainsRune("$+<=>^~|", r) }

// threeDigits is [0-9][0-9][0-9].
func threeDigits(s string, i int) int {
	digit := func(r rune) bool { return '0' <= r && r <= '9' }
	if end := upTo(s, i, 3, digit); end == i+3 {
		return end
	}
	return i
}

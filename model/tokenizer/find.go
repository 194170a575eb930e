package tokenizer

import (
	"cmp"
	"slices"
	"sort"
)

// maxSpecialBytes bounds the special tokens that are looked for in text, and so the work for each byte of a text. Real ones have less than 50 bytes.
const maxSpecialBytes = 1 << 10

// special is a token that is recognised where a text spells it.
type special struct {
	text   string
	id     int32
	always bool // in all text, not only where control tokens are
}

// specials finds special tokens in text.
type specials struct {
	sorted []special  // by text, each once
	starts [257]int32 // sorted[starts[b]:starts[b+1]] start with byte b
}

// newSpecials takes a list of tokens that are not empty, in the order of their ids, and owns it afterwards. Of equal ones the first counts.
func newSpecials(list []special) *specials {
	slices.SortStableFunc(list, func(a, b special) int { return cmp.Compare(a.text, b.text) })
	s := &specials{sorted: slices.CompactFunc(list, func(a, b special) bool { return a.text == b.text })}
	for b := range s.starts {
		s.starts[b] = int32(sort.Search(len(s.sorted), func(i int) bool { return int(s.sorted[i].text[0]) >= b }))
	}
	return s
}

// find is the leftmost and there the longest token in text[from:]: its place in text, length and id. Without one it is len(text), 0 and no id. control says whether a
// control token may lie in a part of the text.
func (s *specials) find(text string, from int, control func(from, to int) bool) (at, length int, id int32) {
	for at := from; at < len(text); at++ {
		lo, hi := s.starts[text[at]], s.starts[int(text[at])+1]
		if lo == hi {
			continue
		}
		if length, id := longest(s.sorted[lo:hi], text, at, control); length > 0 {
			return at, length, id
		}
	}
	return len(text), 0, -1
}

// longest is the longest of some tokens, which all start with text[at], that text spells there; length 0 if there is none.
func longest(tokens []special, text string, at int, control func(from, to int) bool) (length int, id int32) {
	for n := 1; len(tokens) > 0; n++ {
		// All tokens agree with the text in n bytes; so one of just these bytes comes first.
		if first := tokens[0]; len(first.text) == n {
			if first.always || control(at, at+n) {
				length, id = n, first.id
			}
			tokens = tokens[1:]
		}
		if at+n == len(text) {
			break
		}
		c := text[at+n]
		tokens = tokens[sort.Search(len(tokens), func(i int) bool { return tokens[i].text[n] >= c }):]
		tokens = tokens[:sort.Search(len(tokens), func(i int) bool { return tokens[i].text[n] > c })]
	}
	return length, id
}

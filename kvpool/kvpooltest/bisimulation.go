package kvpooltest

import "fmt"

// compare holds the successors of a state against those of the one found first that it is merged with. What is merged must go on alike: else a search depends on which of two states it happens to
// meet first, and may miss what follows from the other.
func (x *search[S]) compare(s *S, id uint32) error {
	v, _ := x.firsts.Load(id)
	if v == nil {
		return nil // another worker is about to tell
	}
	first := v.(S)
	if *s == first {
		return nil
	}
	a, b := x.successors(s), x.successors(&first)
	for n, k := range a {
		if b[n] != k {
			return fmt.Errorf("merged states go on differently: %d ways and %d to\n%+v\nfrom\n%+v\nand\n%+v", k, b[n], n, *s, first)
		}
		delete(b, n)
	}
	for n, k := range b {
		return fmt.Errorf("merged states go on differently: 0 ways and %d to\n%+v\nfrom\n%+v\nand\n%+v", k, n, *s, first)
	}
	return nil
}

// successors counts the ways to each state that follows, and those to what is broken (under the zero state).
func (x *search[S]) successors(s *S) map[S]int {
	ways, self := map[S]int{}, x.canonical(s)
	x.next(s, func(_ Action, n *S, err error) {
		var c S
		if err == nil {
			if c = x.canonical(n); c == self {
				return
			}
		}
		ways[c]++
	})
	return ways
}

package kvpooltest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
)

// likeness is a ledger whose encoding is another's.
type likeness struct {
	l    *kvpool.Ledger
	jobs map[ref][]job
}

// maxLikenesses bounds those that are kept of each ledger.
const maxLikenesses = 8

func (ls *ledgers) took(id uint32, l *kvpool.Ledger, jobs map[ref][]job) {
	records := recordsOf(l)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	x := ls.all[id]
	if x.records == nil {
		x.records = map[string]bool{recordsOf(x.l): true}
	}
	if len(x.others) < maxLikenesses && !x.records[records] {
		x.records[records] = true
		x.others = append(x.others, likeness{l, jobs})
	}
}

// recordsOf tells how a ledger keeps what it knows of attempts and links: that may differ where its encoding does not.
func recordsOf(l *kvpool.Ledger) string {
	h := reflect.ValueOf(l).Elem().FieldByName("handoff")
	if !h.IsValid() {
		panic("kvpooltest: the ledger keeps its attempts elsewhere now")
	}
	return fmt.Sprint(h)
}

// alike gives ledgers of one encoding the events that the first of them has had: they must do the same, or [kvpool.Ledger.AppendState] lacks something that decides what a ledger does.
// What comes of them is then taken for one too.
func (ls *ledgers) alike() error {
	todo := slices.Clone(ls.all)
	for ; len(todo) > 0; todo = todo[1:] {
		x := todo[0]
		for ; x.compared < len(x.others); x.compared++ {
			for _, o := range x.memo {
				if err := ls.same(x, o, x.others[x.compared]); err != nil {
					return err
				}
				todo = append(todo, ls.all[o.next])
			}
		}
	}
	return nil
}

func (ls *ledgers) same(x *ledger, o *outcome, other likeness) error {
	ev := o.event
	if ev.Job != 0 {
		of, at := jobOf(x.jobs, ev.Job)
		switch {
		case at >= 0 && len(other.jobs[of]) != len(x.jobs[of]):
			return fmt.Errorf("ledgers are taken for one, and have %d and %d jobs at page %d", len(x.jobs[of]), len(other.jobs[of]), of.page)
		case at >= 0 && len(x.jobs[of]) > 1:
			return nil // which is which?
		case at >= 0:
			ev.Job = other.jobs[of][0].number
		}
	}
	var p outcome
	l := other.l.Clone()
	p.perform(l, &ev)
	next := ls.all[o.next]
	a, b := toldOf(o), toldOf(&p)
	if o.err == nil && p.err == nil && stateKey(x.config, l) != stateKey(next.config, next.l) || !slices.Equal(a, b) {
		return fmt.Errorf("ledgers are taken for one and part at %v %+v:\n%q\n%q", ev.Kind, ev, a, b)
	}
	if o.err == nil && o.next != x.id {
		ls.took(o.next, l, (&ledger{jobs: other.jobs}).jobsAfter(&ev, p.effects))
	}
	return nil
}

func jobOf(jobs map[ref][]job, number uint64) (ref, int) {
	for r, all := range jobs {
		for i := range all {
			if all[i].number == number {
				return r, i
			}
		}
	}
	return ref{}, -1
}

// toldOf tells what came of an event, but for the numbers of jobs and the order of effects.
func toldOf(o *outcome) []string {
	all := []string{fmt.Sprint(o.err), fmt.Sprint(o.met)}
	for _, fx := range o.effects {
		seal := fx.Message.Seal
		fx.Job, fx.Message.Seal = 0, nil
		text := fmt.Sprintf("%+v", fx)
		if seal != nil {
			text += fmt.Sprintf(" %+v", *seal)
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// compareMerged compares some of the states that were reached before with what they are merged with.
func (w *worker[S]) compareMerged(s *S, id uint32, fresh bool, from uint32, by Action) {
	if fresh {
		w.firsts.Store(id, *s)
	} else if w.merged.Add(1)%uint64(w.bounds.Compare) == 0 {
		if err := w.compare(s, id); err != nil {
			w.breaks(err, from, by)
		}
	}
}

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
	x.model.next(s, func(_ Action, n *S, err error) {
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

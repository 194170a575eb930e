package transporttest

import (
	"sync"
	"testing"
)

// ledger counts how often each read has ended, and how.
type ledger struct {
	mu    sync.Mutex
	reads []outcome
}

type outcome struct {
	accepted bool // Conn.Read has returned
	ends     int
	err      error
}

func newLedger() *ledger { return &ledger{} }

// begin returns the number of a read and what to call at its end.
func (l *ledger) begin() (int, func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.reads)
	l.reads = append(l.reads, outcome{})
	return i, func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reads[i].ends++
		l.reads[i].err = err
	}
}

// accept says that the connection has taken read i.
func (l *ledger) accept(i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads[i].accepted = true
}

// accepted are the reads that the connection has taken.
func (l *ledger) accepted() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []int
	for i, r := range l.reads {
		if r.accepted {
			found = append(found, i)
		}
	}
	return found
}

// haveEnded fails the test unless each of the reads has ended once.
func (l *ledger) haveEnded(t testing.TB, which []int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range which {
		if n := l.reads[i].ends; n != 1 {
			t.Fatalf("read %d of %d has ended %d times", i, len(l.reads), n)
		}
	}
}

// once fails the test unless every read has ended, once. It returns how many ended well.
func (l *ledger) once(t testing.TB) (ok int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, r := range l.reads {
		if r.ends != 1 {
			t.Fatalf("read %d of %d has ended %d times", i, len(l.reads), r.ends)
		}
		if r.err == nil {
			ok++
		}
	}
	return ok
}

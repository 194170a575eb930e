package kvpool

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// copy-out PAGE...
func (s *script) copyOut(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvCopyOut, Refs: s.refs(t, d)})
}

// copied job=J [failed]
func (s *script) copied(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvCopied, Failed: d.HasArg("failed")}
	d.ScanArgs(t, "job", &ev.Job)
	return s.step(ev)
}

// restore seq=S tenant=T text=LETTERS [from=I] [heard=N] [group=G]: copies of pages I (or 0), I+1, ... of the text.
func (s *script) restore(t *testing.T, d *datadriven.TestData) string {
	var tenant, text string
	from := 0
	d.ScanArgs(t, "tenant", &tenant)
	d.ScanArgs(t, "text", &text)
	d.MaybeScanArgs(t, "from", &from)
	ev := Event{Kind: EvRestore, Seq: seq(t, d)}
	d.MaybeScanArgs(t, "heard", &ev.N)
	d.MaybeScanArgs(t, "group", &ev.Group)
	for _, h := range PageHashes(Key{}, tenant, [32]byte{}, tokens(text), scriptPageSize)[from:] {
		ev.Checks = append(ev.Checks, Check{Domain: DomainOf(Key{}, tenant), Chain: h, Checksum: 0xc0de})
	}
	return s.step(ev)
}

// restored job=J [failed] [pages=N] [checksum=I] [chain=I] [tenant=I] [generation=I]: what landed is what was asked for, but for the page of the check that is named, and of
// the first N pages.
func (s *script) restored(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvRestored, Failed: d.HasArg("failed")}
	d.ScanArgs(t, "job", &ev.Job)
	if job := s.ledger.own.find(restoreJob(ev.Job)); job != none {
		for _, i := range s.ledger.pagesOf(job) {
			ev.Checks = append(ev.Checks, s.ledger.checkOf(i))
		}
	}
	n := len(ev.Checks)
	d.MaybeScanArgs(t, "pages", &n)
	ev.Checks = ev.Checks[:n]
	for name, change := range map[string]func(c *Check){
		"checksum": func(c *Check) { c.Checksum++ }, "chain": func(c *Check) { c.Chain[0]++ },
		"tenant": func(c *Check) { c.Domain++ }, "generation": func(c *Check) { c.Ref.Generation-- },
	} {
		var i int
		if d.MaybeScanArgs(t, name, &i) {
			change(&ev.Checks[i])
		}
	}
	return s.step(ev)
}

func (s *script) describeCopy(fx Effect) (string, bool) {
	switch fx.Kind {
	case FxCopyOut:
		return fmt.Sprintf("copy out, job %d:\n%s", fx.Job, checksOf(fx.Checks)), true
	case FxCopied:
		return fmt.Sprintf("of job %d keep %d:\n%s", fx.Job, len(fx.Checks), checksOf(fx.Checks)), true
	case FxRestore:
		return fmt.Sprintf("restore for seq %d, job %d:\n%s", fx.Seq, fx.Job, checksOf(fx.Checks)), true
	case FxRestored:
		return fmt.Sprintf("seq %d has restored %d:%s\n", fx.Seq, fx.N, short(fx.Refs)), true
	case FxDistrust:
		return fmt.Sprintf("drop the domain's copies, alarm %d\n", fx.N), true
	}
	return "", false
}

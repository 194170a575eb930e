package sched

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestScripts plays the situations in testdata. Nothing moves by itself: pool lets the pool answer all it was asked, done finishes the batch in
// flight. What the scheduler wants is printed. A * marks an item that samples, and the number before @ is its pages.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		s := &script{}
		datadriven.RunTest(t, path, s.run)
	})
}

type script struct {
	*world
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	verb := map[string]func(*testing.T, *datadriven.TestData) (string, []Effect){
		"new": s.new, "submit": s.doSubmit, "cancel": s.doCancel, "pool": s.doPool, "done": s.doDone, "fail": s.doFail,
		"late": s.doLate, "withhold": s.doWithhold, "cleaned": s.doCleaned, "counts": s.doCounts, "finish": s.doFinish,
		"expect": s.doExpect, "adopt": s.doAdopt,
	}[d.Cmd]
	if verb == nil {
		t.Fatalf("%s: no verb %q", d.Pos, d.Cmd)
	}
	said, effects := verb(t, d)
	for _, fx := range effects {
		said += describe(fx) + "\n"
	}
	if s.world != nil {
		if err := s.err(); err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
	}
	if said == "" {
		return "nothing\n"
	}
	return said
}

// number reads an argument that may be absent.
func number(t *testing.T, d *datadriven.TestData, name string, absent int) int {
	d.MaybeScanArgs(t, name, &absent)
	return absent
}

func seqs(t *testing.T, d *datadriven.TestData, name string) (ids []page.Seq) {
	for _, arg := range d.CmdArgs {
		if arg.Key == name {
			for i := range arg.Vals {
				var id int
				arg.Scan(t, i, &id)
				ids = append(ids, page.Seq(id))
			}
		}
	}
	return ids
}

func (s *script) new(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	w, err := newWorld(Config{
		PageSize: number(t, d, "page", 4), TotalPages: number(t, d, "pages", 16), MaxModelLen: number(t, d, "len", 32), MaxNumSeqs: number(t, d, "seqs", 4),
		MaxBatchedTokens: number(t, d, "tokens", 16), MaxPrefillChunk: number(t, d, "chunk", 0), MaxQueue: number(t, d, "queue", 8),
		TargetStepNanos: int64(number(t, d, "target", 0)),
	})
	if err != nil {
		return err.Error() + "\n", nil
	}
	s.world = w
	return "ready\n", nil
}

func (s *script) ask(t *testing.T, d *datadriven.TestData) (ask Ask, text int) {
	ask = Ask{Tenant: "a", Seqs: seqs(t, d, "seqs"), PromptLen: number(t, d, "prompt", 4), MaxTokens: number(t, d, "max", 0)}
	d.MaybeScanArgs(t, "tenant", &ask.Tenant)
	if stop := number(t, d, "stop", -1); stop >= 0 {
		ask.StopTokens = []int32{int32(stop)}
	}
	return ask, number(t, d, "text", int(ask.Seqs[0]))
}

func (s *script) doSubmit(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	return "", s.submit(s.ask(t, d))
}

// doExpect has another node compute a prompt, for which pages are reserved.
func (s *script) doExpect(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	before := len(s.imports)
	if r := s.expect(s.ask(t, d)); r != nil {
		return fmt.Sprintf("rejected: %s, %d of %d\n", r.Limit, r.Have, r.Max), nil
	}
	if len(s.imports) == before {
		return "no pages for it\n", nil
	}
	return fmt.Sprintf("expected, %d pages are reserved\n", len(s.imports[before].refs)), nil
}

// doAdopt has the prompt come that was expected first.
func (s *script) doAdopt(*testing.T, *datadriven.TestData) (string, []Effect) { return "", s.adopt(0) }

func (s *script) doCancel(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	return "", s.cancel(page.Seq(number(t, d, "seq", 0)))
}

func (s *script) doPool(*testing.T, *datadriven.TestData) (string, []Effect) { return "", s.deliver() }

func (s *script) doDone(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	failed, token := seqs(t, d, "failed"), number(t, d, "token", 1)
	s.nanos = int64(number(t, d, "nanos", 0))
	return "", s.done(func(it Item) Result {
		for _, id := range failed {
			if it.Seq == id {
				return Result{Failed: true}
			}
		}
		return Result{Token: int32(token)}
	})
}

func (s *script) doFail(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	id := page.Seq(number(t, d, "seq", 0))
	s.seqs[id].pageFailed = true
	return "", s.step(Event{Kind: EvFailed, Seq: id})
}

// doLate delivers a result of a step that is not in flight, or a match that nobody waits for.
func (s *script) doLate(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	if id := number(t, d, "match", 0); id > 0 {
		return "", s.step(Event{Kind: EvMatched, Seq: page.Seq(id), Refs: []page.Ref{{Page: 99}}})
	}
	return "", s.step(Event{Kind: EvStepDone, Step: uint64(number(t, d, "step", 0))})
}

func (s *script) doWithhold(t *testing.T, d *datadriven.TestData) (string, []Effect) {
	s.pool.withhold(number(t, d, "pages", 0))
	return fmt.Sprintf("%d pages are left\n", s.pool.count(free)+s.pool.count(cached)), nil
}

func (s *script) doCleaned(*testing.T, *datadriven.TestData) (string, []Effect) {
	s.pool.cleaned(s.pool.count(limbo))
	return "", s.deliver()
}

func (s *script) doCounts(*testing.T, *datadriven.TestData) (string, []Effect) {
	c := s.s.Counts()
	return fmt.Sprintf("%d running, %d waiting, %d items in flight; pages: %d in hand (%d reserved), %d in tables\n",
		c.Running, c.Waiting, c.InFlight, c.PagesInHand, c.PagesReserved, c.PagesInTables), nil
}

func (s *script) doFinish(*testing.T, *datadriven.TestData) (string, []Effect) {
	s.finish(func(Item) Result { return Result{Token: 1} })
	said := ""
	for _, id := range s.ids {
		said += fmt.Sprintf("%d: %s after %d tokens\n", id, ends[s.seqs[id].end], len(s.seqs[id].tokens))
	}
	return said, nil
}

var ends = map[End]string{EndStop: "stop", EndLength: "length", EndCancelled: "cancelled", EndFailed: "failed"}

func describe(fx Effect) string {
	switch fx.Kind {
	case FxAdmitted:
		return fmt.Sprintf("admitted %v, at most %d tokens", fx.Admitted.Ask().Seqs, fx.Admitted.MaxTokens())
	case FxRejected:
		r := fx.Rejection
		return fmt.Sprintf("rejected %d: %s, field %q, %d of %d: %s", fx.Seq, r.Limit, r.Field, r.Have, r.Max, r.Why)
	case FxMatch:
		return fmt.Sprintf("match %d: %d tokens", fx.Seq, fx.Known)
	case FxAllot:
		return fmt.Sprintf("allot %d", fx.N)
	case FxReturn:
		return fmt.Sprintf("return %d", len(fx.Refs))
	case FxRun:
		said := fmt.Sprintf("run step %d:", fx.Batch.Step)
		for _, it := range fx.Batch.Items {
			said += fmt.Sprintf("  %d [%d,%d)%s %d@", it.Seq, it.Start, it.Start+it.Count, map[bool]string{true: "*"}[it.Sample], len(it.Pages))
		}
		return said + fmt.Sprintf("  spends %d", len(fx.Batch.Spends))
	case FxRelease:
		return fmt.Sprintf("release %d", fx.Seq)
	case FxToken:
		return fmt.Sprintf("token %d: %d", fx.Seq, fx.Token)
	case FxEnd:
		return fmt.Sprintf("end %d: %s", fx.Seq, ends[fx.End])
	case FxPreempted:
		return fmt.Sprintf("preempted %d", fx.Seq)
	}
	return fmt.Sprintf("effect %d", fx.Kind)
}

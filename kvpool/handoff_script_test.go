package kvpool

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// A script of the hand-off has several nodes, p, d and e, and writes a verb behind the node's name: "d.expect". Every message that is sent gets a number, m1, m2, ..., under
// which it can be delivered any number of times, changed if the script says so: the network is what the script makes of it. Attempts are numbers of one gateway.
type cast struct {
	ledgers map[string]*Ledger
	sent    []Message
}

var nodeNames = []string{"", "p", "d", "e"} // by page.Node

// at turns to the node that a command names.
func (s *script) at(t *testing.T, d *datadriven.TestData) (verb string) {
	name, verb, ok := strings.Cut(d.Cmd, ".")
	if !ok {
		return d.Cmd
	}
	s.ledger = s.cast.ledgers[name]
	if verb == "start" {
		cfg := Config{Node: page.Node(nodeNumber(t, d, name)), PageSize: scriptPageSize, PrefixCache: !d.HasArg("no-prefix-cache"), Scrub: d.HasArg("scrub")}
		cfg.Incarnation = 10 * page.Incarnation(cfg.Node)
		if s.ledger != nil { // a new life
			cfg.Incarnation = s.ledger.cfg.Incarnation + 1
		}
		d.ScanArgs(t, "pages", &cfg.Pages)
		d.MaybeScanArgs(t, "quota", &cfg.ExportQuota)
		d.MaybeScanArgs(t, "tombstones", &cfg.MaxTombstones)
		l, err := New(cfg)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		if s.cast.ledgers == nil {
			s.cast.ledgers = map[string]*Ledger{}
		}
		s.cast.ledgers[name], s.ledger = l, l
	}
	if s.ledger == nil {
		d.Fatalf(t, "no such node: %s", name)
	}
	return verb
}

func nodeNumber(t *testing.T, d *datadriven.TestData, name string) int {
	for i, n := range nodeNames {
		if n == name && n != "" {
			return i
		}
	}
	d.Fatalf(t, "a node is p, d or e, not %q", name)
	return 0
}

var handoffVerbs = map[string]handler{
	"start":     (*script).start,
	"connected": (*script).connected,
	"lost":      (*script).lost,
	"fenced":    (*script).fenced,
	"reserve":   (*script).reserve,
	"offer":     (*script).offer,
	"revoke":    (*script).revoke,
	"cancel":    (*script).cancel,
	"tick":      (*script).tick,
	"expect":    (*script).expect,
	"read":      (*script).read,
	"gets":      (*script).gets,
	"may-read":  (*script).mayRead,
}

// verb finds what handles a command.
func verb(name string) (handler, bool) {
	all := maps.Clone(verbs)
	maps.Copy(all, handoffVerbs)
	h, ok := all[name]
	return h, ok
}

// start pages=N [quota=N] [tombstones=N] [scrub] [no-prefix-cache]; again: a new life
func (s *script) start(*testing.T, *datadriven.TestData) string { return "ok" }

// link is the link with a node in its present life, or in the one that life= names.
func (s *script) link(t *testing.T, d *datadriven.TestData, peer string) Link {
	k := Link{Peer: page.Node(nodeNumber(t, d, peer)), Incarnation: s.cast.ledgers[peer].cfg.Incarnation, Epoch: 1}
	var life uint64
	if d.MaybeScanArgs(t, "life", &life); life != 0 {
		k.Incarnation = page.Incarnation(life)
	}
	d.MaybeScanArgs(t, "epoch", &k.Epoch)
	return k
}

// connected NODE [epoch=1] [life=]
func (s *script) connected(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvConnected, Link: s.link(t, d, d.CmdArgs[0].Key)})
}

// lost NODE [epoch=1] [life=]
func (s *script) lost(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvLost, Link: s.link(t, d, d.CmdArgs[0].Key)})
}

// fenced NODE [epoch=1] [life=]
func (s *script) fenced(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvFenced, Link: s.link(t, d, d.CmdArgs[0].Key)})
}

// attempt reads attempt=N [by=p]: of the prefill node's present life, or prefill=
func (s *script) attempt(t *testing.T, d *datadriven.TestData) Attempt {
	a, by := Attempt{Gateway: 0xa}, "p"
	d.ScanArgs(t, "attempt", &a.Number)
	d.MaybeScanArgs(t, "by", &by)
	a.Prefill = s.cast.ledgers[by].cfg.Incarnation
	var life uint64
	if d.MaybeScanArgs(t, "prefill", &life); life != 0 {
		a.Prefill = page.Incarnation(life)
	}
	return a
}

// reserve attempt=N to=NODE seq=S pages=N
func (s *script) reserve(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvReserve, Attempt: s.attempt(t, d), Seq: seq(t, d)}
	var to string
	d.ScanArgs(t, "to", &to)
	d.ScanArgs(t, "pages", &ev.N)
	ev.Link = s.link(t, d, to)
	return s.step(ev)
}

// offer attempt=N PAGE... [last=TOKENS first=TOKEN]
func (s *script) offer(t *testing.T, d *datadriven.TestData) string {
	ev := Event{Kind: EvOffer, Attempt: s.attempt(t, d), Refs: s.refs(t, d)}
	ev.Last = d.MaybeScanArgs(t, "last", &ev.Tokens)
	d.MaybeScanArgs(t, "first", &ev.First)
	return s.step(ev)
}

// revoke attempt=N
func (s *script) revoke(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvRevoke, Attempt: s.attempt(t, d)})
}

// cancel attempt=N
func (s *script) cancel(t *testing.T, d *datadriven.TestData) string {
	return s.step(Event{Kind: EvCancel, Attempt: s.attempt(t, d)})
}

func (s *script) tick(*testing.T, *datadriven.TestData) string { return s.step(Event{Kind: EvTick}) }

// expect attempt=N from=NODE seq=S tenant=T text=LETTERS [to=LIFE]
func (s *script) expect(t *testing.T, d *datadriven.TestData) string {
	var from, tenant, text string
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "tenant", &tenant)
	d.ScanArgs(t, "text", &text)
	to := uint64(s.ledger.cfg.Incarnation)
	d.MaybeScanArgs(t, "to", &to)
	ev := Event{
		Kind: EvExpect, Attempt: s.attempt(t, d), Link: s.link(t, d, from), Seq: seq(t, d), Domain: DomainOf(Key{}, tenant), Tokens: len(text),
		To: page.Incarnation(to),
	}
	c := NewChain(Key{}, tenant, [32]byte{})
	for rest := tokens(text); len(rest) > 0; {
		n := min(scriptPageSize, len(rest))
		c.Add(rest[:n])
		ev.Hashes, rest = append(ev.Hashes, c.Sum()), rest[n:]
	}
	return s.step(ev)
}

// read JOB... [failed | checksum=SUM]
func (s *script) read(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	ev := Event{Kind: EvRead, Checksum: 0xc0de, Failed: d.HasArg("failed")}
	d.MaybeScanArgs(t, "checksum", &ev.Checksum)
	for _, a := range d.CmdArgs {
		if a.Key == "failed" || a.Key == "checksum" {
			continue
		}
		ev.Job = uint64(number(t, d, a.Key))
		if out := s.step(ev); out != "ok" {
			b.WriteString(out)
		}
	}
	if b.Len() == 0 {
		return "ok"
	}
	return b.String()
}

// gets MESSAGE... [over=EPOCH] [FIELD=VALUE]: messages arrive, over the link that they name unless over= says otherwise, with fields changed.
func (s *script) gets(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	for _, a := range d.CmdArgs {
		i, ok := strings.CutPrefix(a.Key, "m")
		if !ok || len(a.Vals) > 0 {
			continue
		}
		at := number(t, d, i)
		if at < 1 || at > len(s.cast.sent) {
			d.Fatalf(t, "%s was never sent", a.Key)
		}
		m := s.cast.sent[at-1]
		m, err := DecodeMessage(AppendMessage(nil, &m)) // a copy, and all that goes over a wire
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		from := s.sender(m.From)
		k := Link{Peer: from, Incarnation: m.From, Epoch: m.Epoch}
		d.MaybeScanArgs(t, "over", &k.Epoch)
		falsify(t, d, &m)
		if out := s.step(Event{Kind: EvMessage, Link: k, Message: m}); out != "ok" {
			b.WriteString(out)
		}
	}
	if b.Len() == 0 {
		return "ok"
	}
	return b.String()
}

// sender tells whose life an incarnation is.
func (s *script) sender(i page.Incarnation) page.Node { return page.Node(i / 10) }

// falsify makes a message of one that was sent which was not.
func falsify(t *testing.T, d *datadriven.TestData, m *Message) {
	d.MaybeScanArgs(t, "total", &m.Total)
	d.MaybeScanArgs(t, "group", &m.Group)
	d.MaybeScanArgs(t, "from", &m.First)
	d.MaybeScanArgs(t, "epoch", &m.Epoch)
	var to, status, number, prefill uint64
	if d.MaybeScanArgs(t, "prefill", &prefill) {
		m.Attempt.Prefill = page.Incarnation(prefill)
	}
	if d.MaybeScanArgs(t, "to", &to) {
		m.To = page.Incarnation(to)
	}
	if d.MaybeScanArgs(t, "status", &status) {
		m.Status = Status(status)
	}
	if d.MaybeScanArgs(t, "number", &number) {
		m.Attempt.Number = number
	}
	if m.Seal != nil {
		d.MaybeScanArgs(t, "groups", &m.Seal.Groups)
		d.MaybeScanArgs(t, "tokens", &m.Seal.Tokens)
	}
	if len(m.Pages) > 0 {
		o := &m.Pages[len(m.Pages)-1]
		d.MaybeScanArgs(t, "fill", &o.Fill)
		var node, generation uint64
		if d.MaybeScanArgs(t, "node", &node) {
			o.Ref.Node = page.Node(node)
		}
		if d.MaybeScanArgs(t, "generation", &generation) {
			o.Ref.Generation = page.Generation(generation)
		}
		if d.HasArg("chain") {
			o.Chain[0]++
		}
	}
}

// may-read attempt=N by=... peer=NODE PAGE
func (s *script) mayRead(t *testing.T, d *datadriven.TestData) string {
	var peer string
	d.ScanArgs(t, "peer", &peer)
	return fmt.Sprint(s.ledger.MayRead(s.link(t, d, peer), s.attempt(t, d), s.refs(t, d)[0]))
}

// describeHandoff tells an effect of the hand-off.
func (s *script) describeHandoff(fx Effect) string {
	end := ""
	switch fx.Status {
	case Refused:
		end = fmt.Sprintf("refused, needs %d, can have %d", fx.Have, fx.Max)
	case Mismatch:
		end = fmt.Sprintf("mismatch at page %d", fx.Page)
	default:
		end = [...]string{"", "done", "cancelled", "", "", "lost"}[fx.Status]
	}
	switch fx.Kind {
	case FxSend:
		m := fx.Message
		if m.Seal != nil {
			seal := *m.Seal
			m.Seal = &seal
		}
		m.Pages = append([]Offer(nil), m.Pages...)
		s.cast.sent = append(s.cast.sent, m)
		return fmt.Sprintf("m%d to %s, epoch %d: %s\n", len(s.cast.sent), nodeNames[fx.Link.Peer], fx.Link.Epoch, describeMessage(&m))
	case FxFence:
		return fmt.Sprintf("fence %s, epoch %d\n", nodeNames[fx.Link.Peer], fx.Link.Epoch)
	case FxRefused:
		return fmt.Sprintf("attempt %d refused for seq %d: %s\n", fx.Attempt.Number, fx.Seq, end)
	case FxExported:
		return fmt.Sprintf("attempt %d exported: %s\n", fx.Attempt.Number, end)
	case FxRead:
		return fmt.Sprintf("read job %d: attempt %d, %s's%s into%s, checksum %x\n", fx.Job, fx.Attempt.Number, nodeNames[fx.Src.Node],
			short([]page.Ref{fx.Src}), short([]page.Ref{fx.Dst}), fx.Checksum)
	case FxStart:
		spare := ""
		if fx.Spare.Generation != 0 {
			spare = ", spare" + short([]page.Ref{fx.Spare})
		}
		return fmt.Sprintf("attempt %d starts seq %d:%s%s, first token %d\n", fx.Attempt.Number, fx.Seq, short(fx.Refs), spare, fx.First)
	case FxImportEnded:
		return fmt.Sprintf("attempt %d ended before seq %d could start: %s\n", fx.Attempt.Number, fx.Seq, end)
	}
	return fmt.Sprintf("effect %d\n", fx.Kind)
}

func describeMessage(m *Message) string {
	switch m.Kind {
	case MsgOffer:
		var b strings.Builder
		fmt.Fprintf(&b, "offer %d, group %d, from page %d of %d:", m.Attempt.Number, m.Group, m.First, m.Total)
		for _, o := range m.Pages {
			fmt.Fprintf(&b, " %d@%d", o.Ref.Page, o.Ref.Generation)
			if o.Fill != scriptPageSize {
				fmt.Fprintf(&b, " (%d tokens)", o.Fill)
			}
		}
		if m.Seal != nil {
			fmt.Fprintf(&b, "; seal: %d groups, %d tokens, first token %d", m.Seal.Groups, m.Seal.Tokens, m.Seal.First)
		}
		return b.String()
	case MsgRelease:
		switch m.Status {
		case Refused:
			return fmt.Sprintf("release %d: refused, needs %d, can have %d", m.Attempt.Number, m.Have, m.Max)
		case Mismatch:
			return fmt.Sprintf("release %d: mismatch at page %d", m.Attempt.Number, m.Page)
		}
		return fmt.Sprintf("release %d: %s", m.Attempt.Number, [...]string{"", "done", "cancelled"}[m.Status])
	}
	return fmt.Sprintf("revoke %d", m.Attempt.Number)
}

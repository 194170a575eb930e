package kvpooltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Script tells a trace of a world in the language of kvpool/testdata, so that it can be put there and stay. What the ledgers answer is left to `go test -rewrite`.
func (w *World) Script(r *Report) string {
	s := &script{cluster: newCluster(w)}
	fmt.Fprintf(&s.b, "# World %q: %v\n", w.Name, r.Broken)
	s.replay(r.Trace)
	fmt.Fprintf(&s.b, "# Broken: %v\n", r.Broken)
	return s.b.String()
}

// script replays a trace on ledgers of its own, which know the numbers of jobs and messages.
type script struct {
	*cluster
	b       strings.Builder
	ledgers []*kvpool.Ledger
	lives   []uint8
	jobs    []map[ref][]uint64
	sent    []string // encoded messages, by number
	state   *state   // before the action under way
}

func (s *script) replay(trace []Action) {
	s.ledgers, s.lives, s.jobs = make([]*kvpool.Ledger, len(s.Nodes)), make([]uint8, len(s.Nodes)), make([]map[ref][]uint64, len(s.Nodes))
	for i := range s.Nodes {
		s.begin(i)
	}
	t := &turn{cluster: s.cluster, tell: s.tell}
	t.s = s.initial()
	s.state = &t.s
	for i := range t.s.conns { // what initial did without telling
		for e := range 2 {
			if k := &t.s.conns[i]; k.epoch != 0 {
				s.tell(int(k.nodes[e]), kvpool.Event{Kind: kvpool.EvConnected, Link: s.link(k, e)}, ref{})
			}
		}
	}
	for _, a := range trace {
		fmt.Fprintf(&s.b, "# %s\n\n", s.words(a, &t.s))
		t.do(a)
	}
}

// words tells an action.
func (s *script) words(a Action, at *state) string {
	attempt := func(i uint8) string { return fmt.Sprintf("attempt %d", i+1) }
	switch a.Kind {
	case actDeliver:
		return "A message arrives."
	case actSample, actLand, actFail:
		r := at.reads[a.A]
		return fmt.Sprintf("%s: %s, into page %d.", actionName(a.Kind), attempt(r.attempt), r.dst.page)
	case actHello, actLose, actFence:
		return fmt.Sprintf("%s: at %s.", actionName(a.Kind), nodeLetter(int(at.conns[a.A].nodes[a.B])))
	case actConnect, actCrash, actOther, actOtherEnds, actScrub, actVerify, actTick, actFlip:
		return fmt.Sprintf("%s: at %s.", actionName(a.Kind), nodeLetter(int(a.A)))
	}
	return fmt.Sprintf("%s: %s.", actionName(a.Kind), attempt(a.A))
}

func (s *script) begin(i int) {
	n := s.Nodes[i]
	s.lives[i]++
	cfg := config(i, s.lives[i], n)
	l, err := kvpool.New(cfg)
	if err != nil {
		panic(err)
	}
	s.ledgers[i], s.jobs[i] = l, map[ref][]uint64{}
	line := fmt.Sprintf("%s.start pages=%d", nodeLetter(i), n.Pages)
	if n.ExportQuota != 0 {
		line += fmt.Sprintf(" quota=%d", n.ExportQuota)
	}
	if n.MaxTombstones != 0 {
		line += fmt.Sprintf(" tombstones=%d", n.MaxTombstones)
	}
	if n.Scrub {
		line += " scrub"
	}
	if !n.PrefixCache {
		line += " no-prefix-cache"
	}
	s.say(line)
}

func nodeLetter(i int) string { return []string{"p", "d", "e"}[i] }

func (s *script) say(line string) { fmt.Fprintf(&s.b, "%s\n----\n\n", line) }

// tell takes an event of the search's turn: prints it, and gives it to the script's own ledger.
func (s *script) tell(i int, ev kvpool.Event, of ref) {
	if ev.Kind == 0 {
		s.begin(i)
		return
	}
	if jobs := s.jobs[i][of]; len(jobs) > 0 {
		ev.Job = jobs[len(jobs)-1]
		s.jobs[i][of] = jobs[:len(jobs)-1]
	}
	if line := s.line(i, &ev); line != "" {
		s.say(nodeLetter(i) + "." + line)
	}
	for _, fx := range s.ledgers[i].Step(ev, nil) {
		switch fx.Kind {
		case kvpool.FxSend:
			s.sent = append(s.sent, string(kvpool.AppendMessage(nil, &fx.Message)))
		case kvpool.FxRead:
			s.jobs[i][small(fx.Dst)] = []uint64{fx.Job}
		case kvpool.FxVerify:
			r := small(fx.Checks[0].Ref)
			s.jobs[i][r] = append(slices.Clone(s.jobs[i][r]), fx.Job)
		}
	}
}

// line is the command for an event.
func (s *script) line(i int, ev *kvpool.Event) string {
	k := int(ev.Attempt.Number) - 1
	switch ev.Kind {
	case kvpool.EvAllot:
		return fmt.Sprintf("allot %d", ev.N)
	case kvpool.EvReturn:
		if len(ev.Refs) == 0 {
			return ""
		}
		return "return" + names(ev.Refs)
	case kvpool.EvSpend:
		var refs []page.Ref
		for _, x := range ev.Spends {
			refs = append(refs, x.Ref)
		}
		return fmt.Sprintf("spend seq=%d%s", ev.Spends[0].Seq, names(refs))
	case kvpool.EvSeal:
		return s.seal(ev)
	case kvpool.EvMatch:
		r := s.Requests[ev.Seq-prefillSeq(0)]
		return fmt.Sprintf("match seq=%d tenant=%s text=%s", ev.Seq, r.Tenant, r.Text[:len(ev.Hashes)*pageSize])
	case kvpool.EvVerified:
		if len(ev.Bad) > 0 {
			return fmt.Sprintf("verified job=%d bad=(%s)", ev.Job, strings.Trim(strings.ReplaceAll(fmt.Sprint(ev.Bad), " ", ", "), "[]"))
		}
		return fmt.Sprintf("verified job=%d", ev.Job)
	case kvpool.EvRelease:
		return fmt.Sprintf("release seq=%d", ev.Seq)
	case kvpool.EvScrubbed:
		return "scrubbed" + names([]page.Ref{ev.Ref})
	case kvpool.EvConnected:
		return "connected " + s.peer(ev.Link)
	case kvpool.EvLost:
		return "lost " + s.peer(ev.Link)
	case kvpool.EvFenced:
		return "fenced " + s.peer(ev.Link)
	case kvpool.EvCancel:
		return "cancel " + s.attempt(ev)
	case kvpool.EvRevoke:
		return "revoke " + s.attempt(ev)
	case kvpool.EvTick:
		return "tick"
	case kvpool.EvReserve:
		return fmt.Sprintf("reserve %s to=%s seq=%d pages=%d", s.attempt(ev), s.peer(ev.Link), ev.Seq, ev.N)
	case kvpool.EvExpect:
		r := s.Requests[k]
		return fmt.Sprintf("expect %s from=%s seq=%d tenant=%s text=%s to=%d", s.attempt(ev), s.peer(ev.Link), ev.Seq, r.Tenant, r.Text, ev.To)
	case kvpool.EvOffer:
		line := "offer " + s.attempt(ev) + names(ev.Refs)
		if ev.Last {
			line += fmt.Sprintf(" last=%d first=%d", ev.Tokens, ev.First)
		}
		return line
	case kvpool.EvRead:
		return s.read(i, ev)
	case kvpool.EvMessage:
		return s.gets(ev)
	}
	panic(fmt.Sprintf("kvpooltest: no command for %v", ev.Kind))
}

func (s *script) seal(ev *kvpool.Event) string {
	x := ev.Seals[0]
	r := s.Requests[x.Seq-prefillSeq(0)]
	from := slices.Index(s.hashes[x.Seq-prefillSeq(0)], x.Chain)
	var refs []page.Ref
	for _, x := range ev.Seals {
		refs = append(refs, x.Ref)
	}
	return fmt.Sprintf("seal seq=%d tenant=%s text=%s from=%d%s", x.Seq, r.Tenant, r.Text, from, names(refs))
}

// read: in a script all bytes that are right have one checksum.
func (s *script) read(i int, ev *kvpool.Event) string {
	l := s.cluster.ledger(s.state, i)
	right := false
	for _, jobs := range l.jobs {
		for _, j := range jobs {
			right = right || j.number == ev.Job && j.checksum == ev.Checksum
		}
	}
	switch {
	case ev.Failed:
		return fmt.Sprintf("read %d failed", ev.Job)
	case right:
		return fmt.Sprintf("read %d", ev.Job)
	}
	return fmt.Sprintf("read %d checksum=%d", ev.Job, ev.Checksum)
}

func (s *script) gets(ev *kvpool.Event) string {
	m := &ev.Message
	line := fmt.Sprintf("gets m%d", len(s.sent)-slices.Index(reversed(s.sent), string(kvpool.AppendMessage(nil, m))))
	if ev.Link.Epoch != m.Epoch {
		line += fmt.Sprintf(" over=%d", ev.Link.Epoch)
	}
	if ev.Link.Incarnation != m.From {
		line += fmt.Sprintf(" life=%d", ev.Link.Incarnation)
	}
	return line
}

func reversed(x []string) []string {
	x = slices.Clone(x)
	slices.Reverse(x)
	return x
}

func (s *script) peer(l kvpool.Link) string {
	p := nodeLetter(int(l.Peer) - 1)
	if l.Epoch != 1 {
		p += fmt.Sprintf(" epoch=%d", l.Epoch)
	}
	if l.Incarnation != incarnation(int(l.Peer)-1, s.lives[l.Peer-1]) {
		p += fmt.Sprintf(" life=%d", l.Incarnation)
	}
	return p
}

func (s *script) attempt(ev *kvpool.Event) string {
	r := s.Requests[ev.Attempt.Number-1]
	line := fmt.Sprintf("attempt=%d", ev.Attempt.Number)
	if now := incarnation(r.Prefill, s.lives[r.Prefill]); ev.Attempt.Prefill != now {
		return line + fmt.Sprintf(" prefill=%d", ev.Attempt.Prefill)
	}
	if r.Prefill != 0 {
		line += " by=" + nodeLetter(r.Prefill)
	}
	return line
}

func names(refs []page.Ref) string {
	var b strings.Builder
	for _, r := range refs {
		fmt.Fprintf(&b, " %d@%d", r.Page, r.Generation)
	}
	return b.String()
}

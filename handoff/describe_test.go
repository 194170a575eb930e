package handoff

import (
	"fmt"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// What scripts print: messages and effects, one a line.

func describeMessage(m *Message) string {
	name := map[MessageKind]string{
		MsgSubmit: "submit", MsgPoll: "poll", MsgCancel: "cancel", MsgAccepted: "accepted", MsgRejected: "rejected", MsgPrefilled: "prefilled", MsgTokens: "tokens",
		MsgEnd: "end", MsgClosed: "closed", MsgStatus: "status",
	}[m.Kind]
	if m.Kind == MsgStatus {
		s := m.Status
		var words []string
		for i, has := range []bool{s.Ready, s.Draining, s.Prefill, s.Decode} {
			if has {
				words = append(words, []string{"ready", "draining", "prefill", "decode"}[i])
			}
		}
		return fmt.Sprintf("status %d: %s, %d of %d pages free, %d wait, %d run, links %v", s.Serial, strings.Join(words, " "), s.Load.FreePages, s.Load.TotalPages, s.Load.Waiting, s.Load.Running, s.Links)
	}
	text := fmt.Sprintf("%s %v", name, m.Attempt)
	switch m.Kind {
	case MsgSubmit:
		text += fmt.Sprintf(" %v request %s, %d tokens, max %d, %d ms left", m.Role, m.Spec.Request, len(m.Spec.Prompt), m.Spec.MaxTokens, m.Remaining/1e6)
		if m.Role != Local {
			text += fmt.Sprintf(", over %v", m.Link)
		}
	case MsgPoll:
		text += fmt.Sprintf(" from token %d", m.Have)
	case MsgRejected:
		text += fmt.Sprintf(" %s: %s", m.Rejection.Limit, m.Rejection.Why)
	case MsgPrefilled, MsgTokens:
		text += fmt.Sprintf(" from %d: %v", m.First, m.Tokens)
		if m.Details != nil {
			text += fmt.Sprintf(" %s", m.Details)
		}
	case MsgEnd:
		text += fmt.Sprintf(" %v", m.Reason)
		if m.Reason.Whole() {
			text += fmt.Sprintf(", %d tokens", m.Total)
		}
		if m.Why != "" {
			text += ": " + m.Why
		}
	}
	return text
}

func pagesOf(refs []page.Ref) string {
	var text []string
	for _, r := range refs {
		text = append(text, fmt.Sprint(r.Page))
	}
	return strings.Join(text, " ")
}

func describePool(ev *kvpool.Event) string {
	switch ev.Kind {
	case kvpool.EvReserve:
		return fmt.Sprintf("reserve %d pages of sequence %d for %v over %v", ev.N, ev.Seq, ev.Attempt, ev.Link)
	case kvpool.EvOffer:
		text := fmt.Sprintf("offer %v pages %s", ev.Attempt, pagesOf(ev.Refs))
		if ev.Last {
			text += fmt.Sprintf(", which end %d tokens; the answer begins with %d", ev.Tokens, ev.First)
		}
		return text
	case kvpool.EvExpect:
		return fmt.Sprintf("expect %v: %d tokens in %d pages for sequence %d, over %v", ev.Attempt, ev.Tokens, len(ev.Hashes), ev.Seq, ev.Link)
	case kvpool.EvCancel:
		return fmt.Sprintf("cancel %v", ev.Attempt)
	case kvpool.EvRelease:
		return fmt.Sprintf("release sequence %d", ev.Seq)
	case kvpool.EvReturn:
		return "return pages " + pagesOf(ev.Refs)
	case kvpool.EvTick:
		return "repeat"
	}
	return fmt.Sprintf("event %d", ev.Kind)
}

func describeNodeEffect(fx *NodeEffect) string {
	switch fx.Kind {
	case FxReport:
		return fmt.Sprintf("to gateway %x: %s", fx.GatewayLife, describeMessage(&fx.Message))
	case FxPool:
		return "to the pool: " + describePool(&fx.Pool)
	case FxAdmit:
		return fmt.Sprintf("admit? sequence %d: %d tokens, max %d, %d expected", fx.Seq, len(fx.Spec.Prompt), fx.MaxTokens, fx.Waiting)
	case FxAsk:
		text := fmt.Sprintf("ask for sequence %d: %d tokens, max %d, %d expected", fx.Seq, len(fx.Spec.Prompt), fx.MaxTokens, fx.Waiting)
		if fx.Export {
			text += ", to export"
		}
		return text
	case FxAdopt:
		text := fmt.Sprintf("adopt sequence %d: pages %s, then token %d and %d more", fx.Seq, pagesOf(fx.Refs), fx.Token, fx.MaxTokens)
		if fx.Spare != (page.Ref{}) {
			text += fmt.Sprintf(", spare page %d", fx.Spare.Page)
		}
		return text
	case FxStop:
		return fmt.Sprintf("stop sequence %d", fx.Seq)
	case FxFreed:
		return "pages are freed"
	case FxSuspect:
		return fmt.Sprintf("suspect %v", fx.Link)
	}
	return fmt.Sprintf("effect %d", fx.Kind)
}

func describeGatewayEffect(fx *GatewayEffect) string {
	switch fx.Kind {
	case FxTell:
		return fmt.Sprintf("to node %d: %s", fx.Node, describeMessage(&fx.Message))
	case FxTokens:
		text := fmt.Sprintf("client %d gets %v from %d on", fx.Request, fx.Tokens, fx.First)
		if fx.Details != nil {
			text += fmt.Sprintf(" %s", fx.Details)
		}
		return text
	case FxOutcome:
		text := fmt.Sprintf("client %d: %v after %d attempts", fx.Request, fx.Outcome, fx.Tries)
		if fx.Rejection != nil {
			return text + ": " + fx.Rejection.Why
		}
		text += ": " + fx.Reason.String()
		if fx.Why != "" {
			text += ", " + fx.Why
		}
		return text
	}
	return fmt.Sprintf("effect %d", fx.Kind)
}

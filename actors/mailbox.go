package actors

import "github.com/asynkron/protoactor-go/actor"

// refusable is a message that its sender can do without: over the mailbox's bound it is refused at once instead of queued.
type refusable interface{ refuse() }

// bounded is an unbounded mailbox that refuses refusable messages once limit user messages wait. Messages between the actors of a node are not
// refusable: the protocols bound them (one batch, one allotment, one match outstanding). Nor are cancels, of which a stream sends few, or the questions of metrics.
//
// The library's own bounded mailbox blocks its sender and deadlocks on itself.
type bounded struct {
	actor.Mailbox
	limit int
}

func boundedMailbox(limit int) actor.MailboxProducer {
	inner := actor.Unbounded()
	return func() actor.Mailbox { return &bounded{Mailbox: inner(), limit: limit} }
}

func (b *bounded) PostUserMessage(m any) {
	if r, ok := m.(refusable); ok && b.UserMessageCount() >= b.limit {
		r.refuse()
		return
	}
	b.Mailbox.PostUserMessage(m)
}

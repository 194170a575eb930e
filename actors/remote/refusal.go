package remote

import (
	"fmt"

	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

// cause is why a connection is refused or ended. Its names are the values of a label in metrics.
type cause uint8

const (
	causeClosed cause = iota + 1
	causeIncompatible
	causeEpoch
	causeConnected
	causeInUse
	causeReplaced
	causeMalformed
	causeSilent
	causeTooMany
	causeBroken   // not said to the peer, who cannot be told
	causePeer     // the peer's own wish
	causeTLS      // no TLS handshake
	causePreface  // not HTTP/2
	numberOfCause // none: their number
)

// causes are the names of causes, and how a peer is told of them.
var causes = [numberOfCause]struct {
	name string
	pb   pb.Cause
}{
	causeClosed:       {"closed", pb.Cause_CAUSE_CLOSED},
	causeIncompatible: {"incompatible", pb.Cause_CAUSE_INCOMPATIBLE},
	causeEpoch:        {"epoch", pb.Cause_CAUSE_EPOCH},
	causeConnected:    {"connected", pb.Cause_CAUSE_CONNECTED},
	causeInUse:        {"node_in_use", pb.Cause_CAUSE_NODE_IN_USE},
	causeReplaced:     {"replaced", pb.Cause_CAUSE_REPLACED},
	causeMalformed:    {"malformed", pb.Cause_CAUSE_MALFORMED},
	causeSilent:       {"silent", pb.Cause_CAUSE_SILENT},
	causeTooMany:      {"too_many", pb.Cause_CAUSE_TOO_MANY},
	causeBroken:       {"broken", pb.Cause_CAUSE_UNSPECIFIED},
	causePeer:         {"peer", pb.Cause_CAUSE_UNSPECIFIED},
	causeTLS:          {"tls", pb.Cause_CAUSE_UNSPECIFIED},
	causePreface:      {"not_http2", pb.Cause_CAUSE_UNSPECIFIED},
}

func (c cause) String() string { return causes[c].name }

// decodeCause: a peer's word for why it refused. A cause that this version does not know is causePeer.
func decodeCause(p pb.Cause) cause {
	for c := causeClosed; c < numberOfCause; c++ {
		if causes[c].pb == p && p != pb.Cause_CAUSE_UNSPECIFIED {
			return c
		}
	}
	return causePeer
}

// refusal is the end of a connection before it began.
type refusal struct {
	cause     cause
	text      string
	lastEpoch uint64
	byPeer    bool // the peer refused
}

func (r *refusal) Error() string {
	who := ""
	if r.byPeer {
		who = " by the peer"
	}
	return fmt.Sprintf("remote: connection refused%s (%v): %s", who, r.cause, r.text)
}

// asError is a refusal of nobody's: the stream broke.
func (r *refusal) asError() error { return fmt.Errorf("remote: %s", r.text) }

// Is: errors.Is(err, ErrRefused).
func (r *refusal) Is(target error) bool { return target == ErrRefused }

func (r *refusal) goodbye() *pb.Frame { return goodbye(r.cause, r.text, r.lastEpoch) }

func goodbye(c cause, text string, lastEpoch uint64) *pb.Frame {
	return &pb.Frame{Frame: &pb.Frame_Goodbye{Goodbye: &pb.Goodbye{Cause: causes[c].pb, Text: cut(text), LastEpoch: lastEpoch}}}
}

// maxGoodbye bounds the text of a goodbye, also a peer's.
const maxGoodbye = 4096

func cut(s string) string {
	if len(s) > maxGoodbye {
		s = s[:maxGoodbye]
	}
	return toText(s)
}

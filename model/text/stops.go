// Package text is the text side of an answer's stream: it finds stop strings across the borders of tokens.
package text

import (
	"strings"
	"unicode/utf8"

	"github.com/kvasir-engine/kvasir/request"
)

const maxStopBytes = 1024 // of each

// ValidateStops says whether stops can be used as Request.Stop: nil if so, else a rejection of the field "stop".
func ValidateStops(stops []string) *request.Rejection {
	if len(stops) > request.MaxStops {
		return request.Invalid("stop", "stop has %d strings; at most %d are allowed.", len(stops), request.MaxStops)
	}
	for i, stop := range stops {
		switch {
		case stop == "":
			return request.Invalid("stop", "stop string %d is empty.", i+1)
		case len(stop) > maxStopBytes:
			return request.Invalid("stop", "stop string %d has %d bytes; at most %d are allowed.", i+1, len(stop), maxStopBytes)
		case !utf8.ValidString(stop):
			return request.Invalid("stop", "stop string %d is not valid UTF-8.", i+1)
		}
	}
	return nil
}

// Stops ends a text, which comes in pieces, before the first occurrence of any of some strings.
//
// First means: the earliest start. Of strings that start at the same place it does not matter which one is met, since the text ends
// there in any case; so the shortest decides, as soon as it is complete. But a string that is complete must wait while an earlier
// start may yet become another: with the stops "abcd" and "bc", the text "abc" ends before a if d comes next, and else before b.
//
// What comes out is the same however the text is cut into pieces. Held back is only the longest end of the text that may be
// the beginning of a stop string. It is not safe for concurrent use.
type Stops struct {
	stops  []string
	starts [256]bool // bytes that a stop string starts with
	held   string    // came in, but may be the beginning of a stop string
	hit    bool
}

// NewStops returns a matcher at the beginning of a text.
//
// Preconditions:
//   - ValidateStops(stops) is nil
func NewStops(stops []string) *Stops {
	s := &Stops{stops: stops}
	for _, stop := range stops {
		s.starts[stop[0]] = true
	}
	return s
}

// Push takes the next piece of the text and returns what can be told of the text now, and whether it ended before a stop string. Once it
// ended, nothing comes out any more.
func (s *Stops) Push(text string) (out string, hit bool) {
	if s.hit {
		return "", true
	}
	text = s.held + text
	for at := range len(text) {
		complete, possible := s.match(text[at:])
		if complete {
			return s.end(text[:at])
		}
		if possible {
			s.held = text[at:]
			return text[:at], false
		}
	}
	s.held = ""
	return text, false
}

// Flush tells that the text is over. It returns what was held back, and whether that held a stop string after all: one that waited
// for an earlier start (see [Stops]).
func (s *Stops) Flush() (out string, hit bool) {
	for at := range len(s.held) {
		if complete, _ := s.match(s.held[at:]); complete {
			return s.end(s.held[:at])
		}
	}
	out, s.held = s.held, ""
	return out, s.hit
}

func (s *Stops) end(out string) (string, bool) {
	s.held, s.hit = "", true
	return out, true
}

// match says whether rest starts with a stop string, and whether rest as a whole may be the beginning of one.
func (s *Stops) match(rest string) (complete, possible bool) {
	if !s.starts[rest[0]] {
		return false, false
	}
	for _, stop := range s.stops {
		if strings.HasPrefix(rest, stop) {
			return true, false
		}
		possible = possible || strings.HasPrefix(stop, rest)
	}
	return false, possible
}

package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEventBytes bounds one event. Servers send some hundred bytes a token.
const maxEventBytes = 4 << 20

// events reads a stream of server-sent events, of which OpenAI's API uses the data alone.
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)
type events struct {
	r    *bufio.Reader
	data []byte
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the data of the next event that has some, valid until the next call. At the end of the stream it returns io.EOF; an event that the end cuts off is dropped, as
// the specification has it.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	some := false
	for {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return e.data, nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if some {
			e.data = append(e.data, '\n')
		}
		some = true
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
		if len(e.data) > maxEventBytes {
			return nil, fmt.Errorf("an event of more than %d bytes", maxEventBytes)
		}
	}
}

// line reads a line without its end, which is LF or CR LF. (The specification allows a CR alone too, which no server of this API sends.)
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		part, err := e.r.ReadSlice('\n')
		if err == nil && line == nil {
			return trimEnd(part), nil // the usual case: nothing is copied
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return trimEnd(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxEventBytes:
			return nil, fmt.Errorf("a line of more than %d bytes", maxEventBytes)
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

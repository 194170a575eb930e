package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// requestIDHeader carries the id that the answer's body carries too; clients of OpenAI's API report it.
const requestIDHeader = "X-Request-Id"

// statusClientGone is for a client that left before its answer began; the number is nginx's.
const statusClientGone = 499

// response is an http.ResponseWriter that remembers its status and gives each write a deadline of its own; http.Server takes the last one away with the
// end of a request.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	status  int // 0: not begun
}

func newResponse(w http.ResponseWriter, timeout time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
}

// Unwrap serves http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) begun() bool { return w.status != 0 }

// code is the status for logs and metrics.
func (w *response) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends p in pieces, so that a long answer over a slow line is not held to the time of one write.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	const piece = 32 << 10
	written := 0
	for {
		if err := w.extend(); err != nil {
			return written, err
		}
		n, err := w.ResponseWriter.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// flush sends what was written.
func (w *response) flush() error {
	if err := w.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("server: flush: %w", err)
	}
	return nil
}

// extend gives the next write its time. Writers without deadlines (in tests, behind other handlers) go without.
func (w *response) extend() error {
	err := w.control.SetWriteDeadline(time.Now().Add(w.timeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("server: write deadline: %w", err)
	}
	return nil
}

// json answers with v.
func (w *response) json(status int, v any) error {
	body, err := marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err = w.Write(body)
	return err
}

// fail answers with e.
func (w *response) fail(e *apiError) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.retryAfter.Seconds())))
	}
	// A failed write means that the client is gone: there is nobody left to tell.
	_ = w.json(e.status, e.body())
}

// marshal is JSON in one line, with <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("server: encode an answer: %w", err)
	}
	return b.Bytes(), nil
}

package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// fakeServer answers over pipes, so that fake time passes while it and its clients wait for each other.
type fakeServer struct {
	conns  chan net.Conn
	closed chan struct{}
	http   http.Server
	answer func(w http.ResponseWriter, r *http.Request, asked body)

	mu       sync.Mutex
	asked    []body
	at       []time.Time // when
	now, top int         // requests under way, and the most there were
}

// startFake serves until the end of the test's bubble. The client it returns reaches no other server.
func startFake(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, asked body)) (*fakeServer, *http.Client) {
	s := &fakeServer{conns: make(chan net.Conn), closed: make(chan struct{}), answer: answer}
	s.http.Handler = http.HandlerFunc(s.serve)
	transport := &http.Transport{MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case s.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.http.Serve(s)
	}()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.http.Close()
		<-served
	})
	return s, &http.Client{Transport: transport}
}

// Accept, Close and Addr implement net.Listener.
func (s *fakeServer) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *fakeServer) Close() error {
	close(s.closed)
	return nil
}

func (s *fakeServer) Addr() net.Addr { return &net.TCPAddr{} }

func (s *fakeServer) serve(w http.ResponseWriter, r *http.Request) {
	var asked body
	if r.Body != nil {
		json.NewDecoder(r.Body).Decode(&asked)
	}
	s.mu.Lock()
	s.asked, s.at = append(s.asked, asked), append(s.at, time.Now())
	s.now++
	s.top = max(s.top, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	s.answer(w, r, asked)
}

// most is how many requests were under way at once.
func (s *fakeServer) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top
}

// event writes one event and has it sent.
func event(w http.ResponseWriter, format string, args ...any) {
	io.WriteString(w, "data: "+fmt.Sprintf(format, args...)+"\n\n")
	w.(http.Flusher).Flush()
}

// token writes the event of a token.
func token(w http.ResponseWriter, text string) {
	event(w, `{"choices":[{"index":0,"text":%q,"finish_reason":null}]}`, text)
}

// end writes the end of an answer, with the server's counts.
func end(w http.ResponseWriter, prompt, completion int) {
	event(w, `{"choices":[{"index":0,"text":"","finish_reason":"length"}]}`)
	event(w, `{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":3}}}`, prompt, completion)
	event(w, "[DONE]")
}

// paced answers n tokens: the first after a time, the others after gaps.
func paced(first, gap time.Duration, n int) func(http.ResponseWriter, *http.Request, body) {
	return func(w http.ResponseWriter, r *http.Request, _ body) {
		wait := first
		for range n {
			select {
			case <-time.After(wait):
			case <-r.Context().Done(): // the client is gone
				return
			}
			wait = gap
			token(w, "x")
		}
		end(w, 10, n)
	}
}

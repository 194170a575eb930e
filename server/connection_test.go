package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kvasir-engine/kvasir/request"
)

// A client that leaves in mid-stream, or before the first token, cancels its request.
func TestDisconnectCancels(t *testing.T) {
	waits := func(stopped chan<- struct{}) *fake {
		return &fake{script: func(ctx context.Context, _ request.Request, yield func(request.Token, error) bool) {
			defer close(stopped)
			<-ctx.Done()
			yield(request.Token{}, ctx.Err())
		}}
	}
	for _, c := range []struct {
		name   string
		engine func(chan<- struct{}) *fake
		body   string
		code   string
	}{
		{"in a stream", endless, `{"stream":true,"prompt":"a"}`, "200"},
		{"before the first token of a stream", waits, `{"stream":true,"prompt":"a"}`, "499"},
		{"before a whole answer", waits, `{"prompt":"a"}`, "499"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stopped := make(chan struct{})
			registry := prometheus.NewRegistry()
			s := newServer(c.engine(stopped), Config{Registerer: registry})
			done := make(chan struct{})
			srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(done)
				s.ServeHTTP(w, r)
			}))
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(c.body), c.body)
			if c.code == "200" {
				if _, err := bufio.NewReader(conn).ReadString('}'); err != nil {
					t.Fatal(err)
				}
			} else {
				for len(s.engine.(*fake).requests()) == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			conn.Close()
			<-stopped
			<-done
			if got := testutil.ToFloat64(s.metrics.requests.WithLabelValues("/v1/completions", c.code)); got != 1 {
				t.Errorf("not counted as %s", c.code)
			}
		})
	}
}

// A client that stays but reads nothing is let go: the engine is not held up for ever.
func TestClientThatDoesNotRead(t *testing.T) {
	stopped := make(chan struct{})
	s := newServer(endless(stopped), Config{})
	s.writeTimeout = 50 * time.Millisecond
	srv := listen(t, s)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"stream":true,"prompt":"a"}`
	fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	<-stopped
}

// The time of a client is counted from write to write: a stream may pause, and go on, for longer than any one write may take.
func TestStreamLongerThanAWriteMayTake(t *testing.T) {
	const timeout = 300 * time.Millisecond
	e := &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) {
		if yield(request.Token{Text: "a"}, nil) {
			time.Sleep(2 * timeout)
			yield(request.Token{Text: "b", Finish: request.FinishStop, Usage: &request.Usage{}}, nil)
		}
	}}
	s := newServer(e, Config{})
	s.writeTimeout = timeout
	srv := listen(t, s)
	answer, err := srv.Client().Post(srv.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"x","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body := readAll(t, answer.Body); !strings.Contains(body, `"text":"b"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Error(body)
	}
}

// A body that does not arrive whole is no request.
func TestHalfABody(t *testing.T) {
	e := says("a")
	srv := listen(t, newServer(e, Config{}))
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n%s", `{"prompt":"x"}`)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, conn); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, `"code":"incomplete_body"`) {
		t.Errorf("%q", got)
	}
	if len(e.requests()) != 0 {
		t.Error("the engine was asked nevertheless")
	}
}

// A body that never comes holds no connection for ever, whoever sends it and whatever the answer is.
func TestBodyThatNeverComes(t *testing.T) {
	keys, err := ParseKeys(strings.NewReader("k"), "keys")
	if err != nil {
		t.Fatal(err)
	}
	const length, chunked = "Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"
	for _, c := range []struct {
		name, line, header, body string
		status                   string
	}{
		{"without a key", "POST /v1/completions", length, "", "401"},
		{"to nowhere", "POST /x", length, "", "404"},
		{"with a wrong method", "DELETE /v1/completions", "Authorization: Bearer k\r\n" + length, "", "405"},
		{"from a page's form", "POST /v1/completions", "Authorization: Bearer k\r\nOrigin: null\r\nContent-Type: application/x-www-form-urlencoded\r\n" + length, "", "415"},
		{"to a probe", "GET /health", length, "", "200"},
		{"to a probe, in chunks", "GET /health", chunked, "", "200"},
		{"awaited", "POST /v1/completions", "Authorization: Bearer k\r\n" + length, `{"prompt":`, "400"},
		{"too long already", "POST /v1/completions", "Authorization: Bearer k\r\n" + chunked, "40\r\n" + strings.Repeat(" ", 64) + "\r\n", "413"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(says("a"), Config{APIKeys: keys, MaxBodyBytes: 32})
			s.readTimeout = 50 * time.Millisecond
			srv := httptest.NewServer(s)
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close() // after conn: it waits for connections
			defer conn.Close()
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n%s", c.line, c.header, c.body)
			conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // else a failure of this test would hang
			got, err := io.ReadAll(conn)                           // to the end of the connection
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+c.status+" ") {
				t.Errorf("%q, %v; want status %s and the end", got, err, c.status)
			}
		})
	}
}

// A body that came leaves no deadline behind: neither for the answer, nor for the connection's next request.
func TestReadDeadlineEndsWithTheBody(t *testing.T) {
	e := &fake{script: func(ctx context.Context, _ request.Request, yield func(request.Token, error) bool) {
		time.Sleep(150 * time.Millisecond)
		if err := ctx.Err(); err != nil {
			yield(request.Token{}, err)
			return
		}
		yield(request.Token{Text: "a", Finish: request.FinishStop, Usage: &request.Usage{}}, nil)
	}}
	s := newServer(e, Config{})
	s.readTimeout = 50 * time.Millisecond
	srv := listen(t, s)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for _, path := range []string{"/v1/completions", "/x", "/v1/completions"} { // the second is refused unread
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n%s", path, `{"prompt":"x"}`)
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if body := readAll(t, answer.Body); (answer.StatusCode == 200) != (path != "/x") {
			t.Errorf("%s: %s %s", path, answer.Status, body)
		}
		answer.Body.Close()
		time.Sleep(2 * s.readTimeout)
	}
}

// A connection that is kept has no deadline left over from the answer before.
func TestDeadlinesDoNotOutliveTheirRequest(t *testing.T) {
	s := newServer(says("a"), Config{})
	s.writeTimeout = 50 * time.Millisecond
	srv := listen(t, s)
	for range 3 {
		r, err := http.NewRequest("POST", srv.URL+"/v1/completions", strings.NewReader(`{"prompt":"a"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		answer, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if body := readAll(t, answer.Body); !strings.Contains(body, `"text":"a"`) {
			t.Error(body)
		}
		answer.Body.Close()
		time.Sleep(2 * s.writeTimeout)
	}
}

// Each token is on the wire when the engine has told it, not when the buffer is full.
func TestEachTokenIsSentAtOnce(t *testing.T) {
	next := make(chan struct{})
	e := &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) {
		for _, text := range []string{"a", "b"} {
			if !yield(request.Token{Text: text}, nil) {
				return
			}
			<-next
		}
		yield(request.Token{ID: -1, Finish: request.FinishStop, Usage: &request.Usage{}}, nil)
	}}
	srv := listen(t, newServer(e, Config{}))
	answer, err := srv.Client().Post(srv.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"x","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for _, want := range []string{`"text":"a"`, `"text":"b"`, `"finish_reason":"stop"`, "[DONE]"} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("%q, want a line with %s", lines.Text(), want)
		}
		if strings.Contains(want, "text") {
			next <- struct{}{}
		}
		lines.Scan() // the empty line
	}
}

// HTTP/1.0 knows no chunks: the stream ends with the connection.
func TestHTTP10(t *testing.T) {
	srv := listen(t, newServer(says("a"), Config{}))
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"stream":true,"prompt":"x"}`
	fmt.Fprintf(conn, "POST /v1/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	got := readAll(t, conn)
	if !strings.HasPrefix(got, "HTTP/1.0 200") || !strings.HasSuffix(got, "\r\n\r\ndata: {"+plainBody(got)+"data: [DONE]\n\n") {
		t.Errorf("%q", got)
	}
}

// plainBody is what lies between the first "data: {" and the last "data: [DONE]".
func plainBody(s string) string {
	_, s, _ = strings.Cut(s, "data: {")
	s, _, _ = strings.Cut(s, "data: [DONE]")
	return s
}

func TestHEAD(t *testing.T) {
	srv := listen(t, newServer(says("a"), Config{}))
	for path, want := range map[string]int{"/health": 200, "/v1/models": 200, "/v1/completions": 405, "/x": 404} {
		answer, err := srv.Client().Head(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if body := readAll(t, answer.Body); answer.StatusCode != want || body != "" {
			t.Errorf("%s: %d %q", path, answer.StatusCode, body)
		}
		answer.Body.Close()
	}
}

// A long answer arrives whole, in however many pieces it was written.
func TestLongAnswer(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000)
	srv := listen(t, newServer(says(long), Config{}))
	answer, err := srv.Client().Post(srv.URL+"/v1/completions", "", strings.NewReader(`{"prompt":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if !strings.Contains(readAll(t, answer.Body), `"text":"`+long+`"`) {
		t.Error("the text is not in the answer")
	}
}

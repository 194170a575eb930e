//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir"
)

// question is one that a client asks, about a secret of its own.
type question struct {
	tenant, secret, prompt string
	most                   int // tokens of the answer; 0: until the model ends its turn
	want                   string
}

const tenants = 8

func tenant(i int) string { return fmt.Sprint("tenant-", i%tenants) }

// questions are made in advance, with what a single node answers.
type questions struct {
	short, long []question // a long one has a prompt that takes a while to read and an answer that takes a while to write
	secrets     []string
}

// newQuestions asks a single node all of them.
func newQuestions(t *testing.T, short, long int) *questions {
	t.Helper()
	e, err := kvasir.Open(t.Context(), kvasir.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	all := &questions{}
	const filler = "The mouse lived in the garden. "
	for i := range short + long {
		q := question{tenant: tenant(i), secret: fmt.Sprintf("%c%c-%04d", 'A'+i%26, 'A'+i*7%26, 1000+i*137%9000)}
		q.prompt = "Remember that the door code is " + q.secret + ". What is the door code?"
		if i >= short {
			q.prompt = "Remember that the door code is " + q.secret + ". " + strings.Repeat(filler, 36+i%12) + "What is the door code?"
			q.most = 60
		}
		for tok, err := range e.Generate(t.Context(), kvasir.Request{Tenant: q.tenant, Messages: []kvasir.Message{{Role: "user", Content: q.prompt}}, MaxTokens: q.most, IgnoreEOS: q.most > 0}) {
			if err != nil {
				t.Fatal(err)
			}
			q.want += tok.Text
		}
		all.secrets = append(all.secrets, q.secret)
		if i < short {
			all.short = append(all.short, q)
		} else {
			all.long = append(all.long, q)
		}
	}
	return all
}

// outcome is how a request ended.
type outcome string

const (
	whole  outcome = "whole"
	failed outcome = "failed" // with an error that was told
	gone   outcome = "gone"   // the client has gone away
	broken outcome = "broken" // the connection with the gateway has broken, visibly
)

// tally counts outcomes.
type tally struct {
	mu         sync.Mutex
	by         map[outcome]int
	remembered int // whole answers with the secret
	errors     map[string]int
}

func newTally() *tally { return &tally{by: map[outcome]int{}, errors: map[string]int{}} }

func (y *tally) add(o outcome, remembered bool, why string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.by[o]++
	if remembered {
		y.remembered++
	}
	if why != "" {
		y.errors[why]++
	}
}

func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return fmt.Sprintf("%d whole (%d with the secret), %d failed, %d gone, %d broken; errors %v", y.by[whole], y.remembered, y.by[failed], y.by[gone], y.by[broken], y.errors)
}

// judge holds what a client has heard against what must never happen.
type judge struct {
	t     *testing.T
	all   *questions
	tally *tally
}

// verdict takes one outcome of a question.
func (j *judge) verdict(q *question, o outcome, text, why string) {
	for _, s := range j.all.secrets {
		if s != q.secret && !strings.Contains(q.want, s) && strings.Contains(text+why, s) {
			j.t.Errorf("a client was told the secret %s of another: %q %q, asked %q", s, text, why, q.prompt)
		}
	}
	switch {
	case o == whole && text != q.want:
		j.t.Errorf("asked %.80q: %q; a single node says %q", q.prompt, text, q.want)
	case !strings.HasPrefix(q.want, text):
		j.t.Errorf("asked %.80q: heard %q, which is not how %q begins", q.prompt, text, q.want)
	}
	j.tally.add(o, o == whole && strings.Contains(text, q.secret), why)
}

// event is a chunk of a stream, or a whole answer, or an error.
type event struct {
	Error *struct {
		Message, Code string
	}
	Choices []struct {
		Delta, Message struct{ Content string }
		FinishReason   *string `json:"finish_reason"`
	}
}

// ask asks and listens, until there is an outcome, and has it judged. Each chunk is told to heard. The end of ctx is the client's going away.
func (j *judge) ask(ctx context.Context, url string, q *question, stream bool, heard func()) outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*patience, errNoOutcome)
	defer cancel()
	body := map[string]any{"messages": []map[string]string{{"role": "user", "content": q.prompt}}, "temperature": 0, "stream": stream}
	if q.most > 0 {
		body["max_tokens"], body["ignore_eos"] = q.most, true
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", bytes.NewReader(b))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer key-of-"+q.tenant)
	resp, err := client.Do(req)
	if err != nil {
		return j.broke(ctx, q, "", err)
	}
	defer resp.Body.Close()
	var text, why string
	var o outcome
	if stream && resp.StatusCode == 200 {
		text, why, o, err = j.listen(resp.Body, heard)
	} else {
		text, why, o, err = j.whole(resp)
	}
	if err != nil {
		return j.broke(ctx, q, text, err)
	}
	j.verdict(q, o, text, why)
	return o
}

var errNoOutcome = fmt.Errorf("no outcome")

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// broke takes a connection that has ended before its time: by the client itself, or because the gateway is no more.
func (j *judge) broke(ctx context.Context, q *question, text string, err error) outcome {
	switch cause := context.Cause(ctx); {
	case cause == errNoOutcome:
		j.t.Errorf("asked %.80q: no outcome after %v", q.prompt, 2*patience)
		return broken
	case cause != nil:
		j.verdict(q, gone, text, "")
		return gone
	}
	j.verdict(q, broken, text, "")
	return broken
}

// whole reads an answer that does not come as a stream, or an error.
func (j *judge) whole(resp *http.Response) (text, why string, o outcome, err error) {
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", "", broken, err
	}
	var e event
	if err := json.Unmarshal(b, &e); err != nil {
		j.t.Errorf("status %d: %v: %q", resp.StatusCode, err, b)
	}
	switch {
	case resp.StatusCode == 200 && len(e.Choices) == 1 && e.Choices[0].FinishReason != nil && e.Error == nil:
		return e.Choices[0].Message.Content, "", whole, nil
	case resp.StatusCode != 200 && e.Error != nil && e.Error.Message != "" && len(e.Choices) == 0:
		j.excusable(resp.StatusCode, e.Error.Code)
		return "", fmt.Sprintf("%d %s", resp.StatusCode, e.Error.Code), failed, nil
	}
	j.t.Errorf("status %d with %q", resp.StatusCode, b)
	return "", "", failed, nil
}

// excusable: errors that say that something is not there now. A page that did not hold what it must is none.
func (j *judge) excusable(status int, code string) {
	switch status {
	case 429, 503, 504:
	default:
		j.t.Errorf("status %d, code %s", status, code)
	}
}

// listen reads a stream to its end.
func (j *judge) listen(r io.Reader, heard func()) (text, why string, o outcome, err error) {
	finished, done := 0, false
	in := bufio.NewScanner(r)
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		if done || why != "" {
			j.t.Errorf("%q after the end of a stream", data)
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			j.t.Errorf("%v: %q", err, data)
			continue
		}
		if e.Error != nil {
			why = "in the stream: " + e.Error.Code
			if e.Error.Code == "page_check_failed" || e.Error.Code == "engine_failed" {
				j.t.Errorf("in a stream: %+v", *e.Error)
			}
			continue
		}
		for _, c := range e.Choices {
			text += c.Delta.Content
			if c.FinishReason != nil {
				finished++
			}
		}
		heard()
	}
	switch err := in.Err(); {
	case err != nil && !done && why == "":
		return text, "", broken, err
	case why != "":
		return text, why, failed, nil
	case done && finished == 1:
		return text, "", whole, nil
	}
	j.t.Errorf("a stream that just stops, with %d finish reasons, after %q", finished, text)
	return text, "", failed, nil
}

// load is clients that ask for as long as it lasts. It can be held up.
type load struct {
	judge *judge
	url   string
	stop  context.CancelFunc
	all   sync.WaitGroup
	gate  sync.RWMutex // a client holds it to ask
}

// newLoad begins with clients that wait to be let go.
func newLoad(j *judge, url string, clients int) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{judge: j, url: url, stop: stop}
	l.gate.Lock()
	for i := range clients {
		l.all.Go(func() {
			for n := i; ctx.Err() == nil; n += clients {
				l.gate.RLock()
				if ctx.Err() == nil {
					j.ask(context.Background(), url, &j.all.short[n%len(j.all.short)], n/clients%2 == 0, func() {})
				}
				l.gate.RUnlock()
				time.Sleep(2 * time.Millisecond) // a gateway that refuses at once is not asked in a circle
			}
		})
	}
	return l
}

// pause returns when all that was asked has had its outcome; nothing more is asked.
func (l *load) pause()  { l.gate.Lock() }
func (l *load) resume() { l.gate.Unlock() }

// end ends a paused load.
func (l *load) end() {
	l.stop()
	l.resume()
	l.all.Wait()
}

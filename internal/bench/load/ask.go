package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// driver sends requests.
type driver struct {
	cfg    Config
	client *http.Client
	url    string
}

func newDriver(cfg Config, most int) *driver {
	d := &driver{cfg: cfg, client: cfg.Client, url: baseURL(cfg.URL) + "/v1/completions"}
	if cfg.Chat {
		d.url = baseURL(cfg.URL) + "/v1/chat/completions"
	}
	if d.client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost, transport.MaxIdleConns = most, most // a new connection for each request would be timed too
		d.client = &http.Client{Transport: transport}
	}
	return d
}

func baseURL(url string) string { return strings.TrimSuffix(strings.TrimRight(url, "/"), "/v1") }

// body is a request in the words of OpenAI's API.
type body struct {
	Model         string        `json:"model,omitempty"`
	Prompt        string        `json:"prompt,omitempty"`
	Messages      []Message     `json:"messages,omitempty"`
	MaxTokens     int           `json:"max_tokens"`
	Temperature   float64       `json:"temperature"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
	IgnoreEOS     bool          `json:"ignore_eos,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

func (d *driver) body(p Prompt) body {
	b := body{Model: d.cfg.Model, Prompt: p.Text, Messages: p.Messages, MaxTokens: p.MaxTokens, Stream: true, StreamOptions: streamOptions{true}, IgnoreEOS: d.cfg.IgnoreEOS}
	switch {
	case d.cfg.Chat && b.Messages == nil:
		b.Prompt, b.Messages = "", []Message{{Role: "user", Content: p.Text}}
	case !d.cfg.Chat && b.Messages != nil:
		b.Prompt, b.Messages = joined(b.Messages), nil
	}
	return b
}

// joined is a conversation as a text, for servers that are asked for completions.
func joined(messages []Message) string {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.Content
	}
	return strings.Join(texts, "\n\n")
}

// ask sends one request and reads its answer. Due is when it should be sent.
func (d *driver) ask(ctx context.Context, due time.Time, p Prompt) (a Answer) {
	if d.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, due.Add(d.cfg.Timeout))
		defer cancel()
	}
	a.Kind, a.Err = d.stream(ctx, due, p, &a)
	if a.Err != nil && a.Kind == "" {
		a.Kind = kind(ctx, a.Err)
	}
	if a.Whole == 0 {
		a.Whole = time.Since(due)
	}
	return a
}

// stream fills in a. An error has a kind of its own, or is left to be named by kind.
func (d *driver) stream(ctx context.Context, due time.Time, p Prompt, a *Answer) (why string, err error) {
	text, err := json.Marshal(d.body(p))
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if d.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+d.cfg.APIKey)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Sprintf("HTTP %d", resp.StatusCode), refusal(resp)
	}
	e := newEvents(resp.Body)
	if why, err = a.read(e, due); err == nil {
		a.Whole = time.Since(due)
		io.CopyN(io.Discard, e.r, drainBytes) // so that the connection can be used again; if it cannot, the next request makes one
	}
	return why, err
}

// drainBytes is how much may follow the end of an answer.
const drainBytes = 4 << 10

// refusal is what an answer with another status than 200 says.
func refusal(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return err
	}
	var e chunk
	if json.Unmarshal(text, &e) == nil && e.Error != nil {
		return errors.New(e.Error.Message)
	}
	return fmt.Errorf("%s: %.200s", resp.Status, text)
}

// chunk is what is read of an event, of either form.
type chunk struct {
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
		} `json:"delta"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// read reads a stream to its end: "data: [DONE]", or the end of the connection after a finish_reason.
func (a *Answer) read(e *events, due time.Time) (why string, err error) {
	finished := false
	var last time.Time
	for {
		data, err := e.next()
		now := time.Now()
		switch {
		case errors.Is(err, io.EOF) && !finished:
			return "cut off", errors.New("the stream ended without an end of the answer")
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		case err != nil, string(data) == "[DONE]": // some servers leave [DONE] out
			if a.Chunks == 0 {
				return "no text", errors.New("the answer has no text, so that no token could be timed")
			}
			return "", nil
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return "not JSON", fmt.Errorf("an event is no JSON: %.200s", data)
		}
		if c.Error != nil {
			return "error in stream", errors.New(c.Error.Message)
		}
		text, end := a.take(&c)
		finished = finished || end
		if !text {
			continue
		}
		if a.Chunks == 0 {
			a.First = now.Sub(due)
		} else {
			a.Gaps = append(a.Gaps, now.Sub(last))
		}
		a.Chunks++
		last = now
	}
}

// take reads an event: whether it has text, and whether it ends the answer.
func (a *Answer) take(c *chunk) (text, end bool) {
	if u := c.Usage; u != nil {
		a.PromptTokens, a.CompletionTokens, a.CachedTokens = u.Prompt, u.Completion, u.Details.Cached
	}
	for _, choice := range c.Choices {
		text = text || choice.Text != "" || choice.Delta.Content != "" || choice.Delta.Reasoning != ""
		end = end || choice.Finish != nil && *choice.Finish != ""
	}
	return text, end
}

// kind names an error of the connection.
func kind(ctx context.Context, err error) string {
	var network net.Error
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case errors.Is(ctx.Err(), context.Canceled):
		return "interrupted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection lost"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "other"
}

// Models asks a server which models it serves.
func Models(ctx context.Context, cfg Config) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL(cfg.URL)+"/v1/models", nil)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	resp, err := newDriver(cfg, 1).client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET /v1/models: HTTP %d: %w", resp.StatusCode, refusal(resp))
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxEventBytes)).Decode(&list); err != nil {
		return nil, fmt.Errorf("GET /v1/models: %w", err)
	}
	names := make([]string, len(list.Data))
	for i, m := range list.Data {
		names[i] = m.ID
	}
	return names, nil
}

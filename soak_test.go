package kvasir

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soakTime is how long the clients go on: KVASIR_SOAK (a duration such as 1m), or a few seconds.
func soakTime(t *testing.T) time.Duration {
	v := os.Getenv("KVASIR_SOAK")
	if v == "" {
		return 4 * time.Second
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatalf("KVASIR_SOAK is %q, want a duration such as 1m: %v", v, err)
	}
	return d
}

// A canary is a secret of one client, and what a node with nothing else to do answers about it.
type canary struct {
	tenant, secret, prompt, answer string
}

// 64 clients of four tenants stream answers over HTTP, each about a secret of its own; many go away in the middle. Every stream ends exactly once, every answer that is
// heard to the end is the one that the question gets alone, no client ever sees the secret of another, and afterwards all pages are free or in the prefix index.
func TestManyClientsWithCancels(t *testing.T) {
	const clients = 64
	keys := filepath.Join(t.TempDir(), "keys")
	var lines strings.Builder
	for i := range 4 {
		fmt.Fprintf(&lines, "key-%d tenant-%d\n", i, i)
	}
	if err := os.WriteFile(keys, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e, s := serve(t, Config{MaxNumSeqs: 32, MaxModelLen: 512, MaxTotalTokens: 1024}, keys) // a small pool: sequences are preempted, pages evicted
	canaries := make([]canary, clients)
	for i := range canaries {
		secret := fmt.Sprintf("%c%c-%04d", 'A'+i%26, 'A'+i*7%26, 1000+i*137)
		canaries[i] = canary{tenant: fmt.Sprint("tenant-", i%4), secret: secret,
			prompt: fmt.Sprintf("Remember that the door code is %s. What is the door code?", secret)}
		for tok, err := range e.Generate(t.Context(), Request{Tenant: canaries[i].tenant, Messages: []Message{{Role: "user", Content: canaries[i].prompt}}}) {
			if err != nil {
				t.Fatal(err)
			}
			canaries[i].answer += tok.Text
		}
	}
	var whole, cancelled, remembered atomic.Int64
	until := time.Now().Add(soakTime(t))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for time.Now().Before(until) && !t.Failed() {
				text, ended := stream(t, client, s.URL, fmt.Sprint("key-", i%4), canaries[i].prompt, r)
				for j, c := range canaries {
					if j != i && strings.Contains(text, c.secret) {
						t.Errorf("client %d was told the secret of client %d: %q", i, j, text)
					}
				}
				switch {
				case !ended:
					cancelled.Add(1)
					if !strings.HasPrefix(canaries[i].answer, text) {
						t.Errorf("client %d heard %q, which does not begin %q", i, text, canaries[i].answer)
					}
				case text != canaries[i].answer:
					t.Errorf("client %d heard %q, alone it is %q", i, text, canaries[i].answer)
				default:
					whole.Add(1)
					if strings.Contains(text, canaries[i].secret) {
						remembered.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	checkHome(t, e)
	t.Logf("%d streams heard to the end (%d with the secret), %d given up, %v preemptions",
		whole.Load(), remembered.Load(), cancelled.Load(), counter(t, e, "kvasir_num_preemptions_total"))
	if whole.Load() < clients/2 || cancelled.Load() < clients/4 || remembered.Load() == 0 {
		t.Error("too few streams for the test to show anything")
	}
}

// stream asks and listens; every other time it goes away at a random moment, or after a few chunks. ended says that the stream came to its one end: a finish reason, then [DONE].
func stream(t *testing.T, client *http.Client, url, key, prompt string, r *rand.Rand) (text string, ended bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	leaveAfter := -1 // chunks
	switch r.IntN(4) {
	case 0: // maybe before the first token
		timer := time.AfterFunc(time.Duration(r.IntN(20_000))*time.Microsecond, cancel)
		defer timer.Stop()
	case 1:
		leaveAfter = r.IntN(12)
	}
	body, _ := json.Marshal(map[string]any{"messages": []map[string]string{{"role": "user", "content": prompt}}, "temperature": 0, "stream": true})
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		t.Error(err)
		return "", false
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return "", false
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
		return "", false
	}
	finished, done := 0, 0
	for chunks, sc := 0, bufio.NewScanner(resp.Body); sc.Scan(); {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		switch {
		case !ok:
		case done > 0:
			t.Errorf("%q after the end", data)
		case data == "[DONE]":
			done++
		case chunks == leaveAfter:
			cancel()
			return text, false
		default:
			var chunk struct {
				Error   any
				Choices []struct {
					Delta        struct{ Content string }
					FinishReason *string `json:"finish_reason"`
				}
			}
			if err := json.Unmarshal([]byte(data), &chunk); err != nil || chunk.Error != nil || len(chunk.Choices) != 1 {
				t.Errorf("%v: %s", err, data)
				continue
			}
			chunks++
			text += chunk.Choices[0].Delta.Content
			if chunk.Choices[0].FinishReason != nil {
				finished++
			}
		}
	}
	if done > 0 && finished != 1 {
		t.Errorf("a stream with %d finish reasons", finished)
	}
	if done == 0 && ctx.Err() == nil {
		t.Errorf("the stream broke off after %q", text)
	}
	return text, done > 0
}

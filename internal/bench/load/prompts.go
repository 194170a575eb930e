package load

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// words are short and common: most vocabularies have a token for each, with the space before it.
var words = strings.Fields("time people way day man thing woman life child world school state family student group country problem hand part place case week company " +
	"system program question work government number night point home water room mother area money story fact month lot right study book eye job word business issue side kind " +
	"head house service friend father power hour game line end member law car city community name")

// Synthetic makes n prompts of about tokens tokens each, which hardly begin alike.
func Synthetic(n, tokens, maxTokens int, seed uint64) []Prompt {
	random := rand.New(rand.NewPCG(seed, 1))
	prompts := make([]Prompt, n)
	for i := range prompts {
		text := make([]string, tokens)
		for j := range text {
			text[j] = words[random.IntN(len(words))]
		}
		prompts[i] = Prompt{Text: strings.Join(text, " "), MaxTokens: maxTokens}
	}
	return prompts
}

// maxLineBytes bounds a line of a data set.
const maxLineBytes = 16 << 20

// ReadDataset reads one prompt a line, as JSON: {"prompt": "..."} or {"messages": [{"role": "user", "content": "..."}]}, and max_tokens if it is to differ from maxTokens. Other
// fields do not count. Errors name the line.
func ReadDataset(r io.Reader, maxTokens int) ([]Prompt, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineBytes)
	var prompts []Prompt
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		p, err := readPrompt(lines.Bytes(), maxTokens)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		prompts = append(prompts, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("after %d prompts: %w", len(prompts), err)
	}
	if len(prompts) == 0 {
		return nil, fmt.Errorf("there is no prompt; each line must be like {\"prompt\": \"...\"}")
	}
	return prompts, nil
}

func readPrompt(line []byte, maxTokens int) (Prompt, error) {
	fields := struct {
		Prompt    string    `json:"prompt"`
		Messages  []Message `json:"messages"`
		MaxTokens int       `json:"max_tokens"`
	}{MaxTokens: maxTokens}
	if err := json.Unmarshal(line, &fields); err != nil {
		return Prompt{}, fmt.Errorf("must be a JSON object like {\"prompt\": \"...\"}: %w", err)
	}
	switch {
	case (fields.Prompt == "") == (len(fields.Messages) == 0):
		return Prompt{}, fmt.Errorf("must have either prompt, a text, or messages")
	case fields.MaxTokens < 1:
		return Prompt{}, fmt.Errorf("max_tokens is %d; it must be at least 1", fields.MaxTokens)
	}
	return Prompt{Text: fields.Prompt, Messages: fields.Messages, MaxTokens: fields.MaxTokens}, nil
}

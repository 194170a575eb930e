package server

import "github.com/kvasir-engine/kvasir/request"

// usage is OpenAI's usage object.
type usage struct {
	PromptTokens     int           `json:"prompt_tokens"`
	CompletionTokens int           `json:"completion_tokens"`
	TotalTokens      int           `json:"total_tokens"`
	PromptDetails    promptDetails `json:"prompt_tokens_details"`
}

type promptDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

// counter adds up the usage of choices. The n choices of a prompt share it, so it counts once; as cached counts what each of them found.
type counter struct {
	n          int
	prompts    map[int]promptCount // by number of the prompt
	completion int
}

type promptCount struct{ tokens, cached int }

func (c *counter) add(t *request.Token) {
	if t.Usage == nil {
		return
	}
	if c.prompts == nil {
		c.prompts = map[int]promptCount{}
	}
	i := t.Choice / c.n
	cached := t.Usage.CachedTokens
	if seen, ok := c.prompts[i]; ok {
		cached = min(cached, seen.cached)
	}
	c.prompts[i] = promptCount{t.Usage.PromptTokens, cached}
	c.completion += t.Usage.CompletionTokens
}

func (c *counter) usage() *usage {
	u := &usage{CompletionTokens: c.completion}
	for _, p := range c.prompts {
		u.PromptTokens += p.tokens
		u.PromptDetails.CachedTokens += p.cached
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

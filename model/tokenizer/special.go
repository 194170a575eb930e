package tokenizer

import (
	"slices"

	"github.com/kvasir-engine/kvasir/model/gguf"
)

// endTokens are the tokens that end an answer wherever a vocabulary has them, since many files name only one of theirs.
// The list is that of llama.cpp, which also takes the fill-in-the-middle tokens that come after the middle.
func endTokens() []string {
	return []string{
		"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", // Llama 3
		"<|im_end|>",             // ChatML, Qwen
		"<|endoftext|>",          // GPT-2, Qwen
		"<|end|>",                // Phi 3
		"<|return|>", "<|call|>", // gpt-oss
		"<|flush|>", "<|calls|>", // Solar
		"<end_of_turn>", "<eos>", "<turn|>", // Gemma
		"</s>",
		"<EOT>", "_<EOT>", // CodeLlama
		"[EOT]", "[EOS]", // Kimi
		"<end_of_utterance>",                      // SmolDocling
		"<\uff5cend\u2581of\u2581sentence\uff5c>", // DeepSeek
		"[e~[", // MiniMax
		"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]",
		"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>",
		"<|file_sep|>",
	}
}

// readSpecials finds the tokens with a part to play. It may turn tokens into control tokens, so it comes before all that asks for kinds.
func (t *Tokenizer) readSpecials(f *gguf.File, merges []string) {
	t.bos = t.tokenID(f, "tokenizer.ggml.bos_token_id")
	t.eos = t.tokenID(f, "tokenizer.ggml.eos_token_id")
	t.addBOS = t.pre.bos
	if add, ok := f.Bool("tokenizer.ggml.add_bos_token"); ok {
		t.addBOS = add
	}
	if t.addBOS && t.bos < 0 {
		t.addBOS = false
		t.warn("the file wants BOS before every prompt but names none (tokenizer.ggml.bos_token_id)")
	}
	t.findEnds(f, merges)

	var list []special
	long := 0
	for id, token := range t.tokens {
		switch k := t.kinds[id]; {
		case k != kindControl && k != kindUnknown && k != kindUser, token == "":
		case len(token) > maxSpecialBytes:
			long++
		default:
			list = append(list, special{token, int32(id), k == kindUser})
		}
	}
	t.specials = newSpecials(list)
	if long > 0 {
		t.warn("%d of the control and user-defined tokens are longer than %d bytes and are not recognised in text", long, maxSpecialBytes)
	}
}

// tokenID is the value of a key that names a token; -1 if there is none.
func (t *Tokenizer) tokenID(f *gguf.File, key string) int32 {
	id, ok := f.Uint(key)
	if !ok {
		return -1
	}
	if id >= uint64(len(t.tokens)) {
		t.warn("%s is %d, outside the vocabulary of %d tokens, and is left out", key, id, len(t.tokens))
		return -1
	}
	return int32(id)
}

// findEnds collects the tokens that end an answer, and makes them control tokens: files often call them something else.
//
// A token that the merges make is ordinary text and stays it ("</s>" in Qwen 2, which is HTML there), unless the file itself names it as an end.
func (t *Tokenizer) findEnds(f *gguf.File, merges []string) {
	ends := map[int32]bool{}
	for _, key := range []string{
		"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id",
		"tokenizer.ggml.fim_pad_token_id", "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id",
	} {
		if id := t.tokenID(f, key); id >= 0 {
			ends[id] = true
		}
	}
	for _, token := range endTokens() {
		if id, ok := t.ids[token]; ok && (t.kinds[id] != kindNormal || !merged(token, merges)) {
			ends[id] = true
		}
	}
	has := func(token string) bool { id, ok := t.ids[token]; return ok && ends[id] }
	// Where an answer has parts, <|end|> ends a part and another token the answer (gpt-oss, Solar).
	if has("<|return|>") && has("<|call|>") || has("<|flush|>") && has("<|calls|>") {
		if id, ok := t.ids["<|end|>"]; ok {
			delete(ends, id)
		}
	}
	for id := range ends {
		t.kinds[id] = kindControl
		t.ends = append(t.ends, id)
	}
	slices.Sort(t.ends)
}

// merged says whether any of the merges makes the token.
func merged(token string, merges []string) bool {
	return slices.ContainsFunc(merges, func(line string) bool {
		if len(line) != len(token)+1 {
			return false
		}
		left, right, ok := parts(line)
		return ok && token[:len(left)] == left && token[len(left):] == right
	})
}

// BOS is the beginning-of-sequence token, if the vocabulary has one.
func (t *Tokenizer) BOS() (id int32, ok bool) { return t.bos, t.bos >= 0 }

// EOS is the end-of-sequence token, if the vocabulary has one. Answers also end with others: see IsEnd.
func (t *Tokenizer) EOS() (id int32, ok bool) { return t.eos, t.eos >= 0 }

// IsEnd says whether a token ends an answer: the file's end-of-sequence, end-of-turn and end-of-message tokens, and those that
// are known to do so in any vocabulary.
func (t *Tokenizer) IsEnd(id int32) bool {
	_, found := slices.BinarySearch(t.ends, id)
	return found
}

// Ends are the tokens that end an answer, in ascending order.
func (t *Tokenizer) Ends() []int32 { return slices.Clone(t.ends) }

package tokenizer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/model/gguf"
)

const vocabularies = "../../../shared/models/tokenizers/" // third party, not always there

// open makes the tokenizer of a model file.
func open(t testing.TB, path string) *Tokenizer {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tokenizer, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	if w := tokenizer.Warnings(); w != nil {
		t.Errorf("%s: warnings %q", path, w)
	}
	return tokenizer
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// llama.cpp's own test texts, with the ids that it computes for well-known vocabularies.
func TestWellKnownVocabularies(t *testing.T) {
	for _, name := range []string{"llama-bpe", "qwen2", "deepseek-llm", "gpt-2"} {
		t.Run(name, func(t *testing.T) {
			path := vocabularies + "ggml-vocab-" + name + ".gguf"
			in, err := os.ReadFile(path + ".inp")
			if os.IsNotExist(err) {
				t.Skip("the vocabulary is not there")
			}
			out, err2 := os.ReadFile(path + ".out")
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			tokenizer := open(t, path)
			texts := strings.Split(string(in), "\n__ggml_vocab_test__\n")
			lines := strings.Split(string(out), "\n")
			if len(texts) != 47 || len(lines) < 47 {
				t.Fatalf("%d texts, %d lines of ids", len(texts), len(lines))
			}
			for i, text := range texts {
				got := tokenizer.Encode(text, false, false)
				if want := ids(t, lines[i]); !slices.Equal(got, want) {
					t.Errorf("%q:\n got %v\nwant %v", text, got, want)
				}
				if back := tokenizer.Decode(got); back != text {
					t.Errorf("%q decodes to %q", text, back)
				}
			}
		})
	}
}

func ids(t *testing.T, line string) []int32 {
	list := []int32{}
	for _, field := range strings.Fields(line) {
		id, err := strconv.ParseInt(field, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, int32(id))
	}
	return list
}

func TestWellKnownEnds(t *testing.T) {
	for name, want := range map[string]string{
		"llama-bpe":    "[<|end_of_text|> <|eot_id|>]",
		"qwen2":        "[<|endoftext|> <|im_end|>]", // not </s>, which is HTML here
		"deepseek-llm": "[<\uff5cend\u2581of\u2581sentence\uff5c>]",
		"gpt-2":        "[<|endoftext|>]",
	} {
		path := vocabularies + "ggml-vocab-" + name + ".gguf"
		if _, err := os.Stat(path); err != nil {
			t.Skip("the vocabulary is not there")
		}
		tokenizer := open(t, path)
		var ends []string
		for _, id := range tokenizer.Ends() {
			ends = append(ends, tokenizer.Token(id))
		}
		if got := fmt.Sprint(ends); got != want {
			t.Errorf("%s: answers end with %s, want %s", name, got, want)
		}
	}
}

// The golden models carry texts with the ids of llama.cpp. Their texts come out alike with every pre-tokenizer that these models name.
func TestGoldenTexts(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	for _, path := range files {
		var golden struct {
			Tokenize []struct {
				Text string
				IDs  []int32
			}
		}
		readJSON(t, path, &golden)
		if len(golden.Tokenize) == 0 {
			t.Errorf("%s has no texts", path)
		}
		tokenizer := open(t, strings.TrimSuffix(path, ".json")+".gguf")
		for _, name := range []string{"llama-bpe", "qwen2", "gpt-2", "deepseek-llm", "deepseek-v3", "glm4", "gpt-4o"} {
			tokenizer.pre, _ = preTokenizer(name)
			for _, c := range golden.Tokenize {
				if got := tokenizer.Encode(c.Text, false, false); !slices.Equal(got, c.IDs) {
					t.Errorf("%s as %s: %q:\n got %v\nwant %v", path, name, c.Text, got, c.IDs)
				}
			}
		}
	}
}

// The built-in model's prompts are rendered conversations with control tokens written out.
func TestBuiltInModel(t *testing.T) {
	tokenizer := open(t, "../builtin/kvasir-mini-q8_0.gguf")
	var golden struct {
		Answers []struct {
			User      string
			PromptIDs []int32 `json:"prompt_ids"`
			Answer    string
			AnswerIDs []int32 `json:"answer_ids"`
			Ended     bool    // or cut off
		}
	}
	readJSON(t, "../testdata/kvasir-mini-q8_0.answers.json", &golden)
	if len(golden.Answers) == 0 {
		t.Fatal("no answers")
	}
	for _, c := range golden.Answers {
		prompt := "<|im_start|>user\n" + c.User + "<|im_end|>\n<|im_start|>assistant\n"
		if got := tokenizer.Encode(prompt, true, true); !slices.Equal(got, c.PromptIDs) {
			t.Errorf("%q:\n got %v\nwant %v", prompt, got, c.PromptIDs)
		}
		if got := tokenizer.Decode(c.AnswerIDs); got != c.Answer {
			t.Errorf("answer %q, want %q", got, c.Answer)
		}
		if last := c.AnswerIDs[len(c.AnswerIDs)-1]; tokenizer.IsEnd(last) != c.Ended || tokenizer.IsSpecial(last) != c.Ended {
			t.Errorf("answer to %q ends with %q: end is %v, want %v", c.User, tokenizer.Token(last), tokenizer.IsEnd(last), c.Ended)
		}
	}
}

func TestSentencePieceIsRefusedByName(t *testing.T) {
	f, err := gguf.Open(vocabularies + "ggml-vocab-llama-spm.gguf")
	if err != nil {
		t.Skip("the vocabulary is not there")
	}
	defer f.Close()
	_, err = New(f)
	if err == nil || !strings.Contains(err.Error(), `"llama" (SentencePiece)`) || !strings.Contains(err.Error(), "byte-level BPE") {
		t.Errorf("error %v", err)
	}
}

package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// vocabulary describes a small one: a token for each byte, then what the merges make, then the others.
type vocabulary struct {
	pre    string
	merges []string
	others []extraToken
	keys   map[string]any
	bytes  string // bytes that have no token
}

type extraToken struct {
	token string
	kind  kind
}

// file writes the vocabulary as a model file.
func (v vocabulary) file(t testing.TB) *gguf.File {
	t.Helper()
	var tokens []string
	var kinds []int32
	add := func(token string, k kind) {
		if !slices.Contains(tokens, token) {
			tokens, kinds = append(tokens, token), append(kinds, int32(k))
		}
	}
	spelling := newSpelling()
	for b, r := range spelling.runes {
		if !strings.Contains(v.bytes, string([]byte{byte(b)})) {
			add(string(r), kindNormal)
		}
	}
	for _, m := range v.merges {
		if left, right, ok := parts(m); ok {
			add(left+right, kindNormal)
		}
	}
	for _, o := range v.others {
		add(o.token, o.kind)
	}
	f := &gguftest.File{}
	f.Key("tokenizer.ggml.model", "gpt2").
		Key("tokenizer.ggml.tokens", tokens).
		Key("tokenizer.ggml.token_type", kinds).
		Key("tokenizer.ggml.merges", v.merges)
	if v.pre != "" {
		f.Key("tokenizer.ggml.pre", v.pre)
	}
	for key, value := range v.keys {
		if token, ok := value.(string); ok { // a key that names a token
			value = uint32(slices.Index(tokens, token))
		}
		f.Key(key, value)
	}
	file, err := gguf.Parse("tiny", f.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func (v vocabulary) tokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	tokenizer, err := New(v.file(t))
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// spelt are tokens as the vocabulary spells them.
func spelt(t *Tokenizer, ids []int32) string {
	var list []string
	for _, id := range ids {
		list = append(list, t.Token(id))
	}
	return strings.Join(list, " ")
}

func TestSpecialTokensInText(t *testing.T) {
	v := vocabulary{pre: "qwen2", others: []extraToken{
		{"<|a|>", kindControl}, {"<|a|>b", kindControl}, {"<think>", kindUser}, {"<unk>", kindUnknown}, {"<pad>", kindUnused},
	}}
	tokenizer := v.tokenizer(t)
	for _, c := range []struct {
		text    string
		special bool
		want    string
	}{
		{"x<|a|>y", true, "x <|a|> y"},
		{"x<|a|>y", false, "x < | a | > y"},
		{"<|a|><|a|>", true, "<|a|> <|a|>"},
		{"<|a|>bc", true, "<|a|>b c"}, // the longest
		{"<|<|a|>", true, "< | <|a|>"},
		{"<|a", true, "< | a"},
		{"<unk>", true, "<unk>"},
		{"<unk>", false, "< u n k >"},
		{"<pad>", true, "< p a d >"}, // unused tokens are never recognised
		{"a<think>b", true, "a <think> b"},
		{"a<think>b", false, "a <think> b"}, // user-defined ones are text
	} {
		got := tokenizer.Encode(c.text, c.special, false)
		if spelt(tokenizer, got) != c.want {
			t.Errorf("%q, special %v: %s, want %s", c.text, c.special, spelt(tokenizer, got), c.want)
		}
	}
	for token, special := range map[string]bool{"<|a|>": true, "<unk>": true, "<pad>": true, "<think>": false, "a": false} {
		id, ok := tokenizer.Lookup(token)
		if !ok || tokenizer.IsSpecial(id) != special || string(tokenizer.Bytes(id)) != token {
			t.Errorf("%s (%v): special %v, bytes %q", token, ok, tokenizer.IsSpecial(id), tokenizer.Bytes(id))
		}
	}
}

// Whatever the merges say, text without special tokens in it cannot become one.
func TestTextDoesNotMergeIntoControlTokens(t *testing.T) {
	v := vocabulary{pre: "llama-bpe", merges: []string{"a b", "ab c"}, others: []extraToken{{"xyz", kindControl}},
		keys: map[string]any{"tokenizer.ggml.eos_token_id": "abc"}}
	tokenizer := v.tokenizer(t)
	if got := spelt(tokenizer, tokenizer.Encode("abc xyz ab", false, false)); got != "a b c \u0120 x y z \u0120 ab" {
		t.Errorf("got %s", got)
	}
}

func TestBOS(t *testing.T) {
	bos := []extraToken{{"<s>", kindControl}}
	id := map[string]any{"tokenizer.ggml.bos_token_id": "<s>"}
	with := func(add bool) map[string]any {
		return map[string]any{"tokenizer.ggml.bos_token_id": "<s>", "tokenizer.ggml.add_bos_token": add}
	}
	for _, c := range []struct {
		name, pre string
		keys      map[string]any
		text      string
		bos       bool
		want      string
	}{
		{"the file asks", "qwen2", with(true), "a", true, "<s> a"},
		{"the caller does not", "qwen2", with(true), "a", false, "a"},
		{"the file refuses", "llama-bpe", with(false), "a", true, "a"},
		{"llama 3 has it by default", "llama-bpe", id, "a", true, "<s> a"},
		{"qwen 2 has not", "qwen2", id, "a", true, "a"},
		{"never twice", "llama-bpe", id, "<s>a", true, "<s> a"},
		{"empty text", "llama-bpe", id, "", true, "<s>"},
	} {
		tokenizer := vocabulary{pre: c.pre, others: bos, keys: c.keys}.tokenizer(t)
		if got := spelt(tokenizer, tokenizer.Encode(c.text, true, c.bos)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if b, ok := tokenizer.BOS(); !ok || tokenizer.Token(b) != "<s>" {
			t.Errorf("%s: BOS is %q", c.name, tokenizer.Token(b))
		}
		if _, ok := tokenizer.EOS(); ok {
			t.Errorf("%s: an EOS that the file does not name", c.name)
		}
	}
}

func TestWordsThatAreTokensSkipTheMerges(t *testing.T) {
	v := vocabulary{merges: []string{"b c", "a bc"}, others: []extraToken{{"abcd", kindNormal}}}
	for pre, want := range map[string]string{"llama-bpe": "abcd", "qwen2": "abc d"} {
		v.pre = pre
		tokenizer := v.tokenizer(t)
		if got := spelt(tokenizer, tokenizer.Encode("abcd", false, false)); got != want {
			t.Errorf("%s: %s, want %s", pre, got, want)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		others []extraToken
		merges []string
		keys   map[string]any
		want   string
	}{
		{"named by keys", []extraToken{{"<e>", kindControl}, {"<t>", kindControl}, {"<m>", kindNormal}}, nil,
			map[string]any{"tokenizer.ggml.eos_token_id": "<e>", "tokenizer.ggml.eot_token_id": "<t>", "tokenizer.ggml.eom_token_id": "<m>"}, "<e> <t> <m>"},
		{"known by name", []extraToken{{"<|im_start|>", kindControl}, {"<|im_end|>", kindControl}, {"<|endoftext|>", kindControl}}, nil, nil, "<|im_end|> <|endoftext|>"},
		{"known by name, though called normal", []extraToken{{"<|im_end|>", kindNormal}, {"</s>", kindUser}}, nil, nil, "<|im_end|> </s>"},
		{"made by merges is text", []extraToken{{"<|end|>", kindControl}}, []string{"< /", "</ s", "</s >"}, nil, "<|end|>"},
		{"<|end|> of a part (gpt-oss)", []extraToken{{"<|end|>", kindControl}, {"<|return|>", kindControl}, {"<|call|>", kindControl}}, nil, nil, "<|return|> <|call|>"},
		{"none", nil, nil, nil, ""},
	} {
		tokenizer := vocabulary{pre: "qwen2", merges: c.merges, others: c.others, keys: c.keys}.tokenizer(t)
		if got := spelt(tokenizer, tokenizer.Ends()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for id := range int32(tokenizer.Size()) {
			if end := slices.Contains(tokenizer.Ends(), id); tokenizer.IsEnd(id) != end || end && !tokenizer.IsSpecial(id) {
				t.Errorf("%s: %s: IsEnd %v, IsSpecial %v", c.name, tokenizer.Token(id), tokenizer.IsEnd(id), tokenizer.IsSpecial(id))
			}
		}
	}
}

func TestIDsOutsideTheVocabulary(t *testing.T) {
	tokenizer := vocabulary{pre: "qwen2"}.tokenizer(t)
	for _, id := range []int32{-1, int32(tokenizer.Size()), 1 << 30} {
		if tokenizer.Bytes(id) != nil || tokenizer.Token(id) != "" || !tokenizer.IsSpecial(id) || tokenizer.IsEnd(id) {
			t.Errorf("%d: %q", id, tokenizer.Bytes(id))
		}
	}
	if got := tokenizer.Decode([]int32{-1, 65, 1 << 30}); got != "A" {
		t.Errorf("decoded %q", got)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		v    vocabulary
		want string
	}{
		{vocabulary{pre: "brand-new"}, `"brand-new" is not known`},
		{vocabulary{}, "does not name its pre-tokenizer"},
		{vocabulary{pre: "qwen2", bytes: "\xfe\xff"}, "no token for 2 of the 256 bytes"},
		{vocabulary{pre: "qwen2", merges: []string{"a b", "ab", "", "c "}}, "3 of the merges"},
		{vocabulary{pre: "qwen2", keys: map[string]any{"tokenizer.ggml.bos_token_id": uint32(9999)}}, "tokenizer.ggml.bos_token_id is 9999, outside the vocabulary"},
		{vocabulary{pre: "llama-bpe"}, "wants BOS"},
	} {
		got := c.v.tokenizer(t).Warnings()
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("warnings %q, want one with %q", got, c.want)
		}
	}
}

func TestBytesWithoutATokenAreLost(t *testing.T) {
	v := vocabulary{pre: "qwen2", bytes: "q", merges: []string{"q u"}}
	tokenizer := v.tokenizer(t)
	if got := spelt(tokenizer, tokenizer.Encode("equal aqa", false, false)); got != "e qu a l \u0120 a a" {
		t.Errorf("got %s", got)
	}
}

// A merge may lead through a spelling that is no token; where it ends there, the tokens of its bytes stand for it.
func TestMergesThroughWhatIsNoToken(t *testing.T) {
	f := &gguftest.File{}
	f.Key("tokenizer.ggml.model", "gpt2").Key("tokenizer.ggml.pre", "gpt-2").
		Key("tokenizer.ggml.tokens", []string{"a", "b", "c", "abc"}).
		Key("tokenizer.ggml.merges", []string{"a b", "ab c"})
	file, err := gguf.Parse("tiny", f.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := New(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := spelt(tokenizer, tokenizer.Encode("abcab", false, false)); got != "abc a b" {
		t.Errorf("got %s", got)
	}
}

func TestBrokenVocabulariesAreErrors(t *testing.T) {
	base := func() *gguftest.File { return (&gguftest.File{}).Key("tokenizer.ggml.model", "gpt2") }
	for _, c := range []struct {
		f    *gguftest.File
		want string
	}{
		{&gguftest.File{}, "has no tokenizer.ggml.model"},
		{(&gguftest.File{}).Key("tokenizer.ggml.model", "bert"), `"bert" (WordPiece)`},
		{(&gguftest.File{}).Key("tokenizer.ggml.model", "rwkv"), `"rwkv"; supported so far`},
		{base(), "tokenizer.ggml.tokens must be an array of strings"},
		{base().Key("tokenizer.ggml.tokens", []string{}), "has no tokens"},
		{base().Key("tokenizer.ggml.tokens", []string{"a"}), "tokenizer.ggml.merges must be an array of strings"},
		{base().Key("tokenizer.ggml.tokens", []string{"a"}).Key("tokenizer.ggml.token_type", []int32{1, 1}), "token_type has 2 elements for 1 tokens"},
		{base().Key("tokenizer.ggml.tokens", []string{"a"}).Key("tokenizer.ggml.token_type", "x"), "token_type must be an array of integers"},
	} {
		file, err := gguf.Parse("tiny.gguf", c.f.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(file); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "tiny.gguf") {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestEveryByteHasASpellingOfItsOwn(t *testing.T) {
	s := newSpelling()
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	token := string(s.spell(nil, string(all)))
	if diff := cmp.Diff(all, s.raw(nil, token)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// From GPT-2's published table.
	for raw, want := range map[string]string{" the": "\u0120the", "\n": "\u010a", "\u00e9": "\u00c3\u00a9", "\x00": "\u0100", "\xad": "\u0143"} {
		if got := string(s.spell(nil, raw)); got != want {
			t.Errorf("%q is spelt %q, want %q", raw, got, want)
		}
	}
	if got := string(s.raw(nil, "a\u4f60\xffb")); got != "a\u4f60\xffb" {
		t.Errorf("what spells no byte becomes %q", got)
	}
}

func TestTextComesBack(t *testing.T) {
	tokenizer := open(t, "../testdata/golden/llama.gguf")
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-llm", "deepseek-v3", "gpt-4o", "default"}).Draw(t, "pre")
		text := rapid.OneOf(rapid.String(), trickyText()).Draw(t, "text")
		with := *tokenizer
		with.pre, _ = preTokenizer(name)
		if back := with.Decode(with.Encode(text, false, true)); back != text {
			t.Fatalf("%q came back as %q", text, back)
		}
	})
}

func FuzzEncode(f *testing.F) {
	tokenizer := vocabulary{pre: "llama-bpe", merges: []string{"h e", "l l", "he ll", "hell o", "\u0120 w"},
		others: []extraToken{{"<|a|>", kindControl}, {"<b>", kindUser}}}.tokenizer(f)
	for _, text := range []string{"hello world", "<|a|>x<b>", " \n\n ", "\xff\xfe", "é你🙂"} {
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, special bool) {
		var back []byte
		for _, id := range tokenizer.Encode(text, special, true) {
			back = append(back, tokenizer.Bytes(id)...)
		}
		if string(back) != text {
			t.Fatalf("%q came back as %q", text, back)
		}
	})
}

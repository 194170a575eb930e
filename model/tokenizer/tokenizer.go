// Package tokenizer turns text into token ids and back, with the vocabulary and merges of the model file itself: byte-level byte-pair encoding,
// as of GPT-2, Llama 3, Qwen and DeepSeek.
//
// Text goes three ways down: special tokens written in it are cut out ([Tokenizer.Encode]), what lies between is cut into pieces of about a word by the model's
// pre-tokenizer, and within each piece neighbouring symbols, bytes at first, are merged in the order of the vocabulary's merges.
// Tokens back into text is concatenation of bytes; a [Decoder] does it for a stream.
package tokenizer

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/kvasir-engine/kvasir/model/gguf"
)

// kind is what a token is for (llama_token_type in GGUF's tokenizer.ggml.token_type).
type kind uint8

const (
	kindNormal  kind = 1
	kindUnknown kind = 2
	kindControl kind = 3
	// kindUser (user-defined) tokens are text that is always one token, "<think>" say; unlike control tokens they show in answers.
	kindUser   kind = 4
	kindUnused kind = 5
	kindByte   kind = 6
)

// Tokenizer is the vocabulary of a model. It does not change after New and may be used from several goroutines at once.
type Tokenizer struct {
	tokens   []string // as in the vocabulary
	kinds    []kind
	ids      map[string]int32
	spelling *spelling

	pre         pre
	merges      map[uint64]merge
	byteSymbols [256]int32
	extra       []string // symbols from len(tokens) on: spellings that are no tokens

	specials *specials
	bos, eos int32 // -1: none
	addBOS   bool
	ends     []int32 // ascending
	warnings []string
}

// New makes the tokenizer of a model file, from copies: the file may be closed afterwards. A vocabulary that is not byte-level BPE is an error that says what it is;
// doubts that do not stop the work are told by Warnings. It asks for at most 40 bytes of memory, and usually far less, for each byte of the vocabulary in the file.
func New(f *gguf.File) (*Tokenizer, error) {
	if err := checkModel(f); err != nil {
		return nil, err
	}
	t := &Tokenizer{spelling: newSpelling()}
	if err := t.readTokens(f); err != nil {
		return nil, err
	}
	t.readPre(f)
	const key = "tokenizer.ggml.merges"
	merges, ok := f.Strings(key)
	if !ok {
		return nil, fmt.Errorf("tokenizer: %s has no merges: %s must be an array of strings", f.Name(), key)
	}
	t.readSpecials(f, merges)
	t.readMerges(merges)
	return t, nil
}

// checkModel refuses vocabularies of other kinds.
func checkModel(f *gguf.File) error {
	const key = "tokenizer.ggml.model"
	model, ok := f.String(key)
	what := ""
	switch model {
	case "gpt2":
		return nil
	case "llama":
		what = " (SentencePiece)"
	case "bert":
		what = " (WordPiece)"
	case "t5":
		what = " (Unigram)"
	}
	if !ok {
		return fmt.Errorf("tokenizer: %s has no %s: it holds no vocabulary", f.Name(), key)
	}
	return fmt.Errorf("tokenizer: %s has %s %q%s; supported so far is \"gpt2\" (byte-level BPE)", f.Name(), key, model, what)
}

// readTokens reads the vocabulary.
func (t *Tokenizer) readTokens(f *gguf.File) error {
	const tokensKey, typesKey = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
	var ok bool
	if t.tokens, ok = f.Strings(tokensKey); !ok || len(t.tokens) == 0 {
		return fmt.Errorf("tokenizer: %s has no tokens: %s must be an array of strings", f.Name(), tokensKey)
	}
	t.kinds = make([]kind, len(t.tokens))
	types, ok := f.Ints(typesKey)
	switch {
	case !ok && f.Has(typesKey):
		return fmt.Errorf("tokenizer: %s: %s must be an array of integers", f.Name(), typesKey)
	case ok && len(types) != len(t.tokens):
		return fmt.Errorf("tokenizer: %s: %s has %d elements for %d tokens", f.Name(), typesKey, len(types), len(t.tokens))
	}
	t.ids = make(map[string]int32, len(t.tokens))
	twice := 0
	for i, token := range t.tokens {
		t.kinds[i] = kindNormal
		if ok && 0 < types[i] && types[i] <= int64(kindByte) {
			t.kinds[i] = kind(types[i])
		}
		if _, known := t.ids[token]; known {
			twice++ // the first one counts
		} else if token != "" {
			t.ids[token] = int32(i)
		}
	}
	if twice > 0 {
		t.warn("%d tokens of the vocabulary appear more than once; the first of each is used", twice)
	}
	return nil
}

// readPre finds the pre-tokenizer.
func (t *Tokenizer) readPre(f *gguf.File) {
	name, ok := f.String("tokenizer.ggml.pre")
	var known bool
	t.pre, known = preTokenizer(name)
	if !ok {
		t.warn("the file does not name its pre-tokenizer (tokenizer.ggml.pre); \"default\" is used, and answers may suffer")
	} else if !known {
		t.warn("the pre-tokenizer %q is not known; that of GPT-2 is used, and answers may suffer", name)
	}
}

// readMerges numbers the symbols and notes which of them merge.
func (t *Tokenizer) readMerges(lines []string) {
	extra := map[string]int32{}
	most := len(t.byteSymbols) + len(t.tokens) // of extra symbols; real vocabularies have a few at most, and memory for them is not in the file
	symbol := func(text []byte) (id int32, ok bool) {
		// Ordinary text never becomes a control token, whatever the merges say.
		if id, ok := t.ids[string(text)]; ok && !t.IsSpecial(id) {
			return id, true
		}
		if id, ok = extra[string(text)]; !ok {
			if len(t.extra) == most {
				return 0, false
			}
			id = int32(len(t.tokens) + len(t.extra))
			spelt := string(text)
			extra[spelt] = id
			t.extra = append(t.extra, spelt)
		}
		return id, true
	}
	var text []byte
	missing := 0
	for b := range t.byteSymbols {
		text = utf8.AppendRune(text[:0], t.spelling.runes[b])
		t.byteSymbols[b], _ = symbol(text)
		if !t.isToken(t.byteSymbols[b]) {
			missing++
		}
	}
	t.merges = make(map[uint64]merge, len(lines))
	malformed, foreign := 0, 0
	for rank, line := range lines {
		left, right, ok := parts(line)
		if !ok {
			malformed++
			continue
		}
		text = append(append(text[:0], left...), right...)
		l, okLeft := symbol(text[:len(left)])
		r, okRight := symbol(text[len(left):])
		both, ok := symbol(text)
		if !okLeft || !okRight || !ok {
			foreign++
			continue
		}
		if _, twice := t.merges[pair(l, r)]; !twice {
			t.merges[pair(l, r)] = merge{rank: int32(rank), symbol: both}
		}
	}
	if missing > 0 {
		t.warn("the vocabulary has no token for %d of the 256 bytes; text loses them", missing)
	}
	if malformed > 0 {
		t.warn("%d of the merges are not two parts with a space between, and are left out", malformed)
	}
	if foreign > 0 {
		t.warn("%d of the merges are left out: the merges need more than %d symbols that are no tokens", foreign, most)
	}
}

// parts splits a line of the merges. The left part is never empty, so the first byte is not the space between.
func parts(line string) (left, right string, ok bool) {
	if len(line) < 3 {
		return "", "", false
	}
	i := strings.IndexByte(line[1:], ' ') + 1
	if i == 0 || i+1 == len(line) {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

func (t *Tokenizer) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

// Warnings are sentences about what in the file was doubtful, and what was done about it.
func (t *Tokenizer) Warnings() []string { return slices.Clone(t.warnings) }

// Size is the number of tokens. A model's logits may have more columns, which are padding.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// isToken says whether a symbol is a token of the vocabulary.
func (t *Tokenizer) isToken(symbol int32) bool { return 0 <= symbol && int(symbol) < len(t.tokens) }

// Token is a token as the vocabulary spells it ("Ġthe"); empty for an id outside the vocabulary.
func (t *Tokenizer) Token(id int32) string {
	if !t.isToken(id) {
		return ""
	}
	return t.tokens[id]
}

// Lookup finds a token by the vocabulary's spelling.
func (t *Tokenizer) Lookup(token string) (id int32, ok bool) {
	id, ok = t.ids[token]
	return id, ok
}

// Bytes are the bytes that a token stands for, which need not be whole characters; for control and user-defined tokens their text. The caller owns them.
func (t *Tokenizer) Bytes(id int32) []byte {
	if !t.isToken(id) {
		return nil
	}
	if k := t.kinds[id]; k == kindNormal || k == kindByte {
		return t.spelling.raw(nil, t.tokens[id])
	}
	return []byte(t.tokens[id])
}

// IsSpecial says whether a token is left out of answers: control, unknown and unused ones, and ids outside the vocabulary.
func (t *Tokenizer) IsSpecial(id int32) bool {
	if !t.isToken(id) {
		return true
	}
	switch t.kinds[id] {
	case kindControl, kindUnknown, kindUnused:
		return true
	}
	return false
}

// Encode turns text into tokens.
//
// special recognises control tokens written in the text; without it "<|im_end|>" is letters like any other, which is what text from users should be. User-defined tokens
// ("<think>" in some vocabularies) are text, and are recognised always. Where several match, the leftmost counts, and of these the longest.
//
// bos prepends the beginning-of-sequence token if the model file asks for one, unless the text begins with it already.
//
// Bytes that are not UTF-8 are kept: they become the tokens of those bytes.
func (t *Tokenizer) Encode(text string, special, bos bool) []int32 {
	return t.EncodeSpans([]Span{{text, !special}}, bos)
}

// Span is a piece of a text.
type Span struct {
	Text  string
	Plain bool // control tokens are not recognised in it
}

// EncodeSpans turns the text that spans make together into tokens, as Encode does, with control tokens recognised only where no byte of them lies in a plain span. Ordinary
// tokens may lie across the borders of spans, so that the result is that of the whole text wherever no plain span spells a control token.
func (t *Tokenizer) EncodeSpans(spans []Span, bos bool) []int32 {
	text, control := join(spans)
	e := encoder{tokenizer: t, merger: merger{merges: t.merges}, ids: make([]int32, 0, len(text)/3+2)}
	from := 0
	if bos && t.addBOS {
		e.ids = append(e.ids, t.bos)
		if start := t.tokens[t.bos]; strings.HasPrefix(text, start) && control(0, len(start)) {
			from = len(start)
		}
	}
	for from < len(text) {
		at, length, id := t.specials.find(text, from, control)
		if at > from {
			split(t.pre.rules, text[from:at], e.piece)
		}
		if length > 0 {
			e.ids = append(e.ids, id)
		}
		from = at + length
	}
	return e.ids
}

// join returns the spans' whole text, and whether control tokens are recognised in a part of it.
func join(spans []Span) (text string, control func(from, to int) bool) {
	if len(spans) == 1 {
		return spans[0].Text, func(int, int) bool { return !spans[0].Plain }
	}
	var b strings.Builder
	var plain [][2]int // ascending
	for _, s := range spans {
		if s.Plain && s.Text != "" {
			plain = append(plain, [2]int{b.Len(), b.Len() + len(s.Text)})
		}
		b.WriteString(s.Text)
	}
	return b.String(), func(from, to int) bool {
		i := sort.Search(len(plain), func(i int) bool { return plain[i][1] > from })
		return i == len(plain) || plain[i][0] >= to
	}
}

// encoder is the state of one Encode.
type encoder struct {
	tokenizer *Tokenizer
	merger    merger
	ids       []int32
	symbols   []int32
	spelt     []byte
}

// piece appends the tokens of one piece of text.
func (e *encoder) piece(piece string) {
	t := e.tokenizer
	if t.pre.wholeWords {
		e.spelt = t.spelling.spell(e.spelt[:0], piece)
		if id, ok := t.ids[string(e.spelt)]; ok && !t.IsSpecial(id) {
			e.ids = append(e.ids, id)
			return
		}
	}
	e.symbols = e.symbols[:0]
	for i := range len(piece) {
		e.symbols = append(e.symbols, t.byteSymbols[piece[i]])
	}
	start := len(e.ids)
	e.ids = e.merger.merge(e.ids, e.symbols)
	if len(t.extra) > 0 {
		e.ids = t.onlyTokens(e.ids, start)
	}
}

// onlyTokens replaces symbols in ids[start:] that are no tokens by the tokens of their bytes, as far as there are any.
func (t *Tokenizer) onlyTokens(ids []int32, start int) []int32 {
	if !slices.ContainsFunc(ids[start:], func(s int32) bool { return !t.isToken(s) }) {
		return ids
	}
	symbols := slices.Clone(ids[start:])
	ids = ids[:start]
	for _, s := range symbols {
		if t.isToken(s) {
			ids = append(ids, s)
			continue
		}
		for _, b := range t.spelling.raw(nil, t.extra[int(s)-len(t.tokens)]) {
			if id := t.byteSymbols[b]; t.isToken(id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

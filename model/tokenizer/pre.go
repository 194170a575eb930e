package tokenizer

// pre is a pre-tokenizer: how text is cut into pieces before tokens are merged within each piece, and what llama.cpp ties to its name.
type pre struct {
	rules []rule
	// wholeWords: a piece that is a token as it stands becomes that token, whatever the merges say (ignore_merges).
	wholeWords bool
	// bos: prepend BOS where the file does not say (tokenizer.ggml.add_bos_token).
	bos bool
}

// preTokenizer finds the pre-tokenizer that a file's tokenizer.ggml.pre names. The names are those that llama.cpp gives out in its converter and knows
// in src/llama-vocab.cpp; the expressions come from the models' own tokenizer.json.
func preTokenizer(name string) (p pre, known bool) {
	switch name {
	case "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano":
		return pre{rules: []rule{words(3, false)}, wholeWords: true, bos: true}, true
	case "dbrx", "smaug-bpe", "glm4", "chatglm-bpe":
		return pre{rules: []rule{words(3, false)}}, true
	case "qwen2", "deepseek-r1-qwen", "megrez", "kormo", "f2llmv2", "stablelm2", "hunyuan", "solar-open", "grok-2":
		return pre{rules: []rule{words(1, false)}}, true
	case "qwen35":
		return pre{rules: []rule{words(1, true)}}, true
	case "gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4",
		"modern-bert", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de":
		return pre{rules: []rule{gpt2}}, true
	case "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2":
		return pre{rules: []rule{atMost(1, number), gpt2}}, true
	case "deepseek-llm":
		return pre{rules: []rule{
			atMost(1, newline),
			runAfter(space, in(deepseekLetters)),
			runAfter(space, in("!/:~\u2018\u201f\u3000\u3002\uff01\uff0f\uff1a\uff5e")),
			trailing,
			run(in("\u0800\u9fa5\uac00\ud7ff")),
			run(number),
		}}, true
	case "deepseek-coder":
		return pre{rules: []rule{
			atMost(1, newline),
			runAfter(space, letter),
			runAfter(space, punct),
			run(in("\u0800\u9fa5\uac00\ud7ff")),
			atMost(1, number),
		}}, true
	case "deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4":
		return pre{rules: []rule{atMost(3, number), run(in("\u3040\u30ff\u4e00\u9fa5")), deepseek3}}, true
	case "gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2":
		return pre{rules: []rule{cased(3, true)}}, true
	case "tekken":
		return pre{rules: []rule{cased(1, false)}, wholeWords: true, bos: true}, true
	case "default", "":
		return pre{rules: []rule{run(punctOrOperator), gpt2, run(number), threeDigits}}, true
	}
	return pre{rules: []rule{gpt2}}, false
}

// deepseekLetters are the letters that the expression of deepseek-llm lists: cased ones, in pairs of first and last.
const deepseekLetters = "" +
	"AZaz\u00b5\u00b5\u00c0\u00d6\u00d8\u00f6\u00f8\u01ba\u01bc\u01bf\u01c4\u0293\u0295\u02af\u0370\u0373" +
	"\u0376\u0376\u0377\u0377\u037b\u037d\u037f\u037f\u0386\u0386\u0388\u038a\u038c\u038c\u038e\u03a1\u03a3\u03f5\u03f7\u0481" +
	"\u048a\u052f\u0531\u0556\u10a0\u10c5\u13a0\u13f5\u13f8\u13fd\u1c90\u1cba\u1cbd\u1cbf\u1d00\u1d2b\u1d6b\u1d77\u1d79\u1d9a" +
	"\u1e00\u1f15\u1f18\u1f1d\u1f20\u1f45\u1f48\u1f4d\u1f50\u1f57\u1f59\u1f59\u1f5b\u1f5b\u1f5d\u1f5d\u1f5f\u1f7d\u1f80\u1fb4" +
	"\u1fb6\u1fbc\u1fbe\u1fbe\u1fc2\u1fc4\u1fc6\u1fcc\u1fd0\u1fd3\u1fd6\u1fdb\u1fe0\u1fec\u1ff2\u1ff4\u1ff6\u1ffc\u2102\u2102" +
	"\u2107\u2107\u210a\u2113\u2115\u2115\u2119\u211d\u2124\u2124\u2126\u2126\u2128\u2128\u212a\u212d\u212f\u2134\u2139\u2139" +
	"\u213c\u213f\u2145\u2149\u214e\u214e\u2183\u2183\u2184\u2184\u2c00\u2c7b\u2c7e\u2ce4\u2ceb\u2cee\u2cf2\u2cf2\u2cf3\u2cf3" +
	"\ua640\ua66d\ua680\ua69b\ua722\ua76f\ua771\ua787\ua78b\ua78e\uab70\uabbf\ufb00\ufb06\ufb13\ufb17\uff21\uff3a\uff41\uff5a" +
	"\U00010400\U0001044f\U000104b0\U000104d3\U000104d8\U000104fb\U00010c80\U00010cb2\U00010cc0\U00010cf2\U000118a0\U000118df\U0001e900\U0001e943"

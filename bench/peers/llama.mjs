// node llama.mjs FILE.gguf THREADS PROMPT_TOKENS GEN_TOKENS FLASH_ATTENTION
//
// Measures llama.cpp as "kvasir bench" measures Kvasir, with one sequence: the time from the prompt to the first token, and then that of the other tokens. Prints both speeds
// in tokens a second, as JSON.
import {peer} from "./common.mjs";

const [file, ...rest] = process.argv.slice(2);
const [threads, promptTokens, genTokens, flash] = rest.map(Number);
const {llama, model} = await peer(file, threads, flash === 1);
const context = await model.createContext({contextSize: promptTokens + genTokens + 8, batchSize: 512, threads: {ideal: threads, min: threads}});
const sequence = context.getSequence();
const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens.length;

// answer reads a prompt of random tokens and writes n tokens. It returns when the prompt was handed over, the first token came, and the last.
async function answer(promptLength, n) {
    const prompt = Array.from({length: promptLength}, () => Math.floor(Math.random() * vocabulary));
    await sequence.clearHistory();
    const asked = performance.now();
    let first, count = 0;
    for await (const _ of sequence.evaluate(prompt, {temperature: 0, yieldEogToken: true})) {
        first ??= performance.now();
        if (++count === n) break;
    }
    if (count !== n) throw new Error(`llama.cpp wrote ${count} of ${n} tokens`);
    return {asked, first, last: performance.now()};
}

await answer(Math.min(promptTokens, 64), 4); // warm up
const {asked, first, last} = await answer(promptTokens, genTokens + 1);
console.log(JSON.stringify({prompt: promptTokens / (first - asked) * 1000, decode: genTokens / (last - first) * 1000}));
await llama.dispose();

// node compare.mjs FILE.gguf [--rounds 5] [--threads 1,2] [--prompts 512,2048] [--gen 64] [--decode-prompt 32]
//
// Runs llama.cpp and Kvasir in turn on one file, one sequence, and prints the ratios of their speeds. See README.md.
import path from "node:path";
import {here, install, kvasir, median, numbers, options, output, spread, table} from "./common.mjs";

const [o, [file]] = options({rounds: 5, threads: "1,2", prompts: "512,2048", gen: 64, "decode-prompt": 32});
if (!file) {
    console.error("name a GGUF file: node compare.mjs FILE.gguf");
    process.exit(2);
}
install();

function ofKvasir(threads, prompt) {
    const [row] = output(kvasir, ["bench", path.resolve(file), "--threads", threads, "--batch", 1, "--prompt-tokens", prompt, "--gen-tokens", o.gen, "--repeat", 1, "--json"].map(String)).rows;
    return {prompt: row.prompt_tokens_per_second.median, decode: row.decode_tokens_per_second.median};
}

const ofLlama = flash => (threads, prompt) => output(process.execPath, [path.join(here, "llama.mjs"), path.resolve(file), threads, prompt, o.gen, flash].map(String));

const engines = {kvasir: ofKvasir, llama: ofLlama(0), flash: ofLlama(1)};
const rows = [];
for (const threads of numbers(o.threads)) {
    const cases = [[o["decode-prompt"], ["decode"]], ...numbers(o.prompts).map(n => [n, ["prompt", "decode"]])];
    for (const [prompt, figures] of cases) {
        const speeds = {kvasir: [], llama: [], flash: []};
        for (let round = 0; round < o.rounds; round++) {
            // The order turns round, so that a machine that grows slower favours nobody.
            const names = Object.keys(engines);
            for (const name of round % 2 ? names.reverse() : names) speeds[name].push(engines[name](threads, Number(prompt)));
        }
        for (const figure of figures) {
            const of = name => speeds[name].map(s => s[figure]);
            const faster = median(of("flash")) > median(of("llama")) ? "flash" : "llama";
            const ratios = of("kvasir").map((v, i) => v / of(faster)[i]);
            rows.push([threads, figure === "prompt" ? `prompt ${prompt}` : `decode after ${prompt}`, spread(of("kvasir"), 1), spread(of("llama"), 1), spread(of("flash"), 1), spread(ratios)]);
        }
    }
}
table(["threads", "what", "Kvasir, tokens/s", "llama.cpp", "llama.cpp, flash attention", "Kvasir to the faster of both"], rows);

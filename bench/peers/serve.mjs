// node serve.mjs FILE.gguf [--rounds 3] [--threads 2] [--clients 8] [--requests 48] [--prompt-tokens 128] [--max-tokens 64] [--context 2048] [--llama-server PROGRAM]
//
// Serves one file with Kvasir and with llama.cpp in turn, drives both with "kvasir bench serve", and prints the ratios. See README.md.
import path from "node:path";
import {here, install, kvasir, options, output, server, spread, table} from "./common.mjs";

const [o, [file]] = options({rounds: 3, threads: 2, clients: 8, requests: 48, "prompt-tokens": 128, "max-tokens": 64, context: 2048, port: 18199, "llama-server": ""});
if (!file) {
    console.error("name a GGUF file: node serve.mjs FILE.gguf");
    process.exit(2);
}
install();
const model = path.resolve(file), url = `http://127.0.0.1:${o.port}`;

const commands = {
    kvasir: [kvasir, ["serve", "--model", model, "--port", o.port, "--threads", o.threads, "--max-num-seqs", o.clients, "--max-model-len", o.context, "--log-level", "error"]],
    llama: o["llama-server"] ?
        [o["llama-server"], ["-m", model, "--port", o.port, "-t", o.threads, "-np", o.clients, "-c", o.context * o.clients, "--log-disable"]] :
        [process.execPath, [path.join(here, "openai.mjs"), model, o.port, o.threads, o.clients, o.context]],
};

const load = round => output(kvasir, ["bench", "serve", "--url", url, "--concurrency", o.clients, "--num-prompts", o.requests, "--prompt-tokens", o["prompt-tokens"],
    "--max-tokens", o["max-tokens"], "--seed", round + 1, "--json"].map(String));

const reports = {kvasir: [], llama: []};
for (let round = 0; round < o.rounds; round++) {
    const names = Object.keys(commands);
    for (const name of round % 2 ? names.reverse() : names) {
        const [program, args] = commands[name];
        const report = await server(program, args.map(String), url, () => load(round));
        if (report.answered !== report.requests) throw new Error(`${name}: ${JSON.stringify(report.errors)}: ${report.example}`);
        reports[name].push(report);
    }
}
const figures = [
    ["output tokens/s", r => r.output_tokens_per_second, 1],
    ["first token, p50, ms", r => r.ttft_seconds.p50 * 1000, 1], ["first token, p99, ms", r => r.ttft_seconds.p99 * 1000, 1],
    ["between tokens, p50, ms", r => r.itl_seconds.p50 * 1000, 2], ["between tokens, p99, ms", r => r.itl_seconds.p99 * 1000, 2],
    ["whole answer, p50, ms", r => r.e2e_seconds.p50 * 1000, 1],
];
console.log(`${o.clients} clients, ${o.requests} requests a round, ${o.threads} threads; the peer is ${o["llama-server"] || "openai.mjs over node-llama-cpp"}`);
table(["what", "Kvasir", "llama.cpp", "Kvasir to llama.cpp"], figures.map(([name, of, digits]) => {
    const ours = reports.kvasir.map(of), theirs = reports.llama.map(of);
    return [name, spread(ours, digits), spread(theirs, digits), spread(ours.map((v, i) => v / theirs[i]))];
}));

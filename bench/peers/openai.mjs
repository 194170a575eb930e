// node openai.mjs FILE.gguf PORT THREADS SEQUENCES CONTEXT
//
// The least of an OpenAI server over node-llama-cpp: streamed completions of one model, for SEQUENCES requests at once, which llama.cpp decodes in one batch. It is no product, and
// slower than llama-server would be: between two batches it runs JavaScript.
import http from "node:http";
import path from "node:path";
import {peer} from "./common.mjs";

const [file, ...rest] = process.argv.slice(2);
const [port, threads, sequences, contextSize] = rest.map(Number);
const {model} = await peer(file, threads, false);
const context = await model.createContext({sequences, contextSize, batchSize: 512, threads: {ideal: threads, min: threads}});
const free = Array.from({length: sequences}, () => context.getSequence()), waiting = [];
const name = path.basename(file, ".gguf");

// acquire is a sequence that nobody uses; release hands it to whoever waits longest.
const acquire = () => free.length > 0 ? Promise.resolve(free.pop()) : new Promise(taken => waiting.push(taken));
const release = sequence => waiting.length > 0 ? waiting.shift()(sequence) : free.push(sequence);

async function complete(asked, response) {
    const prompt = model.tokenize(asked.prompt, true), sequence = await acquire();
    const event = data => response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    try {
        await sequence.clearHistory();
        response.writeHead(200, {"Content-Type": "text/event-stream"});
        let count = 0;
        for await (const token of sequence.evaluate(prompt, {temperature: 0, yieldEogToken: true})) {
            event({choices: [{index: 0, text: model.detokenize([token]) || " ", finish_reason: null}]});
            if (++count >= asked.max_tokens || response.destroyed) break;
        }
        event({choices: [{index: 0, text: "", finish_reason: "length"}]});
        event({choices: [], usage: {prompt_tokens: prompt.length, completion_tokens: count}});
        event("[DONE]");
        response.end();
    } finally {
        release(sequence);
    }
}

http.createServer(async (request, response) => {
    if (request.url === "/v1/models") {
        response.end(JSON.stringify({object: "list", data: [{id: name}]}));
        return;
    }
    try {
        let body = "";
        for await (const part of request) body += part;
        await complete(JSON.parse(body), response);
    } catch (error) {
        if (!response.headersSent) response.writeHead(500);
        response.end(JSON.stringify({error: {message: String(error)}}));
    }
}).listen(port, "127.0.0.1");
process.on("SIGINT", () => process.exit(0));

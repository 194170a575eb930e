// What the comparisons share: the scratch folder with both engines in it, child processes, and figures.
import {execFileSync, spawn} from "node:child_process";
import {existsSync, mkdirSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";

export const here = path.dirname(fileURLToPath(import.meta.url));
export const folder = process.env.PEER_DIR ?? path.join(tmpdir(), "kvasir-peers");
const version = process.env.NODE_LLAMA_CPP ?? "3.21.1";

// install puts node-llama-cpp with its prebuilt llama.cpp for the CPU, and a build of this module, into the scratch folder.
export function install() {
    mkdirSync(folder, {recursive: true});
    if (!existsSync(path.join(folder, "node_modules", "node-llama-cpp"))) {
        writeFileSync(path.join(folder, "package.json"), '{"private": true}\n');
        const binary = `@node-llama-cpp/${process.platform === "darwin" ? "mac" : process.platform}-${process.arch}`;
        execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", `node-llama-cpp@${version}`, `${binary}@${version}`],
            {cwd: folder, stdio: ["ignore", "inherit", "inherit"]});
    }
    execFileSync("go", ["build", "-o", kvasir, "./cmd/kvasir"], {cwd: path.join(here, "..", ".."), stdio: "inherit"});
}

export const kvasir = path.join(folder, "kvasir");

// peer loads a model with llama.cpp, on so many threads of the CPU.
export async function peer(model, threads, flashAttention) {
    const library = path.join(folder, "node_modules", "node-llama-cpp", "dist", "index.js");
    const {getLlama, LlamaLogLevel} = await import(pathToFileURL(library).href);
    const llama = await getLlama({gpu: false, build: "never", skipDownload: true, maxThreads: threads, logLevel: LlamaLogLevel.error});
    return {llama, model: await llama.loadModel({modelPath: model, gpuLayers: 0, defaultContextFlashAttention: flashAttention})};
}

// output runs a program and returns what it prints, as JSON.
export function output(program, args) {
    return JSON.parse(execFileSync(program, args, {encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 26}));
}

// server starts a program that serves HTTP, waits until it lists a model, calls use, and ends it.
export async function server(program, args, url, use) {
    const child = spawn(program, args, {stdio: ["ignore", "ignore", "inherit"]});
    const ended = new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("exit", resolve);
    });
    try {
        for (;;) {
            if (child.exitCode !== null) throw new Error(`${program} ended with status ${child.exitCode} before it served`);
            const ready = await fetch(url + "/v1/models").then(r => r.ok, () => false);
            if (ready) break;
            await new Promise(wake => setTimeout(wake, 100));
        }
        return await use();
    } finally {
        child.kill("SIGINT");
        await ended;
    }
}

// options reads "--name value" pairs over defaults; what is left are arguments.
export function options(defaults) {
    const values = {...defaults}, rest = [], args = process.argv.slice(2);
    while (args.length > 0) {
        const arg = args.shift();
        if (!arg.startsWith("--")) {
            rest.push(arg);
            continue;
        }
        const name = arg.slice(2);
        if (!(name in values) || args.length === 0) {
            console.error(`${arg}: there are ${Object.keys(values).map(n => "--" + n).join(", ")}, each with a value`);
            process.exit(2);
        }
        values[name] = args.shift();
    }
    return [values, rest];
}

export const numbers = text => String(text).split(",").map(Number);

export function median(values) {
    const sorted = values.toSorted((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// spread is the median of values, with the least and the most.
export function spread(values, digits = 2) {
    const f = x => x.toFixed(digits);
    return `${f(median(values))} (${f(Math.min(...values))} to ${f(Math.max(...values))})`;
}

// table prints rows under their titles, as a table of Markdown.
export function table(titles, rows) {
    console.log(`\n| ${titles.join(" | ")} |\n|${titles.map(() => "---:|").join("")}`);
    for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}

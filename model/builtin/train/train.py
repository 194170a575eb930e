"""Trains the default model on corpus.py and writes it as GGUF in F32, F16 and Q8_0.

Needs Debian's python3-torch. The model that ships was made with
    python3 train.py OUT --minutes 70 --tokens 2048 --threads 1 \\
        --dim 128 --heads 4 --kv 2 --ff 384 --vocab 768 --lr 4e-3
on one core (the schedule follows the clock, so another machine gives another model).

Curriculum: first copying and single facts in short contexts, until the model looks back by itself; then everything,
in growing contexts up to 1024 tokens.
"""
import argparse, math, os, random, re, sys, time, json
import numpy as np, torch, torch.nn.functional as F
import gguf_make as G
from network import LM, export
import corpus

SPLIT = G.SPLIT
SPECIAL_RE = re.compile(r"(<\|im_start\|>|<\|im_end\|>)")


def main():
    ap = argparse.ArgumentParser(); ap.add_argument("out")
    for k, v in dict(dim=192, layers=4, heads=6, kv=2, ff=512, vocab=1024, ctx=1024, minutes=80.0, lr=3e-3, seed=1, threads=2, tokens=4096).items():
        ap.add_argument("--" + k, type=type(v), default=v)
    c = ap.parse_args(); os.makedirs(c.out, exist_ok=True)
    json.dump(vars(c), open(c.out + "/cfg.json", "w"))
    torch.set_num_threads(c.threads); torch.manual_seed(c.seed)
    r = random.Random(c.seed)
    text = "\n".join("".join(t for t, _ in corpus.sample(r)) for _ in range(6000))
    text = SPECIAL_RE.sub("\n", text)
    kv = G.tokenizer_kv(c.vocab, "qwen2", text, add_bos=False, max_merges=c.vocab)
    json.dump({k: v for k, v in kv.items() if not isinstance(v, bool)}, open(c.out + "/tokenizer.json", "w"), default=str)
    toks = kv["tokenizer.ggml.tokens"]; ids = {t: i for i, t in enumerate(toks)}
    rank = {tuple(m.split(" ")): i for i, m in enumerate(kv["tokenizer.ggml.merges"])}
    bm, _ = G.byte_chars(); cache = {}

    def word(w):
        p = cache.get(w)
        if p is None:
            q = [bm[b] for b in w.encode()]
            while len(q) > 1:
                j = min(range(len(q) - 1), key=lambda j: rank.get((q[j], q[j + 1]), 1 << 30))
                if (q[j], q[j + 1]) not in rank: break
                q[j:j + 2] = [q[j] + q[j + 1]]
            p = [ids[x] for x in q]
            if len(cache) < 200000: cache[w] = p
        return p

    eot, bos = ids["<|end_of_text|>"], ids["<|begin_of_text|>"]

    def encode(pieces):
        # tokenise the whole text, then give each token the weight of the piece it starts in
        t, w = [], []
        buf, marks = "", []
        for s, wt in pieces:
            marks.append((len(buf), wt)); buf += s
        pos = 0
        def wt_at(i):
            cur = marks[0][1]
            for m, x in marks:
                if m <= i: cur = x
                else: break
            return cur
        for part in SPECIAL_RE.split(buf):
            if not part: continue
            if part in ids and part.startswith("<|im"):
                t.append(ids[part]); w.append(wt_at(pos)); pos += len(part); continue
            for m in SPLIT.finditer(part):
                x = word(m.group(0)); t += x; w += [wt_at(pos + m.start())] * len(x)
            pos += len(part)
        t.append(eot); w.append(0.3)
        return t, w

    m = LM(c); n = sum(p.numel() for p in m.parameters()); print("params", n, "vocab", len(toks), flush=True)
    decay = [p for p in m.parameters() if p.ndim > 1]; rest = [p for p in m.parameters() if p.ndim <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=c.lr, betas=(0.9, 0.95))
    t0, step, seen, nxt = time.time(), 0, 0, 0
    ema = None
    def batches():
        while True:
            frac = (time.time() - t0) / (60 * c.minutes)
            phase = 0.0 if frac < .22 else 1.0
            cap = 96 if frac < .22 else 256 if frac < .55 else 512 if frac < .85 else c.ctx
            pool = []
            while len(pool) < 800:
                e = encode(corpus.sample(r, big=frac > .5 and r.random() < .5, phase=phase))
                if 8 < len(e[0]) <= cap: pool.append(e)
            pool.sort(key=lambda e: len(e[0]))
            out, cur = [], []
            for e in pool:
                if cur and (len(cur) + 1) * len(e[0]) > c.tokens: out.append(cur); cur = []
                cur.append(e)
            if cur: out.append(cur)
            r.shuffle(out)
            yield from out

    for b in batches():
        frac = (time.time() - t0) / (60 * c.minutes)
        if frac >= 1: break
        lr = c.lr * min(1, (step + 1) / 150) * (0.5 * (1 + math.cos(math.pi * min(1, frac))) * 0.97 + 0.03)
        for g in opt.param_groups: g["lr"] = lr
        T = max(len(t) for t, _ in b)
        x = torch.full((len(b), T), eot); y = torch.full((len(b), T), -100); W = torch.zeros(len(b), T)
        for i, (t, w) in enumerate(b):
            L = len(t); x[i, :L] = torch.tensor(t); y[i, :L - 1] = torch.tensor(t[1:]); W[i, :L - 1] = torch.tensor(w[1:])
        logits = m(x)
        l = F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1), reduction="none", ignore_index=-100)
        loss = (l * W.view(-1)).sum() / W.sum()
        opt.zero_grad(); loss.backward(); torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0); opt.step()
        step += 1; seen += x.numel(); ema = loss.item() if ema is None else .98 * ema + .02 * loss.item()
        if time.time() > nxt:
            nxt = time.time() + 45
            print("%5.1f min step %d tokens %.2fM loss %.3f lr %.5f len %d" % ((time.time() - t0) / 60, step, seen / 1e6, ema, lr, T), flush=True)
            torch.save(m.state_dict(), c.out + "/ck.pt")
    torch.save(m.state_dict(), c.out + "/ck.pt")
    kv["general.license"] = "cc0-1.0"
    for t in ("f32", "f16", "q8_0"): export(m, kv, "%s/kvasir-mini-%s.gguf" % (c.out, t), "kvasir-mini", getattr(G, t.upper()) if hasattr(G, t.upper()) else t)
    print("done", step, seen, ema)


main()

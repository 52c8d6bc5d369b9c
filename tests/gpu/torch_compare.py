#!/usr/bin/env python3
"""GPT-2 small's gradient and products by PyTorch, for run.sh's table: lines of JSON. usage: torch_compare.py [--tiny]"""
import json
import sys
import time

import torch
from torch.nn import functional

TINY = "--tiny" in sys.argv
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LAYERS, WIDTH, HEADS, CONTEXT, VOCABULARY, BATCH = (2, 64, 4, 64, 256, 2) if TINY else (12, 768, 12, 1024, 50257, 8)
RUNS = 2 if TINY else 7


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.attend, self.project = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.widen, self.narrow = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        parts = self.attend(self.before(x)).split(WIDTH, 2)
        query, key, value = (part.view(BATCH, -1, HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(seen.transpose(1, 2).reshape(BATCH, -1, WIDTH))
        return x + self.narrow(functional.gelu(self.widen(self.between(x)), approximate="tanh"))


class Gpt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Embedding(CONTEXT, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.last = torch.nn.LayerNorm(WIDTH)

    def forward(self, x, y):
        h = self.tokens(x) + self.places.weight
        for block in self.blocks:
            h = block(h)
        logits = functional.linear(self.last(h), self.tokens.weight)
        return functional.cross_entropy(logits.view(-1, VOCABULARY).float(), y.view(-1))


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def median(run):
    run()
    seconds = []
    for _ in range(RUNS):
        wait()
        begin = time.perf_counter()
        run()
        wait()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds)[RUNS // 2]


def say(**result):
    print(json.dumps({"device": DEVICE, "version": torch.__version__, **result}), flush=True)


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(0)
    model = Gpt().to(DEVICE)
    x, y = (torch.randint(0, VOCABULARY, (BATCH, CONTEXT), device=DEVICE) for _ in range(2))

    def gradient(half):
        model.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=half):
            loss = model(x, y)
        loss.backward()

    for half in (False, True):
        say(what="torch", type="bfloat16 autocast" if half else "float32", seconds=median(lambda: gradient(half)))
    sizes = [(64, 64, 64)] if TINY else [(8192, 3072, 768), (4096, 4096, 4096), (8192, 8192, 8192), (768, 768, 8192)]
    for rows, columns, depth in sizes:
        a, b = torch.randn(rows, depth, device=DEVICE), torch.randn(depth, columns, device=DEVICE)
        seconds = median(lambda: a @ b)
        say(what="cublas", rows=rows, columns=columns, depth=depth, tflops=2 * rows * columns * depth / seconds * 1e-12)


if __name__ == "__main__":
    main()

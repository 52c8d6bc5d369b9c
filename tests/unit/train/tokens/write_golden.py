#!/usr/bin/env python3
"""Writes tests/vectors/tokenizers.json: small tokenizers, and the ids that the library `tokenizers` gives texts.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    venv/bin/python tests/unit/train/tokens/write_golden.py

The tokenizers are those that tests/python/tokenizers_test.py trains, of fewer tokens.
"""
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import tokenizers_test as drawn  # noqa: E402

BOOK = """Nobody vouches for anybody here, and that's the point: they're strangers. We'll train a model, I'm told, in 2026 or 2027.
  - members: 12, 345 and 67890 steps;\n\n\n\tthen what they've said is judged. DON'T trust 'em! It's done (isn't it?)...
Der Bär saß über dem Fluß; où êtes-vous, café? Привет, мир. 日本語の文章。 מה שלומך. नमस्ते दुनिया\n""" * 3
TEXTS = ["", " ", "a", "Hello, world", "it's IT'S they'LL 'Tis '\u017f", "1234567 12 \u00bd\u0661", "a   b \t\n\n  c\r\n", "   ", "\n\n\n",
         "caf\u00e9 cafe\u0301 \u212b \u1e9b\u0323", "\u1112\u1161\u11ab\uae00", "<|endoftext|><|eot|>\n<|<|eot|", "\U0001f600\U0010ffff\u0378",
         "hello world hello worl", "a" * 40, " " * 20 + "x"]


def main():
    cases = []
    drawn.SIZES = {"gpt2": 330, "llama3": 340, "qwen2": 320}
    for name, text in drawn.made_tokenizers(BOOK):
        tokenizer = drawn.Tokenizer.from_str(text)
        special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        draw = random.Random(name)
        texts = TEXTS + [drawn.drawn_text(draw, BOOK, special) for _ in range(60)]
        ids = [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
        cases.append({"name": name, "tokenizer": json.loads(text), "texts": list(zip(texts, ids))})
    lines = ",\n ".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (ROOT / "tests" / "vectors" / "tokenizers.json").write_text(
        f'{{"library":"tokenizers {drawn.tokenizers.__version__}","cases":[\n {lines}\n]}}\n')


if __name__ == "__main__":
    main()

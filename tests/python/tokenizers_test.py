"""The ids of drawn texts are those of the library `tokenizers`, for tokenizers that it trains here and for files that are named.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    ENCODE_TEXTS=build/dev/encode_texts venv/bin/python tests/python/tokenizers_test.py [--count N] [--seed S] [TOKENIZER.json ...]

Without the library nothing is compared, which it says (exit code 77). --count: texts of each tokenizer. Versions of the library have
different versions of Unicode; node/train/tokens/write_unicode.py says whose tables the program has.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

try:
    import tokenizers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError:
    print("NOTHING IS COMPARED: the library tokenizers is not installed (pip install tokenizers)", file=sys.stderr)
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}"
QWEN2 = rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}"

# --- texts -------------------------------------------------------------------------------------------

SPACES = [chr(code) for code in (*range(9, 14), 32, 0x85, 0xA0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202F, 0x3000)]
MARKS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and unicodedata.combining(chr(code))]
FORMS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and unicodedata.decomposition(chr(code))]
STRETCHES = [(0x20, 0x7F), (0x80, 0x24F), (0x250, 0x6FF), (0x700, 0x10FF), (0x1100, 0x11FF), (0x1E00, 0x2BFF), (0x3040, 0x30FF),
             (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x3FFFF), (0xE0000, 0x10FFFF)]
ENDS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'RE", "'Ve", "'lL", "'D", "'\u017f", "\u2019s", "'x", "''", "'r", "'l"]


def drawn_character(draw):
    low, high = draw.choice(STRETCHES) if draw.random() < 0.8 else (0, 0x10FFFF)
    code = draw.randint(low, high)
    return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"


def drawn_piece(draw, book, special):
    kind = draw.randrange(14)
    if kind == 0:
        begin = draw.randrange(len(book))
        return book[begin:begin + draw.randint(1, 60)]
    if kind == 1:
        return "".join(drawn_character(draw) for _ in range(draw.randint(1, 12)))
    if kind == 2:
        return "".join(chr(draw.randint(*STRETCHES[2])) for _ in range(draw.randint(1, 8)))
    if kind == 3:
        return draw.choice("ab e\u0915q\u00e9\u1100\u1161\u00c5") + "".join(draw.choice(MARKS) for _ in range(draw.randint(1, 5)))
    if kind == 4:
        return "".join(draw.choice(FORMS) + draw.choice(["", "", draw.choice(MARKS)]) for _ in range(draw.randint(1, 4)))
    if kind == 5:
        return draw.choice(SPACES) * draw.randint(1, 40)
    if kind == 6:
        return "".join(draw.choice(SPACES) for _ in range(draw.randint(1, 8)))
    if kind == 7:
        return draw.choice(["\n", "\r\n", "\n\n", " \n", "\t\n ", "\n" * 30])
    if kind == 8:
        digits = draw.choice(["0123456789", "\u0660\u0661\u00b2\u00bd\u2167\u3007\U0001D7CE7"])
        return "".join(draw.choice(digits) for _ in range(draw.randint(1, 12)))
    if kind == 9:
        return draw.choice(["", "it", "\u00e9", " I", "7"]) + draw.choice(ENDS) + draw.choice(["", " ", "x", "s"])
    if kind == 10:
        return "".join(draw.choice("!?.,;:-_()[]{}<|>/\\#@'\"`~") for _ in range(draw.randint(1, 9)))
    if kind == 11 and special:
        chosen = draw.choice(special)
        cut = draw.randint(0, len(chosen)) if draw.random() < 0.3 else len(chosen)
        return chosen[:cut]
    if kind == 12:
        return draw.choice("aeno t") * draw.randint(1, 50)
    return "".join(draw.choice("\u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2\uac00\uac01\ud7a3") for _ in range(draw.randint(1, 8)))


def drawn_text(draw, book, special):
    return "".join(drawn_piece(draw, book, special) for _ in range(draw.randint(0, 6)))


def fixed_texts():
    """Every code point, after and before what it may change."""
    texts = ["", " ", "\n", "  a", "a  ", "a \n \n  b", "'", "\ufeffa"]
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            texts.append(f"a{chr(code)}b {chr(code)}1'{chr(code)} \n{chr(code)}q\u0345{chr(code)}\u0334")
    return texts


# --- tokenizers --------------------------------------------------------------------------------------

SIZES = {"gpt2": 5000, "llama3": 4000, "qwen2": 3000}  # tokens of those that are trained here


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior, invert),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def trained(book, words, size, normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = words
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    lines = book.splitlines(keepends=True)
    draw = random.Random(7)
    foreign = ["".join(drawn_character(draw) for _ in range(40)) * 3 for _ in range(300 if size > 1000 else 0)]
    tokenizer.train_from_iterator(["".join(lines[i:i + 50]) for i in range(0, len(lines), 50)] + foreign, trainer)
    return tokenizer


def with_strings_as_merges(text):
    """As versions before 0.20 wrote a file, and the hub's file of GPT-2 is."""
    made = json.loads(text)
    made["model"]["merges"] = [" ".join(pair) for pair in made["model"]["merges"]]
    for name in ("type", "ignore_merges", "byte_fallback"):
        del made["model"][name]
    made["model"].update(continuing_subword_prefix="", end_of_word_suffix="", unk_token="<|endoftext|>")
    return json.dumps(made)


def ignoring_merges(text):
    """Words of the vocabulary that merges do not make, as Llama 3 has them."""
    made = json.loads(text)
    model = made["model"]
    model["ignore_merges"] = True
    model["merges"] = [pair for i, pair in enumerate(model["merges"]) if i % 5]
    known = set(pre_tokenizers.ByteLevel.alphabet()) | {"".join(pair) for pair in model["merges"]}
    model["merges"] = [pair for pair in model["merges"] if set(pair) <= known]
    return json.dumps(made)


def made_tokenizers(book):
    gpt2 = trained(book, pre_tokenizers.ByteLevel(add_prefix_space=False), SIZES["gpt2"])
    gpt2.add_special_tokens([AddedToken("<|endoftext|>", normalized=True)])
    yield "gpt2", gpt2.to_str()
    yield "gpt2, as strings", with_strings_as_merges(gpt2.to_str())
    llama = trained(book, split(LLAMA3), SIZES["llama3"])
    llama.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|eot|>", "<|eot|>\n", "<|"])
    llama.add_tokens(["hello", "hello world", "\u00e9t\u00e9"])
    yield "llama3", llama.to_str()
    yield "llama3, ignoring merges", ignoring_merges(llama.to_str())
    yield "llama3, removed", json.dumps(json.loads(llama.to_str()) | {"pre_tokenizer": json.loads(
        trained("a b", split(LLAMA3, "removed", True), 300).to_str())["pre_tokenizer"]})
    qwen = trained(book, split(QWEN2), SIZES["qwen2"], normalizers.NFC())
    qwen.add_special_tokens(["<|im_start|>", "<|im_end|>", "<|endoftext|>"])
    qwen.add_tokens([AddedToken("caf\u0065\u0301", normalized=True), AddedToken("A\u030a", normalized=False)])
    yield "qwen2", qwen.to_str()


# --- the comparison ------------------------------------------------------------------------------------

def encoded(path, texts):
    """The program's ids of each text; None: refused."""
    sent = b"".join(struct.pack("<I", len(text)) + text for text in (text.encode() for text in texts))
    program = os.environ.get("ENCODE_TEXTS", str(ROOT / "build" / "dev" / "encode_texts"))
    done = subprocess.run([program, path], input=sent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"encode_texts: {done.stderr.decode()}")
    numbers = memoryview(done.stdout).cast("I")
    at = 0
    while at < len(numbers):
        count = numbers[at]
        if count == 0xFFFFFFFF:
            yield None
            at += 1
        else:
            yield list(numbers[at + 1:at + 1 + count])
            at += 1 + count


def compare(name, path, texts):
    tokenizer = Tokenizer.from_file(str(path))
    wanted = tokenizer.encode_batch(texts, add_special_tokens=False)
    ids = 0
    count = 0
    for text, ours, theirs in zip(texts, encoded(path, texts), wanted):
        if ours != theirs.ids:
            sys.exit(f"{name}: {text!r} is {theirs.ids}, and here {ours}: {theirs.tokens}")
        ids += len(ours)
        count += 1
    if count != len(texts):
        sys.exit(f"{name}: {count} answers to {len(texts)} texts")
    return ids


def run(name, path, book, options):
    special = [token.content for token in Tokenizer.from_file(str(path)).get_added_tokens_decoder().values()]
    draw = random.Random(f"{options.seed} {name}")
    ids = compare(name, path, fixed_texts()) if options.all_points else 0
    for left in range(options.count, 0, -20_000):
        ids += compare(name, path, [drawn_text(draw, book, special) for _ in range(min(left, 20_000))])
    points = " and every code point" if options.all_points else ""
    print(f"{name}: {options.count:,} drawn texts{points}, {ids:,} ids, all equal (tokenizers {tokenizers.__version__})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--all-points", action="store_true", help="every code point of Unicode, too")
    parser.add_argument("--book", type=Path, default=ROOT / "docs" / "training.md", help="a text to train on and to draw from")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    book = options.book.read_text()
    for path in options.files:
        run(path.name, path, book, options)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in () if options.files else made_tokenizers(book):
            path = Path(folder) / "tokenizer.json"
            path.write_text(text)
            run(name, path, book, options)


if __name__ == "__main__":
    main()

"""Texts of any vocabulary as records of tokens for a run: `ostraka.data`. Needs NumPy alone; a tokenizer is the caller's.

A file is as node/train/tokens/tokens.h has it: one line, then records of context + 1 tokens, of which the last `context`
are the targets of the first. The first eight tenths of all tokens train, the next tenth is for validation and the last for
tests, each of these two with at most 256 records at equal distances, as `ostraka data pack` cuts a text.
"""
import itertools
import os
import sys
import time

__all__ = ["from_bin", "pack"]

# NumPy is imported where it is needed: the module is, too, where a wheel is built without it.
MOST_HELD_OUT = 256
MOST_CONTEXT = 1 << 16
MOST_OF_TWO_BYTES = 1 << 16
BLOCK = 1 << 20  # tokens that are read at once


def pack(texts, tokenizer, path, *, context, vocabulary=None, end=None, overwrite=False):
    """Writes the tokens of `texts`, an iterable of str, to `path`; nothing but the text at hand is kept in memory.

    tokenizer: of tokenizers, transformers or tiktoken, or any function from a str to a sequence of ints, which then needs
    `vocabulary`. context: tokens that a prediction sees, 1 to 65536. end: the id that follows each text; by default that of
    the tokenizer's end of text, if it has one. Returns a dict: path, vocabulary, context, tokens, training, validation, test
    (records). A tokenizer that can be written as JSON is kept beside the file, as PATH.tokenizer.json.

    ValueError: too few tokens, an id outside of the vocabulary, a size out of range. FileExistsError: `path` is there.
    """
    import numpy as np
    encode, known, its_end = _encoder(tokenizer)
    vocabulary = known if vocabulary is None else vocabulary
    if vocabulary is None:
        raise ValueError("say how many tokens the tokenizer knows: vocabulary=")
    end = its_end if end is None else end
    with _Spool(path, context, vocabulary, overwrite) as spool:
        began = shown = time.monotonic()
        for text in texts:
            ids = list(encode(text))
            if end is not None:
                ids.append(end)
            spool.add(np.asarray(ids, np.int64))
            if sys.stderr.isatty() and time.monotonic() - shown > 1:
                shown = time.monotonic()
                print(f"\r{spool.tokens:,} tokens, {spool.tokens / (shown - began):,.0f} a second", end="", file=sys.stderr)
        if shown > began:
            print(file=sys.stderr)
        result = spool.finish()
    text = _json_of(tokenizer)
    if text is not None:
        with open(f"{path}.tokenizer.json", "w", encoding="utf-8") as file:
            file.write(text)
    return result


def from_bin(path, out, *, vocabulary, context, dtype="u2", overwrite=False):
    """Writes the tokens of a file of nothing but little-endian integers, as nanoGPT's train.bin, to `out`, as `pack` does."""
    import numpy as np
    tokens = np.memmap(path, np.dtype(dtype).newbyteorder("<"), "r")
    with _Spool(out, context, vocabulary, overwrite) as spool:
        for begin in range(0, len(tokens), BLOCK):
            spool.add(tokens[begin:begin + BLOCK].astype(np.int64))
        return spool.finish()


def _encoder(tokenizer):
    """(function from a str to ids, vocabulary or None, id of the end of a text or None)"""
    if hasattr(tokenizer, "encode_ordinary"):  # tiktoken
        return tokenizer.encode_ordinary, tokenizer.n_vocab, tokenizer.eot_token
    if hasattr(tokenizer, "get_vocab_size"):  # tokenizers
        ends = (tokenizer.token_to_id(name) for name in ("<|endoftext|>", "<|end_of_text|>", "</s>"))
        return (lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.get_vocab_size(),
                next((end for end in ends if end is not None), None))
    if hasattr(tokenizer, "eos_token_id"):  # transformers
        return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"], len(tokenizer), tokenizer.eos_token_id
    return tokenizer, None, None


def _json_of(tokenizer):
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return tokenizer.to_str() if hasattr(tokenizer, "to_str") else None


class _Spool:
    """Tokens as they come, in a file beside the one that is made of them at the end."""

    def __init__(self, path, context, vocabulary, overwrite):
        import numpy as np
        if not 1 <= context <= MOST_CONTEXT:
            raise ValueError(f"context must be 1 to {MOST_CONTEXT}, not {context}")
        if not 1 <= vocabulary < 1 << 31:
            raise ValueError(f"vocabulary must be 1 to 2147483647, not {vocabulary}")
        if os.path.exists(path) and not overwrite:
            raise FileExistsError(f"{path} is there: overwrite=True replaces it")
        self.path, self.context, self.vocabulary, self.tokens = path, context, vocabulary, 0
        self.kind = "u16" if vocabulary <= MOST_OF_TWO_BYTES else "u32"
        self.width = np.dtype("<u2" if self.kind == "u16" else "<u4")
        self.spool = f"{path}.part"
        self.file = open(self.spool, "wb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        for left in (self.spool, f"{self.path}.new"):
            if os.path.exists(left):
                os.remove(left)

    def add(self, ids):
        if ids.size and not (0 <= ids.min() and ids.max() < self.vocabulary):
            wrong = ids[(ids < 0) | (ids >= self.vocabulary)][0]
            raise ValueError(f"the tokenizer gave the id {wrong}, and its vocabulary is {self.vocabulary}")
        self.file.write(ids.astype(self.width).tobytes())
        self.tokens += ids.size

    def finish(self):
        import numpy as np
        self.file.close()
        tenth = self.tokens // 10
        if tenth < self.context + 1:
            raise ValueError(f"too few tokens: {self.tokens}, and records of {self.context + 1} need at least {10 * (self.context + 1)}")
        tokens = np.memmap(self.spool, self.width, "r")
        trained = self.tokens - 2 * tenth
        parts, counts = zip(_places(0, trained, self.context, trained), _places(trained, tenth, self.context, MOST_HELD_OUT),
                            _places(trained + tenth, tenth, self.context, MOST_HELD_OUT))
        line = f"ostraka-tokens 2 {self.kind} {self.vocabulary} {self.context} {' '.join(map(str, counts))}\n"
        with open(f"{self.path}.new", "wb") as file:
            file.write(line.encode())
            for place in itertools.chain.from_iterable(parts):
                file.write(tokens[place:place + self.context + 1].tobytes())
        os.replace(f"{self.path}.new", self.path)
        return {"path": os.fspath(self.path), "vocabulary": self.vocabulary, "context": self.context, "tokens": self.tokens,
                **dict(zip(("training", "validation", "test"), counts))}


def _places(begin, length, context, most):
    """Where the records of a stretch of tokens begin, and how many they are."""
    records = (length - 1) // context
    count = min(records, most)
    return (begin + i * records // count * context for i in range(count)), count

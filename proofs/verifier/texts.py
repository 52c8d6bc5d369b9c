"""Texts: as windows of symbols, and as records of tokens, packed or cut here (docs/training.md, node/train/tokens/tokens.h)."""
import re

import numpy as np

from examples import SYMBOLS, BadData, Dataset, Part, read_file

WINDOW = 8
MOST_WINDOWS = 2048  # of a part that is held out
MOST_TEXT = 32 << 20
SHORTEST_TEXT = 1000
TOKENS = 256
MOST_RECORDS = 256  # of a part that is held out
LONGEST_RECORD = 1 << 16
NUMBER = rb"(0|[1-9]\d*)"
PACKED = re.compile(b"ostraka-tokens 1 bytes " + b" ".join([NUMBER] * 4) + b"\n")
WIDE = re.compile(b"ostraka-tokens 2 (u16|u32) " + b" ".join([NUMBER] * 5) + b"\n")
WIDTHS = {b"u16": "<u2", b"u32": "<u4"}


def stretches(text):
    """Eight tenths for training, one for validation, one for tests."""
    tenth = len(text) // 10
    trained = len(text) - 2 * tenth
    return text[:trained], text[trained:trained + tenth], text[trained + tenth:]


def part_at(stretch, starts, length):
    """The values at each start, and the one after them as label."""
    rows = np.lib.stride_tricks.sliding_window_view(stretch, length + 1)[starts]
    return Part(rows[:, :-1], rows[:, -1])


def windows(stretch, most):
    there = len(stretch) - WINDOW
    count = min(there, most)
    return part_at(stretch, np.arange(count) * there // count, WINDOW)


def text(path):
    content = np.frombuffer(read_file(path, MOST_TEXT), np.uint8)
    symbols, symbol_of = np.unique(content), np.zeros(TOKENS, np.uint8)
    symbol_of[symbols] = np.arange(len(symbols))
    if len(content) < SHORTEST_TEXT or len(symbols) < 2:
        raise BadData(f"{path}: too short, or always one byte")
    trained, *held_out = stretches(symbol_of[content])
    parts = [windows(trained, len(trained))] + [windows(stretch, MOST_WINDOWS) for stretch in held_out]
    return Dataset("text", (1, 1, WINDOW), len(symbols), SYMBOLS, parts)


def cut(stretch, most, context):
    records = (len(stretch) - 1) // context
    count = min(records, most)
    return part_at(stretch, np.arange(count) * records // count * context, context)


def unpacked(content, line):
    """Vocabulary, context and parts of a packed file, `line` being the match of its first."""
    kind, vocabulary, context, *counts = line.groups() if line.re is WIDE else (b"bytes", TOKENS, *line.groups())
    vocabulary, context, counts = int(vocabulary), int(context), list(map(int, counts))
    width = np.dtype(WIDTHS.get(kind, "u1"))
    if (len(content) - line.end()) != sum(counts) * (context + 1) * width.itemsize or not 1 <= context <= LONGEST_RECORD:
        raise BadData("a packed file has another size than it says")
    table = np.frombuffer(content, width, offset=line.end())
    if line.re is WIDE and (not 1 <= vocabulary < 1 << 31 or (vocabulary > 1 << 16) != (kind == b"u32") or table.max(initial=0) >= vocabulary):
        raise BadData("a packed file has tokens beyond its vocabulary, or another width than it needs")
    table, parts = table.reshape(-1, context + 1), []
    for count in counts:
        parts.append(Part(table[:count, :-1], table[:count, -1], width))
        table = table[count:]
    return vocabulary, context, parts


def records(path, context):
    content, vocabulary = read_file(path), TOKENS
    line = PACKED.match(content) or WIDE.match(content)
    if line:
        vocabulary, context, parts = unpacked(content, line)
    else:
        if len(content) // 10 < context + 1:
            raise BadData(f"{path}: too short for records of {context + 1} bytes")
        trained, *held_out = stretches(np.frombuffer(content, np.uint8))
        parts = [cut(trained, len(trained), context)] + [cut(stretch, MOST_RECORDS, context) for stretch in held_out]
    return Dataset("tokens", (1, 1, context), vocabulary, SYMBOLS, parts)

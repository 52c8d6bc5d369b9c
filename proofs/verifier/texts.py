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
PACKED = re.compile(rb"ostraka-tokens 1 bytes (0|[1-9]\d*) (0|[1-9]\d*) (0|[1-9]\d*) (0|[1-9]\d*)\n")


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
    """Context and parts of a packed file, `line` being the match of its first."""
    context, *counts = map(int, line.groups())
    table = np.frombuffer(content, np.uint8, offset=line.end())
    if not 1 <= context <= LONGEST_RECORD or table.size != sum(counts) * (context + 1):
        raise BadData("a packed file has another size than it says")
    table, parts = table.reshape(-1, context + 1), []
    for count in counts:
        parts.append(Part(table[:count, :-1], table[:count, -1]))
        table = table[count:]
    return context, parts


def records(path, context):
    content = read_file(path)
    line = PACKED.match(content)
    if line:
        context, parts = unpacked(content, line)
    else:
        if len(content) // 10 < context + 1:
            raise BadData(f"{path}: too short for records of {context + 1} bytes")
        trained, *held_out = stretches(np.frombuffer(content, np.uint8))
        parts = [cut(trained, len(trained), context)] + [cut(stretch, MOST_RECORDS, context) for stretch in held_out]
    return Dataset("tokens", (1, 1, context), TOKENS, SYMBOLS, parts)

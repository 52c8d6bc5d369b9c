"""The data of a run, as docs/training.md and docs/wire.md have them: the digits, and texts as records of tokens."""
import collections

import numpy as np

from hashing import hashed, merkle_root, sized, u64

Dataset = collections.namedtuple("Dataset", "name training labels classes features hash")
DIGITS_TEST, DIGITS_VALIDATION = 5, 10  # one image in so many
TOKENS = 256
MOST_HELD_OUT = 256


class BadData(Exception):
    """The file is not the run's data."""


def split_off(rows, share):
    """One example in `share` of each class: those with the smallest hashes of image and label."""
    taken = set()
    for label in sorted({row[-1] for row in rows}):
        ordered = sorted((hashed("merkle.leaf/1", bytes(row)), i) for i, row in enumerate(rows) if row[-1] == label)
        taken.update(i for _, i in ordered[:len(ordered) // share])
    return [row for i, row in enumerate(rows) if i not in taken], [row for i, row in enumerate(rows) if i in taken]


def digits(text):
    try:
        rows = [[int(cell) for cell in line.split(",")] for line in text.decode("ascii").split()]
    except ValueError as problem:
        raise BadData(f"not the digits: {problem}") from None
    if any(len(row) != 65 or not all(0 <= cell <= 16 for cell in row) or row[64] > 9 for row in rows):
        raise BadData("not the digits: a line has 64 pixels of 0..16 and a label of 0..9")
    rest, test = split_off(rows, DIGITS_TEST)
    training, validation = split_off(rest, DIGITS_VALIDATION)
    digest = b"".join(map(u64, (1, 8, 8, 10, 16)))
    for part in (training, validation, test):
        digest += sized(bytes(cell for row in part for cell in row[:64])) + sized(bytes(row[64] for row in part))
    pixels = np.array([row[:64] for row in training], np.float32)
    features = np.float32(2) * (pixels / np.float32(16)) - np.float32(1)
    return Dataset("digits", features, np.array([row[64] for row in training], np.int32), 10, 64, hashed("data/1", digest))


def cut(stretch, most, context):
    records = (len(stretch) - 1) // context
    count = min(records, most)
    starts = [i * records // count * context for i in range(count)]
    return [stretch[start:start + context + 1] for start in starts]


def records(text, context):
    tenth = len(text) // 10
    if tenth < context + 1:
        raise BadData(f"too short for records of {context + 1} bytes")
    trained = len(text) - 2 * tenth
    parts = [cut(text[:trained], len(text), context), cut(text[trained:trained + tenth], MOST_HELD_OUT, context),
             cut(text[trained + tenth:], MOST_HELD_OUT, context)]
    leaves = [hashed("merkle.leaf/1", record) for part in parts for record in part]
    digest = hashed("tokens/1", u64(context), u64(TOKENS), *(u64(len(part)) for part in parts), merkle_root(leaves))
    training = np.array([list(record) for record in parts[0]], np.int32)
    return Dataset("tokens", training[:, :-1], training[:, 1:], TOKENS, context, digest)

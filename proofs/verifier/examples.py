"""Examples that a run trains on: their parts, their hash, what a model reads of them (docs/training.md, node/train/dataset.h)."""
import gzip
import math
import os
import zlib

import numpy as np

from hashing import hashed, merkle_root, sized, u64

MOST_BYTES = 1 << 30
SYMBOLS = 0  # as the largest value: values are no amounts


class BadData(Exception):
    """The files are not the run's data, or are none."""


class Part:
    """Examples of one part: one row each of bytes, or of wider tokens, and a label for each row."""

    def __init__(self, values, labels, width=np.uint8):
        self.values, self.labels = np.asarray(values, width), np.asarray(labels, width)

    def taken(self, mask):
        return Part(self.values[mask], self.labels[mask], self.values.dtype)

    def leaves(self):
        return [hashed("merkle.leaf/1", row.tobytes() + label.tobytes()) for row, label in zip(self.values, self.labels)]


class Dataset:
    """`shape`: channels, height, width of an image, or of a text 1, 1 and its bytes. `hash` names the data in a manifest."""

    def __init__(self, name, shape, classes, largest, parts):
        self.name, self.shape, self.classes, self.largest = name, shape, classes, largest
        self.training, self.count = parts[0], len(parts[0].labels)
        self.features = math.prod(shape) * (classes if largest == SYMBOLS else 1)
        self.hash = self.hash_of_records(parts) if name == "tokens" else self.hash_of_parts(parts)

    def hash_of_parts(self, parts):
        text = b"".join(map(u64, (*self.shape, self.classes, self.largest)))
        return hashed("data/1", text, *(sized(bytes_) for part in parts for bytes_ in (part.values.tobytes(), part.labels.tobytes())))

    def hash_of_records(self, parts):
        root = merkle_root([leaf for part in parts for leaf in part.leaves()])
        width = self.training.values.itemsize
        domain, bytes_of_a_token = ("tokens/1", []) if width == 1 else ("tokens/2", [u64(width)])
        counts = [u64(len(part.labels)) for part in parts]
        return hashed(domain, u64(self.shape[2]), u64(self.classes), *bytes_of_a_token, *counts, root)

    def inputs(self, rows):
        """What a model reads of training rows, and their targets."""
        values, labels = self.training.values[rows], self.training.labels[rows].astype(np.int32)
        if self.name == "tokens":
            return values.astype(np.int32), np.column_stack([values[:, 1:], labels]).astype(np.int32)
        if self.largest == SYMBOLS:
            present = np.sqrt(np.float32(self.classes))
            return np.where(values[:, :, None] == np.arange(self.classes), present, np.float32(0)).reshape(len(rows), -1), labels
        return np.float32(2) * (values.astype(np.float32) / np.float32(self.largest)) - np.float32(1), labels


def split_off(part, share):
    """Without one example in `share` of each class, those with the smallest hashes of image and label; and these."""
    leaves, taken = part.leaves(), np.zeros(len(part.labels), bool)
    for label in set(part.labels.tolist()):
        of_class = sorted((leaves[i], i) for i in np.flatnonzero(part.labels == label))
        taken[[i for _, i in of_class[:len(of_class) // share]]] = True
    return part.taken(~taken), part.taken(taken)


def read_file(path, most=MOST_BYTES):
    """A file's bytes; of a gzip file, what was compressed. Raises BadData."""
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if content.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(path) as file:
                content = file.read(most + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise BadData(f"{path}: {problem}") from None
    if not 0 < len(content) <= most:
        raise BadData(f"{path}: it is empty, or larger than data may be")
    return content


def read_one_of(folder, names):
    """The first file of these names that is there, also with .gz."""
    paths = [os.path.join(folder, name + suffix) for name in names for suffix in ("", ".gz")]
    return read_file(next((path for path in paths if os.path.isfile(path)), paths[0]))

"""The inverse of proofs/verifier/canonical.py, with its tables. Tests use it to damage one member of a file and keep
the rest well formed."""
import struct
import sys
from pathlib import Path

VERIFIER = Path(__file__).resolve().parents[2] / "proofs" / "verifier"
sys.path.insert(0, str(VERIFIER))

import canonical  # noqa: E402

EMPTY_STRUCT = 0xFFFFFFFC
DATA_ELEMENT, WORD_ELEMENT, POINTER_ELEMENT, STRUCT_ELEMENT = 2, 5, 6, 7


def encode(spec, value):
    """The one encoding of `value`, a dict as canonical.decode returns."""
    writer = _Writer()
    writer.allocate(1)
    writer.struct(0, spec, value)
    return struct.pack(f"<{len(writer.words)}Q", *writer.words)


def _data_words(spec, value):
    bits = sum(value[field.name] << field.at for field in spec.fields)
    words = []
    while bits:
        words.append(bits & 0xFFFFFFFFFFFFFFFF)
        bits >>= 64
    return words


def _pointer_count(spec, value):
    """Pointers up to the last that is not null: a value that is there, if only as an empty struct."""
    there = [i for i, pointer in enumerate(spec.pointers)
             if value[pointer.name] is not None and (isinstance(pointer, canonical.One) or value[pointer.name])]
    return there[-1] + 1 if there else 0


class _Writer:
    def __init__(self):
        self.words = []

    def allocate(self, count):
        begin = len(self.words)
        self.words += [0] * count
        return begin

    def struct(self, at, spec, value):
        data, pointers = _data_words(spec, value), _pointer_count(spec, value)
        if not data and not pointers:
            self.words[at] = EMPTY_STRUCT
            return
        begin = self.allocate(len(data) + pointers)
        self.words[at] = (begin - at - 1) << 2 | len(data) << 32 | pointers << 48
        self.fill(begin, data, len(data), pointers, spec, value)

    def fill(self, begin, data, data_size, pointers, spec, value):
        self.words[begin:begin + len(data)] = data
        for index, pointer in enumerate(spec.pointers[:pointers]):
            self.pointer(begin + data_size + index, pointer, value[pointer.name])

    def pointer(self, at, spec, value):
        if value is None or (not isinstance(spec, canonical.One) and not value):
            return  # null
        if isinstance(spec, canonical.One):
            self.struct(at, spec.struct, value)
        elif isinstance(spec, canonical.Bytes):
            self.data(at, value)
        elif isinstance(spec, canonical.Words):
            begin = self.list(at, len(value), WORD_ELEMENT, len(value))
            self.words[begin:begin + len(value)] = value
        elif isinstance(spec, canonical.Blobs):
            begin = self.list(at, len(value), POINTER_ELEMENT, len(value))
            for index, blob in enumerate(value):
                if blob:
                    self.data(begin + index, blob)
        else:
            self.structs(at, spec, value)

    def list(self, at, size, element, words):
        begin = self.allocate(words)
        self.words[at] = 1 | (begin - at - 1) << 2 | element << 32 | size << 35
        return begin

    def data(self, at, blob):
        padded = blob + bytes(-len(blob) % 8)
        begin = self.list(at, len(blob), DATA_ELEMENT, len(padded) // 8)
        self.words[begin:] = struct.unpack(f"<{len(padded) // 8}Q", padded)

    def structs(self, at, spec, values):
        data = [_data_words(spec.struct, value) for value in values]
        data_size = max(map(len, data))
        pointers = max(_pointer_count(spec.struct, value) for value in values)
        size = data_size + pointers
        begin = self.list(at, size * len(values), STRUCT_ELEMENT, 1 + size * len(values))
        self.words[begin] = len(values) << 2 | data_size << 32 | pointers << 48
        for index, value in enumerate(values):
            self.fill(begin + 1 + index * size, data[index], data_size, pointers, spec.struct, value)

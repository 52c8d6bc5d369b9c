"""Rows of named columns (node/train/examples_file.h)."""
import re

import numpy as np

from examples import BadData, read_file
from hashing import hashed, merkle_root, sized, u64

NUMBER = r"(0|[1-9]\d*)"
FIRST = re.compile(f"ostraka-examples 1 {NUMBER} {NUMBER} {NUMBER} {NUMBER}\n".encode())
COLUMN = re.compile(rf"([A-Za-z0-9_.]{{1,128}}) (?:(u8|u16|u32)\[([\d,]*)\] (0|-1) {NUMBER}|(p8|f32)\[([\d,]*)\])\n".encode())
WIDTHS = {"u8": "u1", "u16": "<u2", "u32": "<u4", "p8": "u1", "f32": "<f4"}


class Column:
    def __init__(self, line):
        name, integers, extents, lowest, bound, floats, more = (word and word.decode() for word in line.groups())
        self.name, self.line, self.kind = name, line.group(), integers or floats
        extents = more if floats else extents
        self.shape = tuple(map(int, extents.split(","))) if extents else ()
        self.width = np.dtype(WIDTHS[self.kind])
        self.range = (int(lowest), int(bound)) if integers else None
        self.bytes = int(np.prod(self.shape, dtype=object)) * self.width.itemsize


class Examples:
    """`training` has a row of bytes for each example; `hash` names the data in a manifest."""

    def __init__(self, columns, parts):
        self.columns, self.training = columns, parts[0]
        root = merkle_root([hashed("merkle.leaf/1", row.tobytes()) for part in parts for row in part])
        lines = b"".join(column.line for column in columns)
        self.hash = hashed("data/1", u64(0), sized(lines), *(u64(len(part)) for part in parts), root)
        self.count = len(self.training)

    def named_inputs(self, rows):
        """{column: what a model reads of training rows}"""
        found, at = {}, 0
        for column in self.columns:
            stored = np.ascontiguousarray(self.training[rows, at:at + column.bytes]).view(column.width)
            at += column.bytes
            if column.range:
                found[column.name] = (stored.astype(np.int64) + column.range[0]).astype(np.int32)
            elif column.kind == "p8":
                found[column.name] = np.float32(2) * (stored.astype(np.float32) / np.float32(255)) - np.float32(1)
            else:
                found[column.name] = stored.astype(np.float32)
        return found


def read(path):
    content = read_file(path)
    first = FIRST.match(content)
    if not first:
        raise BadData(f"{path} is no file of examples")
    count, *counts = map(int, first.groups())
    columns, at = [], first.end()
    for _ in range(count):
        line = COLUMN.match(content, at)
        if not line:
            raise BadData(f"{path} has a line that is no column")
        columns.append(Column(line))
        at = line.end()
    width = sum(column.bytes for column in columns)
    if len({column.name for column in columns}) != count or len(content) - at != width * sum(counts) or 0 in counts:
        raise BadData(f"{path} has another size than it says")
    table = np.frombuffer(content, np.uint8, offset=at).reshape(-1, width)
    return Examples(columns, np.split(table, np.cumsum(counts)[:2]))

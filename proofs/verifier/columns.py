"""Rows of named columns, in one file (node/train/examples_file.h) or in chunks (node/train/stream/stream_index.h)."""
import os
import re

import numpy as np

from examples import BadData, read_file
from hashing import hashed, merkle_root, sized, u64

NUMBER = r"(0|[1-9]\d*)"
FIRST = re.compile(f"ostraka-examples 1 {NUMBER} {NUMBER} {NUMBER} {NUMBER}\n".encode())
STREAM = re.compile(f"ostraka-stream 1 {NUMBER} {NUMBER} {NUMBER} {NUMBER} {NUMBER} {NUMBER}\\n".encode())
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
        return inputs_of(self.columns, self.training[rows])


def read_columns(content, at, count, path):
    """(columns, where their lines end)"""
    columns = []
    for _ in range(count):
        line = COLUMN.match(content, at)
        if not line:
            raise BadData(f"{path} has a line that is no column")
        columns.append(Column(line))
        at = line.end()
    if len({column.name for column in columns}) != count:
        raise BadData(f"{path} has two columns of one name")
    return columns, at


def inputs_of(columns, rows):
    """{column: what a model reads of rows of bytes}"""
    found, at = {}, 0
    for column in columns:
        stored = np.ascontiguousarray(rows[:, at:at + column.bytes]).view(column.width)
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
    columns, at = read_columns(content, first.end(), count, path)
    width = sum(column.bytes for column in columns)
    if len(content) - at != width * sum(counts) or 0 in counts:
        raise BadData(f"{path} has another size than it says")
    table = np.frombuffer(content, np.uint8, offset=at).reshape(-1, width)
    return Examples(columns, np.split(table, np.cumsum(counts)[:2]))


class Stream:
    """Rows in chunks of a folder; only the chunks that a batch needs are read."""

    def __init__(self, folder):
        self.folder = folder
        content = read_file(os.path.join(folder, "stream.index"))
        first = STREAM.match(content)
        if not first:
            raise BadData(f"{folder} holds no stream.index")
        count, self.count, validation, test, self.chunk_rows, self.file_chunks = map(int, first.groups())
        self.columns, at = read_columns(content, first.end(), count, folder)
        self.width = sum(column.bytes for column in self.columns)
        held_out = np.frombuffer(content, np.uint8, (validation + test) * self.width, at).reshape(-1, self.width)
        leaves = content[at + held_out.size:]
        self.chunks = self.count // max(self.chunk_rows, 1)
        if 0 in map(int, first.groups()) or len(leaves) != 32 * self.chunks or self.chunks * self.chunk_rows != self.count:
            raise BadData(f"{folder}/stream.index has another size than it says")
        self.leaves = [leaves[32 * i:32 * i + 32] for i in range(self.chunks)]
        roots = merkle_root([hashed("merkle.leaf/1", row.tobytes()) for row in held_out]), merkle_root(self.leaves)
        self.hash = hashed("data/1", u64(2**64 - 1), sized(content[:at]), *roots)

    def chunk(self, number):
        length = self.chunk_rows * self.width
        with open(os.path.join(self.folder, f"stream.{number // self.file_chunks:05}"), "rb") as file:
            file.seek(number % self.file_chunks * length)
            content = file.read(length)
        if hashed("merkle.leaf/1", content) != self.leaves[number]:
            raise BadData(f"{self.folder}: chunk {number} is not the one of the index")
        return np.frombuffer(content, np.uint8).reshape(self.chunk_rows, self.width)

    def named_inputs(self, rows):
        rows = np.asarray(rows)
        chunks = {number: self.chunk(number) for number in sorted(set((rows // self.chunk_rows).tolist()))}
        table = np.stack([chunks[row // self.chunk_rows][row % self.chunk_rows] for row in rows.tolist()])
        return inputs_of(self.columns, table)

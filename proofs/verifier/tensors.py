"""Tensors in safetensors files: the parameters of a step, and a graph's constants."""
import json
import struct

import numpy as np

MAX_HEADER = 16 << 20


class BadTensors(Exception):
    """The file is not what was asked for."""


def read_header(file, path):
    """{name: (shape, begin, end)} in the order of the file, which is at its data afterwards."""
    length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
    if length > MAX_HEADER:
        raise BadTensors(f"{path}: its header is longer than it may be")
    try:
        header = json.loads(file.read(length))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        if any(entry["dtype"] != "F32" for entry in tensors.values()):
            raise BadTensors(f"{path}: its tensors are not float32")
        return {name: (tuple(entry["shape"]), *entry["data_offsets"]) for name, entry in tensors.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise BadTensors(f"{path}: no safetensors file: {problem}") from None


def places(shapes):
    """As read_header gives it, for tensors of these shapes one after another."""
    found, at = {}, 0
    for name, shape in shapes.items():
        end = at + 4 * int(np.prod(shape, dtype=np.int64))
        found[name] = (tuple(shape), at, end)
        at = end
    return found, at


def read(path, shapes, more):
    """Tensors of these names and shapes, in this order, as one flat float32 array. `more`: whether others may follow them."""
    wanted, size = places(shapes)
    with open(path, "rb") as file:
        there = list(read_header(file, path).items())
        if there[:len(wanted)] != list(wanted.items()) or (len(there) > len(wanted) and not more):
            raise BadTensors(f"{path}: its tensors are not those of the run's model")
        data = file.read(size)
        if len(data) != size or (not more and file.read(1)):
            raise BadTensors(f"{path}: it is cut short, or longer than it says")
    return np.frombuffer(data, "<f4").astype(np.float32)

"""Tensors in safetensors files: the parameters of a step, and a graph's constants."""
import json
import struct

import numpy as np

MAX_HEADER = 16 << 20
SIZES = {"F32": 4, "BF16": 2}  # bytes of a value


class BadTensors(Exception):
    """The file is not what was asked for."""


def read_header(file, path):
    """{name: (type, shape, begin, end)} in the order of the file, which is at its data afterwards."""
    length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
    if length > MAX_HEADER:
        raise BadTensors(f"{path}: its header is longer than it may be")
    try:
        header = json.loads(file.read(length))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        return {name: (str(entry["dtype"]), tuple(entry["shape"]), *entry["data_offsets"]) for name, entry in tensors.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise BadTensors(f"{path}: no safetensors file: {problem}") from None


def places(shapes, types):
    """As read_header gives it, for tensors of these shapes and types one after another."""
    found, at = {}, 0
    for (name, shape), kind in zip(shapes.items(), types, strict=True):
        end = at + SIZES[kind] * int(np.prod(shape, dtype=np.int64))
        found[name] = (kind, tuple(shape), at, end)
        at = end
    return found, at


def widened(kind, data):
    """The float32 values of a tensor's bytes: a bfloat16 is the upper half of one."""
    if kind == "F32":
        return np.frombuffer(data, "<f4").astype(np.float32)
    return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)


def read(path, shapes, more, allowed=("F32",)):
    """Tensors of these names, shapes and allowed types, in this order, as one flat float32 array. `more`: whether others may
    follow them."""
    with open(path, "rb") as file:
        there = list(read_header(file, path).items())
        types = [entry[0] for _, entry in there[:len(shapes)]]
        if not set(types) <= set(allowed):
            raise BadTensors(f"{path}: its tensors are none of {', '.join(allowed)}")
        if len(types) < len(shapes) or (len(there) > len(shapes) and not more):
            raise BadTensors(f"{path}: its tensors are not those of the run's model")
        wanted, size = places(shapes, types)
        if there[:len(wanted)] != list(wanted.items()):
            raise BadTensors(f"{path}: its tensors are not those of the run's model")
        data = file.read(size)
        if len(data) != size or (not more and file.read(1)):
            raise BadTensors(f"{path}: it is cut short, or longer than it says")
    return np.concatenate([np.empty(0, np.float32), *(widened(kind, data[begin:end])
                                                      for kind, _, begin, end in wanted.values())])

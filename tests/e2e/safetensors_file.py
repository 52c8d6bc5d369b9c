"""Reads a safetensors file as its specification says, with nothing but the standard library."""
import array
import json
import struct
import sys


def read(path):
    """(metadata, {name: (shape, array of floats)}); ValueError for a file that is not well formed."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length].decode())
    body = data[8 + length:]
    metadata = header.pop("__metadata__", {})
    tensors, ends = {}, [0]
    for name, info in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = info["data_offsets"]
        count = 1
        for extent in info["shape"]:
            count *= extent
        if info["dtype"] != "F32" or begin != ends[-1] or end - begin != 4 * count:
            raise ValueError(f"{name}: {info}")
        ends.append(end)
        values = array.array("f", body[begin:end])
        if sys.byteorder == "big":
            values.byteswap()
        tensors[name] = (info["shape"], values)
    if ends[-1] != len(body) or not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError("bytes that belong to no tensor, or metadata that is no text")
    return metadata, tensors

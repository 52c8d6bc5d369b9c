"""safetensors files of float32 and bfloat16, so that nobody needs the package."""
import json
import struct

import numpy


def _bytes_of(array):
    """(type, bytes): as node/train/exact/constants_file.h writes a tensor."""
    array = numpy.ascontiguousarray(array, dtype="<f4")
    bits = array.view("<u4")
    if array.size % 2 == 0 and not (bits & 0xFFFF).any():
        return "BF16", (bits >> 16).astype("<u2").tobytes()
    return "F32", array.tobytes()


def write_tensors(path, tensors, mode="xb"):
    """Writes {name: float32 array} as a graph's constants. FileExistsError with mode "xb"."""
    header, pieces, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, array in tensors.items():
        kind, data = _bytes_of(array)
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + len(data)]}
        pieces.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, mode) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for data in pieces:
            file.write(data)


def read_tensors(path):
    """{name: float32 array}. ValueError for what is no such file."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8:8 + length])
        body = data[8 + length:]
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            if not 0 <= begin <= end <= len(body):
                raise ValueError(name)
            if entry["dtype"] == "BF16":  # the upper half of a float32
                values = (numpy.frombuffer(body[begin:end], dtype="<u2").astype("<u4") << 16).view("<f4")
            elif entry["dtype"] == "F32":
                values = numpy.frombuffer(body[begin:end], dtype="<f4")
            else:
                raise ValueError(f"{name} is {entry['dtype']}")
            tensors[name] = values.reshape(entry["shape"])
        return tensors
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ValueError(f"{path}: no safetensors file of float32 and bfloat16 tensors ({error})") from None

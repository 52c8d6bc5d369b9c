"""safetensors files of float32, so that nobody needs the package."""
import json
import struct

import numpy


def write_tensors(path, tensors, mode="xb"):
    """Writes {name: array} in the one form that node/base/safetensors.h has. FileExistsError with mode "xb"."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + 4 * array.size]}
        offset += 4 * array.size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, mode) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(numpy.ascontiguousarray(array, dtype="<f4").tobytes())


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
            if entry["dtype"] != "F32" or not 0 <= begin <= end <= len(body):
                raise ValueError(name)
            tensors[name] = numpy.frombuffer(body[begin:end], dtype="<f4").reshape(entry["shape"])
        return tensors
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ValueError(f"{path}: no safetensors file of float32 tensors ({error})") from None

"""Writes a safetensors file of arrays of NumPy."""
import json
import struct


def write_tensors(path, tensors):
    """{name: array} as the node writes it: metadata, and spaces up to a multiple of eight bytes."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + 4 * values.size]}
        at += 4 * values.size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(values.astype("<f4").tobytes() for values in tensors.values()))

#!/usr/bin/env python3
"""Writes tests/vectors/codecs.json: digests of what the second verifier encodes, for codec_test.cpp.

usage: write_codecs.py OUT   (with a Python that has NumPy; the tests themselves need none)
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "proofs" / "verifier"))
import codec  # noqa: E402
from hashing import hashed  # noqa: E402

SIZES = (0, 1, 2, 127, 128, 129, 255, 256, 257, 1000, 4097)


def drawn(count):
    """Numbers of 24 bits; every 64 values have one power of two, from 2^-140 to 2^124."""
    i = np.arange(count, dtype=np.uint64)
    fraction = ((i * 2654435761 % 2**32) >> np.uint64(8)).astype(np.float64) * 2.0**-24 - 0.5
    return np.ldexp(fraction, (i // 64 % 34).astype(np.int64) * 8 - 139).astype(np.float32)


def main(out):
    with np.errstate(under="ignore"):
        digests = {name: {str(size): hashed("data/1", codec.encode(name, drawn(size))).hex() for size in SIZES}
                   for name in ("raw", "i16", "i8", "i4")}
    pathlib.Path(out).write_text(json.dumps(digests, indent=1) + "\n")


main(sys.argv[1])

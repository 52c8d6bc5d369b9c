#!/usr/bin/env python3
"""Compiles the kernels' text (exact/device/kernels.inc) to PTX: node/device/kernels.ptx.

usage: node/device/make_ptx.py FOLDER

FOLDER has libnvrtc.so.11.2 and its builtins, of the wheel nvidia-cuda-nvrtc-cu11 11.8.89. Its PTX is of version 7.8, which
drivers from 520 on take; later compilers write versions that need later drivers. Only who changes the text needs it.
"""
import ctypes
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "node/device/kernels.ptx"
# --fmad: contracting is off, though the text leaves nothing to contract.
OPTIONS = ["--gpu-architecture=compute_50", "--std=c++17", "--fmad=false"]


def expanded(path):
    """A file with the project's files that it includes in their places, as embed_text.cmake has it."""
    text = (ROOT / path).read_text()
    return re.sub(r'\n#include "([^"]+)"', lambda found: "\n" + expanded(found.group(1)), text)


def compiled(library, text):
    def call(name, *arguments):
        code = getattr(library, name)(*arguments)
        if code:
            sys.exit(f"make_ptx: {name} gives error {code}")

    def text_of(what):
        size = ctypes.c_size_t()
        call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        result = ctypes.create_string_buffer(size.value)
        call(f"nvrtcGet{what}", program, result)
        return result.value.decode()

    program = ctypes.c_void_p()
    call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"kernels.inc", 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
    if library.nvrtcCompileProgram(program, len(OPTIONS), options):
        sys.exit(f"make_ptx: {text_of('ProgramLog')}")
    return text_of("PTX")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    ctypes.CDLL(str(folder / "libnvrtc-builtins.so.11.8"), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(folder / "libnvrtc.so.11.2"))
    text = expanded("exact/device/kernels.inc")
    digest = hashlib.blake2b(text.encode(), digest_size=32, person=b"conformance/1").hexdigest()
    # Comments and empty lines are a tenth of it.
    lines = [line.rstrip() for line in compiled(library, text).splitlines()]
    kept = [line for line in lines if line and not line.lstrip().startswith("//")]
    OUTPUT.write_text(f"// kernels.inc {digest}\n" + "\n".join(kept) + "\n")


if __name__ == "__main__":
    main()

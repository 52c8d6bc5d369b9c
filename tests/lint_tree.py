"""The files that the linter checks, and what it says of them."""

import os
import pathlib
import re
import subprocess
from typing import NamedTuple

import lint_rules as rules
import lint_text as text_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP = (".h", ".cpp", ".inc")  # .inc: text that several files include, with their own macros


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    message: str
    fatal: bool = True

    def __str__(self):
        kind = "" if self.fatal else "warning: "
        return f"{self.path}:{self.line}: {kind}[{self.rule}] {self.message}"


class Tree:
    """The files to check: path -> text, and path -> size."""

    def __init__(self, texts, sizes=None):
        self.texts = dict(sorted(texts.items()))
        self.sizes = sizes or {path: len(text.encode()) for path, text in texts.items()}
        self._code = {}
        self._includes = {}
        self._classes = {}

    @classmethod
    def from_git(cls, root):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, check=True, capture_output=True, text=True).stdout
        paths = [p for p in listed.split("\0") if p and (root / p).is_file()]
        sizes = {path: (root / path).stat().st_size for path in paths}
        readable = (*CPP, ".capnp", ".py", ".md", ".txt", ".cmake", "Makefile", "deps", "run")
        return cls({path: (root / path).read_text(encoding="utf-8", errors="replace")
                    for path in paths if path.endswith(readable)}, sizes)

    def cpp(self, suffixes=CPP):
        return [path for path in self.texts if path.endswith(suffixes)]

    def code(self, path):
        """The text without comments and strings."""
        if path not in self._code:
            self._code[path] = text_of.strip(self.texts[path])
        return self._code[path]

    def includes(self, path):
        """(line, target, is_quoted) of each #include."""
        if path not in self._includes:
            self._includes[path] = list(text_of.includes(self.texts[path]))
        return self._includes[path]

    def classes(self, path):
        """The classes and structs that the file defines (lint_text.Class)."""
        if path not in self._classes:
            self._classes[path] = list(text_of.classes(self.texts[path]))
        return self._classes[path]


def layer_of(path):
    """(layer, member) of a source file, or None outside the layers (tests, data)."""
    for prefix, layer, member in rules.LAYERS:
        if path.startswith(prefix):
            return layer, member
    return None


def matches(pattern, path):
    return re.fullmatch(pattern, path) is not None


def unit_names(tree, path):
    """A .cpp is the unit of its header; without one of its own, of a header whose name it extends:
    key_file_disk.cpp is part of key_file.h."""
    folder, name = os.path.split(path)
    stem = name.rsplit(".", 1)[0]
    names = [stem]
    while f"{folder}/{stem}.h" not in tree.texts and "_" in stem:
        stem = stem.rsplit("_", 1)[0]
        names.append(stem)
    return names

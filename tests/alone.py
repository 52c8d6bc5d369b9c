#!/usr/bin/env python3
"""Compiles each source of a batch alone, for its errors only: a batch hides an include that a file lacks.

usage: tests/alone.py [-j N] [--every FIRST STEP] BUILD

BUILD is a built folder with batches, such as build/dev, whose flags and precompiled headers are used; what is compiled
alone there needs nothing more. A source that compiled is not compiled again while it, what it includes of the project and its flags are
the same (~/.cache/ostraka-lint/sources). --every: from the FIRST source on (1 is the first) every STEPth. Prints the errors of each source that fails. Exit code 1: one failed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from lint import CACHE, _closure
from lint_tree import ROOT, Tree


def sources_of(build):
    """{path from the root: the command that compiles its batch, without input and output}."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        batch = pathlib.Path(entry["file"])
        if batch.parent.name != "Unity":
            continue
        words = shlex.split(entry["command"])
        flags = words[:words.index("-o")]
        for source in re.findall(r'^#include "(.+)"$', batch.read_text(), re.MULTILINE):
            path = pathlib.Path(source)
            if path.is_relative_to(ROOT) and not path.is_relative_to(build):
                found.setdefault(str(path.relative_to(ROOT)), (flags, entry["directory"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("--every", type=int, nargs=2, default=(1, 1))
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD")
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "compile_commands.json").exists():
        sys.exit(f"alone: {options.build} is not configured: `cmake --preset dev` first")
    tree, cache = Tree.from_git(ROOT), CACHE / "sources"
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout

    def errors_of(item):
        """What the compiler says of a source that fails; None of one that does not."""
        path, (flags, folder) = item
        texts = [part for name in _closure(tree, path) for part in (name, tree.texts[name])]
        said = [flag.replace(str(ROOT), "") for flag in flags]
        mark = cache / hashlib.sha256("\0".join([version, *said, *texts]).encode()).hexdigest()
        if mark.exists():
            return None
        done = subprocess.run([*flags, "-fsyntax-only", ROOT / path], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return f"{path} does not compile alone:\n{done.stderr}"
        mark.touch()
        return None

    sources = dict(sorted(sources_of(build).items())[options.every[0] - 1::options.every[1]])
    if not sources:
        sys.exit(f"alone: {options.build} has no batches (OSTRAKA_UNITY)")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for errors in filter(None, pool.map(errors_of, sources.items())):
            print(errors, flush=True)
            failed += 1
    print(f"alone: {failed} of {len(sources)} sources of batches fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

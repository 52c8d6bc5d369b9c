#!/usr/bin/env python3
"""Programs and libraries for users contain no trace of the planted bugs.

usage: planted_trace_test.py PLANTED_LIBRARY LIBRARY_OR_PROGRAM...

Every file but the first must have no symbol and no string of node/base/planted.h; the first, a twin
that is built for tests, must have one, or this looks for the wrong thing.
"""
import re
import subprocess
import sys

TRACE = re.compile(r"planted_bug|\bPlant(ed)?\(|7plantedE|[0-9]Planted?E")


def traces(path):
    symbols = subprocess.run(["nm", "-C", path], check=True, capture_output=True, text=True).stdout
    texts = subprocess.run(["strings", "-a", path], check=True, capture_output=True, text=True).stdout
    return sorted({line.strip() for line in (symbols + texts).splitlines() if TRACE.search(line)})


def main():
    planted, *shipped = sys.argv[1:]
    if not traces(planted):
        sys.exit(f"{planted} has no trace of planted bugs: this test looks for the wrong thing")
    found = {path: lines for path in shipped if (lines := traces(path))}
    for path, lines in found.items():
        print(f"{path} has a trace of planted bugs: {lines[0]}")
    return 1 if found or not shipped else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Builds the simulator with each compiler and optimization and demands the same digest of every run from all of them.

usage: tests/digests.py [--jobs N] [NAME...]      all builds, or those named; --list shows them

The runs, each with the kernels of every instruction set that this machine has, are those of
tests/scenario/digests.cpp. Prints a Markdown table of digests. Exit code 1: two differ.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILDS = {
    "gcc-O0": ("gcc", "g++", "-O0"),
    "gcc-O2": ("gcc", "g++", "-O2 -g1"),  # as preset release has it
    "clang-O0": ("clang", "clang++", "-O0"),
    "clang-O2": ("clang", "clang++", "-O2"),
    "gcc-O3-native": ("gcc", "g++", "-O3 -march=native"),
}
SHOWN_DIGITS = 16


def build(name, jobs):
    """The program's path. Ends this one with the build's output if it fails."""
    c, cxx, flags = BUILDS[name]
    folder = ROOT / "build" / "digests" / name
    steps = [["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "--log-level=WARNING", "-DCMAKE_BUILD_TYPE=None",
              f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CXX_FLAGS={flags}",
              "-DOSTRAKA_WITH_TORCH=OFF", "-DOSTRAKA_UNITY=ON"],
             ["cmake", "--build", folder, "-j", str(jobs), "--target", "digests"]]
    for step in steps:
        ended = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ended.returncode != 0:
            sys.exit(f"{name}: cannot build\n{ended.stdout[-4000:]}")
    return folder / "tests" / "scenario" / "digests"


def digests(program):
    """Options of each run to {level: digest}."""
    found = collections.defaultdict(dict)
    # Exit code 1, two levels that differ, is seen in what was printed.
    ended = subprocess.run([program], stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, 1):
        sys.exit(f"{program} ended with exit code {ended.returncode}")
    for line in ended.stdout.splitlines():
        level, digest, options = line.split(" ", 2)
        found[options][level] = digest
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="list the builds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BUILDS]
    if unknown:
        parser.error(f"no build {unknown[0]}; there are {', '.join(BUILDS)}")
    if options.list:
        print("\n".join(BUILDS))
        return 0
    by_run = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in options.names or BUILDS:
        program = build(name, options.jobs)
        begin = time.monotonic()
        for run, levels in digests(program).items():
            for level, digest in levels.items():
                by_run[run][digest].append(f"{name} {level}")
        print(f"{name}: {time.monotonic() - begin:.0f} s of runs", file=sys.stderr)
    print("| run | digest | builds and levels |\n|---|---|---|")
    for run, found in by_run.items():
        for digest, where in found.items():
            told = f"all {len(where)}" if len(found) == 1 else "; ".join(where)
            print(f"| `{run}` | {digest[:SHOWN_DIGITS]} | {told} |")
    return 1 if any(len(found) > 1 for found in by_run.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

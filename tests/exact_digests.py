#!/usr/bin/env python3
"""Builds exact gradients with each compiler, optimization and architecture and demands one digest of each from all.

usage: tests/exact_digests.py [--list] [NAME...]      all builds whose compiler is there, or those named

Prints a Markdown table. Exit code 1: a digest is not the recorded one (exact/kernels/conformance.cpp,
exact/device/conformance_program.cpp), or a build failed.
The aarch64 builds need g++-aarch64-linux-gnu and qemu-user, and libsodium for arm64:
  dpkg --add-architecture arm64 && apt-get update && apt-get install libsodium-dev:arm64 libabsl-dev:arm64
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = [*sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("exact/*/*.cpp")),
           "crypto/hash.cpp", "crypto/secret.cpp", "crypto/sign.cpp", "node/base/bytes.cpp", "node/base/check.cpp",
           "node/base/rng.cpp", "node/base/suggest.cpp", "node/os/thread_executor.cpp",
           "tests/unit/exact/exact_digests.cpp"]
LIBRARIES = ["-pthread", "-lsodium", "-labsl_status", "-labsl_statusor", "-labsl_strings", "-labsl_cord", "-labsl_cordz_info",
             "-labsl_cord_internal", "-labsl_base", "-labsl_throw_delegate", "-labsl_raw_logging_internal"]
# The loader and libc must come from one package (libc6:arm64): the loader of libc6-arm64-cross with this libc hangs at the first thread.
QEMU = ["qemu-aarch64", "-L", "/"]
ARM = ["-L/usr/lib/aarch64-linux-gnu", "-Wl,--allow-shlib-undefined"]
# name: compiler, flags, how to run the program
BUILDS = {f"{name}{level}": (compiler, [level, *flags], run)
          for name, compiler, flags, run in (
              ("g++ ", "g++", [], []),
              ("clang++ ", "clang++", [], []),
              ("aarch64 ", "aarch64-linux-gnu-g++", ARM, QEMU),
              ("aarch64 clang++ ", "clang++", ["--target=aarch64-linux-gnu", *ARM], QEMU))
          for level in ("-O0", "-O3")}
BUILDS["g++ -O3 -march=native"] = ("g++", ["-O3", "-march=native"], [])


def build(name):
    """The program's path, or None after printing the compiler's output."""
    compiler, flags, _ = BUILDS[name]
    folder = ROOT / "build" / "exact_digests" / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "exact_digests"

    def compile_one(source):
        out = folder / (source.replace("/", "_") + ".o")
        command = [compiler, "-std=c++20", "-ffp-contract=off", f"-I{ROOT}", *flags, "-c", source, "-o", out]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True), out

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        compiled = list(pool.map(compile_one, SOURCES))
    linked = None
    if all(done.returncode == 0 for done, _ in compiled):
        linked = subprocess.run([compiler, *flags, *(out for _, out in compiled), "-o", program, *LIBRARIES],
                                capture_output=True, text=True)
        if linked.returncode == 0:
            return program
    errors = [done.stderr for done, _ in compiled if done.returncode != 0] + ([linked.stderr] if linked else [])
    print(f"{name}: cannot build\n{errors[0][-3000:]}", file=sys.stderr)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="list the builds")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BUILDS]
    if unknown:
        parser.error(f"no build '{unknown[0]}'; there are {', '.join(BUILDS)}")
    if options.list:
        print("\n".join(BUILDS))
        return 0
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    failed = False
    for name in options.names or BUILDS:
        if shutil.which(BUILDS[name][0]) is None:
            print(f"{name}: {BUILDS[name][0]} is not installed: left out", file=sys.stderr)
            continue
        program = build(name)
        if program is None:
            failed = True
            continue
        ended = subprocess.run([*BUILDS[name][2], program], capture_output=True, text=True)
        failed = failed or ended.returncode != 0
        if ended.stderr:
            print(f"{name}: {ended.stderr}", file=sys.stderr)
        for line in ended.stdout.splitlines():
            level, what, digest = line.split()
            found[what][digest].append(f"{name} {level}")
    print("| gradient of | digest | builds and levels, on one and two threads |\n|---|---|---|")
    for what, digests in found.items():
        for digest, where in digests.items():
            told = f"all {len(where)}" if len(digests) == 1 else "; ".join(where)
            print(f"| {what} | {digest[:16]} | {told} |")
    return 1 if failed or any(len(digests) > 1 for digests in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Swarm testing of arbitrary seeds: the first is the commit's hash, so each commit tests others.

usage: commit_seeds_test.py OSTRAKA [COUNT [FIRST]]

Runs COUNT (20: one of them twice) drawn swarms of 40 steps from the first 48 bits of HEAD on, or from FIRST. A
failure leaves its bundle here and prints the line that runs its seed again anywhere.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEX_DIGITS = 12  # 48 bits: exact in every reader of JSON


def seed_of_commit():
    """The first seed; 1, and a line that says so, where there is no commit."""
    asked = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
    if asked.returncode:
        print(f"no commit to take seeds from, so they are 1, 2, ...: {asked.stderr.strip()}")
        return 1
    commit = asked.stdout.strip()
    print(f"commit {commit}")
    return int(commit[:HEX_DIGITS], 16)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    ostraka, *numbers = sys.argv[1:]
    count, first = [int(number) for number in numbers] + [20, None][len(numbers):]
    first = seed_of_commit() if first is None else first
    command = ["sim", "--swarm-test", "--steps", "40", "--threads", "2", "--seeds"]
    seeds = f"{first}..{first + count - 1}"
    print(" ".join(["ostraka", *command, seeds]), flush=True)
    ended = subprocess.run([ostraka, *command, seeds], stdout=subprocess.PIPE, text=True)
    print(ended.stdout, end="")
    for line in ended.stdout.splitlines():
        if line.startswith("FAIL seed="):
            seed = line.split("=")[1].split()[0]
            print("anywhere:", " ".join(["ostraka", *command, f"{seed}..{seed}"]))
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())

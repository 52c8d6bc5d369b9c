#!/usr/bin/env python3
"""Digests of simulated runs, recorded before code is moved and compared after: a move changes none.

usage: tests/trace_digests.py BINARY record|check [--short]

The runs are swarms (`ostraka sim --swarm-test`) of 15 steps: four seeds under each attack, forty under attacks that
the seeds draw, twenty more of profile exact/1 (`exact`); so peers, modes, networks, cuts, kills and lost disks differ from run to run. `record` writes
tests/trace_digests.txt, `check` compares with it. --short: every thirteenth line. Exit code 1: a run differs.
A change of what members say changes digests: record them anew in the commit that makes it, and say so there.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

RECORDED = pathlib.Path(__file__).with_suffix(".txt")
STEPS = 15
SHORT = 13  # every so many lines


def attacks_of(binary):
    """The names of all attacks, as the refusal of an unknown one lists them."""
    try:
        said = subprocess.run([binary, "sim", "--attack", "?"], capture_output=True, text=True).stderr
    except OSError as error:
        sys.exit(f"{binary}: {error.strerror}; give the ostraka program, such as build/dev/ostraka")
    names = re.search(r"use one of (.*)", said)
    if not names:
        sys.exit(f"{binary} does not list its attacks: give the ostraka program, such as build/dev/ostraka")
    return names[1].strip().rstrip(".").split(", ")


def lines_of(binary):
    """(attack, `any` or `exact`, first seed, last seed) of each line."""
    lines = [("any", first, first + 3) for first in range(1, 41, 4)]
    lines += [("exact", first, first + 3) for first in range(1, 21, 4)]
    lines += [(attack, 1, 4) for attack in attacks_of(binary) if attack != "none"]
    return lines


def digest_of(binary, line):
    attack, first, last = line
    options = {"any": [], "exact": ["--exact"]}.get(attack, ["--attack", attack])
    ended = subprocess.run([binary, "sim", "--swarm-test", "--steps", str(STEPS), "--seeds", f"{first}..{last}", "--threads",
                            "1", "--json", *options], capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        sys.exit(f"{line}: exit code {ended.returncode}: {ended.stderr.strip()}")
    return json.loads(ended.stdout)["trace_digest"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("what", choices=["record", "check"])
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    if options.what == "check" and not RECORDED.exists():
        sys.exit(f"{RECORDED} is missing: `record` writes it")
    lines = lines_of(options.binary)
    if options.short:
        lines = lines[::SHORT]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = dict(zip(lines, pool.map(lambda line: digest_of(options.binary, line), lines)))
    runs = sum(last - first + 1 for _, first, last in lines)
    if options.what == "record":
        RECORDED.write_text("".join(f"{attack} {first}..{last} {found[attack, first, last]}\n"
                                    for attack, first, last in lines))
        print(f"{runs} runs recorded")
        return 0
    recorded = dict(line.rsplit(" ", 1) for line in RECORDED.read_text().splitlines())
    differ = [f"{attack} {first}..{last}" for attack, first, last in lines
              if recorded.get(f"{attack} {first}..{last}") != found[attack, first, last]]
    for line in differ:
        print(f"differs: {line}")
    print(f"{runs} runs, {len(differ)} of {len(lines)} lines differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

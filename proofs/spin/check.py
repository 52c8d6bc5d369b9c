#!/usr/bin/env python3
"""Runs the Spin models, each with negative controls that must fail: a model that cannot fail shows nothing.

usage: check.py [--large] [NAME...]   all, or those named; --large: the searches of minutes. Needs spin and gcc.

A search that came out as expected is not made again before its model, this file or the tools change: a search over all
states has one outcome. What is known so stands in CACHE.
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
HOLDS, FAILS = "holds", "FAILS"
PART = "no error in part"  # the search reached MINUTES or MEGABYTES without an error
MINUTES, MEGABYTES = 10, 6000
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ostraka-spin"

# model, macros, expected result
RUNS = [
    ("skew", "SKEW=1", HOLDS),
    ("skew", "SKEW=2", FAILS),
    ("seal", "N=3 F=1 TS=1 TA=0 K=3", HOLDS),
    ("seal", "N=4 F=1 TS=1 TA=1 K=2", HOLDS),
    ("seal", "N=4 F=1 TS=1 TA=1 K=2 ASLEEP=1", HOLDS),
    ("seal", "N=3 F=2 TS=1 TA=0 K=2", FAILS),
    ("seal", "N=3 F=1 TS=1 TA=0 K=2 FASTQ", FAILS),
    ("seal", "N=3 F=1 TS=1 TA=0 K=2 NOLOCK", FAILS),
    ("gate", "S=12", HOLDS),
    ("gate", "S=5 TODAY", HOLDS),
    ("gate", "S=6 TODAY", FAILS),
    ("gate", "S=12 LATE=4", HOLDS),
    ("gate", "S=12 LATE=6 AGREEMENT", FAILS),
    ("gate", "S=12 LATE=4 W0=2 LATEECHO AGREEMENT", FAILS),
    ("gate", "S=12 NOFORWARD AGREEMENT", FAILS),
    ("gate", "S=12 W0=1 AGREEMENT", FAILS),
    ("gate", "S=12 GQ=3", FAILS),
    ("gate", "S=12 F=4 S1=2 AGREEMENT", FAILS),
    ("gate", "S=12 K=1 HL=0 BOUND=40", HOLDS),
    ("gate", "S=12 K=1 HL=0 BOUND=39", FAILS),
    ("ban", "", HOLDS),
    ("ban", "LOCAL", FAILS),
    ("ban", "GULLIBLE", FAILS),
    ("ban", "FORGET", FAILS),
    ("coin", "", HOLDS),
    ("coin", "NOSEALA", FAILS),
    ("coin", "NOSEALB", FAILS),
    ("coin", "NODRAW", FAILS),
    ("ride", "", HOLDS),
    ("ride", "ONESLOT", FAILS),
    ("ride", "ONESLOT NOENTRY", FAILS),
    ("ride", "EARLY", FAILS),
]

LARGE = [
    ("gate", "S=44", HOLDS),
    ("gate", "S=12 W0=2", HOLDS),
    ("gate", "S=12 LATE=4 W0=2 AGREEMENT", HOLDS),
    ("gate", "S=12 GQ=4", HOLDS),
    ("gate", "S=12 HL=0 BOUND=72", HOLDS),
    ("gate", "S=12 HL=1 BOUND=72", HOLDS),
    ("gate", "S=12 HL=0 BOUND=71", FAILS),
    ("gate", "S=12 JITTER=1", HOLDS),
    ("gate", "S=12 JITTER=8 WORDS", HOLDS),
    ("gate", "S=12 JITTER=8 WORDS LATEWORDS AGREEMENT", FAILS),
    ("gate", "S=12 S0=2 S1=2 Q=4 F=2 TS=2", HOLDS),
    ("gate", "S=12 NG=3 S0=2 S1=2 S2=1", PART),
    ("gate", "S=12 K=3", HOLDS),
]


def check(model, macros):
    """(HOLDS, FAILS or PART, states, seconds)."""
    defines = [f"-D{macro}" for macro in macros.split()]
    with tempfile.TemporaryDirectory() as folder:
        def must(*command):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
            return done.stdout
        must("spin", "-a", *defines, str(HERE / f"{model}.pml"))
        must("gcc", "-O1", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", f"-DMEMLIM={MEGABYTES}", "-w", "-o", "pan", "pan.c")
        began = time.monotonic()
        out = must("./pan", "-m1000000", "-n", f"-Q{MINUTES}")
        seconds = time.monotonic() - began
    errors = re.search(r"errors: (\d+)", out)
    states = re.search(r"([\d.e+]+) states, stored", out)
    if not errors or not states or "depth too small" in out:
        sys.exit(f"{model} {macros}: the search broke off:\n{out[-2000:]}")
    came = FAILS if int(errors[1]) else PART if "Search not completed" in out else HOLDS
    return came, int(float(states[1])), seconds


@functools.cache
def tools():
    return [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            for command in (["spin", "-V"], ["gcc", "--version"])]


def key_of(model, macros):
    """The file in CACHE for this search: its name says all that the outcome follows from."""
    texts = [(HERE / f"{model}.pml").read_text(), pathlib.Path(__file__).read_text(), macros, *tools()]
    return CACHE / hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def main():
    names = [name for name in sys.argv[1:] if name != "--large"]
    wrong = 0
    for model, macros, expected in LARGE if "--large" in sys.argv else RUNS:
        if names and model not in names:
            continue
        known = key_of(model, macros)
        if known.exists():
            print(f"ok    {model:5} {macros:35} {known.read_text()} before", flush=True)
            continue
        came, states, seconds = check(model, macros)
        as_expected = came == expected or (expected, came) == (PART, HOLDS)
        wrong += not as_expected
        verdict = "ok" if as_expected else "WRONG"
        outcome = f"{came}, {states} states, {seconds:.0f} s"
        print(f"{verdict:5} {model:5} {macros:35} {outcome}", flush=True)
        if as_expected and came != PART:
            CACHE.mkdir(parents=True, exist_ok=True)
            known.write_text(outcome)
    print("all as expected" if not wrong else f"{wrong} came out wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

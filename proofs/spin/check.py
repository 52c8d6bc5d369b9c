#!/usr/bin/env python3
"""Runs the Spin models, each with negative controls that must fail: a model that cannot fail shows nothing.

usage: check.py [NAME...]       all, or those named. Needs spin and gcc.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HOLDS, FAILS = "holds", "FAILS"

# model, macros, what must come out
RUNS = [
    ("skew", "SKEW=1", HOLDS),
    ("skew", "SKEW=2", FAILS),
    ("seal", "N=3 F=1 TS=1 TA=0 K=3", HOLDS),
    ("seal", "N=4 F=1 TS=1 TA=1 K=2", HOLDS),
    ("seal", "N=4 F=1 TS=1 TA=1 K=2 ASLEEP=1", HOLDS),
    ("seal", "N=3 F=2 TS=1 TA=0 K=2", FAILS),
    ("seal", "N=3 F=1 TS=1 TA=0 K=2 FASTQ", FAILS),
    ("seal", "N=3 F=1 TS=1 TA=0 K=2 NOLOCK", FAILS),
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


def check(model, macros):
    """(HOLDS or FAILS, states)."""
    defines = [f"-D{macro}" for macro in macros.split()]
    with tempfile.TemporaryDirectory() as folder:
        def must(*command):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
            return done.stdout
        must("spin", "-a", *defines, str(HERE / f"{model}.pml"))
        must("gcc", "-O1", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-DMEMLIM=4000", "-w", "-o", "pan", "pan.c")
        out = must("./pan", "-m1000000", "-n")
    errors = re.search(r"errors: (\d+)", out)
    states = re.search(r"(\d+) states, stored", out)
    if not errors or not states or "depth too small" in out or "out of memory" in out:
        sys.exit(f"{model} {macros}: the search was not complete:\n{out[-2000:]}")
    return (FAILS if int(errors[1]) else HOLDS), int(states[1])


def main():
    names = sys.argv[1:]
    wrong = 0
    for model, macros, expected in RUNS:
        if names and model not in names:
            continue
        came, states = check(model, macros)
        wrong += came != expected
        print(f"{'ok' if came == expected else 'WRONG':5} {model:5} {macros:34} {came}, {states} states", flush=True)
    print("all as expected" if not wrong else f"{wrong} came out wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

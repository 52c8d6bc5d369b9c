#!/usr/bin/env python3
"""Writes tests/vectors/local_steps.json: what the second verifier computes of local steps, for local_steps_test.cpp.

usage: write_local_steps.py OUT   (with a Python that has NumPy; the tests themselves need none)
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "proofs" / "verifier"))
import local_steps  # noqa: E402
from hashing import hashed  # noqa: E402

SIZE = 9000  # three blocks of the norm
INNER = dict(steps=6, learning_rate=0.05, warmup_steps=3, beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, clip_norm=1.0)
TRAINING = dict(steps=60, settle_steps=5, warmup_steps=8, schedule="cosine", decay_steps=0)
CASES = {
    "cosine": ({}, {}),
    "linear": ({}, dict(schedule="linear")),
    "wsd": ({}, dict(schedule="wsd", decay_steps=11)),
    "two_unclipped": (dict(steps=2, clip_norm=1e6, weight_decay=0.0), {}),
    "no_warmup": (dict(warmup_steps=0, beta1=0.0), dict(warmup_steps=0)),
}
STEPS = (0, 7, 30, 54, 55)
BATCHES = {"cosine": 1, "linear": 2, "wsd": 3, "two_unclipped": 255, "no_warmup": 1}


def gradient(at, seed):
    """Each value has one rounding. A quarter of the seeds have values that are not finite."""
    base = np.frombuffer(seed, np.uint8).astype(np.float32)[np.arange(at.size) % 32] / np.float32(256) - np.float32(0.5)
    values = base + at * np.float32(0.25)
    if seed[0] < 64:
        values[7], values[4100] = np.inf, np.nan
    return values.astype(np.float32)


def main(out):
    start = (np.arange(SIZE) % 97).astype(np.float32) / np.float32(64) - np.float32(0.75)
    seed = bytes(range(32))
    cases = {}
    for name, (inner, training) in CASES.items():
        manifest = {"inner": dict(INNER, **inner), "training": dict(TRAINING, **training)}
        plan = local_steps.Plan(manifest)
        mean = local_steps.Mean(seed, BATCHES[name], plan.count, gradient)
        cases[name] = dict(manifest, batches=BATCHES[name], digests={
            str(step): hashed("data/1", plan.distance(start, step, mean).tobytes()).hex() for step in STEPS})
    for batches in (1, 3):
        mean = local_steps.Mean(seed, batches, 1, gradient)
        cases[f"gradient_of_{batches}"] = dict(batches=batches, digest=hashed("data/1", mean(start, 0).tobytes()).hex())
    pathlib.Path(out).write_text(json.dumps({"size": SIZE, "cases": cases}, indent=1) + "\n")


main(sys.argv[1])

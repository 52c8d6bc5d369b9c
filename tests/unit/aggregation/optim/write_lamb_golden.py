#!/usr/bin/env python3
"""Writes tests/vectors/lamb.json: what optax computes in float64, for golden_test.cpp.

usage: write_lamb_golden.py OUT   (with a Python that has optax; the tests themselves need none)
"""
import json
import sys

import jax
import numpy
import optax

SHAPES = {"a": (3, 4), "b": (5,), "zeros": (4,)}
STEPS = 40
CASES = {
    "plain": dict(rate=0.02, decay=0.0, beta1=0.9, beta2=0.95, epsilon=1e-8),
    "decayed": dict(rate=0.01, decay=0.1, beta1=0.8, beta2=0.99, epsilon=1e-6),
}


def run(case, start, gradients):
    optimizer = optax.lamb(case["rate"], b1=case["beta1"], b2=case["beta2"], eps=case["epsilon"], weight_decay=case["decay"])
    x, state = start, optimizer.init(start)
    for gradient in gradients:
        updates, state = optimizer.update(gradient, state, x)
        x = optax.apply_updates(x, updates)
    return flat(x)


def flat(tensors):
    return numpy.concatenate([numpy.ravel(tensors[name]) for name in SHAPES]).tolist()


def main():
    jax.config.update("jax_enable_x64", True)
    rng = numpy.random.default_rng(51)
    # Of float32 values, so that the test begins where this does.
    normal = lambda shape: rng.normal(size=shape).astype(numpy.float32).astype(numpy.float64)
    start = {name: 0 * normal(shape) if name == "zeros" else normal(shape) for name, shape in SHAPES.items()}
    # They lean to one side: of noise alone a direction can be so short that the quotient of lengths passes ten, where
    # ours has its limit and optax none.
    gradients = [{name: normal(shape) + 1 for name, shape in SHAPES.items()} for _ in range(STEPS)]
    out = {"optax": optax.__version__, "tensors": [list(shape) for shape in SHAPES.values()], "start": flat(start),
           "gradients": [flat(gradient) for gradient in gradients],
           "cases": {name: dict(case, after=run(case, start, gradients)) for name, case in CASES.items()}}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()

"""Sine and cosine of what is computed, by the operations that there are.

sin(x) = (-1)^k sin(r) with r = x - k pi, |r| <= pi / 2. pi is
subtracted in three parts, of which the first two times k are exact (Cody and Waite, Software Manual for the Elementary
Functions, 1980), and sin(r) is Taylor's polynomial of degree 13: its own error and its derivative's are below a rounding.
Beyond |x| = 8,000 the parts are too short, and the result has fewer true digits.
"""
import math

from ostraka_export.lowering import lowers

PI_PARTS = 201 / 64, 2029 / 2 ** 21, math.pi - 201 / 64 - 2029 / 2 ** 21
DEGREE = 13


def sign_of_turns(emit, turns):
    """1 for an even number, -1 for an odd one."""
    half = emit.nearest(emit.scaled(turns, 0.5))
    odd = emit.apply("sub", [turns, emit.scaled(half, 2)], turns.shape)  # -1, 0 or 1
    return emit.shifted(emit.scaled(emit.apply("mul", [odd, odd], odd.shape), -2), 1)


def wave(emit, x, turns, halves):
    """(-1)^turns sin(x - halves * pi)."""
    rest = x
    for part in PI_PARTS:
        rest = emit.apply("sub", [rest, emit.scaled(halves, part)], x.shape)
    square = emit.apply("mul", [rest, rest], x.shape)
    result = emit.scaled(square, term(DEGREE))
    for degree in range(DEGREE - 2, 1, -2):
        result = emit.apply("mul", [emit.shifted(result, term(degree)), square], x.shape)
    result = emit.apply("add", [emit.apply("mul", [result, rest], x.shape), rest], x.shape)
    return emit.apply("mul", [result, sign_of_turns(emit, turns)], x.shape)


def term(degree):
    return (-1) ** (degree // 2) / math.factorial(degree)


@lowers("sin")
def sin(emit, x, *, shape):
    x = emit.tensor(x)
    turns = emit.nearest(emit.scaled(x, 1 / math.pi))
    return wave(emit, x, turns, turns)


@lowers("cos")
def cos(emit, x, *, shape):
    """The sine of x + pi / 2: that x is k - 1/2 half turns, and a rest."""
    x = emit.tensor(x)
    turns = emit.nearest(emit.shifted(emit.scaled(x, 1 / math.pi), 0.5))
    return wave(emit, x, turns, emit.shifted(turns, -0.5))


@lowers("tan")
def tan(emit, x, *, shape):
    return emit.apply("div", [sin(emit, x, shape=shape), cos(emit, x, shape=shape)], shape)

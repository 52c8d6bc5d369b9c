"""Comparisons, and what is chosen by them: truths are numbers 0 and 1, which a saturated tanh computes to the bit.

No gradient passes a comparison. A choice multiplies both sides, so what is not chosen must be finite.
"""
import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import LOW, by_known, finite, kept
from ostraka_export.lower_choices import chosen, other, positive
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known, Whole


def difference(emit, a, b, shape):
    """a - b, of numbers or tensors. Zero only where they are equal: subnormal numbers are kept."""
    number = emit.scalar(b)
    if number is not None:
        return emit.shifted(emit.expand(emit.tensor(a), shape), -number)
    return emit.elementwise("sub", a, b, shape)


def above(emit, a, b, shape):
    """1 where a > b, else 0."""
    return positive(emit, difference(emit, a, b, shape))


def apart(emit, a, b, shape):
    """1 where a != b, else 0."""
    gap = difference(emit, a, b, shape)
    return emit.apply("add", [positive(emit, gap), positive(emit, emit.scaled(gap, -1))], shape)


lowers("gt", "greater")(lambda emit, a, b, *, shape: above(emit, a, b, shape))
lowers("lt", "less")(lambda emit, a, b, *, shape: above(emit, b, a, shape))
lowers("le", "less_equal")(lambda emit, a, b, *, shape: other(emit, above(emit, a, b, shape)))
lowers("ge", "greater_equal")(lambda emit, a, b, *, shape: other(emit, above(emit, b, a, shape)))
lowers("ne", "not_equal")(lambda emit, a, b, *, shape: apart(emit, a, b, shape))
lowers("eq", "equal")(lambda emit, a, b, *, shape: other(emit, apart(emit, a, b, shape)))


def truth(emit, x):
    """1 where x is true, or not zero."""
    if isinstance(x, Whole) and x.is_truth():
        return x.tensor
    if isinstance(x, Known):
        return emit.tensor(Known(x.tensor.bool(), x.name))
    x = emit.tensor(x)
    return apart(emit, x, 0, x.shape)


@lowers("logical_not", "bitwise_not")
def logical_not(emit, x, *, shape):
    return other(emit, truth(emit, x))


@lowers("logical_and", "bitwise_and", "__and__")
def logical_and(emit, a, b, *, shape):
    return emit.elementwise("mul", truth(emit, a), truth(emit, b), shape)


@lowers("logical_or", "bitwise_or", "__or__")
def logical_or(emit, a, b, *, shape):
    return other(emit, emit.elementwise("mul", other(emit, truth(emit, a)), other(emit, truth(emit, b)), shape))


@lowers("logical_xor", "bitwise_xor", "__xor__")
def logical_xor(emit, a, b, *, shape):
    return apart(emit, truth(emit, a), truth(emit, b), shape)


def by_truth(emit, condition, a, b, shape):
    """a where a computed condition holds, else b. In place of an infinite number stands a large one: softmax makes both zero."""
    flags = emit.expand(truth(emit, condition), shape)
    a, b = (emit.expand(emit.tensor(finite(x)), shape) for x in (a, b))
    return chosen(emit, flags, a, b)


@lowers("where")
def where(emit, condition, a, b, *, shape):
    choose = by_known if isinstance(condition, Known) else by_truth
    return choose(emit, condition, a, b, shape)


@lowers("masked_fill")
def masked_fill(emit, x, mask, value, *, shape):
    if isinstance(mask, Known) and emit.scalar(value) is not None:
        return kept(emit, Known(~mask.tensor.bool()), x, Known(torch.tensor(emit.scalar(value))), shape)
    return where(emit, mask, value, x, shape=shape)


def quotient(emit, x, divisor):
    """The whole part of an integer by a number above 0, rounded down."""
    if not isinstance(x, (Integers, Whole)) or not isinstance(divisor, int) or divisor < 1:
        raise Unsupported("a division that rounds to integers is of integers by a number above 0")
    x = emit.tensor(x)
    # No fraction is a half, so the nearest is right for all below 2^22.
    return emit.nearest(emit.apply("div_scalar", [emit.shifted(x, -(divisor - 1) / 2)], x.shape, scalar=float(divisor)))


@lowers("floor_divide")
def floor_divide(emit, x, divisor, *, shape):
    return quotient(emit, x, divisor)


@lowers("remainder", "__mod__")
def remainder(emit, x, divisor, *, shape):
    whole = quotient(emit, x, divisor)
    return emit.apply("sub", [emit.tensor(x), emit.scaled(whole, divisor)], shape)


def added_to_scores(emit, truths):
    """What leaves out, in a softmax, where a computed mask is not true."""
    return emit.scaled(other(emit, truths), -LOW)


def some_seen(emit, mask, shape):
    """0 for the rows of all scores in which a computed mask, added to them, has infinities alone, else 1: in PyTorch such a
    position sees nothing. Lowest numbers in place of infinities make it see all alike, there as here."""
    mask = emit.expand(mask, shape)
    last = [len(shape) - 1]
    seen, low = (emit.reduced("sum", positive(emit, emit.shifted(mask, bound)), last, True) for bound in (LOW / 10, LOW * 1e6))
    nothing = other(emit, positive(emit, seen))
    return emit.expand(other(emit, emit.apply("mul", [nothing, positive(emit, low)], nothing.shape)), shape)

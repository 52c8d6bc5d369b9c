"""Comparisons, and what is chosen by them: truths are numbers 0 and 1, which a saturated tanh computes to the bit.

No gradient passes a comparison. A choice multiplies both sides, so what is not chosen must be finite.
"""
import math

import torch

from ostraka_export.emitter import LARGEST
from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import by_known, kept
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
    return emit.stopped(positive(emit, difference(emit, a, b, shape)))


def apart(emit, a, b, shape):
    """1 where a != b, else 0."""
    gap = difference(emit, a, b, shape)
    sides = [positive(emit, gap), positive(emit, emit.scaled(gap, -1))]
    return emit.stopped(emit.apply("add", sides, shape))


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
    """a where a computed condition holds, else b. An infinite number becomes the largest: softmax makes both zero."""
    flags = emit.expand(truth(emit, condition), shape)

    def side(x):
        number = emit.scalar(x)
        if number is not None and math.isinf(number):
            number = math.copysign(LARGEST, number)
        return emit.expand(emit.tensor(x if number is None else number), shape)
    a, b = side(a), side(b)
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


def added_to_scores(emit, mask):
    """What leaves out, in a softmax, where a computed mask is not true."""
    return emit.scaled(other(emit, mask.tensor), -1e30)


# Whole numbers that are computed are floats: exact below 2^24 in size.
MOVES = set("view reshape _unsafe_view flatten unflatten unsqueeze squeeze view_as reshape_as detach contiguous clone alias "
            "lift_fresh_copy lift_fresh permute transpose swapaxes swapdims t numpy_T mT movedim expand expand_as "
            "broadcast_to broadcast_tensors repeat repeat_interleave cat concat concatenate stack slice narrow select split "
            "split_with_sizes chunk unbind roll index index_select flip gather take_along_dim diagonal slice_scatter "
            "select_scatter copy where masked_fill tril triu mul".split())
COUNTS = set("add sub rsub neg sum cumsum square abs clamp clip clamp_min clamp_max maximum minimum amax amin max min "
             "floor_divide remainder __mod__ positive sort topk kthvalue median scatter scatter_add".split())
TRUTHS = set("gt greater lt less le less_equal ge greater_equal ne not_equal eq equal logical_not bitwise_not logical_and "
             "bitwise_and __and__ logical_or bitwise_or __or__ logical_xor bitwise_xor __xor__".split())


def require_whole(name, is_truth):
    """Unsupported unless the lowering of this operator is right for whole numbers, or for truths."""
    if name in MOVES or name in (TRUTHS if is_truth else COUNTS):
        return
    raise Unsupported(f"{name} of {'truths' if is_truth else 'integers'} is not written yet; sums, products, comparisons "
                      "and what moves them are")

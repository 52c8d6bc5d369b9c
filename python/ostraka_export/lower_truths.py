"""Comparisons, and what is chosen by them: truths are numbers 0 and 1, which a saturated tanh computes to the bit.

No gradient passes a comparison. A choice multiplies both sides, so what is not chosen must be finite.
"""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import LOW, by_known, kept
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
    """a where a computed condition holds, else b. In place of an infinite number stands a large one: softmax makes both zero."""
    flags = emit.expand(truth(emit, condition), shape)

    def side(x):
        number = emit.scalar(x)
        if number is not None and math.isinf(number):
            number = math.copysign(LOW, number)
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
    return emit.scaled(other(emit, mask.tensor), -LOW)


def some_seen(emit, mask, shape):
    """0 for the rows of all scores in which a computed mask, added to them, has infinities alone, else 1: in PyTorch such a
    position sees nothing. Lowest numbers in place of infinities make it see all alike, there as here."""
    mask = emit.expand(mask, shape)
    last = [len(shape) - 1]
    seen, low = (emit.reduced("sum", positive(emit, emit.shifted(mask, bound)), last, True) for bound in (LOW / 10, LOW * 1e6))
    nothing = other(emit, positive(emit, seen))
    return emit.expand(other(emit, emit.apply("mul", [nothing, positive(emit, low)], nothing.shape)), shape)


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


EXACT = 2 ** 24      # float32 has all whole numbers up to here
QUOTIENTS = 2 ** 22  # and the nearest one is found up to here


def is_whole(x):
    return isinstance(x, (Integers, Whole, bool, int)) or isinstance(x, Known) and not x.tensor.is_floating_point()


def source_of(name, operands):
    """The input of which the result of an operator has the numbers, moved."""
    if name not in MOVES - {"where", "masked_fill", "mul", "tril", "triu", "copy", "slice_scatter", "select_scatter", "cat",
                            "concat", "concatenate", "stack"} or not operands:
        return None
    first = operands[0]
    return first.name if isinstance(first, Integers) else getattr(first, "source", None)


def most_of(emit, name, operands, traced):
    """A function that says how large whole numbers may become by an operator, when the bounds of inputs are known."""
    def each(x):
        if isinstance(x, Integers):
            return lambda: emit.graph.inputs[x.name][3]
        if isinstance(x, Whole):
            return x.most or (lambda: 1)
        number = int(x.tensor.long().abs().max()) if isinstance(x, Known) and x.tensor.numel() else abs(x) if isinstance(x, int) else 0
        return lambda: number
    counts = name in COUNTS or name in ("mul", "where", "masked_fill")  # else plain numbers are axes and places
    parts = [each(x) for x in operands if is_whole(x) and (counts or not isinstance(x, int))]
    extent = max((x for of in operands if not isinstance(of, (bool, int, float, str)) and hasattr(of, "shape")
                  for x in of.shape), default=1)
    if traced.dtype == torch.bool or not parts:
        return lambda: 1 if traced.dtype == torch.bool else extent
    if name in ("mul", "square"):
        return lambda: math.prod(part() for part in parts) ** (2 if name == "square" else 1)
    if name in ("add", "sub", "rsub"):
        return lambda: sum(part() for part in parts)
    if name in ("sum", "cumsum"):
        first = operands[0].shape
        terms = max(math.prod(first) // max(math.prod(traced.shape), 1), 1) if name == "sum" else max(first, default=1)
        return lambda: parts[0]() * terms
    if name in ("floor_divide", "remainder", "__mod__"):
        return lambda: parts[0]() * (EXACT // QUOTIENTS)
    return lambda: max(extent, *(part() for part in parts))


def require_whole(name, is_truth, operands):
    """Unsupported unless the lowering of this operator is right for whole numbers, or for truths."""
    if name in MOVES and any(map(is_whole, operands)) or name in (TRUTHS if is_truth else COUNTS):
        return
    raise Unsupported(f"{name} of {'truths' if is_truth else 'integers'} is not written yet; sums, products, comparisons "
                      "and what moves them are")

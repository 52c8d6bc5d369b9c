"""Operators that order values, and those that read or write at places that are computed: by products with truths.

The tie rule: of equal values the one that comes first counts as before the others, in either direction. What a product
leaves out is multiplied by 0, so it must be finite.
"""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import finite
from ostraka_export.lower_choices import amax, extreme, other, positive
from ostraka_export.lower_truths import apart
from ostraka_export.lowering import lowers
from ostraka_export.values import Known, Whole

MOST_PAIRS = 2 ** 24  # truths that one operator makes: 64 MiB


def require_few(shape):
    if math.prod(shape) > MOST_PAIRS:
        raise Unsupported(f"it needs {math.prod(shape)} comparisons, and a lowering makes at most {MOST_PAIRS}: fewer values, or a "
                          "smaller batch")
    return tuple(shape)


def pairs(emit, x, y):
    """x of [..., n] and y of [..., m], both expanded to [..., n, m]."""
    wide = require_few((*x.shape, y.shape[-1]))
    return (emit.expand(emit.reshape(x, (*x.shape, 1)), wide),
            emit.expand(emit.reshape(y, (*y.shape[:-1], 1, y.shape[-1])), wide))


def ranks(emit, x):
    """The place of each value of [..., n], the largest first."""
    own, others = pairs(emit, x, x)
    larger = positive(emit, emit.apply("sub", [others, own], own.shape))
    equal = other(emit, apart(emit, others, own, own.shape))
    earlier = emit.tensor(Known(torch.ones(own.shape[-2:]).tril(-1), "earlier"))
    first = emit.apply("mul", [equal, emit.expand(earlier, own.shape)], own.shape)
    return emit.reduced("sum", emit.apply("add", [larger, first], own.shape), [len(own.shape) - 1], False)


def equal_to(emit, places, count):
    """Truths [..., n, count] of places [..., n]: whether a place is 0, 1, ..."""
    every = emit.tensor(Known(torch.arange(float(count)), "places"))
    own, every = pairs(emit, places, emit.expand(every, (*places.shape[:-1], count)))
    return other(emit, apart(emit, own, every, own.shape))


def turned(emit, x):
    """The last two axes exchanged."""
    last = len(x.shape) - 1
    return emit.permute(x, [*range(last - 1), last, last - 1])


def product(emit, flags, x):
    """[..., n, m] times [..., m]."""
    column = emit.reshape(x, (*x.shape, 1))
    return emit.reshape(emit.apply("matmul", [flags, column], (*flags.shape[:-1], 1)), flags.shape[:-1])


def sorted_by(emit, x, axis, begin, end, descending):
    """(values, places) of the order from begin to end along an axis."""
    there, back = emit.axis_last(len(x.shape), axis)
    x = emit.permute(x, there)
    rank = ranks(emit, x if descending else emit.scaled(x, -1))
    flags = turned(emit, equal_to(emit, rank, x.shape[-1]))
    flags = emit.slice(flags, len(flags.shape) - 2, begin, end)
    places = emit.tensor(Known(torch.arange(float(x.shape[-1])), "places"))
    found = [product(emit, flags, each) for each in (x, emit.expand(places, x.shape))]
    return [emit.permute(each, back) for each in found]


def ordered(emit, x, dim, begin, end, descending):
    """[values, places] as PyTorch returns them."""
    x = emit.tensor(x)
    values, places = sorted_by(emit, x, dim % len(x.shape), begin, end, descending)
    return [values, Whole(places, torch.int64)]


@lowers("topk")
def topk(emit, x, k, dim=-1, largest=True, *_, shape, **__):
    return ordered(emit, x, dim, 0, k, largest)


@lowers("sort")
def sort(emit, x, dim=-1, descending=False, *, shape, stable=None):
    return ordered(emit, x, dim, 0, x.shape[dim], descending)


@lowers("argsort")
def argsort(emit, x, dim=-1, descending=False, *, shape, stable=None):
    return ordered(emit, x, dim, 0, x.shape[dim], descending)[1]


def kth(emit, x, place, dim, keepdim, descending):
    values, places = ordered(emit, x, dim, place, place + 1, descending)
    if keepdim:
        return [values, places]
    rest = [extent for i, extent in enumerate(x.shape) if i != dim % len(x.shape)]
    return [emit.reshape(values, rest), Whole(emit.reshape(places.tensor, rest), torch.int64)]


@lowers("kthvalue")
def kthvalue(emit, x, k, dim=-1, keepdim=False, *, shape):
    return kth(emit, x, k - 1, dim, keepdim, False)


@lowers("median")
def median(emit, x, dim=None, keepdim=False, *, shape):
    if dim is None:  # equal ones share the gradient
        x = emit.reshape(emit.tensor(x), [math.prod(x.shape)])
        middle = emit.stopped(kth(emit, x, (x.shape[0] - 1) // 2, 0, False, False)[0])
        equal = other(emit, apart(emit, x, emit.expand(middle, x.shape), x.shape))
        total = emit.reduced("sum", emit.apply("mul", [x, equal], x.shape), [0], False)
        return emit.apply("div", [total, emit.reduced("sum", equal, [0], False)], ())
    return kth(emit, x, (x.shape[dim] - 1) // 2, dim, keepdim, False)


def first_of(descending):
    def lower(emit, x, dim=None, keepdim=False, *, shape):
        x = emit.tensor(x)
        if dim is None:
            x = emit.reshape(x, [math.prod(x.shape)])
            return Whole(emit.reshape(kth(emit, x, 0, 0, False, descending)[1].tensor, shape), torch.int64)
        return kth(emit, x, 0, dim, keepdim, descending)[1]
    return lower


lowers("argmax")(first_of(True))
lowers("argmin")(first_of(False))


def places_of_largest(emit, x, axis, keepdim):
    """None where that is too many comparisons, so that the values at least are there."""
    try:
        return kth(emit, x, 0, axis, keepdim, True)[1]
    except Unsupported:
        return None


lowers("max")(extreme(1, amax, places_of_largest))
lowers("min")(extreme(-1, amax, places_of_largest))


# Places that are computed.

@lowers("one_hot")
def one_hot(emit, places, classes=-1, *, shape):
    emit.places_below(places, shape[-1])
    return Whole(equal_to(emit, emit.tensor(places), shape[-1]), torch.int64)


def aligned(emit, x, axis, index):
    """x and an index with the axis last, and the orders there and back: other axes as long as the index's."""
    for i, extent in enumerate(index.shape):
        if i != axis:
            x = emit.slice(x, i, 0, extent)
    there, back = emit.axis_last(len(x.shape), axis)
    return emit.permute(x, there), emit.permute(index, there), there, back


def gathered(emit, x, axis, index):
    """x at places that are computed, along an axis."""
    emit.places_below(index, x.shape[axis])
    x, index, _, back = aligned(emit, emit.tensor(x), axis, emit.tensor(index))
    return emit.permute(product(emit, equal_to(emit, index, x.shape[-1]), x), back)


def rows_of(emit, table, index, shape):
    """Rows of a table at places that are computed."""
    rows, width = table.shape
    emit.places_below(index, rows)
    flat = emit.reshape(emit.tensor(index), (math.prod(index.shape),))
    flags = equal_to(emit, flat, rows)
    return emit.reshape(emit.apply("matmul", [flags, emit.tensor(table)], (flat.shape[0], width)), shape)


def scattered(emit, x, dim, index, source, shape, adds):
    x, axis = emit.tensor(finite(x)), dim % len(shape)
    emit.places_below(index, shape[axis])
    index = emit.tensor(index)
    if any(index.shape[i] != x.shape[i] for i in range(len(shape)) if i != axis):
        raise Unsupported("a scatter into a part of the other axes is not written yet; give an index as long as them")
    number = None if adds else emit.scalar(source)  # of which it does not matter how often it is written
    if emit.scalar(source) is not None:
        source = emit.filled(index.shape, emit.scalar(source))
    source = emit.tensor(source)
    for i, extent in enumerate(index.shape):
        source = emit.slice(source, i, 0, extent)
    x, index, there, back = aligned(emit, x, axis, index)
    source = emit.permute(source, there)
    flags = turned(emit, equal_to(emit, index, x.shape[-1]))
    written = product(emit, flags, source)
    if not adds:
        some = positive(emit, emit.reduced("sum", flags, [len(flags.shape) - 1], False))
        if number is not None:
            written = emit.scaled(some, number)
        x = emit.apply("mul", [x, other(emit, some)], x.shape)
    return emit.permute(emit.apply("add", [x, written], x.shape), back)


@lowers("scatter")
def scatter(emit, x, dim, index, source, *, shape, reduce=None):
    """Of places that come twice PyTorch keeps any; this adds them up, and the comparison with PyTorch tells."""
    if reduce not in (None, "add"):
        raise Unsupported(f"scatter with reduce={reduce!r}; give none, or 'add'")
    return scattered(emit, x, dim, index, source, shape, reduce == "add")


@lowers("scatter_add")
def scatter_add(emit, x, dim, index, source, *, shape):
    return scattered(emit, x, dim, index, source, shape, True)

"""Operators that read or write at positions: of tables, and at indices that are fixed."""
import dataclasses
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lower_choices import positive
from ostraka_export.lower_order import equal_to, gathered, rows_of
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known, Tensor, Whole

MOST_RUNS = 64  # slices of one selection; more are a product with a constant


def one_hot(rows, places):
    """[rows, len(places)]."""
    result = torch.zeros(rows, len(places))
    result[places, torch.arange(len(places))] = 1
    return result


def runs_of(places):
    """[begin, end) of neighbours that come in order."""
    runs = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1][1] += 1
        else:
            runs.append([place, place + 1])
    return runs


def taken(emit, x, axis, places):
    """x at these places of an axis, which may repeat."""
    extent, count = x.shape[axis], len(places)
    lead, rest = x.shape[:axis], x.shape[axis + 1:]
    if len(set(places)) == 1:
        return emit.expand(emit.slice(x, axis, places[0], places[0] + 1), lead + (count,) + rest)
    times = -(-count // extent)
    if places == [i // times for i in range(count)] and count % times == 0:  # each of the first ones repeats
        x = emit.slice(x, axis, 0, count // times)
        apart = emit.expand(emit.reshape(x, lead + (count // times, 1) + rest), lead + (count // times, times) + rest)
        return emit.reshape(apart, lead + (count,) + rest)
    period = next(n for n in divisors(count) if places == places[:n] * (count // n))
    if period < count:
        part = taken(emit, x, axis, places[:period])
        apart = emit.expand(emit.reshape(part, lead + (1, period) + rest), lead + (count // period, period) + rest)
        return emit.reshape(apart, lead + (count,) + rest)
    runs = runs_of(places)
    if len(runs) <= MOST_RUNS:
        return emit.cat([emit.slice(x, axis, *run) for run in runs], axis)
    emit.require_small((extent, count))
    return emit.product_along(x, axis, Known(one_hot(extent, places), "one_hot"))


def divisors(count):
    return [n for n in range(1, count + 1) if count % n == 0]


def known_index(index, what):
    if not isinstance(index, Known):
        raise Unsupported(f"{what} by an index that is computed is not written yet; integer inputs select rows of an "
                          "embedding")
    return index.tensor


def places_of(index, extent):
    return [int(i) % extent for i in index.flatten()]


@lowers("index_select")
def index_select(emit, x, dim, index, *, shape):
    axis = dim % len(x.shape)
    if isinstance(index, (Integers, Whole)):
        return selected(emit, emit.tensor(x), axis, index)
    return taken(emit, emit.tensor(x), axis, places_of(known_index(index, "index_select"), x.shape[axis]))


@lowers("flip")
def flip(emit, x, dims, *, shape):
    x = emit.tensor(x)
    for dim in dims:
        x = taken(emit, x, dim % len(x.shape), list(range(x.shape[dim]))[::-1])
    return x


@lowers("diagonal")
def diagonal(emit, x, offset=0, dim1=0, dim2=1, *, shape):
    """By the places that torch takes of a matrix of places."""
    x = emit.tensor(x)
    axes = [dim1 % len(x.shape), dim2 % len(x.shape)]
    rest = [axis for axis in range(len(x.shape)) if axis not in axes]
    high, wide = (x.shape[axis] for axis in axes)
    flat = emit.reshape(emit.permute(x, rest + axes), [x.shape[axis] for axis in rest] + [high * wide])
    places = torch.arange(high * wide).reshape(high, wide).diagonal(offset)
    return taken(emit, flat, len(rest), [int(i) for i in places])


@lowers("index")
def index_(emit, x, indices, *, shape):
    """The axes with an index become one, moved to where its result lies."""
    x = emit.tensor(x)
    given = [index for index in indices if index is not None]
    if any(isinstance(index, Whole) and index.is_truth() for index in given):
        raise Unsupported("a selection by a mask that is computed has a shape that depends on values; torch.where keeps all")
    if len(given) == 1 and isinstance(given[0], (Integers, Whole)):
        return selected(emit, x, indices.index(given[0]), given[0])
    if one_of_each_row(x, indices):
        return selected_of_each(emit, x, indices[1])
    found = {}  # axis: index; a mask stands for as many axes as it has
    axis = 0
    for index in indices:
        if index is None:
            axis += 1
            continue
        index = known_index(index, "a selection")
        parts = index.nonzero(as_tuple=True) if index.dtype in (torch.bool, torch.uint8) else (index,)
        for part in parts:
            found[axis] = part
            axis += 1
    places = torch.broadcast_tensors(*found.values())
    joined = torch.zeros_like(places[0])
    for axis, place in zip(found, places):
        joined = joined * x.shape[axis] + place % x.shape[axis]
    axes, kept = list(found), [axis for axis in range(len(x.shape)) if axis not in found]
    beside = axes == list(range(axes[0], axes[0] + len(axes)))
    before = [axis for axis in kept if axis < axes[0]] if beside else []
    order = before + axes + [axis for axis in kept if axis not in before]
    lead = [x.shape[axis] for axis in before]
    x = emit.permute(x, order)
    x = emit.reshape(x, (*lead, math.prod(x.shape[len(lead):len(lead) + len(axes)]), *x.shape[len(lead) + len(axes):]))
    return emit.reshape(taken(emit, x, len(lead), places_of(joined, x.shape[len(lead)])), shape)


def selected(emit, x, axis, index):
    """x[..., index, ...] at places that are computed."""
    order = [axis] + [i for i in range(len(x.shape)) if i != axis]
    table = emit.reshape(emit.permute(x, order), (x.shape[axis], math.prod(x.shape) // x.shape[axis]))
    rest = [x.shape[i] for i in order[1:]]
    rows = rows_of(emit, table, from_the_start(emit, index, x.shape[axis]), (*index.shape, *rest))
    places = len(index.shape)
    return emit.permute(rows, [*range(places, places + axis), *range(places), *range(places + axis, places + len(rest))])


def from_the_start(emit, places, count):
    """Places, of which those below 0 count from the end."""
    if isinstance(places, Integers):
        return places
    below = positive(emit, emit.scaled(places.tensor, -1))
    moved = emit.apply("add", [places.tensor, emit.scaled(below, count)], places.shape)
    return dataclasses.replace(places, tensor=moved)


def one_of_each_row(x, indices):
    """Whether x[arange(len(x)), places] is asked for."""
    return len(indices) == 2 and isinstance(indices[0], Known) and isinstance(indices[1], (Integers, Whole)) and \
        indices[0].tensor.shape == (x.shape[0],) == indices[1].shape and \
        indices[0].tensor.dtype != torch.bool and indices[0].tensor.tolist() == list(range(x.shape[0]))


def selected_of_each(emit, x, places):
    rows, count, *rest = x.shape
    emit.places_below(places, count)
    truths = equal_to(emit, emit.tensor(from_the_start(emit, places, count)), count)
    truths = emit.reshape(truths, (rows, 1, count))
    width = math.prod(rest)
    product = emit.apply("matmul", [truths, emit.reshape(x, (rows, count, width))], (rows, 1, width))
    return emit.reshape(product, (rows, *rest))


@lowers("gather")
def gather(emit, x, dim, index, *, shape, sparse_grad=False):
    """A product with a one-hot matrix for each place of the other axes at which the index differs."""
    if isinstance(index, (Integers, Whole)):
        return gathered(emit, x, dim % len(shape), index)
    x, index = emit.tensor(x), known_index(index, "gather")
    axis, rank = dim % len(x.shape), len(x.shape)
    for i in range(rank):
        if i != axis:
            x = emit.slice(x, i, 0, index.shape[i])
    alike = [i for i in range(rank) if i != axis and bool((index == index.narrow(i, 0, 1)).all())]
    apart = [i for i in range(rank) if i != axis and i not in alike]
    first = index
    for i in alike:
        first = first.narrow(i, 0, 1)
    order = apart + alike + [axis]
    first = first.permute(order).reshape(-1, index.shape[axis])  # [apart, wanted]
    extent, wanted, each = x.shape[axis], index.shape[axis], math.prod(x.shape[i] for i in alike)
    if len(first) == 1:
        return taken(emit, x, axis, places_of(first, extent))
    emit.require_small((len(first), extent, wanted))
    matrix = torch.zeros(len(first), extent, wanted).scatter_(1, first.unsqueeze(1) % extent, 1.0)
    flat = emit.reshape(emit.permute(x, order), (len(first), each, extent))
    product = emit.apply("matmul", [flat, emit.tensor(Known(matrix, "one_hot"))], (len(first), each, wanted))
    result = emit.reshape(product, [x.shape[i] for i in apart + alike] + [wanted])
    return emit.permute(result, [order.index(i) for i in range(rank)])


@lowers("take_along_dim")
def take_along_dim(emit, x, index, dim=None, *, shape):
    x = emit.tensor(x)
    if dim is None:
        x, dim = emit.reshape(x, (math.prod(x.shape),)), 0
        flat = torch.Size(index.shape).numel(),
        index = Known(index.tensor.reshape(flat)) if isinstance(index, Known) else \
            Whole(emit.reshape(emit.tensor(index), flat), torch.int64)
        return gather(emit, x, dim, index, shape=shape)
    axis = dim % len(shape)
    x = emit.expand(x, (*shape[:axis], x.shape[axis], *shape[axis + 1:]))
    index = Known(index.tensor.expand(shape)) if isinstance(index, Known) else \
        Whole(emit.expand(emit.tensor(index), shape), torch.int64, getattr(index, "source", None))
    return gather(emit, x, dim, index, shape=shape)


# Tables.

def with_held_row(emit, table, row):
    """The table whose padding row passes no gradient, as eager PyTorch's lookup: its other uses may train that row."""
    parts = [emit.stopped(emit.slice(table, 0, row, row + 1))]
    if row > 0:
        parts.insert(0, emit.slice(table, 0, 0, row))
    if row + 1 < table.shape[0]:
        parts.append(emit.slice(table, 0, row + 1, table.shape[0]))
    return emit.cat(parts, 0)


@lowers("embedding")
def embedding(emit, table, index, padding_idx=-1, scale_grad_by_freq=False, sparse=False, *, shape):
    if scale_grad_by_freq:
        raise Unsupported("scale_grad_by_freq is not written yet; leave it out")
    if padding_idx >= 0 and not isinstance(table, Known):
        table = emit.once(with_held_row, table, padding_idx)
    table = emit.tensor(table)
    if isinstance(index, Known):
        rows = taken(emit, table, 0, places_of(index.tensor, table.shape[0]))
        return emit.reshape(rows, shape)
    if isinstance(index, Whole):
        return rows_of(emit, table, index, shape)
    emit.bound(index, 0, table.shape[0])
    original = emit.original(index)
    return emit.reshape(emit.apply("embedding", [table, index], [*original, table.shape[1]]), shape)


# Parts that are written to.

def replaced(emit, x, axis, begin, end, part):
    """x with [begin, end) of an axis from another tensor. What is written over need not have been written before."""
    ends = [(0, begin, None), (begin, end, part), (end, x.shape[axis], None)]
    parts = []
    for begin, end, part in ends:
        if begin == end:
            continue
        if part is None:
            part = Known(x.tensor.narrow(axis, begin, end - begin).nan_to_num(0.0)) if isinstance(x, Known) else \
                emit.slice(x, axis, begin, end)
        parts.append(emit.tensor(part))
    return emit.cat(parts, axis)


@lowers("slice_scatter")
def slice_scatter(emit, x, part, dim=0, start=None, end=None, step=1, *, shape):
    axis = dim % len(x.shape)
    begin, stop, step = slice(start, end, step).indices(x.shape[axis])
    if begin >= stop:
        return x
    x = x if isinstance(x, Known) else emit.tensor(x)
    if step == 1:
        return replaced(emit, x, axis, begin, stop, emit.tensor(part))
    part = emit.tensor(part)
    for i, place in enumerate(range(begin, stop, step)):
        x = replaced(emit, x, axis, place, place + 1, emit.slice(part, axis, i, i + 1))
    return x


@lowers("select_scatter")
def select_scatter(emit, x, part, dim, index, *, shape):
    axis = dim % len(x.shape)
    index %= x.shape[axis]
    one = shape[:axis] + (1,) + shape[axis + 1:]
    x = x if isinstance(x, Known) else emit.tensor(x)
    return replaced(emit, x, axis, index, index + 1, emit.reshape(emit.tensor(part), one))


@lowers("copy")
def copy(emit, x, source, *_, shape):
    return source if isinstance(source, Known) and source.shape == shape else emit.expand(emit.tensor(source), shape)


@lowers("fill")
def fill(emit, x, value, *, shape):
    if isinstance(value, Tensor):
        return emit.expand(value, shape)
    return Known(torch.full(shape, float(value.tensor if isinstance(value, Known) else value)))


def made(number):
    """zeros_like and its kind, of a tensor that is not known: nothing of it but its shape is read."""
    def lower(emit, x, *given, shape, dtype=None, **_):
        value = number
        if value is None:
            value = next(v for v in reversed(given) if isinstance(v, (int, float)) or isinstance(v, Known))
            value = value.tensor.item() if isinstance(value, Known) else value
        if dtype is None:
            dtype = torch.int64 if isinstance(x, Integers) else getattr(x, "dtype", torch.float32)
        if value != value and not dtype.is_floating_point:
            value = 0  # memory as it was, which must be written before it is read
        return Known(torch.full(shape, value, dtype=dtype))
    return lower


for name, number in (("zeros", 0), ("ones", 1), ("full", None), ("empty", math.nan)):
    lowers(f"{name}_like")(made(number))
    lowers(f"new_{name}")(made(number))

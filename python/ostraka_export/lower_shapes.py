"""Operators that move numbers and compute none."""
import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known


@lowers("view", "reshape", "_unsafe_view", "flatten", "unflatten", "unsqueeze", "squeeze", "view_as", "reshape_as")
def view(emit, x, *_, shape, **__):
    if isinstance(x, Integers):
        return Integers(x.name, shape)
    return emit.reshape(emit.tensor(x), shape)


@lowers("contiguous", "clone", "alias", "lift_fresh_copy", "lift_fresh", "positive")
def same(emit, x, *_, shape, **__):
    return x


@lowers("to", "_to_copy", "float", "type_as")
def to(emit, x, *_, shape, **__):
    return x  # whatever is no float32 afterwards is refused with every operator's result


@lowers("permute")
def permute(emit, x, order, *, shape):
    return emit.permute(emit.tensor(x), order)


@lowers("transpose", "swapaxes", "swapdims")
def transpose(emit, x, first, second, *, shape):
    order = list(range(len(x.shape)))
    order[first], order[second] = order[second], order[first]
    return emit.permute(emit.tensor(x), order)


@lowers("t", "numpy_T", "mT")
def t(emit, x, *, shape):
    order = list(range(len(x.shape)))
    order[-2:] = reversed(order[-2:])
    return emit.permute(emit.tensor(x), order)


@lowers("movedim")
def movedim(emit, x, source, destination, *, shape):
    named = torch.empty(list(range(1, len(x.shape) + 1)), device="meta")  # each axis has an extent of its own
    return emit.permute(emit.tensor(x), [extent - 1 for extent in named.movedim(source, destination).shape])


@lowers("expand", "expand_as", "broadcast_to")
def expand(emit, x, *_, shape, **__):
    if isinstance(x, Integers):
        raise Unsupported(f"the integer input {x.name} expanded; expand what it selects")
    return emit.expand(emit.tensor(x), shape)


@lowers("broadcast_tensors")
def broadcast_tensors(emit, tensors, *, shape):
    wide = torch.broadcast_shapes(*(x.shape for x in tensors))
    return [emit.expand(emit.tensor(x), wide) for x in tensors]


@lowers("repeat")
def repeat(emit, x, repeats, *, shape):
    x = emit.tensor(x)
    x = emit.reshape(x, [1] * (len(repeats) - len(x.shape)) + list(x.shape))
    for axis, times in enumerate(repeats):
        if x.shape[axis] == 1:
            x = emit.expand(x, x.shape[:axis] + (times,) + x.shape[axis + 1:])
        else:
            x = emit.cat([x] * times, axis)
    return x


@lowers("repeat_interleave")
def repeat_interleave(emit, x, repeats, dim=None, *, shape, **_):
    if dim is None or not isinstance(repeats, int):
        raise Unsupported("repeat_interleave needs a number of repeats and an axis")
    x, axis = emit.tensor(x), dim % len(x.shape)
    apart = emit.reshape(x, x.shape[:axis + 1] + (1,) + x.shape[axis + 1:])
    wide = emit.expand(apart, x.shape[:axis + 1] + (repeats,) + x.shape[axis + 1:])
    return emit.reshape(wide, shape)


@lowers("cat", "concat", "concatenate")
def cat(emit, tensors, dim=0, *, shape):
    parts = [emit.tensor(x) for x in tensors if 0 not in x.shape]
    return emit.cat(parts, dim % len(shape))


@lowers("stack")
def stack(emit, tensors, dim=0, *, shape):
    axis = dim % len(shape)
    one = shape[:axis] + (1,) + shape[axis + 1:]
    return emit.cat([emit.reshape(emit.tensor(x), one) for x in tensors], axis)


@lowers("slice")
def slice_(emit, x, dim=0, start=None, end=None, step=1, *, shape):
    axis = dim % len(x.shape)
    extent = x.shape[axis]
    begin, stop, step = slice(start, end, step).indices(extent)
    if isinstance(x, Integers):
        if shape != x.shape:
            raise Unsupported(f"a part of the integer input {x.name}; give the module tokens and targets that are "
                              "already shifted")
        return x
    if step != 1:
        x = emit.tensor(x)
        return emit.cat([emit.slice(x, axis, i, i + 1) for i in range(begin, stop, step)], axis)
    return emit.slice(emit.tensor(x), axis, begin, stop)


@lowers("narrow")
def narrow(emit, x, dim, start, length, *, shape):
    return emit.slice(emit.tensor(x), dim % len(x.shape), start, start + length)


@lowers("select")
def select(emit, x, dim, index, *, shape):
    if isinstance(x, Integers):
        raise Unsupported(f"a part of the integer input {x.name}")
    axis = dim % len(x.shape)
    index %= x.shape[axis]
    return emit.reshape(emit.slice(emit.tensor(x), axis, index, index + 1), shape)


def cut(emit, x, axis, sizes):
    x, begin, parts = emit.tensor(x), 0, []
    for size in sizes:
        parts.append(emit.slice(x, axis, begin, begin + size))
        begin += size
    return parts


@lowers("split", "split_with_sizes")
def split(emit, x, size, dim=0, *, shape):
    axis = dim % len(x.shape)
    extent = x.shape[axis]
    if isinstance(size, int):
        size = [min(size, extent - begin) for begin in range(0, extent, size)]
    return cut(emit, x, axis, size)


@lowers("chunk")
def chunk(emit, x, chunks, dim=0, *, shape):
    extent = x.shape[dim % len(x.shape)]
    return split(emit, x, -(-extent // chunks), dim, shape=shape)


@lowers("unbind")
def unbind(emit, x, dim=0, *, shape):
    axis = dim % len(x.shape)
    rest = x.shape[:axis] + x.shape[axis + 1:]
    return [emit.reshape(part, rest) for part in cut(emit, x, axis, [1] * x.shape[axis])]


@lowers("roll")
def roll(emit, x, shifts, dims=(), *, shape):
    x = emit.tensor(x)
    if len(shifts) != len(dims):
        raise Unsupported("roll needs an axis for each shift")
    for shift, dim in zip(shifts, dims):
        axis = dim % len(x.shape)
        begin = -shift % x.shape[axis]
        if begin:
            x = emit.cat([emit.slice(x, axis, begin, x.shape[axis]), emit.slice(x, axis, 0, begin)], axis)
    return x


def rows_of(emit, table, index):
    """The rows of a table that a known index selects: [*index.shape, D]."""
    table = emit.tensor(table)
    count, width = table.shape
    flat = [int(i) % count for i in index.flatten()]
    first, n = flat[0], len(flat)
    if len(set(flat)) == 1:
        row = emit.slice(table, 0, first, first + 1)
        return emit.expand(emit.reshape(row, [1] * index.dim() + [width]), [*index.shape, width])
    last = index.shape[-1]
    if flat == flat[:last] * (n // last) and flat[:last] == list(range(first, first + last)):
        rows = emit.slice(table, 0, first, first + last)
        return emit.expand(emit.reshape(rows, [1] * (index.dim() - 1) + [last, width]), [*index.shape, width])
    if n > 4096:
        raise Unsupported(f"{n} rows by a fixed index that is no range; rearrange the table once, as a constant")
    rows = emit.cat([emit.slice(table, 0, i, i + 1) for i in flat], 0)
    return emit.reshape(rows, [*index.shape, width])


def without_padding(emit, table, row):
    """The table with a mask over the row that gets no gradient. Right while that row stays zero, so only then."""
    name = table.name
    if name not in emit.trained:
        raise Unsupported("padding_idx of a table that is computed; leave padding_idx out")
    if bool(emit.trained[name][row].any()):
        raise Unsupported(f"padding_idx = {row}, and this row of {name} is not zero: PyTorch reads it and never trains "
                          "it; set it to zero, or padding_idx to None")
    mask = torch.ones(table.shape)
    mask[row] = 0
    mask = emit.tensor(Known(mask, "padding_mask"))
    emit.padded.setdefault(name, (row, mask.name))
    return emit.elementwise("mul", table, mask, table.shape)


@lowers("embedding")
def embedding(emit, table, index, padding_idx=-1, scale_grad_by_freq=False, sparse=False, *, shape):
    if scale_grad_by_freq:
        raise Unsupported("scale_grad_by_freq")
    if padding_idx >= 0 and not isinstance(table, Known):
        table = without_padding(emit, table, padding_idx)
    if isinstance(index, Known):
        return rows_of(emit, table, index.tensor)
    if not isinstance(index, Integers):
        raise Unsupported("an embedding of values that are computed")
    weight = emit.tensor(table)
    emit.bound(index, 0, weight.shape[0])
    original = emit.original(index)
    rows = emit.apply("embedding", [weight, index], [*original, weight.shape[1]])
    return emit.reshape(rows, shape)


@lowers("index_select")
def index_select(emit, x, dim, index, *, shape):
    if not isinstance(index, Known):
        raise Unsupported("rows by an index that is computed")
    x, axis = emit.tensor(x), dim % len(x.shape)
    return emit.cat([emit.slice(x, axis, int(i), int(i) + 1) for i in index.tensor], axis)

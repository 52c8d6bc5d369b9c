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


@lowers("detach")
def detach(emit, x, *, shape):
    return x if isinstance(x, Integers) else emit.stopped(emit.tensor(x))


@lowers("contiguous", "clone", "alias", "lift_fresh_copy", "lift_fresh", "positive")
def same(emit, x, *_, shape, **__):
    return x


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
    if isinstance(x, Integers) and shape == x.shape:
        return x
    if step != 1:
        x = emit.tensor(x)
        return emit.cat([emit.slice(x, axis, i, i + 1) for i in range(begin, stop, step)], axis)
    return emit.slice(emit.tensor(x), axis, begin, stop)


@lowers("narrow")
def narrow(emit, x, dim, start, length, *, shape):
    axis = dim % len(x.shape)
    return slice_(emit, x, axis, start, start + length, shape=shape)


@lowers("select")
def select(emit, x, dim, index, *, shape):
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

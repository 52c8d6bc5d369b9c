"""Operators over windows of pixels or positions: padding, convolutions, pools, changes of size.

Inside, the channels are the last axis: then a convolution is one product, and slices of positions are long.
"""
import math

import torch
from torch.nn import functional

from ostraka_export.emitter import MOST_ELEMENTS
from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import mul
from ostraka_export.lower_choices import larger
from ostraka_export.lower_selection import taken
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known


def numbers(value, count):
    """One number for each axis, of one for all or one for each."""
    value = [value] if isinstance(value, int) else list(value)
    return value * count if len(value) == 1 else value


# Padding.

def padded(emit, x, axis, before, after, number=0.0):
    """Negative counts cut off."""
    x = emit.slice(x, axis, max(0, -before), x.shape[axis] - max(0, -after))
    part = lambda count: emit.filled(x.shape[:axis] + (count,) + x.shape[axis + 1:], number)
    return emit.cat([part(before)] * (before > 0) + [x] + [part(after)] * (after > 0), axis)


def by_padding_of(mode):
    """Matrices from those that torch pads: reflect, replicate and circular copy positions."""
    def along(emit, x, axis, before, after):
        eye = torch.eye(x.shape[axis]).unsqueeze(0)
        return emit.product_along(x, axis, Known(functional.pad(eye, (before, after), mode=mode)[0], mode))
    return along


@lowers("pad", "constant_pad_nd")
def pad(emit, x, counts, mode="constant", value=None, *, shape):
    if isinstance(x, Integers):
        raise Unsupported(f"the integer input {x.name} is shifted in the module (labels=...): export the logits with "
                          "loss='cross_entropy', and targets that are shifted already")
    if not isinstance(mode, str):
        mode, value = "constant", mode
    x = emit.tensor(x)
    for i, (before, after) in enumerate(zip(counts[::2], counts[1::2])):
        axis = len(x.shape) - 1 - i
        if before <= -x.shape[axis] or after <= -x.shape[axis]:
            raise Unsupported(f"a padding of {before} and {after} cuts off all of {x.shape[axis]}")
        if (before, after) == (0, 0):
            continue
        x = padded(emit, x, axis, before, after, value or 0.0) if mode == "constant" else \
            by_padding_of(mode)(emit, x, axis, before, after)
    return x


for name, mode in (("reflection_pad", "reflect"), ("replication_pad", "replicate")):
    for rank in "123":
        lowers(f"{name}{rank}d")(lambda emit, x, counts, mode=mode, *, shape: pad(emit, x, counts, mode, shape=shape))


# Windows: tap i of an axis is what element i of all windows is of.

class Axis:
    """One axis of windows, over a padded input."""

    def __init__(self, extent, kernel, stride, before, after, dilation, count=None):
        self.kernel, self.stride, self.dilation = kernel, stride, dilation
        self.count = count or (extent + before + after - dilation * (kernel - 1) - 1) // stride + 1
        # What taps reach, in whole strides. No tap sees padding beyond the operator's own.
        reach = dilation * (kernel - 1) + (self.count - 1) * stride + 1
        self.before, self.after = before, -(-reach // stride) * stride - extent - before

    def taps(self, emit, x, axis):
        """Of a padded x: [..., count, ...] each."""
        if self.stride == 1:
            return [emit.slice(x, axis, begin, begin + self.count)
                    for begin in range(0, self.dilation * self.kernel, self.dilation)]
        lead, rest, strides = x.shape[:axis], x.shape[axis + 1:], x.shape[axis] // self.stride
        x = emit.reshape(x, lead + (strides, self.stride) + rest)
        phases, taps = {}, []
        for i in range(self.kernel):
            begin, phase = divmod(i * self.dilation, self.stride)
            if phase not in phases:
                of_phase = emit.slice(x, axis + 1, phase, phase + 1)
                phases[phase] = emit.reshape(of_phase, lead + (strides,) + rest)
            taps.append(emit.slice(phases[phase], axis, begin, begin + self.count))
        return taps


def channels_last(emit, x):
    return emit.permute(x, [0, *range(2, len(x.shape)), 1])


def channels_second(emit, x):
    last = len(x.shape) - 1
    return emit.permute(x, [0, last, *range(1, last)])


def fitted(emit, x, axes, number=0.0):
    """x [B, positions..., C] with what each axis pads."""
    for i, axis in enumerate(axes):
        x = padded(emit, x, 1 + i, axis.before, axis.after, number)
    return x


def paddings_of(padding, kernels, dilations):
    if padding == "valid":
        return [(0, 0)] * len(kernels)
    if padding == "same":
        whole = [dilation * (kernel - 1) for kernel, dilation in zip(kernels, dilations)]
        return [(count // 2, count - count // 2) for count in whole]
    return [(count, count) for count in numbers(padding, len(kernels))]


# Convolutions.

@lowers("conv1d", "conv2d", "conv3d")
def conv(emit, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, shape):
    x, weight = emit.tensor(x), emit.tensor(weight)
    kernels = weight.shape[2:]
    if len(x.shape) == len(kernels) + 1:  # no batch
        x = emit.reshape(x, (1,) + x.shape)
    strides, dilations = numbers(stride, len(kernels)), numbers(dilation, len(kernels))
    pads = paddings_of(padding, kernels, dilations)
    axes = [Axis(extent, kernel, step, *pad, apart)
            for extent, kernel, step, pad, apart in zip(x.shape[2:], kernels, strides, pads, dilations)]
    wide = math.prod(axis.count for axis in axes) * math.prod(kernels) * x.shape[0] * x.shape[1]
    if wide > MOST_ELEMENTS:
        raise Unsupported(f"the windows of this convolution are {wide} numbers; a tensor has at most {MOST_ELEMENTS}: "
                          "a smaller batch or image")
    depthwise = groups == x.shape[1] == weight.shape[0] and groups > 1
    of = over_channels if depthwise else over_patches if groups == 1 else over_groups
    x = of(emit, fitted(emit, channels_last(emit, x), axes), weight, axes, groups)
    if bias is not None:
        x = emit.elementwise("add", x, bias, x.shape)
    return emit.reshape(channels_second(emit, x), shape)


@lowers("convolution")
def convolution(emit, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *, shape):
    if transposed:
        raise Unsupported("a transposed convolution is not written yet; use an upsampling and a convolution")
    return conv(emit, x, weight, bias, stride, padding, dilation, groups, shape=shape)


def patches_of(emit, x, axes):
    """[B, counts..., taps..., C], the last ones joined. Windows that neither overlap nor leave gaps are not copied."""
    if all(axis.kernel == axis.stride and axis.dilation == 1 for axis in axes):
        lead, rank = x.shape[0], len(axes)
        apart = [extent for axis in axes for extent in (axis.count, axis.kernel)]
        x = emit.reshape(x, (lead, *apart, x.shape[-1]))
        order = [0, *range(1, 2 * rank, 2), *range(2, 2 * rank + 1, 2), 2 * rank + 1]
        x = emit.permute(x, order)
        return emit.reshape(x, (lead, *(axis.count for axis in axes), math.prod(x.shape[rank + 1:])))
    for i in reversed(range(len(axes))):  # the last axis' taps lie next to the channels
        x = emit.cat(axes[i].taps(emit, x, 1 + i), len(axes) + 1)
    return x


def over_patches(emit, x, weight, axes, groups):
    flat = channels_last(emit, weight)
    patches = patches_of(emit, x, axes)
    flat = emit.reshape(flat, (weight.shape[0], patches.shape[-1]))
    return emit.apply("linear", [patches, flat], patches.shape[:-1] + (weight.shape[0],))


def over_groups(emit, x, weight, axes, groups):
    """One product of a batch of matrices, one for each group."""
    patches = patches_of(emit, x, axes)
    lead, places = patches.shape[:-1], math.prod(patches.shape[:-1])
    taps, each, out = math.prod(weight.shape[2:]), weight.shape[1], weight.shape[0] // groups
    apart = emit.permute(emit.reshape(patches, (places, taps, groups, each)), [2, 0, 1, 3])
    of_group = emit.reshape(channels_last(emit, weight), (groups, out, taps * each))
    product = emit.apply("matmul", [emit.reshape(apart, (groups, places, taps * each)),
                                    emit.permute(of_group, [0, 2, 1])], (groups, places, out))
    return emit.reshape(emit.permute(product, [1, 0, 2]), lead + (groups * out,))


def over_channels(emit, x, weight, axes, groups):
    """Depthwise: a sum of products, tap by tap."""
    channels = weight.shape[0]
    flat = emit.permute(emit.reshape(weight, (channels, math.prod(weight.shape[2:]))), [1, 0])
    pieces = [x]
    for i, axis in enumerate(axes):
        pieces = [tap for piece in pieces for tap in axis.taps(emit, piece, 1 + i)]
    result = None
    for i, piece in enumerate(pieces):
        factor = emit.reshape(emit.slice(flat, 0, i, i + 1), (channels,))
        term = emit.elementwise("mul", piece, factor, piece.shape)
        result = term if result is None else emit.apply("add", [result, term], term.shape)
    return result


# Pools.

def pool_axes(x, kernel, stride, padding, dilation, counts):
    rank = len(counts)
    kernels = numbers(kernel, rank)
    strides = numbers(stride, rank) if stride else kernels
    pads, dilations = numbers(padding, rank), numbers(dilation, rank)
    return [Axis(extent, *of, pad, 0, apart, count) for extent, of, pad, apart, count in
            zip(x.shape[-rank:], zip(kernels, strides), pads, dilations, counts)]


def with_batch(emit, x, rank):
    return emit.reshape(x, (1,) + x.shape) if len(x.shape) == rank + 1 else x


@lowers("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(emit, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False, *, shape):
    """Of equal ones the first gets the gradient. What lies outside is a copy of the edge, which each window has."""
    x = emit.tensor(x)
    rank = len(kernel)
    axes = pool_axes(x, kernel, stride, padding, dilation, shape[-rank:])
    if any(axis.dilation > 1 and (axis.before > 0 or axis.after > 0) for axis in axes):
        raise Unsupported("a max pool with dilation, and with padding or ceil_mode, is not written yet")
    x = channels_last(emit, with_batch(emit, x, rank))
    for i, axis in reversed(list(enumerate(axes, 1))):  # rows last: so the first of equal ones is the first in order
        first, last = (emit.slice(x, i, *ends) for ends in ((0, 1), (x.shape[i] - 1, x.shape[i])))
        before, after = max(axis.before, 0), max(axis.after, 0)
        kept = emit.slice(x, i, 0, x.shape[i] + min(axis.after, 0))
        x = emit.cat([first] * before + [kept] + [last] * after, i)
        taps = axis.taps(emit, x, i)
        x = taps[0]
        for tap in taps[1:]:
            x = larger(emit, x, tap)
    return emit.reshape(channels_second(emit, x), shape)


@lowers("max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool1d_with_indices")
def max_pool_with_indices(emit, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False, *, shape):
    x, rank = emit.tensor(x), len(kernel)
    function = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[rank - 1]
    shape = tuple(function(torch.empty(x.shape, device="meta"), kernel, stride or None, padding, dilation,
                           ceil_mode).shape)
    return [max_pool(emit, x, kernel, stride, padding, dilation, ceil_mode, shape=shape), None]


@lowers("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(emit, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, *,
             shape):
    x = emit.tensor(x)
    rank = len(kernel)
    axes = pool_axes(x, kernel, stride, padding, 1, shape[-rank:])
    function = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[rank - 1]
    more = (ceil_mode, count_include_pad) + ((divisor_override,) if rank > 1 else ())
    means = function(torch.ones(1, 1, *x.shape[-rank:]), kernel, stride or None, padding, *more)[0, 0]
    weights = means / inside_of(axes, x.shape[-rank:])  # of each window's sum
    x = fitted(emit, channels_last(emit, with_batch(emit, x, rank)), axes)
    for i, axis in enumerate(axes, 1):
        taps = axis.taps(emit, x, i)
        x = taps[0]
        for tap in taps[1:]:
            x = emit.apply("add", [x, tap], tap.shape)
    x = mul(emit, x, Known(weights.unsqueeze(-1), "weights"), shape=x.shape)
    return emit.reshape(channels_second(emit, x), shape)


def inside_of(axes, extents):
    """How many taps of each window lie inside, [counts...]."""
    result = torch.ones(())
    for axis, extent in zip(axes, extents):
        inside = [sum(0 <= i * axis.stride - axis.before + tap < extent for tap in range(axis.kernel))
                  for i in range(axis.count)]
        result = result.unsqueeze(-1) * torch.tensor(inside, dtype=torch.float32)
    return result


@lowers("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
        "_adaptive_avg_pool3d")
def adaptive_avg_pool(emit, x, size, *, shape):
    x, rank = emit.tensor(x), len(numbers(size, 1))
    for i, wanted in enumerate(shape[-rank:]):
        axis = len(x.shape) - rank + i
        lead, extent, rest = x.shape[:axis], x.shape[axis], x.shape[axis + 1:]
        if extent % wanted == 0:
            apart = emit.reshape(x, lead + (wanted, extent // wanted) + rest)
            x = apart if extent == wanted else emit.reduced("mean", apart, [axis + 1], False)
            x = emit.reshape(x, lead + (wanted,) + rest)
        else:
            emit.require_small((extent, wanted))
            x = emit.product_along(x, axis, Known(means_of(extent, wanted), "means"))
    return x


def means_of(extent, wanted):
    """[extent, wanted]: windows that overlap, where one does not divide the other."""
    result = torch.zeros(extent, wanted)
    for i in range(wanted):
        begin, end = i * extent // wanted, -(-(i + 1) * extent // wanted)
        result[begin:end, i] = 1 / (end - begin)
    return result


# Changes of size: places of an axis that repeat, or a product with a matrix.

def upsample(mode, rank, aligns):
    def lower(emit, x, size=None, *more, shape, **named):
        more = [*more, *named.values()]
        align = {"align_corners": bool(more.pop(0))} if aligns else {}
        # One form of the operator has a list of scales, another an argument for each axis.
        scales = [x for of_some in more for x in (of_some if isinstance(of_some, (list, tuple)) else [of_some])]
        x = emit.tensor(x)
        for i, wanted in enumerate(shape[-rank:]):
            axis = len(x.shape) - rank + i
            scale = scales[i] if i < len(scales) else None
            given = {"size": (wanted, 1)} if scale is None else {"scale_factor": (scale, 1.0)}
            extent = x.shape[axis]
            if aligns:
                emit.require_small((extent, max(extent, wanted)))
                columns = torch.eye(extent).reshape(extent, 1, extent, 1)
                matrix = functional.interpolate(columns, mode=mode, **given, **align)[:, 0, :, 0]
                x = emit.product_along(x, axis, Known(matrix, "resize"))
            else:
                column = torch.arange(extent, dtype=torch.float32).reshape(1, 1, extent, 1)
                places = functional.interpolate(column, mode=mode, **given).flatten()
                x = taken(emit, x, axis, [int(place) for place in places])
        return x
    return lower


for rank, name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    lowers(f"upsample_{name}")(upsample("bilinear", rank, True))
    lowers(f"upsample_nearest{rank}d")(upsample("nearest", rank, False))
    lowers(f"_upsample_nearest_exact{rank}d")(upsample("nearest-exact", rank, False))
lowers("upsample_bicubic2d")(upsample("bicubic", 2, True))


# Windows as they are.

@lowers("unfold")
def unfold(emit, x, dim, size, step, *, shape):
    x = emit.tensor(x)
    axis = dim % len(x.shape)
    windows = Axis(x.shape[axis], size, step, 0, 0, 1)
    x = padded(emit, x, axis, 0, windows.after)
    lead, rest = x.shape[:axis], x.shape[axis + 1:]
    taps = [emit.reshape(tap, lead + (windows.count,) + rest + (1,)) for tap in windows.taps(emit, x, axis)]
    return emit.cat(taps, len(shape) - 1)


@lowers("im2col")
def im2col(emit, x, kernel, dilation, padding, stride, *, shape):
    x = emit.tensor(x)
    kernels, dilations = numbers(kernel, 2), numbers(dilation, 2)
    x = with_batch(emit, x, 2)
    axes = [Axis(extent, of, step, pad, pad, apart) for extent, of, step, pad, apart in
            zip(x.shape[2:], kernels, numbers(stride, 2), numbers(padding, 2), dilations)]
    patches = patches_of(emit, fitted(emit, channels_last(emit, x), axes), axes)
    places = axes[0].count * axes[1].count
    apart = emit.reshape(patches, (x.shape[0], places, math.prod(kernels), x.shape[1]))
    return emit.reshape(emit.permute(apart, [0, 3, 2, 1]), shape)


@lowers("pixel_shuffle")
def pixel_shuffle(emit, x, factor, *, shape):
    x, lead = emit.tensor(x), x.shape[:-3]
    channels, high, wide = x.shape[-3:]
    apart = emit.reshape(x, lead + (channels // factor ** 2, factor, factor, high, wide))
    n = len(lead)
    return emit.reshape(emit.permute(apart, [*range(n), n, n + 3, n + 1, n + 4, n + 2]), shape)


@lowers("pixel_unshuffle")
def pixel_unshuffle(emit, x, factor, *, shape):
    x, lead = emit.tensor(x), x.shape[:-3]
    channels, high, wide = x.shape[-3:]
    apart = emit.reshape(x, lead + (channels, high // factor, factor, wide // factor, factor))
    n = len(lead)
    return emit.reshape(emit.permute(apart, [*range(n), n, n + 2, n + 4, n + 1, n + 3]), shape)


@lowers("channel_shuffle")
def channel_shuffle(emit, x, groups, *, shape):
    x = emit.tensor(x)
    apart = emit.reshape(x, (x.shape[0], groups, x.shape[1] // groups) + x.shape[2:])
    return emit.reshape(emit.permute(apart, [0, 2, 1, *range(3, len(apart.shape))]), shape)

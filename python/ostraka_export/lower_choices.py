"""Operators that choose by a comparison. ops/2 compares nothing, but a saturated tanh does, to the bit.

Gradients at the edges of a choice are those of eager PyTorch.
"""
import functools
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import add, axes_of, mul, sqrt
from ostraka_export.lowering import lowers

STEEP = 1e30  # twice, so that tanh of the smallest subnormal is 1


def positive(emit, x):
    """1 where x > 0, else 0. It passes no gradient, and none that overflowed meets the flat tanh."""
    x = emit.unary("relu", x)
    return emit.stopped(emit.unary("tanh", emit.scaled(emit.scaled(x, STEEP), STEEP)))


def other(emit, flags):
    return emit.shifted(emit.scaled(flags, -1), 1)


def chosen(emit, flags, a, b):
    """a where the flags are 1, b where they are 0, to the bit if both are finite. b may be a number."""
    a = emit.apply("mul", [a, flags], a.shape)
    if isinstance(b, (int, float)):
        return a if b == 0 else emit.apply("add", [a, emit.scaled(other(emit, flags), b)], a.shape)
    return emit.apply("add", [a, emit.apply("mul", [b, other(emit, flags)], b.shape)], a.shape)


def larger(emit, a, b):
    """The larger one; a, if they are equal, and then all of the gradient is a's."""
    return chosen(emit, positive(emit, emit.apply("sub", [b, a], a.shape)), b, a)


@lowers("maximum")
def maximum(emit, a, b, *, shape):
    """Equal ones get half of the gradient each."""
    a, b = (emit.expand(emit.tensor(x), shape) for x in (a, b))
    apart = emit.scaled(emit.scaled(emit.apply("sub", [a, b], shape), STEEP), STEEP)
    half = emit.stopped(emit.shifted(emit.scaled(emit.unary("tanh", apart), 0.5), 0.5))
    return chosen(emit, half, a, b)


@lowers("minimum")
def minimum(emit, a, b, *, shape):
    a, b = (emit.scaled(emit.tensor(x), -1) for x in (a, b))
    return emit.scaled(maximum(emit, a, b, shape=shape), -1)


def largest_along(emit, x, axis):
    """Without the axis. Of equal ones the first gets the gradient."""
    while x.shape[axis] > 1:
        pairs, left = divmod(x.shape[axis], 2)
        before, after = x.shape[:axis], x.shape[axis + 1:]
        apart = emit.reshape(emit.slice(x, axis, 0, 2 * pairs), before + (pairs, 2) + after)
        a, b = (emit.reshape(emit.slice(apart, axis + 1, i, i + 1), before + (pairs,) + after) for i in (0, 1))
        parts = [larger(emit, a, b)] + [emit.slice(x, axis, 2 * pairs, 2 * pairs + 1)] * left
        x = emit.cat(parts, axis)
    return emit.reshape(x, x.shape[:axis] + x.shape[axis + 1:])


def joined_last(emit, x, axes):
    """x with these axes as one, the last."""
    axes = sorted(axis % len(x.shape) for axis in axes)
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    shape = [x.shape[axis] for axis in kept] + [math.prod(x.shape[axis] for axis in axes)]
    return emit.reshape(emit.permute(x, kept + axes), shape)


@lowers("amax")
def amax(emit, x, dim=(), keepdim=False, *, shape):
    """Equal ones share the gradient."""
    x = emit.tensor(x)
    flat = joined_last(emit, x, axes_of(list(dim) if not isinstance(dim, int) else dim, x))
    largest = largest_along(emit, flat, len(flat.shape) - 1)
    largest = emit.expand(emit.reshape(largest, largest.shape + (1,)), flat.shape)
    flags = other(emit, positive(emit, emit.apply("sub", [largest, flat], flat.shape)))
    last = [len(flat.shape) - 1]
    total = emit.reduced("sum", emit.apply("mul", [flat, flags], flat.shape), last, False)
    return emit.reshape(emit.apply("div", [total, emit.reduced("sum", flags, last, False)], total.shape), shape)


@lowers("amin")
def amin(emit, x, dim=(), keepdim=False, *, shape):
    return emit.scaled(amax(emit, emit.scaled(emit.tensor(x), -1), dim, keepdim, shape=shape), -1)


def extreme(sign, of_all, places):
    """max or min. places(emit, x, axis, keepdim): those of the largest."""
    def lower(emit, x, dim=None, keepdim=False, *, shape):
        x = emit.scaled(emit.tensor(x), sign)
        if dim is None:
            return emit.scaled(of_all(emit, x, shape=shape), sign)
        if not isinstance(dim, int):  # of two tensors
            return (maximum if sign == 1 else minimum)(emit, emit.scaled(x, sign), dim, shape=shape)
        axis = dim % len(x.shape)
        result = emit.scaled(largest_along(emit, x, axis), sign)
        if keepdim:
            result = emit.reshape(result, x.shape[:axis] + (1,) + x.shape[axis + 1:])
        return [result, places(emit, x, axis, keepdim)]
    return lower


def bound_of(emit, bound):
    if bound is None or isinstance(bound, (int, float)):
        return None if bound is None or math.isinf(bound) else bound
    number = emit.scalar(bound)
    if number is None:
        raise Unsupported("bounds of clamp that are tensors are not written yet; give numbers")
    return None if math.isinf(number) else number


@functools.cache
def gradient_at(function, x):
    """Of eager PyTorch, of many elements at once: its versions differ in gradients of clamp and hardswish at bounds."""
    with torch.enable_grad():
        x = torch.full((16,), float(x), requires_grad=True)
        return float(torch.autograd.grad(function(x).sum(), x)[0][0])


def clamp_at_zero(x):
    return x.clamp(min=0.0)


def above(emit, x, bound, passes_at_bound):
    """The larger one of x and a number."""
    flags = other(emit, positive(emit, emit.shifted(emit.scaled(x, -1), bound))) if passes_at_bound else \
        positive(emit, emit.shifted(x, -bound))
    return chosen(emit, flags, x, bound)


def below(emit, x, bound, passes_at_bound):
    return emit.scaled(above(emit, emit.scaled(x, -1), -bound, passes_at_bound), -1)


@lowers("clamp", "clip")
def clamp(emit, x, min=None, max=None, *, shape):
    x, low, high = emit.tensor(x), bound_of(emit, min), bound_of(emit, max)
    if low is not None:
        x = above(emit, x, low, gradient_at(clamp_at_zero, 0) != 0)
    if high is not None:
        x = below(emit, x, high, gradient_at(clamp_at_zero, 0) != 0)
    return x


@lowers("clamp_min")
def clamp_min(emit, x, bound, *, shape):
    return clamp(emit, x, bound, None, shape=shape)


@lowers("clamp_max")
def clamp_max(emit, x, bound, *, shape):
    return clamp(emit, x, None, bound, shape=shape)


@lowers("hardtanh")
def hardtanh(emit, x, low=-1.0, high=1.0, *, shape):
    return below(emit, above(emit, emit.tensor(x), low, False), high, False)


@lowers("relu6")
def relu6(emit, x, *, shape):
    return hardtanh(emit, x, 0.0, 6.0, shape=shape)


@lowers("hardsigmoid")
def hardsigmoid(emit, x, *, shape):
    return emit.scaled(relu6(emit, emit.shifted(emit.tensor(x), 3), shape=shape), 1 / 6)


@lowers("hardswish")
def hard_swish(emit, x, *, shape):
    x, hardswish = emit.tensor(x), torch.nn.functional.hardswish
    gate = above(emit, emit.shifted(x, 3), 0.0, gradient_at(hardswish, -3) != 0)
    gate = below(emit, gate, 6.0, gradient_at(hardswish, 3) > 1.25)  # 1.5 with its inner part's, else 1
    return emit.scaled(emit.apply("mul", [x, gate], x.shape), 1 / 6)


@lowers("threshold")
def threshold(emit, x, bound, value, *, shape):
    x = emit.tensor(x)
    return chosen(emit, positive(emit, emit.shifted(x, -bound)), x, value)


@lowers("leaky_relu")
def leaky_relu(emit, x, slope=0.01, *, shape):
    x = emit.tensor(x)
    return emit.apply("add", [emit.scaled(x, slope), emit.scaled(emit.unary("relu", x), 1 - slope)], x.shape)


@lowers("prelu", "_prelu_kernel")
def prelu(emit, x, weight, *, shape):
    x, weight = emit.tensor(x), emit.tensor(weight)
    if len(x.shape) > 1 and len(weight.shape) == 1:
        weight = emit.reshape(weight, weight.shape + (1,) * (len(x.shape) - 2))
    left = emit.apply("mul", [x, other(emit, positive(emit, x))], x.shape)
    return add(emit, emit.unary("relu", x), mul(emit, left, weight, shape=shape), shape=shape)


@lowers("abs")
def absolute(emit, x, *, shape):
    x = emit.tensor(x)
    return emit.apply("add", [emit.unary("relu", x), emit.unary("relu", emit.scaled(x, -1))], x.shape)


@lowers("sign", "sgn")
def sign(emit, x, *, shape):
    x = emit.tensor(x)
    return emit.apply("sub", [positive(emit, x), positive(emit, emit.scaled(x, -1))], x.shape)


@lowers("elu")
def elu(emit, x, alpha=1.0, scale=1.0, input_scale=1.0, *, shape):
    x = emit.tensor(x)
    left = emit.apply("mul", [x, other(emit, positive(emit, x))], x.shape)
    curved = emit.scaled(expm1(emit, emit.scaled(left, input_scale)), alpha * scale)
    return emit.apply("add", [emit.scaled(emit.unary("relu", x), scale), curved], x.shape)


@lowers("selu")
def selu(emit, x, *, shape):
    return elu(emit, x, 1.6732632423543772, 1.0507009873554805, shape=shape)


@lowers("celu")
def celu(emit, x, alpha=1.0, *, shape):
    return elu(emit, x, alpha, 1.0, 1 / alpha, shape=shape)


def expm1(emit, x):
    """exp(x) - 1 for x <= 0."""
    half = emit.unary("tanh", emit.scaled(x, 0.5))
    return emit.apply("div", [half, emit.unary("sigmoid", emit.scaled(x, -1))], x.shape)


@lowers("exp")
def exp(emit, x, *, shape):
    """The square of sigmoid(x/2) / sigmoid(-x/2): its gradient is finite wherever exp is."""
    x = emit.scaled(emit.tensor(x), 0.5)
    root = emit.apply("div", [emit.unary("sigmoid", x), emit.unary("sigmoid", emit.scaled(x, -1))], x.shape)
    return emit.apply("mul", [root, root], x.shape)


def distance(apart):
    def lower(emit, a, b, reduction=1, *numbers, shape, **named):
        a, b = emit.tensor(a), emit.tensor(b)
        wide = tuple(torch.broadcast_shapes(a.shape, b.shape))
        result = apart(emit, emit.elementwise("sub", a, b, wide), *numbers, **named)
        if reduction == 0:
            return result
        return emit.reduced("mean" if reduction == 1 else "sum", result, range(len(wide)), False)
    return lower


def huber(emit, x, delta=1.0):
    """x * x / 2 within delta, and delta * (|x| - delta / 2) beyond."""
    size = absolute(emit, x, shape=x.shape)
    inner = below(emit, size, delta, False)
    squares = emit.scaled(emit.apply("mul", [inner, inner], x.shape), 0.5)
    beyond = emit.apply("sub", [size, inner], x.shape)
    return emit.apply("add", [squares, emit.scaled(beyond, delta)], x.shape)


def smooth(emit, x, beta=1.0):
    return absolute(emit, x, shape=x.shape) if beta == 0 else emit.scaled(huber(emit, x, beta), 1 / beta)


lowers("l1_loss")(distance(lambda emit, x: absolute(emit, x, shape=x.shape)))
lowers("huber_loss")(distance(huber))
lowers("smooth_l1_loss")(distance(smooth))
lowers("mse_loss")(distance(lambda emit, x: emit.apply("mul", [x, x], x.shape)))


@lowers("linalg_vector_norm", "norm", "frobenius_norm", "linalg_norm")
def vector_norm(emit, x, order=2, dim=None, keepdim=False, *, shape, dtype=None):
    """The gradient of a norm of zero is zero."""
    x = emit.tensor(x)
    axes = axes_of(dim, x)
    if order == 1:
        return emit.reduced("sum", absolute(emit, x, shape=x.shape), axes, keepdim)
    if order == math.inf:
        return amax(emit, absolute(emit, x, shape=x.shape), list(axes), keepdim, shape=shape)
    if order not in (2, None, "fro"):
        raise Unsupported(f"the norm of order {order} is not written yet; 1, 2 and inf are")
    squares = emit.reduced("sum", emit.apply("mul", [x, x], x.shape), axes, keepdim)
    some = positive(emit, squares)
    root = sqrt(emit, emit.apply("add", [squares, other(emit, some)], squares.shape), shape=squares.shape)
    return emit.apply("mul", [root, some], root.shape)


@lowers("cosine_similarity")
def cosine_similarity(emit, a, b, dim=1, epsilon=1e-8, *, shape):
    wide = torch.broadcast_shapes(a.shape, b.shape)
    lengths = [clamp(emit, vector_norm(emit, x, 2, dim, True, shape=None), epsilon, shape=None) for x in (a, b)]
    a, b = (emit.elementwise("div", emit.expand(emit.tensor(x), wide), emit.expand(length, [
        1 if i == dim % len(wide) else extent for i, extent in enumerate(wide)]), wide)
        for x, length in zip((a, b), lengths))
    return emit.reduced("sum", emit.apply("mul", [a, b], wide), [dim], False)

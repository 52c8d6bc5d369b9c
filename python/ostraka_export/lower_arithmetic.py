"""Operators on one number at a time, and sums of them."""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lowering import lowers
from ostraka_export.values import Kept, Known


def times(emit, x, alpha):
    if alpha == 1:
        return x
    return x * alpha if isinstance(x, (int, float)) else mul(emit, x, alpha, shape=x.shape)


@lowers("add")
def add(emit, a, b, *, shape, alpha=1):
    b = times(emit, b, alpha)
    for x, other in ((a, b), (b, a)):
        number = emit.scalar(other)
        if number is not None:
            return emit.shifted(emit.expand(emit.tensor(x), shape), number)
    return emit.elementwise("add", a, b, shape)


@lowers("sub")
def sub(emit, a, b, *, shape, alpha=1):
    b = times(emit, b, alpha)
    if emit.scalar(b) is not None:
        return emit.shifted(emit.expand(emit.tensor(a), shape), -emit.scalar(b))
    if emit.scalar(a) is not None:
        return emit.shifted(emit.scaled(emit.expand(emit.tensor(b), shape), -1), emit.scalar(a))
    return emit.elementwise("sub", a, b, shape)


@lowers("rsub")
def rsub(emit, a, b, *, shape, alpha=1):
    return sub(emit, b, a, shape=shape, alpha=alpha)


@lowers("mul")
def mul(emit, a, b, *, shape):
    for x, other in ((a, b), (b, a)):
        number = emit.scalar(other)
        if number is not None:
            return emit.scaled(emit.expand(emit.tensor(x), shape), number)
    return emit.elementwise("mul", a, b, shape)


@lowers("div", "true_divide")
def div(emit, a, b, *, shape, rounding_mode=None):
    if rounding_mode is not None:
        raise Unsupported("a division that rounds to integers; of integers by a number, // does")
    number = emit.scalar(b)
    if isinstance(a, Kept) and number == a.keep:
        return emit.expand(a.drawn, shape)
    if number is not None:
        if number == 0:
            raise Unsupported("a division by zero")
        return emit.apply("div_scalar", [emit.expand(emit.tensor(a), shape)], shape, scalar=emit.finite(number))
    return emit.elementwise("div", a, b, shape)


@lowers("neg")
def neg(emit, x, *, shape):
    return emit.scaled(emit.tensor(x), -1)


@lowers("reciprocal")
def reciprocal(emit, x, *, shape):
    return emit.elementwise("div", 1.0, x, shape)


@lowers("square")
def square(emit, x, *, shape):
    return emit.elementwise("mul", x, x, shape)


@lowers("pow")
def power(emit, x, exponent, *, shape):
    if not isinstance(exponent, (int, float)):
        raise Unsupported("a power whose exponent is no number")
    x = emit.tensor(x)
    if exponent == -0.5:
        return emit.unary("rsqrt", x)
    if exponent == 0.5:
        return sqrt(emit, x, shape=shape)
    if exponent == -1:
        return reciprocal(emit, x, shape=shape)
    if exponent != int(exponent) or not 1 <= exponent <= 8:
        raise Unsupported(f"the power {exponent}; whole powers from 1 to 8, 0.5, -0.5 and -1 are products and roots")
    result = x
    for _ in range(int(exponent) - 1):
        result = emit.elementwise("mul", result, x, shape)
    return result


@lowers("sqrt")
def sqrt(emit, x, *, shape):
    return emit.elementwise("div", 1.0, emit.unary("rsqrt", emit.tensor(x)), shape)


def unary(operation):
    def lower(emit, x, *, shape):
        return emit.unary(operation, emit.tensor(x))
    return lower


for name in ("rsqrt", "tanh", "sigmoid", "silu", "relu"):
    lowers(name)(unary(name))


@lowers("gelu")
def gelu(emit, x, *, shape, approximate="none"):
    return emit.unary("gelu_tanh" if approximate == "tanh" else "gelu", emit.tensor(x))


@lowers("dropout")
def dropout(emit, x, p, train=True, *, shape):
    return emit.dropped(emit.tensor(x), p) if p > 0 and train else x


@lowers("native_dropout")  # what torch makes of dropout beside operators in place
def native_dropout(emit, x, p, train, *, shape):
    return [dropout(emit, x, p, train is None or train, shape=x.shape), None]


@lowers("bernoulli")
def bernoulli(emit, x, p=None, *, shape):
    if p is None:
        raise Unsupported("bernoulli by a tensor of probabilities; of what is drawn a graph has dropout alone: draw by "
                          "one number, torch.empty_like(x).bernoulli_(p)")
    return emit.kept(shape, p)


@lowers("feature_dropout")
def feature_dropout(emit, x, p, train=True, *, shape):
    return emit.dropped(emit.tensor(x), p, shape[:2] + (1,) * len(shape[2:])) if p > 0 and train else x


SWALLOWS = -1e8  # a score that softmax makes zero, whatever is added to it
LOW = 1e30       # in place of infinity: what is multiplied by 0 or subtracted must be finite


def finite(x):
    """Without infinities, if it is known."""
    x = Known(torch.tensor(float(x))) if isinstance(x, (int, float)) else x
    if not isinstance(x, Known) or not bool(x.tensor.isinf().any()):
        return x
    return Known(x.tensor.clamp(-LOW, LOW), x.name)


def kept(emit, condition, x, other, shape):
    """x where a known condition holds, else the known `other`."""
    mask = torch.broadcast_to(condition.tensor.bool(), shape_of_mask(condition, other))
    other = torch.broadcast_to(finite(other).tensor.to(torch.float32), mask.shape)
    filled = torch.where(mask, torch.zeros(()), other)
    result = emit.tensor(x)
    if not bool((other[~mask] <= SWALLOWS).all()):
        result = mul(emit, result, Known(mask.to(torch.float32), "keep"), shape=shape)
    # What is so low swallows what it is added to, and softmax gives it no gradient.
    return add(emit, result, Known(filled, "fill"), shape=shape)


def shape_of_mask(condition, other):
    return torch.broadcast_shapes(condition.shape, other.shape)


def triangle(function):
    def lower(emit, x, diagonal=0, *, shape):
        return mul(emit, x, Known(function(torch.ones(shape[-2:]), diagonal), "triangle"), shape=shape)
    return lower


lowers("tril")(triangle(torch.tril))
lowers("triu")(triangle(torch.triu))


def by_known(emit, condition, a, b, shape):
    """a where a known condition holds, else b."""
    known = lambda x: Known(torch.tensor(float(x))) if isinstance(x, (int, float)) else x
    a, b = known(a), known(b)
    if isinstance(b, Known):
        return kept(emit, condition, a, b, shape)
    if isinstance(a, Known):
        return kept(emit, Known(~condition.tensor.bool()), b, a, shape)
    zero = Known(torch.zeros(()))
    first = kept(emit, condition, a, zero, shape)
    return add(emit, first, kept(emit, Known(~condition.tensor.bool()), b, zero, shape), shape=shape)


@lowers("mean")
def mean(emit, x, dim=None, keepdim=False, *, shape, dtype=None):
    x = emit.tensor(x)
    return emit.reduced("mean", x, axes_of(dim, x), keepdim)


@lowers("sum")
def sum_(emit, x, dim=None, keepdim=False, *, shape, dtype=None):
    x = emit.tensor(x)
    return emit.reduced("sum", x, axes_of(dim, x), keepdim)


def axes_of(dim, x):
    if dim is None or dim == []:
        return range(len(x.shape))
    return [dim] if isinstance(dim, int) else dim


@lowers("cumsum")
def cumsum(emit, x, dim, *, shape, dtype=None):
    x = emit.tensor(x)
    axis = dim % len(x.shape)
    emit.require_small((x.shape[axis],) * 2)
    return emit.product_along(x, axis, Known(torch.ones(x.shape[axis], x.shape[axis]).triu(), "upper"))


@lowers("addcmul")
def addcmul(emit, x, a, b, *, shape, value=1):
    return add(emit, x, times(emit, mul(emit, a, b, shape=shape), value), shape=shape)


@lowers("addcdiv")
def addcdiv(emit, x, a, b, *, shape, value=1):
    return add(emit, x, times(emit, div(emit, a, b, shape=shape), value), shape=shape)


@lowers("lerp")
def lerp(emit, a, b, weight, *, shape):
    return add(emit, a, mul(emit, weight, sub(emit, b, a, shape=shape), shape=shape), shape=shape)


@lowers("glu")
def glu(emit, x, dim=-1, *, shape):
    x = emit.tensor(x)
    axis, half = dim % len(x.shape), x.shape[dim] // 2
    gate = emit.unary("sigmoid", emit.slice(x, axis, half, 2 * half))
    return emit.apply("mul", [emit.slice(x, axis, 0, half), gate], shape)


@lowers("var")
def var(emit, x, dim=None, unbiased=None, keepdim=False, *, shape, correction=None):
    x = emit.tensor(x)
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    axes = [axis % len(x.shape) for axis in axes_of(dim, x)]
    if correction is None:
        correction = 0 if unbiased is False else 1
    count = math.prod(x.shape[axis] for axis in axes)
    if count <= correction:
        raise Unsupported(f"the variance of {count} numbers with a correction of {correction}")
    middle = emit.expand(emit.reduced("mean", x, axes, True), x.shape)
    apart = emit.apply("sub", [x, middle], x.shape)
    squares = emit.apply("mul", [apart, apart], x.shape)
    return emit.scaled(emit.reduced("mean", squares, axes, keepdim), count / (count - correction))


@lowers("std")
def std(emit, x, dim=None, unbiased=None, keepdim=False, *, shape, correction=None):
    return sqrt(emit, var(emit, x, dim, unbiased, keepdim, shape=shape, correction=correction), shape=shape)

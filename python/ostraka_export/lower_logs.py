"""Logarithms, which ops/2 has only inside of cross_entropy: exact scaling by powers of two, and a series.

log(1 + u) = 2 (z + z^3/3 + z^5/5 + ...) with z = u / (2 + u), which is at most 1/3 for u in [-1/2, 1].
"""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import add, axes_of, mul, sub
from ostraka_export.lower_choices import exp, joined_last, largest_along, positive
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known

TERMS = 8  # the next one is below a rounding
POWERS = (64, 32, 16, 8, 4, 2, 1)


def log1p_of_share(emit, u):
    """log(1 + u) for u in [-1/2, 1]."""
    z = emit.apply("div", [u, emit.shifted(u, 2)], u.shape)
    square = emit.apply("mul", [z, z], z.shape)
    result = emit.shifted(emit.scaled(square, 1 / (2 * TERMS - 1)), 1 / (2 * TERMS - 3))
    for k in range(TERMS - 3, -1, -1):
        result = emit.shifted(emit.apply("mul", [result, square], z.shape), 1 / (2 * k + 1))
    return emit.scaled(emit.apply("mul", [result, z], z.shape), 2)


def natural_log(emit, x, least=0.0, most=math.inf):
    """Of x > 0, which is known to lie in [least, most], scaled to about [0.7, 1.4]; of others -inf."""
    exponent = None
    for small in (False, True):
        for power in POWERS:
            if not small and most >= 2.0 ** (power - 0.5):
                flags = positive(emit, emit.shifted(x, -2.0 ** (power - 0.5)))
            elif small and least < 2.0 ** (0.5 - power):
                flags = positive(emit, emit.shifted(emit.scaled(x, -1), 2.0 ** (0.5 - power)))
            else:
                continue
            factor = emit.shifted(emit.scaled(flags, 2.0 ** power - 1), 1)
            x = emit.apply("mul" if small else "div", [x, factor], x.shape)
            part = emit.scaled(flags, -power if small else power)
            exponent = part if exponent is None else emit.apply("add", [exponent, part], x.shape)
    result = log1p_of_share(emit, emit.shifted(x, -1))
    if exponent is not None:
        result = emit.apply("add", [result, emit.scaled(exponent, math.log(2))], x.shape)
    if least <= 0:
        some = positive(emit, x)
        result = emit.apply("sub", [result, emit.shifted(emit.elementwise("div", 1.0, some, x.shape), -1)], x.shape)
    return result


def of_log(factor, term=0.0):
    def lower(emit, x, *, shape):
        return emit.scaled(natural_log(emit, emit.shifted(emit.tensor(x), term)), factor)
    return lower


for name, base in (("log", math.e), ("log2", 2), ("log10", 10)):
    lowers(name)(of_log(1 / math.log(base)))


@lowers("softplus")
def softplus(emit, x, beta=1.0, threshold=20.0, *, shape):
    """x + log(1 + exp(-x)) for x > 0, else log(1 + exp(x))."""
    x = emit.scaled(emit.tensor(x), beta)
    flags = positive(emit, x)
    falling = emit.apply("mul", [x, emit.shifted(emit.scaled(flags, -2), 1)], x.shape)
    share = log1p_of_share(emit, exp(emit, falling, shape=x.shape))
    return emit.scaled(emit.apply("add", [emit.apply("mul", [x, flags], x.shape), share], x.shape), 1 / beta)


@lowers("log_sigmoid")
def log_sigmoid(emit, x, *, shape):
    return emit.scaled(softplus(emit, emit.scaled(emit.tensor(x), -1), shape=shape), -1)


@lowers("mish")
def mish(emit, x, *, shape):
    x = emit.tensor(x)
    return emit.apply("mul", [x, emit.unary("tanh", softplus(emit, x, shape=shape))], x.shape)


@lowers("binary_cross_entropy_with_logits")
def binary_cross_entropy(emit, x, targets, weight=None, pos_weight=None, reduction=1, *, shape):
    x = emit.tensor(x)
    if isinstance(targets, Integers):
        raise Unsupported(f"arithmetic with the integer input {targets.name} is not written yet; give floats")
    loss = softplus(emit, x, shape=x.shape)
    if pos_weight is None:
        loss = sub(emit, loss, mul(emit, x, targets, shape=x.shape), shape=x.shape)
    else:
        below = emit.apply("sub", [loss, x], x.shape)  # softplus(-x)
        share = mul(emit, sub(emit, pos_weight, 1, shape=pos_weight.shape), targets, shape=x.shape)
        loss = sub(emit, loss, mul(emit, x, targets, shape=x.shape), shape=x.shape)
        loss = add(emit, loss, mul(emit, below, share, shape=x.shape), shape=x.shape)
    if weight is not None:
        loss = mul(emit, loss, weight, shape=x.shape)
    return reduced(emit, loss, reduction)


def reduced(emit, x, reduction):
    return x if reduction == 0 else emit.reduced("mean" if reduction == 1 else "sum", x, range(len(x.shape)), False)


@lowers("logsumexp")
def logsumexp(emit, x, dim, keepdim=False, *, shape):
    x = emit.tensor(x)
    return emit.reshape(log_of_sum(emit, joined_last(emit, x, axes_of(dim, x))), shape)


def log_of_sum(emit, x):
    """log(sum(exp(x))) along the last axis, which is gone."""
    last = len(x.shape) - 1
    largest = largest_along(emit, x, last)
    below = emit.apply("sub", [x, emit.expand(emit.reshape(largest, largest.shape + (1,)), x.shape)], x.shape)
    total = emit.reduced("sum", exp(emit, below, shape=x.shape), [last], False)
    return emit.apply("add", [largest, natural_log(emit, total, 1.0, float(x.shape[-1]))], largest.shape)


def written_log_softmax(emit, logits):
    """log_softmax along the last axis, as a tensor."""
    total = log_of_sum(emit, logits)
    return emit.apply("sub", [logits, emit.expand(emit.reshape(total, total.shape + (1,)), logits.shape)], logits.shape)


def of_known_targets(emit, log_shares, targets, weight, reduction, ignored):
    """The negative log likelihood of classes that are fixed, [..., C] and [...]."""
    kept = targets != ignored
    hot = torch.nn.functional.one_hot(targets.clamp(min=0), log_shares.shape[-1]).float() * kept.unsqueeze(-1)
    if weight is not None:
        if not isinstance(weight, Known):
            raise Unsupported("weights of classes that are trained are not written yet")
        hot = hot * weight.tensor
    each = mul(emit, log_shares, Known(-hot, "one_hot"), shape=log_shares.shape)
    total = emit.reduced("sum", each, [len(each.shape) - 1] if reduction == 0 else range(len(each.shape)), False)
    return emit.scaled(total, 1 / float(hot.sum())) if reduction == 1 else total

"""Normalizations over other axes than the last, by the layer_norm of ops/2.

Of batch norm in training, a graph has the statistics of its micro-batch, whose size is fixed. The running ones have no
part in the gradient: forward's changes of them are left out, and reports name them (Lowering.refuse_state).
"""
import math

from ostraka_export.errors import Unsupported
from ostraka_export.lower_arithmetic import add, mul
from ostraka_export.lowering import lowers
from ostraka_export.values import Known


def normalized_rows(emit, x, epsilon):
    """Rows [n, width] with mean 0 and variance 1."""
    vectors = [emit.filled(x.shape[1:], number) for number in (1, 0)]
    return emit.apply("layer_norm", [x, *vectors], x.shape, epsilon=float(epsilon))


def of_channels(emit, vector, x):
    """[C] beside x [B, C, ...]."""
    return emit.reshape(emit.tensor(vector), (1, x.shape[1]) + (1,) * (len(x.shape) - 2))


def with_affine(emit, x, weight, bias):
    if weight is not None:
        x = emit.elementwise("mul", x, of_channels(emit, weight, x), x.shape)
    if bias is not None:
        x = emit.elementwise("add", x, of_channels(emit, bias, x), x.shape)
    return x


def by_statistics(emit, x, weight, bias, mean, variance, epsilon):
    """A factor and a term for each channel."""
    if not isinstance(mean, Known) or not isinstance(variance, Known):
        raise Unsupported("batch norm by running statistics that forward changes; export module.train() or .eval()")
    factor = Known((variance.tensor.double() + epsilon).rsqrt().float(), "rsqrt_of_variance")
    if weight is not None:
        factor = mul(emit, weight, factor, shape=factor.shape)
    term = mul(emit, emit.tensor(factor), Known(-mean.tensor, "minus_mean"), shape=factor.shape)
    if bias is not None:
        term = add(emit, term, bias, shape=factor.shape)
    return with_affine(emit, x, factor, term)


def by_batch(emit, x, weight, bias, epsilon):
    order = [1, 0, *range(2, len(x.shape))]
    rows = emit.permute(x, order)
    flat = emit.reshape(rows, (rows.shape[0], math.prod(rows.shape[1:])))
    x = emit.permute(emit.reshape(normalized_rows(emit, flat, epsilon), rows.shape), order)
    return with_affine(emit, x, weight, bias)


@lowers("batch_norm")
def batch_norm(emit, x, weight, bias, mean, variance, training, momentum, epsilon, *_, shape):
    x = emit.tensor(x)
    if training:
        return by_batch(emit, x, weight, bias, epsilon)
    return by_statistics(emit, x, weight, bias, mean, variance, epsilon)


@lowers("_native_batch_norm_legit_no_training")
def batch_norm_evaluated(emit, x, weight, bias, mean, variance, momentum, epsilon, *, shape):
    return [by_statistics(emit, emit.tensor(x), weight, bias, mean, variance, epsilon), None, None]


@lowers("_native_batch_norm_legit", "_native_batch_norm_legit_functional", "native_batch_norm")
def native_batch_norm(emit, x, weight, bias, *more, shape):
    """With running statistics and without; the new ones are results after the third."""
    *statistics, training, _, epsilon = more
    x = emit.tensor(x)
    if training:
        return [by_batch(emit, x, weight, bias, epsilon), None, None, None, None]
    return [by_statistics(emit, x, weight, bias, *statistics, epsilon), None, None, *statistics]


@lowers("instance_norm")
def instance_norm(emit, x, weight, bias, mean, variance, by_input, momentum, epsilon, *_, shape):
    x = emit.tensor(x)
    if not by_input:
        return by_statistics(emit, x, weight, bias, mean, variance, epsilon)
    return group_norm(emit, x, x.shape[1], weight, bias, epsilon, shape=shape)


@lowers("group_norm")
def group_norm(emit, x, groups, weight=None, bias=None, epsilon=1e-5, *_, shape):
    x = emit.tensor(x)
    rows = x.shape[0] * groups
    flat = emit.reshape(x, (rows, math.prod(x.shape) // rows))
    return with_affine(emit, emit.reshape(normalized_rows(emit, flat, epsilon), x.shape), weight, bias)


@lowers("native_group_norm")
def native_group_norm(emit, x, weight, bias, batch, channels, places, groups, epsilon, *, shape):
    return [group_norm(emit, x, groups, weight, bias, epsilon, shape=shape), None, None]


@lowers("_weight_norm", "_weight_norm_interface")
def weight_norm(emit, direction, size, dim=0, *, shape):
    direction = emit.tensor(direction)
    rank = len(direction.shape)
    axes = [i for i in range(rank) if dim == -1 or i != dim % rank]
    squares = emit.reduced("sum", emit.apply("mul", [direction, direction], direction.shape), axes, True)
    factor = mul(emit, size, emit.unary("rsqrt", squares), shape=squares.shape)
    return emit.elementwise("mul", direction, factor, direction.shape)

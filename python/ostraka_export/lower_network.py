"""Operators of whole layers: products, attention, normalization, losses."""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.fused_attention import attention_of
from ostraka_export.lower_arithmetic import SWALLOWS, add
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known, LogSoftmax


@lowers("linear")
def linear(emit, x, weight, bias=None, *, shape):
    operands = [emit.tensor(x), emit.tensor(weight)]
    if bias is not None:
        operands.append(emit.tensor(bias))
    return emit.apply("linear", operands, shape)


@lowers("addmm")
def addmm(emit, bias, a, b, *, shape, beta=1, alpha=1):
    if beta != 1 or alpha != 1:
        raise Unsupported("addmm with beta or alpha")
    return add(emit, bias, matmul(emit, a, b, shape=shape), shape=shape)


@lowers("matmul", "mm", "bmm")
def matmul(emit, a, b, *, shape):
    a, b = emit.tensor(a), emit.tensor(b)
    if (found := attention_of(emit, a, b)) is not None:
        (query, key), scale, mask = found
        return attention(emit, query, key, b, mask if mask is None else Known(mask), scale=scale, shape=shape)
    if len(a.shape) == 1 or len(b.shape) == 1:
        left = emit.reshape(a, [1, *a.shape]) if len(a.shape) == 1 else a
        right = emit.reshape(b, [*b.shape, 1]) if len(b.shape) == 1 else b
        wide = list(torch.broadcast_shapes(left.shape[:-2], right.shape[:-2])) + [left.shape[-2], right.shape[-1]]
        return emit.reshape(matmul(emit, left, right, shape=wide), shape)
    if len(b.shape) == 2 and len(a.shape) > 2:  # one matrix for all: rows are joined, nothing is repeated
        rows = math.prod(a.shape[:-1])
        joined = emit.reshape(a, [rows, a.shape[-1]])
        return emit.reshape(emit.apply("matmul", [joined, b], [rows, b.shape[-1]]), shape)
    batch = list(torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    a, b = (emit.expand(x, batch + list(x.shape[-2:])) for x in (a, b))
    return emit.apply("matmul", [a, b], batch + [a.shape[-2], b.shape[-1]])


@lowers("conv2d", "convolution")
def conv2d(emit, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *more, shape, **_):
    pair = lambda value: [value, value] if isinstance(value, int) else list(value) * (2 // len(value))
    x, weight = emit.tensor(x), emit.tensor(weight)
    out, channels, high, wide = weight.shape
    if pair(stride) != [high, wide] or padding not in (0, [0], [0, 0], "valid") or pair(dilation) != [1, 1] or \
            groups != 1 or len(x.shape) != 4:
        raise Unsupported("a convolution that is not of patches: stride as large as the kernel, no padding, dilation "
                          "or groups")
    batch, _, height, width = x.shape
    rows, columns = height // high, width // wide
    x = emit.slice(emit.slice(x, 2, 0, rows * high), 3, 0, columns * wide)
    apart = emit.reshape(x, [batch, channels, rows, high, columns, wide])
    patches = emit.reshape(emit.permute(apart, [0, 2, 4, 1, 3, 5]), [batch, rows, columns, channels * high * wide])
    operands = [patches, emit.reshape(weight, [out, channels * high * wide])]
    if bias is not None:
        operands.append(emit.tensor(bias))
    return emit.permute(emit.apply("linear", operands, [batch, rows, columns, out]), [0, 3, 1, 2])


def mask_of(mask, queries, keys):
    """(causal, [T, S] added to scores or None) of a known mask that is one for all examples and heads."""
    values = mask.tensor.detach()
    while values.dim() > 2:
        if not bool((values == values[:1]).all()):
            raise Unsupported("a mask of attention that differs between examples or heads")
        values = values[0]
    values = torch.broadcast_to(values, (queries, keys))
    if values.dtype == torch.bool:
        values = torch.zeros(values.shape).masked_fill(~values, -math.inf)
    values = values.to(torch.float32)
    if not bool(values.any()):
        return False, None
    dropped = values <= SWALLOWS
    if queries == keys and bool((dropped == torch.ones(queries, keys).triu(1).bool()).all()) and \
            not bool(values[~dropped].any()):
        return True, None
    return False, values


@lowers("scaled_dot_product_attention")
def attention(emit, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, shape, scale=None,
              enable_gqa=False):
    if dropout_p > 0:
        raise Unsupported(f"dropout with p = {dropout_p} in attention; set it to 0, or export module.eval()")
    query, key, value = emit.tensor(query), emit.tensor(key), emit.tensor(value)
    if value.shape[-1] != key.shape[-1]:
        raise Unsupported("attention whose values have another width than its keys")
    queries, width = query.shape[-2:]
    keys = key.shape[-2]
    mask = None
    if attn_mask is not None:
        if not isinstance(attn_mask, Known):
            raise Unsupported("a mask of attention that is computed from inputs or parameters; masks must be fixed: "
                              "leave padding to targets of -1")
        is_causal, mask = mask_of(attn_mask, queries, keys)

    def positions_first(x):  # [..., H, T, D] to [B, T, H, D]
        lead = x.shape[:-2]
        heads = lead[-1] if lead else 1
        return emit.permute(emit.reshape(x, [math.prod(lead[:-1]), heads, *x.shape[-2:]]), [0, 2, 1, 3])

    operands = [positions_first(x) for x in (query, key, value)]
    if mask is not None:
        operands.append(emit.tensor(Known(mask, "mask")))
    result = emit.apply("attention", operands, operands[0].shape, causal=bool(is_causal),
                        scale=float(1 / math.sqrt(width) if scale is None else scale))
    return emit.reshape(emit.permute(result, [0, 2, 1, 3]), shape)


@lowers("softmax", "_softmax", "_safe_softmax")
def softmax(emit, x, dim, *_, shape, **__):
    return along_last(emit, emit.tensor(x), dim, lambda moved: emit.unary("softmax", moved))


@lowers("log_softmax", "_log_softmax")
def log_softmax(emit, x, dim, *_, shape, **__):
    if dim % len(shape) != len(shape) - 1:
        raise Unsupported("log_softmax along another axis than the last")
    return LogSoftmax(emit.tensor(x))


def along_last(emit, x, dim, function):
    axis, last = dim % len(x.shape), len(x.shape) - 1
    order = list(range(len(x.shape)))
    order[axis], order[last] = order[last], order[axis]
    return emit.permute(function(emit.permute(x, order)), order)


@lowers("layer_norm")
def layer_norm(emit, x, normalized, weight=None, bias=None, eps=1e-5, *_, shape):
    width = math.prod(normalized)
    weight = Known(torch.ones(normalized), "ones") if weight is None else weight
    bias = Known(torch.zeros(normalized), "zeros") if bias is None else bias
    return norm(emit, "layer_norm", x, [weight, bias], width, eps, shape)


@lowers("rms_norm")
def rms_norm(emit, x, normalized, weight=None, eps=None, *, shape):
    width = math.prod(normalized)
    weight = Known(torch.ones(normalized), "ones") if weight is None else weight
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    return norm(emit, "rms_norm", x, [weight], width, eps, shape)


def norm(emit, operation, x, vectors, width, eps, shape):
    x = emit.tensor(x)
    rows = x if x.shape[-1] == width else emit.reshape(x, [math.prod(x.shape) // width, width])
    vectors = [emit.reshape(emit.tensor(vector), [width]) for vector in vectors]
    return emit.reshape(emit.apply(operation, [rows, *vectors], rows.shape, epsilon=float(eps)), shape)


@lowers("cross_entropy_loss")
def cross_entropy(emit, logits, targets, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0, *, shape):
    logits = logits.logits if isinstance(logits, LogSoftmax) else emit.tensor(logits)
    if weight is not None or label_smoothing != 0:
        raise Unsupported("cross_entropy with weights of classes or label smoothing")
    if reduction != 1:
        raise Unsupported("cross_entropy that is not the mean over targets")
    if not isinstance(targets, Integers):
        raise Unsupported("cross_entropy whose targets are not an integer input as it came")
    if ignore_index not in (-1, -100):
        raise Unsupported(f"ignore_index = {ignore_index}; an exact graph leaves out targets of -1")
    if len(logits.shape) > 2:  # PyTorch has classes second
        logits = emit.permute(logits, [0, *range(2, len(logits.shape)), 1])
    classes = logits.shape[-1]
    emit.bound(targets, -1, classes)
    logits = emit.reshape(logits, [*emit.original(targets), classes])
    return emit.apply("cross_entropy", [logits, targets], [])


@lowers("nll_loss", "nll_loss_nd")
def nll_loss(emit, x, targets, weight=None, reduction=1, ignore_index=-100, *, shape):
    if not isinstance(x, LogSoftmax):
        raise Unsupported("nll_loss of anything but log_softmax; use cross_entropy")
    return cross_entropy(emit, x, targets, weight, reduction, ignore_index, shape=shape)


@lowers("mse_loss")
def mse_loss(emit, a, b, reduction=1, *, shape):
    if reduction != 1:
        raise Unsupported("mse_loss that is not the mean")
    a, b = emit.tensor(a), emit.tensor(b)
    apart = emit.apply("sub", [a, b], a.shape)
    squares = emit.apply("mul", [apart, apart], a.shape)
    return emit.reduced("mean", squares, range(len(a.shape)), False)

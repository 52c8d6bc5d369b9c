"""Operators of whole layers: products, attention, normalization, losses."""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.fused_attention import attention_of
from ostraka_export.lower_arithmetic import SWALLOWS, add, times
from ostraka_export.lower_logs import of_known_targets, written_log_softmax
from ostraka_export.lower_order import equal_to
from ostraka_export.lower_shapes import repeat_interleave
from ostraka_export.lower_truths import added_to_scores, apart, some_seen
from ostraka_export.lowering import lowers
from ostraka_export.values import Integers, Known, LogSoftmax, Tensor, Whole


@lowers("linear")
def linear(emit, x, weight, bias=None, *, shape):
    operands = [emit.tensor(x), emit.tensor(weight)]
    if bias is not None:
        operands.append(emit.tensor(bias))
    return emit.apply("linear", operands, shape)


@lowers("addmm", "baddbmm")
def addmm(emit, bias, a, b, *, shape, beta=1, alpha=1):
    product = times(emit, matmul(emit, a, b, shape=shape), alpha)
    return product if beta == 0 else add(emit, times(emit, bias, beta), product, shape=shape)


@lowers("matmul", "mm", "bmm", "mv", "dot")
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


def mask_of(mask, queries, keys):
    """(causal, [T, S] added to scores or None) of a known mask; None if it differs between examples or heads."""
    values = mask.tensor.detach()
    while values.dim() > 2:
        if not bool((values == values[:1]).all()):
            return None
        values = values[0]
    values = torch.broadcast_to(added_mask(values), (queries, keys))
    if not bool(values.any()):
        return False, None
    dropped = values <= SWALLOWS
    if queries == keys and bool((dropped == torch.ones(queries, keys).triu(1).bool()).all()) and \
            not bool(values[~dropped].any()):
        return True, None
    return False, values


def added_mask(values):
    if values.dtype == torch.bool:
        values = torch.zeros(values.shape).masked_fill(~values, -math.inf)
    return values.to(torch.float32)


@lowers("scaled_dot_product_attention")
def attention(emit, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, shape, scale=None,
              enable_gqa=False):
    query, key, value = emit.tensor(query), emit.tensor(key), emit.tensor(value)
    queries, width = query.shape[-2:]
    keys = key.shape[-2]
    scale = float(1 / math.sqrt(width) if scale is None else scale)
    mask = None
    if attn_mask is not None:
        found = mask_of(attn_mask, queries, keys) if isinstance(attn_mask, Known) else None
        if found is None:
            return written_attention(emit, query, key, value, attn_mask, scale, dropout_p, shape)
        is_causal, mask = found
    if dropout_p > 0 or value.shape[-1] != key.shape[-1] or (is_causal and queries != keys):
        seen = torch.ones(queries, keys, dtype=torch.bool).tril() if is_causal else mask
        seen = None if seen is None else Known(seen)
        return written_attention(emit, query, key, value, seen, scale, dropout_p, shape)

    def positions_first(x):  # [..., H, T, D] to [B, T, H, D]
        lead = x.shape[:-2]
        heads = lead[-1] if lead else 1
        return emit.permute(emit.reshape(x, [math.prod(lead[:-1]), heads, *x.shape[-2:]]), [0, 2, 1, 3])

    operands = [positions_first(x) for x in (query, key, value)]
    if mask is not None:
        operands.append(emit.tensor(Known(mask, "mask")))
    result = emit.apply("attention", operands, operands[0].shape, causal=bool(is_causal), scale=scale)
    return emit.reshape(emit.permute(result, [0, 2, 1, 3]), shape)


def written_attention(emit, query, key, value, mask, scale, dropout_p, shape):
    """With all scores, for what the instruction does not take: dropout, a mask that is trained or another one for each head."""
    groups = query.shape[-3] // key.shape[-3] if len(query.shape) > 2 else 1
    if groups > 1:
        key, value = (repeat_interleave(emit, x, groups, -3, shape=x.shape[:-3] + (query.shape[-3],) + x.shape[-2:])
                      for x in (key, value))
    last = len(key.shape) - 1
    of_all = shape[:-1] + (key.shape[-2],)
    turned = emit.permute(key, [*range(last - 1), last, last - 1])
    scores = emit.scaled(matmul(emit, query, turned, shape=of_all), scale)
    seen = None
    if mask is not None:
        if isinstance(mask, Known):
            mask = Known(added_mask(mask.tensor), "mask")
        elif isinstance(mask, Whole):
            mask = emit.once(added_to_scores, mask.tensor)
        if isinstance(mask, Tensor):
            seen = emit.once(some_seen, mask, of_all)
        scores = add(emit, scores, mask, shape=of_all)
    weights = emit.unary("softmax", scores)
    if seen is not None:
        weights = emit.apply("mul", [weights, seen], of_all)
    if dropout_p > 0:
        weights = emit.dropped(weights, dropout_p)
    return emit.apply("matmul", [weights, emit.expand(value, shape[:-2] + value.shape[-2:])], shape)


@lowers("softmax", "_softmax", "_safe_softmax")
def softmax(emit, x, dim, *_, shape, **__):
    return along_last(emit, emit.tensor(x), dim, lambda moved: emit.unary("softmax", moved))


@lowers("log_softmax", "_log_softmax")
def log_softmax(emit, x, dim, *_, shape, **__):
    x = emit.tensor(x)
    if dim % len(shape) != len(shape) - 1:
        return along_last(emit, x, dim, lambda moved: written_log_softmax(emit, moved))
    return LogSoftmax(x, lambda: written_log_softmax(emit, x))


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
    if isinstance(targets, Known) and label_smoothing == 0 and not targets.tensor.is_floating_point():
        logits = classes_last(emit, logits.logits if isinstance(logits, LogSoftmax) else emit.tensor(logits))
        log_shares = written_log_softmax(emit, logits)
        return of_known_targets(emit, log_shares, targets.tensor, weight, reduction, ignore_index)
    logits = logits.logits if isinstance(logits, LogSoftmax) else emit.tensor(logits)
    if getattr(targets, "source", None) == "targets":
        raise Unsupported("a part of the targets: a run gives them already shifted, so let the module take all of them, or "
                          "give it each part as an input")
    logits = classes_last(emit, logits)
    if not isinstance(targets, (Integers, Whole)):
        return of_shares(emit, logits, classes_last(emit, emit.tensor(targets)), weight, reduction, label_smoothing, shape)
    if isinstance(targets, Whole) or weight is not None or reduction != 1 or ignore_index not in (-1, -100):
        return of_counted_targets(emit, logits, targets, weight, reduction, ignore_index, label_smoothing, shape)
    classes = logits.shape[-1]
    emit.bound(targets, -1, classes)
    emit.left_out.add(targets.name)
    logits = emit.reshape(logits, [*emit.original(targets), classes])
    loss = emit.apply("cross_entropy", [logits, targets], [])
    if label_smoothing == 0:
        return loss
    emit.smoothed.add(targets.name)
    log_shares = written_log_softmax(emit, logits)
    even = emit.reduced("mean", log_shares, range(len(logits.shape)), False)
    return add(emit, emit.scaled(loss, 1 - label_smoothing), emit.scaled(even, -label_smoothing), shape=())


def of_shares(emit, logits, shares, weight, reduction, smoothing, shape):
    """Of targets that are shares of the classes."""
    if weight is not None:
        raise Unsupported("weights of classes beside shares of them are not written yet; multiply the shares")
    shares = emit.shifted(emit.scaled(shares, 1 - smoothing), smoothing / logits.shape[-1])
    each = emit.apply("mul", [written_log_softmax(emit, logits), shares], logits.shape)
    last = len(logits.shape) - 1
    if reduction == 0:
        return emit.reshape(emit.scaled(emit.reduced("sum", each, [last], False), -1), shape)
    total = emit.reduced("sum", each, range(last + 1), False)
    return emit.scaled(total, -1 if reduction == 2 else -1 / math.prod(logits.shape[:-1]))


def of_counted_targets(emit, logits, targets, weight, reduction, ignored, smoothing, shape):
    """By truths "is class c" of targets: for all that the instruction does not have. What is of no class counts nothing."""
    if ignored < -1 and ignored != -100:
        raise Unsupported(f"ignore_index = {ignored}; -1, or a class")
    if weight is not None and not isinstance(weight, Known):
        raise Unsupported("weights of classes that are trained are not written yet")
    emit.places_below(targets, max(logits.shape[-1], ignored + 1))
    rows = (math.prod(logits.shape[:-1]), logits.shape[-1])
    numbers = emit.reshape(emit.tensor(targets), rows[:1])
    log_shares = written_log_softmax(emit, emit.reshape(logits, rows))
    weights = emit.expand(emit.tensor(Known(torch.ones(rows[1]), "ones") if weight is None else weight), rows)
    hot = equal_to(emit, numbers, rows[1])
    kept = emit.reduced("sum", hot, [1], True)
    if ignored >= 0:
        kept = emit.apply("mul", [kept, emit.reshape(apart(emit, numbers, ignored, rows[:1]), (rows[0], 1))], kept.shape)
    weights = emit.apply("mul", [weights, emit.expand(kept, rows)], rows)
    hot = emit.apply("mul", [hot, weights], rows)

    def total(factors):
        return emit.scaled(emit.reduced("sum", emit.apply("mul", [log_shares, factors], rows), [1], False), -1)
    each = total(hot)
    if smoothing > 0:
        each = add(emit, emit.scaled(each, 1 - smoothing), emit.scaled(total(weights), smoothing / rows[1]), shape=rows[:1])
    if reduction == 0:
        return emit.reshape(each, shape)
    loss = emit.reduced("sum", each, [0], False)
    return loss if reduction == 2 else emit.apply("div", [loss, emit.reduced("sum", hot, [0, 1], False)], ())


def classes_last(emit, logits):
    """PyTorch has classes second."""
    return logits if len(logits.shape) < 3 else emit.permute(logits, [0, *range(2, len(logits.shape)), 1])


@lowers("nll_loss", "nll_loss_nd")
def nll_loss(emit, x, targets, weight=None, reduction=1, ignore_index=-100, *, shape):
    if isinstance(targets, Known):
        x = classes_last(emit, emit.tensor(x))
        return of_known_targets(emit, x, targets.tensor, weight, reduction, ignore_index)
    if not isinstance(x, LogSoftmax):
        raise Unsupported("nll_loss of anything but log_softmax; use cross_entropy")
    return cross_entropy(emit, x, targets, weight, reduction, ignore_index, shape=shape)

"""Integers and truths that are computed: floats that are whole numbers, and so exact below 2^24 in size."""
import math

import torch

from ostraka_export.errors import Unsupported
from ostraka_export.values import Integers, Known, Whole

# Operators whose lowerings are right for them: for both, for integers, with truths as results.
MOVES = set("view reshape _unsafe_view flatten unflatten unsqueeze squeeze view_as reshape_as detach contiguous clone alias "
            "lift_fresh_copy lift_fresh permute transpose swapaxes swapdims t numpy_T mT movedim expand expand_as "
            "broadcast_to broadcast_tensors repeat repeat_interleave cat concat concatenate stack slice narrow select split "
            "split_with_sizes chunk unbind roll index index_select flip gather take_along_dim diagonal slice_scatter "
            "select_scatter copy where masked_fill tril triu mul".split())
COUNTS = set("add sub rsub neg sum cumsum square abs clamp clip clamp_min clamp_max maximum minimum amax amin max min "
             "floor_divide remainder __mod__ positive sort topk kthvalue median scatter scatter_add".split())
TRUTHS = set("gt greater lt less le less_equal ge greater_equal ne not_equal eq equal logical_not bitwise_not logical_and "
             "bitwise_and __and__ logical_or bitwise_or __or__ logical_xor bitwise_xor __xor__".split())

EXACT = 2 ** 24      # float32 has all whole numbers up to here
QUOTIENTS = 2 ** 22  # and the nearest one is found up to here
DIVISIONS = "floor_divide", "remainder", "__mod__"


def is_whole(x):
    return isinstance(x, (Integers, Whole, bool, int)) or isinstance(x, Known) and not x.tensor.is_floating_point()


def source_of(name, operands):
    """The input of which the result of an operator has the numbers, moved."""
    if name not in MOVES - {"where", "masked_fill", "mul", "tril", "triu", "copy", "slice_scatter", "select_scatter", "cat",
                            "concat", "concatenate", "stack"} or not operands:
        return None
    first = operands[0]
    return first.name if isinstance(first, Integers) else getattr(first, "source", None)


def most_of(emit, name, operands, traced):
    """A function that says how large whole numbers may become by an operator, when the bounds of inputs are known."""
    def each(x):
        if isinstance(x, Integers):
            return lambda: emit.graph.inputs[x.name][3]
        if isinstance(x, Whole):
            return x.most or (lambda: 1)
        number = int(x.tensor.long().abs().max()) if isinstance(x, Known) and x.tensor.numel() else abs(x) if isinstance(x, int) else 0
        return lambda: number
    counts = name in COUNTS or name in ("mul", "where", "masked_fill")  # else plain numbers are axes and places
    parts = [each(x) for x in operands if is_whole(x) and (counts or not isinstance(x, int))]
    extent = max((x for of in operands if not isinstance(of, (bool, int, float, str)) and hasattr(of, "shape")
                  for x in of.shape), default=1)
    if traced.dtype == torch.bool or not parts:
        return lambda: 1 if traced.dtype == torch.bool else extent
    if name in ("mul", "square"):
        return lambda: math.prod(part() for part in parts) ** (2 if name == "square" else 1)
    if name in ("add", "sub", "rsub"):
        return lambda: sum(part() for part in parts)
    if name in ("sum", "cumsum"):
        first = operands[0].shape
        terms = max(math.prod(first) // max(math.prod(traced.shape), 1), 1) if name == "sum" else max(first, default=1)
        return lambda: parts[0]() * terms
    if name in DIVISIONS:
        return parts[0]
    return lambda: max(extent, *(part() for part in parts))


def require_whole(name, is_truth, operands):
    """Unsupported unless the lowering of this operator is right for whole numbers, or for truths."""
    if name in MOVES and any(map(is_whole, operands)) or name in (TRUTHS if is_truth else COUNTS):
        return
    raise Unsupported(f"{name} of {'truths' if is_truth else 'integers'} is not written yet; sums, products, comparisons "
                      "and what moves them are")

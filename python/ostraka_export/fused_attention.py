"""Attention that a module writes out, as one instruction: no scores of all positions, and no mask in a file.

    softmax(q @ k.transpose(-2, -1) * scale + mask) @ v        of [B, H, T, D]
"""
import torch

from ostraka_export.values import Tensor


class Written:
    """Reads back the instructions of a GraphText."""

    def __init__(self, graph):
        self.graph = graph

    def of(self, name, *operations):
        """(operands, attributes) of the instruction that `name` is, if it is one of `operations`; else None."""
        line = self.graph.line(name)
        return line[1:3] if line is not None and line[0] in operations else None

    def through(self, name, operation):
        """What a reshape or expand is of, or the name itself."""
        found = self.of(name, operation)
        return found[0][0] if found else name


def scores_of(written, name):
    """(scores' name, mask's array or None) of `scores + mask`."""
    added = written.of(name, "add")
    if added is None:
        return name, None
    for scores, mask in (added[0], reversed(added[0])):
        mask = written.through(mask, "expand")
        if mask in written.graph.constants:
            return scores, written.graph.constants[mask]
    return None, None


def scaled_product_of(written, name):
    """(left, right, scale) of a product, scaled or not; None if it is another thing."""
    scale = 1.0
    scaled = written.of(name, "mul_scalar")
    if scaled is not None:
        scale = scaled[1]["scalar"]
    elif (scaled := written.of(name, "div_scalar")) is not None:
        scale = 1 / scaled[1]["scalar"]
    product = written.of(scaled[0][0] if scaled else name, "matmul")
    return product and (*product[0], scale)


def attention_of(emit, weights, value):
    """The operands and scale of attention(query, key, value) if `weights @ value` is one, else None."""
    written = Written(emit.graph)
    softmax = written.of(weights.name, "softmax")
    if softmax is None or len(weights.shape) != 4 or len(value.shape) != 4:
        return None
    scores, mask = scores_of(written, softmax[0][0])
    found = scaled_product_of(written, scores) if scores else None
    if found is None:
        return None
    query, right, scale = found
    batch, heads, queries, keys = weights.shape
    width = value.shape[3]
    if value.shape[:3] != (batch, heads, keys) or emit.shape_of(query) != (batch, heads, queries, width):
        return None
    if mask is not None:
        of_each = mask.reshape(-1, *mask.shape[-2:])  # example and head
        if (of_each != of_each[:1]).any():
            return None
    key = emit.permute(Tensor(right, (batch, heads, width, keys)), [0, 1, 3, 2])
    return (Tensor(query, (batch, heads, queries, width)), key), scale, \
        None if mask is None else torch.from_numpy(mask.copy())

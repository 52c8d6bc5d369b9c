"""The table from operators of PyTorch (torch.ops.aten) to functions that lower them to ostraka ops/1.

A lowering takes an Emitter, the operator's arguments with values for tensors, and `shape`, that of the result
(None if it has several). It returns a value, or a list of them.
"""
LOWERINGS = {}

REMEDIES = {
    "exp": "softmax, sigmoid and cross_entropy have it inside",
    "log": "cross_entropy has it inside",
    "erf": "call torch.nn.functional.gelu instead of writing it out",
    "einsum": "write it as matmul of permuted and reshaped tensors",
    "batch_norm": "statistics over a batch differ with its size; use LayerNorm",
    "group_norm": "use LayerNorm or RMSNorm",
    "max_pool2d": "use a convolution with a stride as large as its kernel",
    "convolution": "only convolutions with a stride as large as their kernel (patches) are exact",
    "detach": "a frozen part needs requires_grad=False, so that it is exported as constants",
    "index": "select rows by embedding, or by slices",
    "sort": "nothing that depends on the order of values is exact across machines",
    "topk": "nothing that depends on the order of values is exact across machines",
    "cumsum": "compute it from constants, or write a product with a triangular matrix",
    "constant_pad_nd": "give the module targets that are already shifted, or pad by torch.cat with constants",
    **{name: "masks must be fixed: compare only what depends on neither inputs nor parameters"
       for name in ("gt", "lt", "ge", "le", "eq", "ne")},
    **{name: "write the recurrence with linear, sigmoid and tanh" for name in ("lstm", "gru", "rnn")},
}
REMEDIES |= {name: "a part of a tensor is written to; build the tensor by torch.cat, or by a product with a fixed mask"
             for name in ("select_scatter", "slice_scatter", "as_strided_scatter", "diagonal_scatter", "fill", "copy")}
REMEDIES["native_batch_norm"] = REMEDIES["batch_norm"]
DRAWN = "nothing is drawn in an exact graph"


def lowers(*names):
    """Registers a function for operators, by their names without namespace and overload: "add", "view"."""
    def register(function):
        for name in names:
            assert name not in LOWERINGS, name
            LOWERINGS[name] = function
        return function
    return register


def remedy_of(name, draws=False):
    name = name.lstrip("_")
    for start, remedy in REMEDIES.items():
        if name == start or name.startswith(start + "_") or name.rstrip("_") == start:
            return remedy
    return DRAWN if draws else "docs/graph.md lists the operations; rewrite the module with them"

"""The table from operators of PyTorch (torch.ops.aten) to functions that lower them to ostraka ops/2.

A lowering takes an Emitter, the operator's arguments with values for tensors, and `shape`, that of the result
(None if it has several). It returns a value, or a list of them.
"""
LOWERINGS = {}
CASTS = "to", "_to_copy", "float", "type_as"  # what these return follows from the type alone

INTO = ("writing to places of a mask or a list is not written yet; build the tensor by torch.cat, or by a product with "
        "a fixed mask")

REMEDIES = {
    "binary_cross_entropy": "not written yet; binary_cross_entropy_with_logits is, of what comes before the sigmoid",
    "erf": "call torch.nn.functional.gelu instead of writing it out",
    "histc": "not written yet; mixtures of experts of transformers export with "
             "config._experts_implementation = 'batched_mm'",
    "conv_transpose": "not written yet; use an upsampling and a convolution",
    **{name: INTO for name in ("scatter_reduce", "index_put", "index_add", "index_copy", "masked_scatter",
                               "as_strided_scatter", "diagonal_scatter")},
}
DRAWN = "of what is drawn a graph has dropout alone"


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
    return DRAWN if draws else "not written yet; docs/training.md lists what is"

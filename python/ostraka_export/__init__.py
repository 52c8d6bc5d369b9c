"""PyTorch modules as graph files (docs/graph.md): the part of `ostraka` that needs torch. Use ostraka.export."""
from ostraka_export.tensors import read_tensors

__all__ = ["export", "read_tensors"]


def export(*arguments, **keywords):
    try:
        from ostraka_export.exporter import export as with_torch
    except ImportError as error:
        raise ImportError(f"ostraka.export needs torch 2.5 or later ({error}): pip install torch") from error
    return with_torch(*arguments, **keywords)

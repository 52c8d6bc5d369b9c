"""export(): a PyTorch module as a graph file."""
import dataclasses
import fnmatch
import inspect
import math
import os

import torch

from ostraka_export.errors import ExportError
from ostraka_export.graph_text import GRAPH, digest
from ostraka_export.initial import check_law
from ostraka_export.program import Lowering
from ostraka_export.tensors import write_tensors

LEAST_TORCH = (2, 5)  # torch.export without strict tracing


@dataclasses.dataclass(frozen=True)
class Report:
    """What was written."""
    path: str
    id: str                       # as a manifest names the graph
    parameters: int               # numbers that are trained
    instructions: int
    constants: dict[str, tuple]   # name: shape of what is frozen
    constants_path: str | None
    initial: dict[str, str]       # how a run draws each parameter

    def __str__(self):
        lines = [f"{self.path}: {self.parameters} parameters, {self.instructions} instructions, graph {self.id}"]
        if self.constants_path:
            lines.append(f"{self.constants_path}: {len(self.constants)} constants that the graph names")
        return "\n".join(lines)


class WithLoss(torch.nn.Module):
    """A module that returns logits, with its last input taken away for the loss."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *inputs):
        *inputs, targets = inputs
        out = self.inner(*inputs)
        logits = getattr(out, "logits", out)
        if isinstance(logits, (tuple, list)):
            logits = logits[0]
        # One row for each target, whatever the layout before.
        return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1),
                                                 ignore_index=-1)


def input_names(module, example, with_loss):
    """Names in the graph file: a run gives `targets`, and `tokens` or floats of any name (docs/training.md)."""
    names = [parameter.name for parameter in inspect.signature(module.forward).parameters.values()
             if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    names = (names + [f"input{i}" for i in range(len(example))])[:len(example)]
    of_integers = [i for i, x in enumerate(example) if not x.is_floating_point()]
    if with_loss or (of_integers and of_integers[-1] == len(example) - 1):
        names[-1] = "targets"
    others = [i for i in of_integers if names[i] != "targets"]
    if len(others) == 1 and len(example) == 2:
        names[others[0]] = "tokens"
    return names


def laws(initial):
    """A function from a parameter's name to the law that the caller gave, or None."""
    given = {pattern: check_law(text) for pattern, text in (initial or {}).items()}

    def law(name):
        for pattern, text in given.items():
            if fnmatch.fnmatchcase(name, pattern):
                return text
        return None
    return law


def traced(module, example):
    with torch.no_grad():
        try:
            return torch.export.export(module, example, strict=False)
        except Exception as error:  # torch raises many kinds; its first line says what
            line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise ExportError(f"torch.export cannot trace the module: {line.strip()}") from error


def export(module, example, path, *, loss=None, initial=None, overwrite=False):
    """ostraka.export (help(ostraka.export) has the contract)."""
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < LEAST_TORCH:
        raise ExportError(f"torch {torch.__version__} is too old: ostraka.export needs 2.5 or later")
    if loss not in (None, "cross_entropy"):
        raise ExportError(f"loss {loss!r}: 'cross_entropy', or None if the module returns its loss")
    example = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    if not isinstance(module, torch.nn.Module) or not example or \
            not all(isinstance(x, torch.Tensor) for x in example):
        raise ExportError("export(module, example, path): a torch.nn.Module, a tuple of tensors, and a file's name")
    example = tuple(x.clone() for x in example)  # torch.export would make one input of a tensor that comes twice
    path = os.fspath(path)
    constants_path = path + ".constants.safetensors"
    for file in (path, constants_path):
        if os.path.exists(file) and not overwrite:
            raise ExportError(f"{file} exists; give another path, or overwrite=True")
    names = input_names(module, example, loss is not None)
    outer = WithLoss(module) if loss else module
    lowering = Lowering(traced(outer, example), outer, module, names, laws(initial))
    text = lowering.graph.text(lowering.run().name)
    graph = lowering.graph
    for name, (element, _, _, bound) in graph.inputs.items():
        if element == "i32" and bound is None:
            raise ExportError(f"nothing reads the input {name}; leave it out of the example")
    mode = "wb" if overwrite else "xb"
    if graph.constants:
        write_tensors(constants_path, graph.constants, mode)
    with open(path, mode) as file:
        file.write(text.encode())
    return Report(path, digest(GRAPH, text.encode()), sum(math.prod(shape) for shape, _ in graph.parameters.values()),
                  text.count("\n%"), {name: array.shape for name, array in graph.constants.items()},
                  constants_path if graph.constants else None,
                  {name: law for name, (_, law) in graph.parameters.items()})


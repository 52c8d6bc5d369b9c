"""export(): a PyTorch module as a graph file."""
import dataclasses
import fnmatch
import inspect
import math
import os
import re
import tempfile

import ostraka
import torch

from ostraka_export.comparison import Comparison
from ostraka_export.errors import ExportError
from ostraka_export.graph_text import GRAPH, digest
from ostraka_export.initial import check_law
from ostraka_export.program import Lowering
from ostraka_export.tensors import write_tensors
from ostraka_export.tracing import traced

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
    statistics: tuple[str, ...]   # running ones that forward changes: no run has them

    def __str__(self):
        lines = [f"{self.path}: {self.parameters} parameters, {self.instructions} instructions, graph {self.id}"]
        if self.constants_path:
            lines.append(f"{self.constants_path}: {len(self.constants)} constants that the graph names")
        if self.statistics:
            lines.append(f"{len(self.statistics)} running statistics are not trained: load the trained parameters, and "
                         "make them by torch.optim.swa_utils.update_bn")
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


def laws(initial, module):
    """A function from a parameter's name to the law that the caller gave, or None."""
    if not isinstance(initial or {}, dict):
        raise ExportError(f"initial is a {type(initial).__name__}: give a dict, {{'wte.*': 'normal 2e-02'}}")
    given = {pattern: check_law(text) for pattern, text in (initial or {}).items()}
    names = [name for name, parameter in module.named_parameters() if parameter.requires_grad]
    for pattern in given:
        if not fnmatch.filter(names, str(pattern)):
            raise ExportError(f"initial {pattern!r}: no trained parameter has such a name; they are "
                              f"{', '.join(names[:3])}{', ...' if len(names) > 3 else ''}")

    def law(name):
        for pattern, text in given.items():
            if fnmatch.fnmatchcase(name, pattern):
                return text
        return None
    return law


def require_usable(module, example, loss):
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < LEAST_TORCH:
        raise ExportError(f"torch {torch.__version__} is too old: ostraka.export needs 2.5 or later")
    if loss not in (None, "cross_entropy"):
        raise ExportError(f"loss {loss!r}: 'cross_entropy', or None if the module returns its loss")
    if not isinstance(module, torch.nn.Module) or not example or \
            not all(isinstance(x, torch.Tensor) for x in example):
        raise ExportError("export(module, example, path): a torch.nn.Module, a tuple of tensors, and a file's name")


def paths_of(path, overwrite):
    """Those of the graph and of its constants, where both can be written."""
    try:
        path = os.fsdecode(path)
    except TypeError:
        raise ExportError(f"the path {path!r} is a {type(path).__name__}; give a file's name") from None
    paths = path, path + ".constants.safetensors"
    for file in paths:
        if os.path.isdir(file):
            raise ExportError(f"{file} is a folder; give a file's name")
        if os.path.exists(file) and not overwrite:
            raise ExportError(f"{file} exists; give another path, or overwrite=True")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ExportError(f"there is no folder {folder}")
    return paths


def parsed(text, lowering):
    """The ostraka.Graph of this text, as every node parses and checks it. ExportError with the line that it names."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph")
        with open(path, "wb") as file:
            file.write(text)
        try:
            return ostraka.Graph(path, constants=lowering.graph.constants)
        except ValueError as error:
            message = str(error).replace(path, "the graph")
            number = re.match(r"%(\d+)", message)
            place = f"{lowering.place_of_line(int(number[1]))}: " if number else ""
            raise ExportError(f"{place}no node takes the graph: {message}") from None


def lowered(module, example, loss, initial):
    """(Lowering, the graph's canonical text)."""
    names = input_names(module, example, loss is not None)
    outer = WithLoss(module) if loss else module
    law = laws(initial, module)
    lowering = Lowering(traced(outer, example), outer, module, names, law)
    text = lowering.graph.text(lowering.run().name)
    for name, (element, _, _, bound) in lowering.graph.inputs.items():
        if element == "i32" and bound is None:
            raise ExportError(f"nothing reads the input {name}; leave it out of the example")
    return lowering, text.encode()


def export(module, example, path, *, loss=None, initial=None, overwrite=False, check=True):
    """ostraka.export (help(ostraka.export) has the contract)."""
    example = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    require_usable(module, example, loss)
    example = tuple(x.clone() for x in example)  # torch.export would make one input of a tensor that comes twice
    path, constants_path = paths_of(path, overwrite)
    lowering, text = lowered(module, example, loss, initial)
    compiled = parsed(text, lowering)
    if check:
        Comparison(compiled, lowering, example).run()
    graph = lowering.graph
    mode = "wb" if overwrite else "xb"
    if graph.constants:
        write_tensors(constants_path, graph.constants, mode)
    with open(path, mode) as file:
        file.write(text)
    return Report(path, digest(GRAPH, text), sum(math.prod(shape) for shape, _ in graph.parameters.values()),
                  text.count(b"\n%"), {name: array.shape for name, array in graph.constants.items()},
                  constants_path if graph.constants else None,
                  {name: law for name, (_, law) in graph.parameters.items()}, tuple(sorted(lowering.statistics)))

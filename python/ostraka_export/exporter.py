"""export(): a PyTorch module as a graph file."""
import collections
import dataclasses
import fnmatch
import math
import os
import re
import sys
import tempfile

import ostraka
import torch

from ostraka_export.chance import kept_generators
from ostraka_export.comparison import Comparison
from ostraka_export.errors import ExportError
from ostraka_export.graph_text import GRAPH, digest
from ostraka_export.initial import check_law
from ostraka_export.objective import Objective, inputs_of, refuse_targets, unwrapped
from ostraka_export.places import place_of
from ostraka_export.program import Lowering
from ostraka_export.run_notes import data_note, drops_note, laws_note, leak_note
from ostraka_export.tensors import write_tensors
from ostraka_export.tracing import traced
from ostraka_export.whole_numbers import DIVISIONS, EXACT, QUOTIENTS

MOST_LINES, MOST_BYTES = 1 << 16, 4 << 20  # of a graph file (docs/graph.md)
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
    initial: dict[str, str]       # how a run draws each parameter, whatever value the module has
    statistics: tuple[str, ...]   # running ones that forward changes: no run has them
    notes: tuple[str, ...]        # what a run does otherwise than the module
    data: str                     # which --data feeds the graph

    def __str__(self):
        lines = [f"{self.path}: {self.parameters} parameters, {self.instructions} instructions, graph {self.id}"]
        if self.constants_path:
            lines.append(f"{self.constants_path}: {len(self.constants)} constants that the graph names")
        lines += ["a run draws each parameter anew:", *(f"  {name} {law}" for name, law in self.initial.items())]
        return "\n".join([*lines, *self.notes, self.data])


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


def require_usable(module, loss):
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < LEAST_TORCH:
        raise ExportError(f"torch {torch.__version__} is too old: ostraka.export needs 2.5 or later")
    if loss not in (None, "cross_entropy"):
        raise ExportError(f"loss {loss!r}: 'cross_entropy', or None if the module returns its loss")
    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"export(module, example, path): the module is a {type(module).__name__}, no torch.nn.Module")


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
    """(Lowering, the graph's canonical text, tensors of the example)."""
    example, keywords, names = inputs_of(module, example, loss)
    refuse_targets(example, names)
    example = tuple(x.clone() for x in example)  # torch.export would make one input of a tensor that comes twice
    objective = Objective(module, loss, keywords)
    law = laws(initial, module)
    lowering = Lowering(traced(objective, example), objective, module, names, law)
    loss = lowering.run().name
    bound_by_example(lowering, example)
    text = lowering.graph.text(loss)
    require_exact_numbers(lowering)
    require_limits(lowering, text)
    return lowering, text.encode(), example


def bound_by_example(lowering, example):
    """Integers that select nothing may be what the example has. ExportError if nothing reads them, or no graph can."""
    graph = lowering.graph
    for (name, entry), x in zip(graph.inputs.items(), example):
        if entry[0] != "i32":
            continue
        if name in lowering.emit.smoothed and int(x.min()) < 0:
            raise ExportError(f"the input {name} has -1 in the example, and label smoothing that leaves targets out is not "
                              "written yet: leave it out, or have no such targets")
        is_counted = name in graph.tables.values()
        if entry[3] is None and not is_counted:
            raise ExportError(f"nothing reads the input {name}; leave it out of the example")
        if is_counted and int(x.min()) < 0:
            remedy = "add to it"
            if name in lowering.emit.left_out:
                remedy = "give the module another input for what it computes"
            elif name == "targets":
                remedy = "in place of -1 give a number of no class, and ignore_index="
            raise ExportError(f"the input {name} has the number {int(x.min())} in the example and is computed with, which "
                              f"takes numbers from 0 on: {remedy}")
        if entry[3] is not None:
            continue
        entry[3] = max(int(x.max()), 1) + 1
        if entry[3] > EXACT:
            raise ExportError(f"the input {name} has the number {int(x.max())}, and whole numbers are exact up to {EXACT}")
        lowering.guessed[name] = entry[3]


def require_exact_numbers(lowering):
    """ExportError if integers may become so large that a float32 rounds them."""
    for node, name, whole in lowering.counted:
        limit = QUOTIENTS if name in DIVISIONS else EXACT
        if whole.tensor.name in lowering.graph.needed and whole.most() > limit:
            raise ExportError(f"{place_of(node)}: {name} of integers of up to {whole.most()}, which is exact up to {limit}: "
                              "smaller factors, or a smaller vocabulary")


def require_limits(lowering, text):
    """ExportError, naming what is largest, if no node reads as long a file."""
    for count, most, what in ((text.count("\n"), MOST_LINES, "lines"), (len(text), MOST_BYTES, "bytes")):
        if count > most:
            place, of_place = collections.Counter(place_of(node) for node in lowering.nodes).most_common(1)[0]
            raise ExportError(f"{place}: the graph has {count} {what}, {of_place} of its instructions are of this; a "
                              f"node reads at most {most}: fewer steps or layers")


def notes_of(lowering, module, leak):
    notes = [leak] if leak else []
    for name in lowering.emit.smoothed:
        notes.append(f"label smoothing counts all of the input {name}, also -1: a run's data must have none to train on")
    for name in lowering.emit.left_out & set(lowering.graph.tables.values()):
        notes.append(f"the input {name} cannot be -1, as the module computes with it: such data are refused")
    for name, bound in lowering.guessed.items():
        notes.append(f"the input {name} has numbers below {bound}, as in the example")
    if drops := drops_note([lowering.graph.drawn[name][0] for name in lowering.graph.used]):
        notes.append(drops)
    if lowering.foreign:
        notes.append(laws_note({name: lowering.graph.parameters[name][1] for name in lowering.foreign}))
    if lowering.statistics:
        notes.append(f"a run has no running statistics ({min(lowering.statistics)}, ...) and normalizes by its "
                     "micro-batches: make them from the trained parameters by torch.optim.swa_utils.update_bn")
    if any("_orig_mod." in name for name, _ in module.named_parameters()):
        notes.append("a part of the module is compiled, and _orig_mod is in the names of its parameters: they load "
                     "into this module, not into one without torch.compile")
    return tuple(notes)


def export(module, example, path, *, loss=None, initial=None, overwrite=False, check=True):
    """ostraka.export (help(ostraka.export) has the contract)."""
    require_usable(module, loss)
    module = unwrapped(module)
    path, constants_path = paths_of(path, overwrite)
    with kept_generators():
        lowering, text, example = lowered(module, example, loss, initial)
        compiled = parsed(text, lowering)
        comparison = Comparison(compiled, lowering, example)
        if check:
            comparison.run()
    notes = notes_of(lowering, module, leak_note(compiled, comparison.moved(), lowering.graph.inputs))
    for note in notes:
        print(f"ostraka.export: {note}", file=sys.stderr)
    graph = lowering.graph
    mode = "wb" if overwrite else "xb"
    if graph.constants:
        write_tensors(constants_path, graph.constants, mode)
    with open(path, mode) as file:
        file.write(text)
    return Report(path, digest(GRAPH, text), sum(math.prod(shape) for shape, _ in graph.parameters.values()),
                  text.count(b"\n%"), {name: array.shape for name, array in graph.constants.items()},
                  constants_path if graph.constants else None,
                  {name: law for name, (_, law) in graph.parameters.items()}, tuple(sorted(lowering.statistics)), notes,
                  data_note(graph.inputs))

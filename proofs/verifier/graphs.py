"""Graph files (docs/graph.md) and their gradients (docs/numerics.md 6), by the slow operations of elementwise.py and row_operations.py."""
import collections

import numpy as np

import elementwise
import row_operations
from hashing import hashed
from kernels import F32, canonical

OPERATIONS = elementwise.OPERATIONS | row_operations.OPERATIONS
# `inputs` are those that data have; `drawn`: {name: (shape, keep)}
Graph = collections.namedtuple("Graph", "parameters constants inputs drawn instructions loss")
Constant = collections.namedtuple("Constant", "shape hash")
Instruction = collections.namedtuple("Instruction", "shape name operands attributes")


class BadGraph(Exception):
    """The text is no graph file, or does not fit its inputs or constants."""


def shape_of(text):
    inner = text[text.index("[") + 1:-1]
    return tuple(int(extent) for extent in inner.split(",")) if inner else ()


def parse(text):
    """The checks of the format are the node's: the manifest names the file by its hash, which all members trained."""
    graph, loss = Graph({}, {}, {}, {}, {}, None), None
    try:
        lines = text.decode("ascii").splitlines()
        if lines[0] != "ostraka-graph 1":
            raise BadGraph("it does not begin as a graph file")
        for line in lines[1:]:
            words = line.split(" ")
            if words[0] == "parameter":
                graph.parameters[words[1]] = shape_of(words[2])
            elif words[0] == "constant":
                graph.constants[words[1]] = Constant(shape_of(words[2]), bytes.fromhex(words[3]))
            elif words[0] == "input" and words[3:4] == ["keep"]:
                graph.drawn[words[1]] = shape_of(words[2]), F32(words[4])
            elif words[0] == "input":
                graph.inputs[words[1]] = shape_of(words[2])
            elif words[0] == "loss":
                loss = words[1]
            else:
                graph.instructions[words[0]] = instruction_of(words)
    except (ValueError, IndexError) as problem:
        raise BadGraph(str(problem)) from None
    if loss not in graph.instructions and loss not in graph.parameters:
        raise BadGraph("it has no loss")
    return graph._replace(loss=loss)


def instruction_of(words):
    if words[3] not in OPERATIONS:
        raise BadGraph(f"'{words[3]}' is no operation of ostraka ops/2")
    attributes = dict(word.split("=") for word in words[4:] if "=" in word)
    return Instruction(shape_of(words[1]), words[3], [word for word in words[4:] if "=" not in word], attributes)


def perceptron(model, batch, features, hidden, classes):
    """The models softmax and mlp as graph files (docs/training.md)."""
    sizes = [(features, classes)] if model == "softmax" else [(features, hidden), (hidden, classes)]
    names = ["linear"] if model == "softmax" else ["layers.0", "layers.1"]
    graph = Graph({}, {}, {"features": (batch, features), "targets": (batch,)}, {}, {}, None)
    value = "features"
    for name, (inner, outer) in zip(names, sizes):
        graph.parameters[f"{name}.weight"], graph.parameters[f"{name}.bias"] = (outer, inner), (outer,)
        place = f"%{len(graph.instructions) + 1}"
        graph.instructions[place] = Instruction((batch, outer), "linear", [value, f"{name}.weight", f"{name}.bias"], {})
        value = place
        if name != names[-1]:
            value = f"%{len(graph.instructions) + 1}"
            graph.instructions[value] = Instruction((batch, outer), "relu", [place], {})
    loss = f"%{len(graph.instructions) + 1}"
    graph.instructions[loss] = Instruction((), "cross_entropy", [value, "targets"], {})
    return graph._replace(loss=loss)


def check_constants(graph, tensors):
    """`tensors`: their values by name. Raises BadGraph unless they are what the graph names."""
    for name, constant in graph.constants.items():
        if hashed("constant/1", np.ascontiguousarray(tensors[name], "<f4").tobytes()) != constant.hash:
            raise BadGraph(f"constant {name} has other values than the graph names")


def split(parameters, shapes):
    """A flat vector as the tensors of `shapes`, by name."""
    tensors, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape, dtype=np.int64))
        tensors[name] = parameters[at:at + size].reshape(shape)
        at += size
    if at != parameters.size:
        raise BadGraph("it has another number of parameters")
    return tensors


def forward(graph, values):
    """Adds the value of each instruction to `values`."""
    for place, step in graph.instructions.items():
        value = OPERATIONS[step.name].forward(step, *(values[name] for name in step.operands))
        if np.shape(value) != step.shape:
            raise BadGraph(f"{place} has another shape than it says")
        values[place] = value


def loss_and_gradient(graph, parameters, inputs, constants):
    """The loss at `parameters` on one micro-batch, and its flat gradient, float32 in the order of the graph."""
    values = inputs | constants | split(parameters, graph.parameters)
    with np.errstate(all="ignore"):
        forward(graph, values)
        gradients = backward(graph, values)
    flat = [np.asarray(gradients.get(name, np.zeros(shape, F32))).reshape(-1) for name, shape in graph.parameters.items()]
    return canonical(values[graph.loss]), np.concatenate(flat).astype(F32)


def backward(graph, values):
    """The gradients of all that the loss depends on and that depends on a parameter, by name."""
    gradients = {graph.loss: F32(1)}
    trained = depends_on_parameters(graph)
    for place, step in reversed(graph.instructions.items()):
        if place not in gradients:
            continue
        operands = [values[name] for name in step.operands]
        parts = OPERATIONS[step.name].backward(step, gradients[place], values[place], *operands)
        for name, part in zip(step.operands, parts):
            if name in trained:
                gradients[name] = canonical(gradients[name] + part) if name in gradients else part
    return gradients


def depends_on_parameters(graph):
    trained = set(graph.parameters)
    for place, step in graph.instructions.items():
        if step.name != "stop_gradient" and trained.intersection(step.operands):
            trained.add(place)
    return trained

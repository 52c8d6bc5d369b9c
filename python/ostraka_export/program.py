"""From the program that torch.export traced to a GraphText."""
import operator
import re

import torch
from torch.export.graph_signature import InputKind

import ostraka_export.lower_arithmetic  # noqa: F401  these fill the table
import ostraka_export.lower_network  # noqa: F401
import ostraka_export.lower_shapes  # noqa: F401
from ostraka_export.emitter import Emitter
from ostraka_export.errors import ExportError, Unsupported
from ostraka_export.graph_text import GraphText
from ostraka_export.initial import law_of
from ostraka_export.lowering import LOWERINGS, remedy_of
from ostraka_export.values import Integers, Known, Tensor

NAMED = re.compile(r"[A-Za-z0-9_.]{1,128}\Z")


def place_of(node):
    """"blocks.0.attn (Attention), model.py:12 `k = k.topk(3)`" of a traced operator."""
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    words = []
    if modules:
        path, kind = modules[-1]
        kind = kind if isinstance(kind, str) else kind.__name__
        words.append(f"{path or 'the module'} ({kind.rsplit('.', 1)[-1]})")
    frames = re.findall(r'File "([^"]+)", line (\d+), in \S+\n\s*([^\n]*)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if "/torch/" not in frame[0]] or frames
    if own:
        path, line, code = own[-1]
        words.append(f"{path.rsplit('/', 1)[-1]}:{line} `{code.strip()}`")
    return ", ".join(words) or node.name


def name_of(target):
    """"add" of torch.ops.aten.add.Tensor."""
    schema = getattr(target, "_schema", None)
    return schema.name.split("::")[-1] if schema is not None else getattr(target, "__name__", str(target))


def keywords_of(target, kwargs):
    """Keywords that a lowering may want; those that say where a tensor lies do not matter."""
    return {name: value for name, value in kwargs.items()
            if name not in ("device", "layout", "pin_memory", "memory_format", "non_blocking", "copy", "generator")}


def has_known_only(arguments):
    found = []
    torch.utils._pytree.tree_map(lambda x: found.append(x), arguments)
    return all(isinstance(x, Known) or not isinstance(x, (Tensor, Integers)) and not hasattr(x, "logits")
               for x in found)


def unwrapped(arguments):
    return torch.utils._pytree.tree_map(lambda x: x.tensor if isinstance(x, Known) else x, arguments)


def wrapped(result):
    if isinstance(result, torch.Tensor):
        return Known(result)
    if isinstance(result, (tuple, list)):
        return [wrapped(x) for x in result]
    return result


class Lowering:
    """Walks one ExportedProgram."""

    def __init__(self, program, traced, module, names, initial):
        """`traced` is what was traced, `module` the user's part of it; `names` are those of the inputs, in order."""
        self.program = program
        self.traced = traced
        self.module = module
        self.input_names = names
        self.initial = initial
        self.graph = GraphText()
        self.emit = Emitter(self.graph)

    def run(self):
        """Returns the loss's Tensor. ExportError."""
        self.declare_parameters()
        values = self.placeholders()
        outputs = self.walk(self.program.graph_module, values)
        losses = [x for x in outputs if isinstance(x, (Tensor, Known))]
        if len(losses) != 1 or losses[0].shape not in ((), (1,)) or not isinstance(losses[0], Tensor):
            raise ExportError("the module must return its loss, one number that depends on its parameters; give "
                              "loss='cross_entropy' if it returns logits")
        return self.emit.reshape(losses[0], ())

    def declare_parameters(self):
        self.names = {}  # of tensors, by identity: tied weights are one parameter
        for name, parameter in self.module.named_parameters():
            self.names[id(parameter)] = name
            if parameter.requires_grad:
                if not NAMED.match(name):
                    raise ExportError(f"parameter {name!r}: a graph file has letters, digits, '_' and '.' in names")
                if parameter.dtype != torch.float32:
                    raise ExportError(f"parameter {name} has {parameter.dtype}; export the module with .float()")
                law = self.initial(name) or law_of(parameter)
                self.graph.parameters[name] = (tuple(parameter.shape), law)
        if not self.graph.parameters:
            raise ExportError("the module has no parameter with requires_grad=True")

    def placeholders(self):
        nodes = [node for node in self.program.graph.nodes if node.op == "placeholder"]
        values, names = {}, list(self.input_names)
        for node, spec in zip(nodes, self.program.graph_signature.input_specs):
            if spec.kind == InputKind.PARAMETER:
                values[node] = self.parameter(self.traced.get_parameter(spec.target))
            elif spec.kind == InputKind.BUFFER:
                values[node] = Known(self.traced.get_buffer(spec.target), spec.target)
            elif spec.kind == InputKind.CONSTANT_TENSOR:
                values[node] = Known(self.program.constants[spec.target], spec.target)
            elif spec.kind == InputKind.USER_INPUT:
                values[node] = self.input(node, names.pop(0))
        return values

    def parameter(self, parameter):
        name = self.names[id(parameter)]
        if parameter.requires_grad:
            return Tensor(name, tuple(parameter.shape))
        return Known(parameter.detach(), name)

    def input(self, node, name):
        example = node.meta.get("val")
        if not isinstance(example, torch.Tensor):
            return example
        shape = tuple(int(extent) for extent in example.shape)
        if name in self.graph.parameters:
            raise ExportError(f"the input {name} has the name of a parameter")
        if example.dtype in (torch.int64, torch.int32):
            self.graph.inputs[name] = ["i32", shape, None, None]
            return Integers(name, shape)
        if example.dtype != torch.float32:
            raise ExportError(f"the input {name} has {example.dtype}; inputs are float32 or int64")
        self.graph.inputs[name] = ["f32", shape, None, None]
        return Tensor(name, shape)

    def walk(self, graph_module, values):
        """Lowers a graph of fx; returns the values that it returns."""
        for node in graph_module.graph.nodes:
            if node.op == "call_function":
                values[node] = self.call(graph_module, node, values)
            elif node.op == "get_attr":
                found = graph_module
                for part in node.target.split("."):
                    found = getattr(found, part)
                values[node] = Known(found, node.target) if isinstance(found, torch.Tensor) else found
            elif node.op == "output":
                return list(torch.fx.map_arg(node.args[0], lambda x: values[x]))
        raise AssertionError("a graph of fx ends with its output")

    def call(self, graph_module, node, values):
        arguments, keywords = torch.fx.map_arg((node.args, node.kwargs), lambda x: values[x])
        arguments = list(arguments)
        if node.target is operator.getitem:
            return arguments[0][arguments[1]]
        name = name_of(node.target)
        if name in ("wrap_with_set_grad_enabled", "wrap_with_autocast"):
            at = next(i for i, x in enumerate(arguments) if isinstance(x, torch.fx.GraphModule))
            inner = [x for x in arguments[at].graph.nodes if x.op == "placeholder"]
            return self.walk(arguments[at], dict(zip(inner, arguments[at + 1:])))
        if has_known_only((arguments, keywords)):
            with torch.no_grad():
                return wrapped(node.target(*unwrapped(arguments), **unwrapped(keywords)))
        if name.startswith(("_assert", "sym_constrain")):
            return None
        return self.lower(node, name, arguments, keywords_of(node.target, keywords))

    def lower(self, node, name, arguments, keywords):
        result = node.meta.get("val")
        shape = tuple(int(extent) for extent in result.shape) if isinstance(result, torch.Tensor) else None
        try:
            if name not in LOWERINGS:
                raise Unsupported(f"{name} is no operation of ostraka ops/1: {remedy_of(name)}")
            return LOWERINGS[name](self.emit, *arguments, shape=shape, **keywords)
        except Unsupported as error:
            raise ExportError(f"{place_of(node)}: {error}") from None
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise ExportError(f"{place_of(node)}: {name} with arguments that no lowering takes ({error})") from None

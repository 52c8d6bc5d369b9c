"""From the program that torch.export traced to a GraphText."""
import dataclasses
import math
import operator
import re

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.proxy_tensor import make_fx

import ostraka_export.lower_angles  # noqa: F401
import ostraka_export.lower_arithmetic  # noqa: F401  these fill the table
import ostraka_export.lower_choices  # noqa: F401
import ostraka_export.lower_logs  # noqa: F401
import ostraka_export.lower_network  # noqa: F401
import ostraka_export.lower_norms  # noqa: F401
import ostraka_export.lower_order  # noqa: F401
import ostraka_export.lower_recurrent  # noqa: F401
import ostraka_export.lower_selection  # noqa: F401
import ostraka_export.lower_shapes  # noqa: F401
import ostraka_export.lower_windows  # noqa: F401
from ostraka_export.emitter import Emitter
from ostraka_export.errors import ExportError, Unsupported
from ostraka_export.graph_text import GraphText
from ostraka_export.initial import could_draw, law_of
from ostraka_export.lower_truths import truth
from ostraka_export.lowering import CASTS, LOWERINGS, remedy_of
from ostraka_export.places import place_of
from ostraka_export.tracing import STATE, SWITCHES, draws, first_line, mutates, name_of, placeholders_of, region_of
from ostraka_export.values import Integers, Kept, Known, LogSoftmax, Tensor, Whole
from ostraka_export.whole_numbers import most_of, require_whole, source_of

NAMED = re.compile(r"[A-Za-z0-9_.]{1,128}\Z")
UNSET = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")


def keywords_of(kwargs):
    """Keywords that a lowering may want; those that say where a tensor lies do not matter."""
    return {name: value for name, value in kwargs.items()
            if name not in ("device", "layout", "pin_memory", "memory_format", "non_blocking", "copy", "generator")}


def has_known_only(arguments):
    found = []
    torch.utils._pytree.tree_map(lambda x: found.append(x), arguments)
    return not any(isinstance(x, (Tensor, Integers, Kept, LogSoftmax, Whole)) for x in found)


def unwrapped(arguments):
    return torch.utils._pytree.tree_map(lambda x: x.tensor if isinstance(x, Known) else x, arguments)


def wrapped(result):
    if isinstance(result, torch.Tensor):
        return Known(result)
    if isinstance(result, (tuple, list)):
        return [wrapped(x) for x in result]
    return result


def folded(target, arguments, keywords):
    with torch.no_grad():
        result = target(*unwrapped(arguments), **unwrapped(keywords))
    if name_of(target) in UNSET and result.is_floating_point():
        result = torch.full_like(result, math.nan)  # memory as it was: what is left of it is refused with NaN
    return wrapped(result)


def composed_of(node, arguments, keywords):
    """(fx module, values of its placeholders) of an operator that torch composes of others; else None.

    Its gradient is theirs in eager PyTorch, too.
    """
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or draws(target) or \
            not target.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd):
        return None
    flat, form = torch.utils._pytree.tree_flatten((arguments, keywords))
    flat = [x.written() if isinstance(x, (Kept, LogSoftmax)) else x for x in flat]
    given = [i for i, x in enumerate(flat) if isinstance(x, (Tensor, Known, Integers, Whole))]
    nodes = torch.utils._pytree.tree_leaves((node.args, {name: x for name, x in node.kwargs.items()
                                                         if name in keywords}))
    if len(nodes) != len(flat):
        return None
    like = [torch.empty(flat[i].shape, dtype=flat[i].tensor.dtype if isinstance(flat[i], Known)
                        else nodes[i].meta["val"].dtype) for i in given]

    def whole(*tensors):
        filled = list(flat)
        for i, tensor in zip(given, tensors):
            filled[i] = tensor
        args, kwargs = torch.utils._pytree.tree_unflatten(filled, form)
        return (target.decompose(*args, **kwargs),)
    with torch.no_grad():
        parts = make_fx(whole, tracing_mode="fake")(*like)
    if any(mutates(part.target) for part in parts.graph.nodes):
        return None
    for part in parts.graph.nodes:  # its place in the user's program is the operator's
        part.meta |= {key: node.meta[key] for key in ("stack_trace", "nn_module_stack") if key in node.meta}
    return parts, dict(zip(placeholders_of(parts), (flat[i] for i in given)))


INTEGERS = torch.int64, torch.int32


def typed(emit, name, value, traced, operands):
    """The result of an operator as what it is in the trace: Whole for integers and truths. Unsupported if no graph has it."""
    if isinstance(value, (list, tuple)):
        return [typed(emit, name, one, of_one, operands) for one, of_one in zip(value, traced)]
    if value is None or isinstance(value, Known) or isinstance(value, Integers) and traced.dtype in INTEGERS:
        return value
    if traced.dtype == torch.float32:
        return value.tensor if isinstance(value, Whole) else value
    if isinstance(value, (Tensor, Whole)) and traced.dtype in (*INTEGERS, torch.bool):
        tensor = value
        if isinstance(value, Whole):
            tensor = value.tensor
        else:
            require_whole(name, traced.dtype == torch.bool, operands)
        return Whole(tensor, traced.dtype, source_of(name, operands), most_of(emit, name, operands, traced))
    raise not_exact(traced.dtype)


def not_exact(dtype):
    return Unsupported(f"{dtype} of what depends on inputs or parameters; exact kernels compute in float32: "
                       "export the module with .float(), without casts")


def cast(emit, value, dtype):
    """`value` as another type."""
    if dtype == torch.bool and not isinstance(value, Known):
        return Whole(truth(emit, value), dtype)
    if dtype in INTEGERS and isinstance(value, Whole):
        return dataclasses.replace(value, dtype=dtype)
    if dtype == torch.float32 and isinstance(value, (Integers, Whole)):
        return emit.tensor(value)
    if isinstance(value, Known) or dtype == torch.float32 or dtype in INTEGERS and isinstance(value, Integers):
        return value
    raise not_exact(dtype)


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
        self.nodes = []  # that of each instruction
        self.foreign = []  # names of parameters whose values no law of a graph has drawn
        self.counted = []  # (node, operator's name, Whole) of what is computed as whole numbers
        self.guessed = {}  # of inputs: the bound of their numbers
        self.statistics = []  # names of buffers that forward changes and no graph has
        of = {id(buffer): name for name, buffer in module.named_buffers()}
        self.names_of_buffers = {name: of.get(id(buffer), name) for name, buffer in traced.named_buffers()}
        self.emit = Emitter(self.graph)

    def run(self):
        """Returns the loss's Tensor. ExportError."""
        self.declare_parameters()
        values = self.placeholders()
        outputs = self.walk(self.program.graph_module, values)
        self.refuse_state()
        kinds = [spec.kind for spec in self.program.graph_signature.output_specs]
        losses = [x for x, kind in zip(outputs, kinds) if kind == OutputKind.USER_OUTPUT and
                  isinstance(x, (Tensor, Known))]
        if len(losses) != 1 or losses[0].shape not in ((), (1,)) or not isinstance(losses[0], Tensor):
            raise ExportError("the module's loss depends on none of its parameters with requires_grad=True")
        return self.emit.reshape(losses[0], ())

    def refuse_state(self):
        """ExportError, unless all that forward changes are running statistics, which no gradient depends on."""
        of = {node.name: node for node in self.program.graph.nodes}
        for spec in self.program.graph_signature.output_specs:
            if spec.kind == OutputKind.USER_OUTPUT:
                continue
            if self.is_statistics(spec.target):
                self.statistics.append(self.names_of_buffers[spec.target])
                continue
            name = self.names_of_buffers.get(spec.target) or (spec.target or spec.arg.name).removeprefix("inner.")
            raise ExportError(f"{place_of(of[spec.arg.name])}: {STATE.format(name)}")

    def is_statistics(self, target):
        path, _, name = (target or "").rpartition(".")
        return name in ("running_mean", "running_var", "num_batches_tracked") and \
            isinstance(self.traced.get_submodule(path), torch.nn.modules.batchnorm._NormBase)

    def place_of_line(self, number):
        """Where the instruction %number of the text came from."""
        before = next((old for old, new in self.graph.numbers.items() if new == f"%{number}"), None)
        index = int(before[1:]) - 1 if before else len(self.nodes)
        return place_of(self.nodes[index]) if index < len(self.nodes) else "the loss"

    def declare_parameters(self):
        self.names = {}  # of tensors, by identity: tied weights are one parameter
        for name, parameter in self.module.named_parameters():
            self.names[id(parameter)] = name
            if parameter.requires_grad:
                if not NAMED.match(name):
                    raise ExportError(f"parameter {name!r}: a graph file has letters, digits, '_' and '.' in names")
                if parameter.dtype != torch.float32:
                    raise ExportError(f"parameter {name} has {parameter.dtype}; export the module with .float()")
                if not bool(parameter.isfinite().all()):
                    raise ExportError(f"parameter {name} has values that are not finite; draw them anew")
                if parameter._backward_hooks:
                    raise ExportError(f"parameter {name} has a hook on its gradient, which no node calls; remove it")
                law = self.initial(name) or law_of(parameter)
                if not self.initial(name) and not could_draw(law, parameter):
                    self.foreign.append(name)
                self.graph.parameters[name] = (tuple(parameter.shape), law)
                self.emit.trained[name] = parameter
        if not self.graph.parameters:
            raise ExportError("the module has no parameter with requires_grad=True")

    def placeholders(self):
        values, names = {}, list(self.input_names)
        for node, spec in zip(placeholders_of(self.program.graph_module), self.program.graph_signature.input_specs):
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
        region = region_of(graph_module, node)
        if region:
            inner = placeholders_of(region[0])
            return self.walk(region[0], {mine: values[given] for mine, given in zip(inner, region[1])})
        arguments, keywords = torch.fx.map_arg((node.args, node.kwargs), lambda x: values[x])
        arguments = list(arguments)
        if node.target is operator.getitem:
            return arguments[0][arguments[1]]
        name = name_of(node.target)
        if name.startswith(("_assert", "sym_constrain")) or name in SWITCHES:
            return None
        try:
            if mutates(node.target):
                raise Unsupported(f"{name} changes a tensor in place; write to a new one")
            if has_known_only((arguments, keywords)) and not draws(node.target):
                return folded(node.target, arguments, keywords)
            return self.lower(node, name, arguments, keywords_of(keywords))
        except Unsupported as error:
            raise ExportError(f"{place_of(node)}: {error}") from None
        except ExportError:
            raise
        except Exception as error:  # a form of the operator that its lowering did not expect
            raise ExportError(f"{place_of(node)}: {name} in a form that the exporter cannot write "
                              f"({type(error).__name__}: {first_line(error)})") from error
        finally:
            self.nodes += [node] * (self.graph.size() - len(self.nodes))

    def lower(self, node, name, arguments, keywords):
        result = node.meta.get("val")
        shape = tuple(int(extent) for extent in result.shape) if isinstance(result, torch.Tensor) else None
        if shape is not None and 0 in shape:
            return Known(torch.zeros(shape, dtype=result.dtype))
        if name in CASTS:
            return cast(self.emit, arguments[0], result.dtype)
        if name not in LOWERINGS:
            parts = composed_of(node, arguments, keywords)
            if parts is not None:
                return self.walk(*parts)[0]
            raise Unsupported(f"{name} is no operation of ostraka ops/2: {remedy_of(name, draws(node.target))}")
        lowered = LOWERINGS[name](self.emit, *arguments, shape=shape, **keywords)
        lowered = typed(self.emit, name, lowered, result, torch.utils._pytree.tree_leaves(arguments))
        for one in lowered if isinstance(lowered, (list, tuple)) else [lowered]:
            if isinstance(one, Whole):
                self.counted.append((node, name, one))
        return lowered

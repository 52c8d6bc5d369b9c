"""From a module to a program of pure operators, and what a trace would drop on the way."""
import contextlib
import io
import logging
import operator
import sys
import warnings

import torch

from ostraka_export.errors import ExportError, Unsupported
from ostraka_export.places import is_own, place_in, place_of, whole_stacks

STATE = "forward changes {}; a graph has no state; write to a new tensor"
REGIONS = ("wrap_with_set_grad_enabled", "wrap_with_autocast")
SWITCHES = ("_set_grad_enabled", "_enter_autocast", "_exit_autocast")  # of regions that are no modules of their own


def first_line(error):
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def name_of(target):
    """"add" of torch.ops.aten.add.Tensor."""
    schema = getattr(target, "_schema", None)
    return schema.name.split("::")[-1] if schema is not None else getattr(target, "__name__", str(target))


def draws(target):
    """Whether an operator may draw random numbers."""
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())


def mutates(target):
    schema = getattr(target, "_schema", None)
    return schema is not None and schema.is_mutable


def traced(module, example):
    """A program without operators in place. Gradients are on, so that the trace tells where forward has them off."""
    functions = set()
    with torch.enable_grad(), whole_stacks(), recorded_functions(functions), kept_buffers(module), quiet(), \
            warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of attributes that a layer caches: refuse_state tells what matters
        try:
            program = torch.export.export(module, example, strict=False)
        except ExportError:
            raise
        except Unsupported as error:
            raise ExportError(f"{place_in(error, module)}{error}") from None
        except Exception as error:  # torch raises many kinds; its first line says what
            refuse_failing(module, example)
            raise ExportError(f"{place_in(error, module)}{why_not(error)}") from error
    trained = {node for node, spec in zip(placeholders_of(program.graph_module), program.graph_signature.input_specs)
               if spec.kind == torch.export.graph_signature.InputKind.PARAMETER
               and module.get_parameter(spec.target).requires_grad}
    refuse_regions(program.graph_module, trained, hidden_by(functions))
    detach_in_regions(program.graph_module)
    parts = [part for part in program.graph_module.modules() if isinstance(part, torch.fx.GraphModule)]
    if not any(mutates(node.target) for part in parts for node in part.graph.nodes):
        return program
    try:
        return program.run_decompositions({})  # what changes a view changes its base: only torch knows how
    except Exception as error:
        raise ExportError(f"torch.export cannot replace the operators in place: {first_line(error)}") from error


def refuse_failing(module, example):
    """ExportError if the module fails without a trace, too."""
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            module(*(x.clone() for x in example))
    except Exception as error:
        raise ExportError(f"the module itself fails on the example: {first_line(error)}") from error


@contextlib.contextmanager
def recorded_functions(names):
    """Collects the names of the torch.autograd.Functions that are called."""
    function = torch.autograd.Function
    before = vars(function)["apply"]

    def apply(cls, *arguments, **keywords):
        names.add(cls.__name__)
        return before.__get__(None, cls)(*arguments, **keywords)
    function.apply = classmethod(apply)
    try:
        yield
    finally:
        function.apply = before


@contextlib.contextmanager
def kept_buffers(module):
    """Refuses that forward puts another tensor into a buffer's place: a trace does not show it."""
    paths = {id(part): path.removeprefix("inner").removeprefix(".") for path, part in module.named_modules()}
    before = torch.nn.Module.__setattr__

    def set_attribute(part, name, value):
        if name in part.__dict__.get("_buffers", ()) and id(part) in paths and is_own(caller_of_this()):
            raise Unsupported(STATE.format(f"{paths[id(part)]}.{name}".lstrip(".")))
        before(part, name, value)
    torch.nn.Module.__setattr__ = set_attribute
    try:
        yield
    finally:
        torch.nn.Module.__setattr__ = before


def caller_of_this():
    return sys._getframe(2).f_code.co_filename


@contextlib.contextmanager
def quiet():
    """Where forward chooses by a value, torch prints its whole graph before it raises. Other text comes through."""
    loggers = [logging.getLogger(f"torch.fx.experimental.{name}") for name in ("symbolic_shapes", "recording")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    text = io.StringIO()
    dropped = False
    try:
        with contextlib.redirect_stderr(text):
            yield
    except ExportError as error:
        dropped = depends_on_data(error.__cause__)
        raise
    finally:
        for logger, disabled in zip(loggers, before):
            logger.disabled = disabled
        if not dropped:
            sys.stderr.write(text.getvalue())


def depends_on_data(error):
    return isinstance(error, torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode) or \
        "data-dependent" in str(error)


def why_not(error):
    if depends_on_data(error):
        return ("forward takes a branch or a shape by a value that it computes, and a graph has one of each; decide by "
                "Python's numbers, keep places in a buffer, and drop no layers (module.eval())")
    return f"torch.export cannot trace the module: {first_line(error)}"


def hidden_by(functions):
    """Why no trace shows what has gradients, and what to do; None where it does.

    The forward of the torch.autograd.Functions of these names is traced as one under torch.no_grad.
    """
    if "CheckpointFunction" in functions:
        return "a checkpoint's gradient, which no trace shows: give the checkpoint use_reentrant=False"
    return ("a gradient of its own, which no trace shows: call the layers without the torch.autograd.Function "
            f"{', '.join(sorted(functions))}") if functions else None


def placeholders_of(graph_module):
    return [node for node in graph_module.graph.nodes if node.op == "placeholder"]


def region_of(graph_module, node):
    """(the fx module of a region, its operands' nodes) if `node` runs one, else None."""
    if name_of(node.target) not in REGIONS:
        return None
    at = next(i for i, x in enumerate(node.args) if isinstance(x, torch.fx.Node) and x.op == "get_attr")
    return getattr(graph_module, node.args[at].target), node.args[at + 1:]


def refuse_regions(graph_module, trained, hidden, gradients=True):
    """ExportError where anything is computed in another precision, or in a region without gradients and `hidden` is a reason.

    `trained` has the placeholders that depend on trained parameters. Returns whether an output does.
    """
    for node in graph_module.graph.nodes:
        if node.op == "output":
            return any(x in trained for x in node.all_input_nodes)
        if node.op != "call_function":
            continue
        name = name_of(node.target)
        if name in ("wrap_with_autocast", "_enter_autocast") and node.args[2]:
            refuse_autocast(graph_module, node)
        if name == "_set_grad_enabled":
            gradients = node.args[0]
        elif region := region_of(graph_module, node):
            inner = {mine for mine, given in zip(placeholders_of(region[0]), region[1]) if given in trained}
            if refuse_regions(region[0], inner, hidden, node.args[0] if name == REGIONS[0] else gradients):
                trained.add(node)
        elif any(x in trained for x in node.all_input_nodes):
            if hidden and not gradients and has_floats(node):
                raise ExportError(f"{place_of(node)}: {hidden}")
            if name == "detach_":
                raise ExportError(f"{place_of(node)}: detach_ changes a tensor in place; write detach()")
            trained.add(node)
    return False


def detach_in_regions(graph_module, gradients=True):
    """Writes a detach behind all that is computed without gradients.

    A lowering then needs no more than the operator, and replacing operators in place loses the regions.
    """
    graph = graph_module.graph
    for node in list(graph.nodes):
        if region := region_of(graph_module, node):
            detach_in_regions(region[0], node.args[0] if name_of(node.target) == REGIONS[0] else gradients)
        elif name_of(node.target) == "_set_grad_enabled":
            gradients = node.args[0]
        elif node.target is operator.getitem and region_of(graph_module, node.args[0]):
            pass  # what a region gives has its gradients or not by the region
        elif not gradients and node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor) and \
                not mutates(node.target):
            with graph.inserting_after(node):
                detached = graph.call_function(torch.ops.aten.detach.default, (node,))
            detached.meta = dict(node.meta)
            node.replace_all_uses_with(detached, delete_user_cb=lambda user, own=detached: user is not own)
    graph_module.recompile()


def refuse_autocast(graph_module, node):
    region = region_of(graph_module, node)
    inside = [x for x in region[0].graph.nodes if x.op == "call_function"] if region else []
    place = next((x for x in inside if x.meta.get("stack_trace")), node)
    raise ExportError(f"{place_of(place)}: torch.autocast changes the precision, and exact kernels compute in float32; "
                      "leave it out of forward")


def has_floats(node):
    return any(isinstance(x, torch.Tensor) and x.is_floating_point()
               for x in torch.utils._pytree.tree_leaves(node.meta.get("val")))

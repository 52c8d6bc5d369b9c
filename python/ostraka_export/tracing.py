"""From a module to a program of pure operators, and what a trace would drop on the way."""
import torch

from ostraka_export.errors import ExportError
from ostraka_export.places import place_of, whole_stacks

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
    with torch.enable_grad(), whole_stacks():
        try:
            program = torch.export.export(module, example, strict=False)
        except Exception as error:  # torch raises many kinds; its first line says what
            raise ExportError(f"torch.export cannot trace the module: {first_line(error)}") from error
    trained = {node for node, spec in zip(placeholders_of(program.graph_module), program.graph_signature.input_specs)
               if spec.kind == torch.export.graph_signature.InputKind.PARAMETER
               and module.get_parameter(spec.target).requires_grad}
    refuse_regions(program.graph_module, trained)
    parts = [part for part in program.graph_module.modules() if isinstance(part, torch.fx.GraphModule)]
    if not any(mutates(node.target) for part in parts for node in part.graph.nodes):
        return program
    try:
        return program.run_decompositions({})  # what changes a view changes its base: only torch knows how
    except Exception as error:
        raise ExportError(f"torch.export cannot replace the operators in place: {first_line(error)}") from error


def placeholders_of(graph_module):
    return [node for node in graph_module.graph.nodes if node.op == "placeholder"]


def region_of(graph_module, node):
    """(the fx module of a region, its operands' nodes) if `node` runs one, else None."""
    if name_of(node.target) not in REGIONS:
        return None
    at = next(i for i, x in enumerate(node.args) if isinstance(x, torch.fx.Node) and x.op == "get_attr")
    return getattr(graph_module, node.args[at].target), node.args[at + 1:]


def refuse_regions(graph_module, trained, gradients=True):
    """ExportError where trained values are computed without gradients, or anything in another precision.

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
            if refuse_regions(region[0], inner, node.args[0] if name == REGIONS[0] else gradients):
                trained.add(node)
        elif any(x in trained for x in node.all_input_nodes):
            if (not gradients or name in ("detach", "detach_")) and has_floats(node):
                raise ExportError(f"{place_of(node)}: {name} of what is trained, without its gradient (torch.no_grad, "
                                  "detach): a frozen part needs requires_grad=False, so that it is exported as "
                                  "constants")
            trained.add(node)
    return False


def refuse_autocast(graph_module, node):
    region = region_of(graph_module, node)
    inside = [x for x in region[0].graph.nodes if x.op == "call_function"] if region else []
    place = next((x for x in inside if x.meta.get("stack_trace")), node)
    raise ExportError(f"{place_of(place)}: torch.autocast changes the precision, and exact kernels compute in float32; "
                      "leave it out of forward")


def has_floats(node):
    return any(isinstance(x, torch.Tensor) and x.is_floating_point()
               for x in torch.utils._pytree.tree_leaves(node.meta.get("val")))

"""What a module takes and returns, as inputs in order and one loss."""
import collections.abc
import inspect

import torch

from ostraka_export.errors import ExportError

TARGETS = ("targets", "labels")


class Objective(torch.nn.Module):
    """Calls the user's module, and takes the one number that is trained from what it returns."""

    def __init__(self, inner, loss, keywords):
        """`loss` as of export; `keywords` are the inputs' names if they are given by name, else None."""
        super().__init__()
        self.inner = inner
        self.loss = loss
        self.keywords = keywords

    def forward(self, *inputs):
        *given, targets = inputs if self.loss else (*inputs, None)
        out = self.inner(*given) if self.keywords is None else self.inner(**dict(zip(self.keywords, given)))
        if self.loss is None:
            return loss_of(out)
        logits = logits_of(out)
        if logits.dim() < 2 or logits.numel() // logits.shape[-1] != targets.numel():
            raise ExportError(f"the module's logits are {list(logits.shape)} for targets of {list(targets.shape)}: it "
                              "must return a row of classes for each target; if it takes targets and returns its own "
                              "loss, leave out loss=")
        return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1),
                                                 ignore_index=-1)


def part_of(out, name):
    """out[name] of a mapping, or out.name; None if there is none."""
    return out.get(name) if isinstance(out, collections.abc.Mapping) else getattr(out, name, None)


def tensors_of(out):
    parts = list(out.values()) if isinstance(out, collections.abc.Mapping) else out
    return [x for x in torch.utils._pytree.tree_leaves(parts) if isinstance(x, torch.Tensor)]


def is_number(x):
    return isinstance(x, torch.Tensor) and x.shape in ((), (1,))


def loss_of(out):
    """The one number of what a module returned."""
    if is_number(out):
        return out
    if is_number(part_of(out, "loss")):
        return part_of(out, "loss")
    found = tensors_of(out)
    numbers = [x for x in found if is_number(x)]
    if len(numbers) > 1:  # some versions of torch trace without telling what is trained
        numbers = [x for x in numbers if x.requires_grad] or numbers
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        raise ExportError(f"the module returns {len(numbers)} numbers; it must return one loss: their sum, "
                          "say")
    shapes = ", ".join(str(list(x.shape)) for x in found[:3])
    kind = "tensor" if isinstance(out, torch.Tensor) else type(out).__name__
    raise ExportError(f"the module returns a {kind}{' of ' + shapes if shapes else ''}; it must return its "
                      "loss, one number that depends on its parameters: give loss='cross_entropy' if these are logits")


def logits_of(out):
    if isinstance(out, torch.Tensor):
        return out
    if isinstance(part_of(out, "logits"), torch.Tensor):
        return part_of(out, "logits")
    found = [x for x in tensors_of(out) if x.dim() > 1]
    if not found:
        raise ExportError(f"the module returns a {type(out).__name__} without logits")
    return found[0]


def unwrapped(module):
    """The module inside of torch.compile, DataParallel and DistributedDataParallel, whose names are the user's."""
    while True:
        if type(module).__name__ == "OptimizedModule" and hasattr(module, "_orig_mod"):
            module = module._orig_mod
        elif isinstance(module, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            module = module.module
        else:
            return module


def inputs_of(module, example, loss):
    """(tensors, keywords or None, names in the graph file) of an example: a tensor, a sequence or a mapping."""
    takes = [parameter.name for parameter in inspect.signature(module.forward).parameters.values()
             if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    keywords = None
    if isinstance(example, collections.abc.Mapping):
        last = next((name for name in TARGETS if name in example), None)
        if loss and last is None:
            raise ExportError(f"the example has {', '.join(example)}: with loss= it needs 'targets', too")
        keywords = [name for name in example if name != last] + ([last] if last and not loss else [])
        tensors = tuple(example[name] for name in keywords) + ((example[last],) if last and loss else ())
        names = list(keywords) + (["targets"] if loss else [])
    else:
        tensors = tuple(example) if isinstance(example, (tuple, list)) else (example,)
        names = (takes + [f"input{i}" for i in range(len(tensors))])[:len(tensors)]
    if not tensors or not all(isinstance(x, torch.Tensor) for x in tensors):
        raise ExportError("export(module, example, path): the example is a tensor, a tuple of tensors, or a dict of "
                          "them by the names that forward has")
    for x, name in zip(tensors, names):
        if x.numel() == 0:
            raise ExportError(f"the example's {name} is {list(x.shape)}: a graph has no empty tensors")
    return tensors, keywords, graph_names(names, tensors, loss)


def graph_names(names, tensors, loss):
    """A run gives `targets`, and `tokens` or floats of any name (docs/training.md)."""
    of_integers = [i for i, x in enumerate(tensors) if not x.is_floating_point()]
    if loss or (of_integers and of_integers[-1] == len(tensors) - 1):
        names[-1] = "targets"
    others = [i for i in of_integers if names[i] != "targets"]
    if len(others) == 1 and len(tensors) == 2:
        names[others[0]] = "tokens"
    return names


def refuse_targets(tensors, names):
    for x, name in zip(tensors, names):
        if name == "targets" and not x.is_floating_point() and bool((x.long() < -1).any()):
            raise ExportError(f"the targets have {int(x.min())}: a run gives -1 for what is left out; give "
                              "targets.clamp(min=-1), and ignore_index=-1 to a loss of the module's own")

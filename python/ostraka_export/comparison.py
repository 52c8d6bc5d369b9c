"""Whether a graph trains what its module trains: their losses and gradients, at points that are drawn.

Each lowering can be right and the whole still wrong: a trace drops hooks, gradients that a module defines itself, and
whatever depends on more than its tensors. So the compiled graph is compared with eager PyTorch.
"""
import dataclasses
import math

import torch

from ostraka_export.chance import SEEDS, seeded, telling_seeds
from ostraka_export.errors import ExportError
from ostraka_export.tracing import first_line

MOST = 2e-6     # between gradients, of the largest
ROUNDINGS = 16  # and so many times what moving each parameter by its last bit does, most of NUDGES
NUDGES = 3
OF_A_TERM = 2.0 ** -25  # and so much for each term of the longest sum: the kernels add one after another
TRIES = 2       # more points, before a difference counts: one may lie on the kink of a relu
MOVED = 0.1     # of a parameter's or an input's size, between points


@dataclasses.dataclass
class Gradients:
    """At one point."""
    loss: float
    of: dict[str, torch.Tensor | None]  # None: eager PyTorch does not reach the parameter

    def finite(self):
        return math.isfinite(self.loss) and all(bool(x.isfinite().all()) for x in self.of.values() if x is not None)

    def largest(self):
        return max((float(x.abs().max()) for x in self.of.values() if x is not None and x.numel()), default=0.0)


class WithGradient(torch.nn.Module):
    """The backward pass is inside of the call, for checkpoints that compute anew from the parameters given to it."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, leaves, inputs):
        found = torch.utils._pytree.tree_leaves(self.module(*inputs))
        loss = next(x for x in found if isinstance(x, torch.Tensor) and x.requires_grad).sum()
        of = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
        return Gradients(float(loss.detach()), dict(zip(leaves, of)))


class Drops(torch.utils._python_dispatch.TorchDispatchMode):
    """Eager dropout drops what it is told to: every form of it draws once, in the order of the trace."""

    DRAW = torch.ops.aten.bernoulli_.float, torch.ops.aten.bernoulli.p

    def __init__(self, kept):
        super().__init__()
        self.kept = iter(kept)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function not in self.DRAW:
            return function(*args, **(kwargs or {}))
        kept = next(self.kept, None)
        keep = args[1] if len(args) > 1 else 0.5  # torch's default, which a trace leaves out
        if kept is None or kept[0].shape != args[0].shape or abs(kept[1] - keep) > 1e-6:
            raise ExportError("forward drops more often than its trace, as checkpoints do that compute it again: leave "
                              "them out, or give check=False and compare by yourself")
        return args[0].copy_(kept[0]) if function is self.DRAW[0] else kept[0].clone()


class Comparison:
    """Of `graph` (ostraka.Graph) with what was traced of a module."""

    def __init__(self, graph, lowering, example):
        self.graph = graph
        self.traced = lowering.traced
        self.inputs = lowering.graph.inputs
        self.draws = lowering.graph.drawn
        self.used = lowering.graph.used
        self.names = {name: lowering.names[id(p)] for name, p in self.traced.named_parameters()}
        self.parameters = {name: p.detach().cpu() for name, p in lowering.emit.trained.items()}
        self.example = [x.detach().cpu() for x in example]
        self.long = OF_A_TERM * longest_sum(lowering.emit)
        self.generator = torch.Generator().manual_seed(1)
        self.kept = self.drop_anew()

    def run(self):
        """ExportError, naming the worst, unless the graph is equal at the example and at another input."""
        try:
            self.eager(self.parameters, self.example)
        except ExportError:
            raise
        except Exception as error:
            raise ExportError(f"the module itself fails on the example: {first_line(error)}") from error
        self.refuse_chance()
        compared = self.at("the example", self.parameters, lambda: self.example)
        self.kept = self.drop_anew()
        compared |= self.at("a drawn input", self.moved(), self.drawn)
        if not compared:
            raise ExportError("the module's loss or a gradient is not finite, so nothing is left to compare with: give "
                              "an example that it can learn from, or check=False")

    def refuse_chance(self):
        """ExportError if what Python or NumPy draw makes a difference: a trace has one draw."""
        at_example = lambda: self.eager(self.parameters, self.example)
        first, drew = seeded(SEEDS[0], at_example)
        for seeds in (*SEEDS[1:], *(telling_seeds() if drew else ())):
            again, _ = seeded(seeds, at_example)
            if first.finite() and (chance := worst(again, first, *self.tolerances([], first))):
                raise ExportError(f"forward draws by chance, from Python's or NumPy's generators ({chance}); of "
                                  "what is drawn a graph has dropout alone: leave it out (drop no layers), or export "
                                  "module.eval()")

    def at(self, what, parameters, inputs):
        """False if eager PyTorch has nothing finite there."""
        found = self.difference(parameters, inputs())
        if found and not any(self.difference(self.moved(), inputs()) for _ in range(TRIES)):
            return True
        if found:
            raise ExportError(f"the graph trains something else than the module: at {what} {found}. forward has what a "
                              "trace does not show (state, chance, hooks, gradients of its own): leave it out, or give "
                              "check=False and compare by yourself")
        return found is not None

    def difference(self, parameters, inputs):
        """What is worst, as text; "" if the graph is equal; None if eager PyTorch has nothing finite here."""
        try:
            eager = self.eager(parameters, inputs)
        except Exception:  # an input that the module does not take: run() has tried the example
            return None
        if not eager.finite():
            return None
        try:
            loss, of = self.graph.gradient(parameters, **dict(zip(self.inputs, inputs)), **self.drawn_inputs())
        except ValueError as error:
            return f"the graph has no gradient ({error})"
        mine = Gradients(loss, {name: torch.from_numpy(x) for name, x in of.items()})
        if not worst(mine, eager, 0, 0):
            return ""
        again = self.eager(parameters, inputs)
        if chance := worst(again, eager, *self.tolerances([], eager)):
            return f"eager PyTorch differs from itself: {chance}"
        nudged = [self.eager(parameters, inputs, self.nudged) for _ in range(NUDGES)]
        return worst(mine, eager, *self.tolerances(nudged, eager))

    def tolerances(self, nudged, eager):
        """Of the loss and of gradients, from those at points that are as good as equal."""
        largest = eager.largest()
        of_gradient = max((apart(x.of[name], of) for x in nudged for name, of in eager.of.items()), default=0)
        of_loss = max((abs(x.loss - eager.loss) for x in nudged), default=0)
        if largest:  # the loss is one number, and by luck it may not move
            of_loss = max(of_loss, of_gradient / largest * abs(eager.loss))
        return ROUNDINGS * of_loss + self.long * abs(eager.loss), ROUNDINGS * of_gradient + self.long * largest

    def eager(self, parameters, inputs, change=torch.clone):
        """PyTorch's Gradients, of copies: the module stays as it is."""
        leaves = {name: change(p).requires_grad_() for name, p in parameters.items()}
        tensors = {f"module.{name}": leaves[self.names[name]] if p.requires_grad else change(p.detach().cpu())
                   for name, p in self.traced.named_parameters()}
        tensors |= {f"module.{name}": b.detach().cpu().clone() for name, b in self.traced.named_buffers()}
        with torch.enable_grad(), torch.random.fork_rng(devices=[]), Drops(self.kept.values()):
            return torch.func.functional_call(WithGradient(self.traced), tensors, (leaves, [x.clone() for x in inputs]))

    # What is dropped.

    def drop_anew(self):
        """{name: (1 for what is kept and 0 for what is dropped, the probability to keep)}."""
        return {name: ((torch.rand(shape, generator=self.generator) < keep).float(), keep)
                for name, (shape, keep) in self.draws.items()}

    def drawn_inputs(self):
        """Of those that the graph has."""
        return {name: self.kept[name][0] / self.kept[name][1] for name in self.used}

    # Other points.

    def moved(self):
        """Parameters nearby. Zeros stay, signs mostly, so a root of a positive parameter stays one."""
        result = {}
        for name, p in self.parameters.items():
            result[name] = self.shaken(p) if bool(p.any()) else 0.2 * MOVED * self.normal(p)
        return result

    def drawn(self):
        """Inputs of the same shapes: integers of their whole range, floats from the example's."""
        result = []
        for (element, _, _, bound), x in zip(self.inputs.values(), self.example):
            flat = x.flatten()
            if element == "i32":
                new = torch.randint(0, bound, flat.shape, generator=self.generator, dtype=x.dtype)
                new[:1], new[1:2] = 0, bound - 1
                new[flat < 0] = flat[flat < 0]  # targets that are left out
            elif bool(flat.any()):
                new = self.shaken(flat[torch.randperm(flat.numel(), generator=self.generator)])
            else:
                new = self.normal(flat)
            result.append(new.reshape(x.shape))
        return result

    def normal(self, like):
        return torch.randn(like.shape, generator=self.generator)

    def shaken(self, x):
        return x * (1 + MOVED * self.normal(x))

    def nudged(self, x):
        return x * (1 + 2.0 ** -23 * self.normal(x).sign()) if x.dtype == torch.float32 else x.clone()


def longest_sum(emit):
    """About how many terms a value or a gradient adds up."""
    most = 1
    for number, (operation, operands, _, shape) in enumerate(emit.graph.instructions(), 1):
        if f"%{number}" not in emit.graph.needed:
            continue
        of = emit.shape_of(operands[0]) or ()
        if operation in ("linear", "embedding", "layer_norm", "rms_norm"):
            most = max(most, math.prod(shape[:-1]))
        elif operation == "cross_entropy":
            most = max(most, math.prod(of[:-1]))
        elif of and operation in ("expand", "sum", "mean"):
            counts = sorted((math.prod(of), math.prod(shape)))
            most = max(most, counts[1] // counts[0])
    return most


def apart(a, b):
    """The greatest difference; None is all zeros."""
    zero = torch.zeros(())
    gap = (zero if a is None else a) - (zero if b is None else b)
    return float(gap.abs().max()) if gap.numel() else 0.0


def worst(mine, eager, of_loss, of_gradient):
    """The greatest difference above these tolerances and MOST, as text, or ""."""
    gap = abs(mine.loss - eager.loss)
    if not gap <= MOST * abs(eager.loss) + of_loss:
        return f"its loss is {mine.loss:.6g}, and by eager PyTorch {eager.loss:.6g}"
    largest = eager.largest()
    gaps = {name: apart(mine.of[name], of) for name, of in eager.of.items()}
    unreached = [name for name, of in eager.of.items() if of is None and gaps[name] != 0]
    name = max(unreached or gaps, key=lambda x: gaps[x] if gaps[x] == gaps[x] else math.inf)
    if unreached or not gaps[name] <= MOST * largest + of_gradient:
        return f"the gradient of {name} is {gaps[name]:.2g} from eager PyTorch's (the largest is {largest:.2g})"
    return ""

"""What of other people's modules ostraka.export takes: a survey, no test (docs/hacking.md).

usage: survey.py [--verbose] [WORD ...]      only cases whose names have one of the words

Each case is a tiny model of transformers, timm, peft, or as a tutorial writes it. It is exported, and its gradient
compared with eager PyTorch's in float64 at three points that the exporter did not choose. Prints a line for each case,
`ok` with the greatest difference of the graph (and of eager PyTorch in float32) from that, `refused` with the reason, `WRONG` or `crash`, and the counts. Exit code 1 if a case is wrong or crashes.
Needs torch, transformers, timm and peft: pip install torch transformers timm peft.
"""
import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import time
import warnings

import ostraka
import torch

import survey_cases
from ostraka_export.comparison import Drops

MOST = 2e-6  # between gradients, of the largest
TIMES = 8    # or so many times what eager PyTorch's float32 is from its float64
POINTS = 3


def eager_loss(module, inputs, names, loss):
    """By PyTorch, of what the module returns. Written apart from the exporter's own."""
    if loss is None:
        out = module(*inputs) if names is None else module(**dict(zip(names, inputs)))
        if isinstance(out, torch.Tensor):
            return out
        if hasattr(out, "loss"):
            return out.loss
        return next(x for x in out if x.dim() == 0)
    *given, targets = inputs
    out = module(*given) if names is None else module(**dict(zip(names, given)))
    logits = out if isinstance(out, torch.Tensor) else out.logits if hasattr(out, "logits") else out[0]
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=-1)


def moved(x, bound):
    if x.is_floating_point():
        return torch.randn_like(x)
    return torch.randint(0, bound, x.shape)


class Eager(torch.nn.Module):
    """With the backward pass inside of the call, as checkpoints need it."""

    def __init__(self, module, names, loss):
        super().__init__()
        self.module, self.names, self.loss = module, names, loss

    def forward(self, leaves, inputs):
        loss = eager_loss(self.module, inputs, self.names, self.loss)
        return loss.detach(), torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)


def drops_for(graph):
    """[(name, 1 for what is kept and 0 for what is dropped, the probability to keep)] of the graph's dropouts."""
    found = re.findall(r"^input (\S+) f32\[([0-9,]*)\] keep (\S+)$", graph.text, re.MULTILINE)
    return [(name, (torch.rand([int(x) for x in shape.split(",") if x]) < float(keep)).float(), float(keep))
            for name, shape, keep in found]


def gradients_of(module, names, loss, parameters, inputs, drops):
    """(loss, gradients) by eager PyTorch, in the precision of the parameters."""
    kind = next(iter(parameters.values())).dtype
    like = lambda x: x.to(kind) if x.is_floating_point() else x.clone()
    leaves = {name: p.clone().requires_grad_() for name, p in parameters.items()}
    tensors = {f"module.{name}": like(p.detach()) for name, p in module.named_parameters()}
    tensors |= {f"module.{name}": x for name, x in leaves.items()}
    tensors |= {f"module.{name}": like(b) for name, b in module.named_buffers()}
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)  # for what forward makes
    try:
        with Drops([(kept, keep) for _, kept, keep in drops]):
            value, found = torch.func.functional_call(Eager(module, names, loss), tensors,
                                                      (leaves, [like(x) for x in inputs]))
    finally:
        torch.set_default_dtype(before)
    return float(value), [torch.zeros_like(leaves[name]) if g is None else g for name, g in zip(leaves, found)]


def gap_between(a, b):
    """The greatest difference of two losses and gradients, relative to the largest gradient."""
    largest = max(float(g.abs().max()) for g in b[1])
    gaps = [float((x.double() - y.double()).abs().max()) / largest for x, y in zip(a[1], b[1])]
    return max(*gaps, abs(a[0] - b[0]) / max(abs(b[0]), largest))


def gaps_of(module, graph, example, names, loss):
    """(the graph's, eager PyTorch's in float32) from eager PyTorch in float64, the largest of all points."""
    trained = {name: p.detach() for name, p in module.named_parameters() if p.requires_grad}
    bounds = [int(of.split(" ")[4]) if of.split(" ")[2].startswith("i32") else 0
              for of in graph.text.splitlines() if of.startswith("input ")]  # drawn ones come last
    mine, eager = 0.0, 0.0
    for point in range(POINTS):
        torch.manual_seed(1000 + point)
        parameters = {name: p * (1 + 0.1 * torch.randn_like(p)) if p.any() else 0.02 * torch.randn_like(p)
                      for name, p in trained.items()}
        inputs = [moved(x, bound) for x, bound in zip(example, bounds)]
        drops = drops_for(graph)
        exact = gradients_of(module, names, loss, {name: p.double() for name, p in parameters.items()}, inputs, drops)
        value, of = graph.gradient(parameters, **dict(zip(graph.inputs, inputs)),
                                   **{name: kept / keep for name, kept, keep in drops})
        mine = max(mine, gap_between((value, [torch.from_numpy(of[name]) for name in parameters]), exact))
        eager = max(eager, gap_between(gradients_of(module, names, loss, parameters, inputs, drops), exact))
    return mine, eager


def tried(make, folder):
    """(kind, what was found) of one case."""
    torch.manual_seed(1)
    module, example, options = make()
    path = os.path.join(folder, "graph")
    before = time.monotonic()
    try:
        report = ostraka.export(module, example, path, overwrite=True, **options)
    except ValueError as error:
        return "refused", str(error)
    took = time.monotonic() - before
    graph = ostraka.Graph(path, constants=report.constants_path)
    loss, names = options.get("loss"), None
    if isinstance(example, dict):
        *names, last = example
        names = names if loss else [*names, last]
        example = tuple(example.values())
    mine, eager = gaps_of(module, graph, example, names, loss)
    found = f"{mine:.1e} (eager {eager:.1e}), {report.instructions} instructions, {took:.1f} s"
    return "ok" if mine <= max(MOST, TIMES * eager) else "WRONG", found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--verbose", action="store_true", help="whole reasons, and what the export says")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    counts = {}
    for name, make in survey_cases.cases().items():
        if options.words and not any(word in name for word in options.words):
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                kind, found = tried(make, folder)
            except Exception as error:  # one case that fails ends no survey
                kind, found = "crash", f"{type(error).__name__}: {error}"
        found = found.replace("\n", " ")
        print(f"{kind:8}{name:34}{found if options.verbose else found[:200]}", flush=True)
        if options.verbose and said.getvalue():
            print(said.getvalue().rstrip())
        counts[kind] = counts.get(kind, 0) + 1
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if {"WRONG", "crash"} & set(counts) else 0


if __name__ == "__main__":
    sys.exit(main())

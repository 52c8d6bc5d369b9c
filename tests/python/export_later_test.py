"""Modules whose graphs equal eager PyTorch where the exporter compares them and once did not elsewhere: padding alone, ties,
places that come twice, numbers that the example lacks. And those that must be refused by their true reason."""
import unittest

from export_lowerings_test import MOST, Case  # ends with "skipped" without torch

import ostraka
import torch
from torch import nn
from torch.nn import functional as F

INF = float("inf")
SENTENCES = torch.tensor([[1, 2, 3, 4, 5, 6], [1, 2, 3, 0, 0, 0], [5, 6, 7, 8, 1, 2], [8, 7, 6, 5, 4, 3]])
WITH_NOTHING = SENTENCES.clone()
WITH_NOTHING[2] = 0
CLASSES = torch.tensor([0, 1, 2, 0])


class Net(nn.Module):
    """forward is a function of this module, which has the parts, and of the inputs."""

    def __init__(self, function, **parts):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        for name, part in parts.items():
            part = part()
            setattr(self, name, nn.Parameter(part) if isinstance(part, torch.Tensor) else part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def pooled(pool):
    return lambda m, t, y: F.mse_loss(m.h(pool(m.e(t).masked_fill((t == 0)[..., None], -INF)))[:, 0], y)


def attended(m, t, y):
    x = m.e(t)
    return F.cross_entropy(m.h(m.a(x, x, x, key_padding_mask=t == 0, need_weights=False)[0].mean(1)), y)


def gated(m, x):
    found = (x * m.w).topk(2)
    shares = torch.full_like(x, -INF).scatter(-1, found.indices, found.values).softmax(-1)
    return (shares * torch.arange(4.0)).sum()


def regularized(m, t, y):
    logits = m.h(m.e(t))
    kept = y != -1
    return F.cross_entropy(logits.transpose(1, 2), y, ignore_index=-1) + 0.1 * (logits.square().mean(-1) * kept).sum() / kept.sum()


def table():
    return nn.Embedding(9, 8)


class Later(Case):
    def expect_equal_at(self, net, example, *points):
        with self.subTest(str(net.function)):
            report = ostraka.export(net, example, self.path, overwrite=True)
            graph = ostraka.Graph(str(self.path), constants=report.constants_path)
            parameters = {name: p.detach() for name, p in net.named_parameters()}
            for point in points:
                net.zero_grad()
                loss = net(*point)
                loss.backward()
                mine, gradients = graph.gradient(parameters, **dict(zip(graph.inputs, point)))
                largest = max(float(p.grad.abs().max()) for p in net.parameters() if p.grad is not None)
                self.assertAlmostEqual(mine, float(loss.detach()), delta=MOST * max(1, abs(float(loss.detach()))))
                for name, p in net.named_parameters():
                    gap = torch.from_numpy(gradients[name]) - (0 if p.grad is None else p.grad)
                    self.assertLessEqual(float(gap.abs().max()), 2 * MOST * largest, name)

    def expect_refused(self, net, example, *words):
        with self.assertRaises(ValueError) as caught:
            ostraka.export(net, example, self.path, overwrite=True)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_padding(self):
        head = lambda: nn.Linear(8, 1)
        for pool in (lambda x: x.max(1).values, lambda x: x.amax(1)):
            self.expect_equal_at(Net(pooled(pool), e=table, h=head), (SENTENCES, torch.rand(4)), (SENTENCES, torch.tensor([50.0, -30, 0, 9])))
        head = lambda: nn.Linear(8, 3)
        heads = Net(attended, e=table, a=lambda: nn.MultiheadAttention(8, 2, batch_first=True), h=head)
        self.expect_equal_at(heads, (SENTENCES, CLASSES), (WITH_NOTHING, CLASSES))
        layer = Net(lambda m, t, y: F.cross_entropy(m.h(m.a(m.e(t), src_key_padding_mask=t == 0).mean(1)), y), e=table,
                    a=lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), h=head)
        self.expect_equal_at(layer, (SENTENCES, CLASSES), (WITH_NOTHING, CLASSES))
        self.expect_equal_at(layer, (SENTENCES[:, :3], CLASSES), (WITH_NOTHING[:, :3], CLASSES))
        last = Net(lambda m, t, x: (m.e(t)[torch.arange(4), (t != 0).sum(1) - 1] * x).sum(), e=table)
        self.expect_equal_at(last, (SENTENCES, torch.randn(8)), (WITH_NOTHING, torch.randn(8)))

    def test_places_that_come_twice(self):
        bag = Net(lambda m, t, x: (torch.zeros(2, 1000).scatter_(1, t, 1.0) @ m.w * x).sum(), w=lambda: torch.randn(1000))
        self.expect_equal_at(bag, (torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]), torch.randn(2)),
                             (torch.tensor([[1, 1, 3, 4], [5, 6, 7, 7]]), torch.randn(2)))
        spread = Net(lambda m, x: (torch.take_along_dim(m.w, m.w.sum(0, keepdim=True).argsort(-1)[:, :3], 1) * x).sum(),
                     w=lambda: torch.randn(3, 5))
        self.expect_equal_at(spread, (torch.randn(3, 3),), (torch.randn(3, 3),))

    def test_ties_and_infinities(self):
        middle = Net(lambda m, x: m.w.median() * 3 + (m.w * x).sum(), w=lambda: torch.tensor([1.0, 1, 1, 2, 0, 1, 1, 3]))
        self.expect_equal_at(middle, (torch.randn(8),), (torch.randn(8),))
        self.expect_equal_at(Net(gated, w=lambda: torch.randn(4)), (torch.randn(3, 4),), (torch.randn(3, 4),))
        largest = Net(lambda m, x: (m.w * x * (m.w * x).max(-1).indices[..., None]).sum(), w=lambda: torch.randn(3))
        self.expect_equal_at(largest, (torch.randn(3, 3),), (torch.randn(3, 3),))

    def test_numbers_that_the_example_lacks(self):
        few, more = torch.tensor([0, 1, 2]), torch.tensor([5, 4, 3])
        gather = Net(lambda m, x, t: -m.h(x).log_softmax(-1).gather(-1, t[..., None]).mean(), h=lambda: nn.Linear(4, 6))
        self.expect_equal_at(gather, (torch.randn(3, 4), few), (torch.randn(3, 4), more))
        one_hot = Net(lambda m, t, x: (F.one_hot(t, 6) * m.w * x).sum(), w=lambda: torch.randn(6))
        self.expect_equal_at(one_hot, (few, torch.randn(6)), (more, torch.randn(6)))
        moved = Net(lambda m, t, x: (m.e(t[1:]) * x).sum(), e=table)
        self.expect_equal_at(moved, (few, torch.randn(8)), (more, torch.randn(8)))
        net = Net(regularized, e=table, h=lambda: nn.Linear(8, 5))
        self.expect_equal_at(net, (SENTENCES, SENTENCES % 5), (SENTENCES, SENTENCES % 4))

    def test_losses_of_classes(self):
        weight = torch.tensor([0.5, 1.0, 2.0])
        kinds = [{"label_smoothing": 0.1}, {"weight": weight}, {"weight": weight, "label_smoothing": 0.2}, {"reduction": "sum"},
                 {"reduction": "none"}, {"ignore_index": 0}, {"ignore_index": 3, "weight": weight},
                 {"ignore_index": 0, "weight": weight, "label_smoothing": 0.1, "reduction": "sum"}]
        head = lambda: nn.Linear(5, 3)
        for kind in kinds:
            def loss(m, x, y):
                return (F.cross_entropy(m.h(x), y, **kind) * torch.arange(1.0, 5.0)).mean()
            some = CLASSES + 1 if kind.get("ignore_index") == 3 else CLASSES
            self.expect_equal_at(Net(loss, h=head), (torch.randn(4, 5), some), (torch.randn(4, 5), some.flip(0)))
        x, y = torch.randn(4, 5), CLASSES
        shares = lambda m, x, y: F.cross_entropy(m.h(x), F.one_hot(y, 3) * 0.9 + 0.05, label_smoothing=0.1)
        self.expect_equal_at(Net(shares, h=head), (x, y), (torch.randn(4, 5), y.flip(0)))
        own = Net(lambda m, x: F.cross_entropy(m.h(x), m.h(x).argmax(-1)), h=head)
        self.expect_equal_at(own, (x,), (torch.randn(4, 5),))
        following = Net(lambda m, tokens, x: F.cross_entropy((m.e(tokens) * x)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten() % 8), e=table)
        self.expect_equal_at(following, (SENTENCES, torch.randn(8)), (WITH_NOTHING, torch.randn(8)))

    def test_draws_are_whole_where_they_are_compared(self):
        for keep in (0.85, 0.996):
            net = Net(lambda m, x: (m.w * x * (torch.empty_like(m.w).bernoulli_(keep) == 1)).sum(), w=lambda: torch.randn(3))
            report, graph = self.exported(net, (torch.randn(3),), overwrite=True)
            loss = graph.loss({"w": net.w.detach()}, **{next(iter(graph.inputs)): torch.ones(3)})
            self.assertAlmostEqual(loss, float(net.w.sum()), delta=1e-6)  # an evaluation keeps all

    def test_refused_by_the_true_reason(self):
        far = Net(lambda m, t, x: (((t[:, 1:] * 50257 + t[:, :-1])[:, :, None] == t[:, None, :]) * x).sum() * m.e(t).sum(),
                  e=lambda: nn.Embedding(50257, 2))
        self.expect_refused(far, (torch.tensor([[4, 50000, 5]]), torch.randn(3)), "integers of up to", "exact up to 16777216")
        large = Net(lambda m, t, x: ((t > 10**9) * m.w * x).sum(), w=lambda: torch.randn(3))
        self.expect_refused(large, (torch.tensor([[10**12, 4, 5]]), torch.randn(3)), "the number 1000000000000")
        left_out = SENTENCES % 5 - 1
        self.expect_refused(Net(regularized, e=table, h=lambda: nn.Linear(8, 5)), (SENTENCES, left_out), "the number -1",
                            "give the module another input")
        shifting = Net(lambda m, t, y: F.cross_entropy(m.e(t)[:, :-1].flatten(0, 1), y[:, 1:].flatten()), e=table)
        self.expect_refused(shifting, (SENTENCES, SENTENCES % 8), "a part of the targets", "already shifted")
        smoothed = Net(lambda m, x, y: F.cross_entropy(m.h(x), y, label_smoothing=0.1), h=lambda: nn.Linear(4, 6))
        self.expect_refused(smoothed, (torch.randn(4, 4), CLASSES - 1), "label smoothing that leaves targets out")
        weighted = Net(lambda m, x, y: F.cross_entropy(m.h(x), y, torch.ones(6), ignore_index=-1), h=lambda: nn.Linear(4, 6))
        self.expect_refused(weighted, (torch.randn(4, 4), CLASSES - 1), "the number -1", "ignore_index=")


if __name__ == "__main__":
    unittest.main()

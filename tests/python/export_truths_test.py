"""Comparisons, orders, computed places and angles: values and gradients are eager PyTorch's, also where values are equal."""
import math
import unittest

from export_lowerings_test import MOST, ROWS, SEQUENCE, Lowered, Of  # ends with "skipped" without torch

import export_test
import torch
from export_test import tokens
from modules import Words
from torch import nn
from torch.nn import functional as F


class Truths(Lowered):
    def at(self, function, x):
        """The function's value at x, its gradient, and those of the graph."""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.x = nn.Parameter(x.clone())

            def forward(self, given):
                x = self.x + given
                y = function(x)
                return (y * torch.linspace(0.3, 1.7, y.numel()).reshape(y.shape)).sum() + (x * 0).sum()
        net, zero = Net(), torch.zeros_like(x)
        _, graph = self.exported(net, (zero,), overwrite=True, check=False)
        loss = net(zero)
        loss.backward()
        mine, gradients = graph.gradient({"x": x}, given=zero)
        return float(loss.detach()), net.x.grad, mine, torch.from_numpy(gradients["x"])

    def expect_edges(self, function, x):
        loss, gradient, mine, of_mine = self.at(function, x)
        self.assertAlmostEqual(mine, loss, delta=MOST * max(1, abs(loss)))
        torch.testing.assert_close(of_mine, gradient, rtol=0, atol=MOST * max(1, float(gradient.abs().max())))

    EDGES = torch.tensor([[0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1.0 + 2**-23, 3e18], [1.0, 1.0, 0.5, 2.0, -2.0, 0.25, 1e-38, -3e18]])

    def test_comparisons(self):
        for name in ("gt", "ge", "lt", "le", "eq", "ne"):
            with self.subTest(name):
                compare = getattr(torch, name)
                self.expect_edges(lambda x: compare(x, 0.0) * 1.0 + compare(x, 1.0) * 2.0, self.EDGES)
                self.expect_edges(lambda x: compare(x, x.flip(1)).float(), self.EDGES)

    def test_choices(self):
        self.expect_edges(lambda x: torch.where(x > 0, x * 0.5, x.tanh()), self.EDGES)
        self.expect_edges(lambda x: torch.where(x >= 1, x * 0.5, torch.tensor(-2.0)), self.EDGES)
        self.expect_edges(lambda x: x.masked_fill(x.abs() > 1, 0.125), self.EDGES)
        self.each(ROWS, {
            "softmax of what is left": lambda x: x.masked_fill(x < -1, -math.inf).softmax(-1),
            "or infinities of a tensor": lambda x: torch.where(x > 0, x, torch.tensor([-math.inf, 0.5] * 4)).softmax(-1),
            "truths": lambda x: x * ((x > -1) & ~(x > 1) | (x > 1.5) ^ (x < -1.5)),
            "logical": lambda x: x * torch.logical_xor(x > 0, torch.logical_not(x)).float(),
            "fixed truths": lambda x: x * ((x > 0) & torch.tensor([True, False] * 4)),
            "bool": lambda x: x * x.relu().bool(),
            "counts": lambda x: x / (x > 0).sum(1, keepdim=True).clamp(min=1),
            "of a masked constant": lambda x: torch.where(x > 0, torch.ones(8), torch.zeros(())) * x})

    def test_orders(self):
        self.each(ROWS, {
            "topk": lambda x: x.topk(3).values, "lowest": lambda x: x.topk(2, 0, False).values,
            "sort": lambda x: x.sort(-1, True).values, "sort up": lambda x: x.sort(0).values,
            "places": lambda x: x + x.argsort(-1) * 0.1, "argmin": lambda x: x * x.argmin(0),
            "argmax of all": lambda x: x * x.argmax(),
            "median": lambda x: x.median(-1).values, "median of all": lambda x: x * x.median(),
            "kthvalue": lambda x: x.kthvalue(2, -1, True).values})

    def test_ties_are_in_their_order(self):
        x = torch.tensor([[2.0, 1.0, 2.0, 2.0, -1.0, 1.0, 0.0, -0.0]])
        for descending in (False, True):
            with self.subTest(descending=descending):
                self.expect_edges(lambda x: torch.sort(x, stable=True, descending=descending).values * 1.0 +
                                  torch.sort(x, stable=True, descending=descending).indices, x)

    def test_computed_places(self):
        layer = nn.ModuleList([nn.Linear(8, 4), *(nn.Linear(8, 8) for _ in range(4))])

        def experts(x, parts):
            share, place = parts[0](x).softmax(-1).topk(2)
            return sum(each(x) * ((place == k) * share).sum(-1, keepdim=True) for k, each in enumerate(list(parts)[1:]))
        self.each(ROWS, {
            "gather": lambda x: x.gather(-1, x.argsort(-1)[:, 2:5]), "gather rows": lambda x: x.gather(0, x.argmax(0, True)),
            "one of each row": lambda x: torch.stack([x, x * 2], -1)[torch.arange(3), x.argmax(-1)],
            "index": lambda x: x[:, x.argmax(0)], "rows": lambda x: x[x.argsort(0)[:, 3]],
            "one hot": lambda x: x * F.one_hot(x.argmax(-1), 8),
            "scatter": lambda x: torch.ones_like(x).scatter(-1, x.topk(2).indices, x.topk(2).values),
            "scatter a number": lambda x: x * torch.zeros_like(x).scatter(-1, x.topk(2).indices, 1.0),
            "scatter_add": lambda x: x.scatter_add(-1, x.topk(3).indices, x[:, :3]),
            "experts": (experts, layer)})

    def test_angles(self):
        self.each(ROWS, {
            "sin": lambda x: (x * 3).sin(), "cos": lambda x: (x * 50).cos(), "tan": lambda x: (x * 0.2).tan(),
            "rotation": lambda x: torch.cat([x.sin() * x.flip(0), x.cos()], -1)})
        grid = torch.linspace(-8000, 8000, 4001).reshape(1, -1)
        near = torch.arange(-40, 40).reshape(1, -1) * (math.pi / 4)
        for x in (grid, near, torch.tensor([[0.0, 1e-30, -1e-45, 0.5, -0.5, 1.5707964, 3.1415927, 7999.0]])):
            for function in (torch.sin, torch.cos):
                _, gradient, _, mine = self.at(lambda x: function(x), x)
                self.assertLessEqual(float((mine - gradient).abs().max()), 3e-7 * 1.7)

    def test_integers(self):
        class Net(nn.Module):
            """Sentences that end in zeros, with places that count what is no zero, and targets by the mean."""

            def __init__(self):
                super().__init__()
                self.table, self.places, self.head = nn.Embedding(20, 8), nn.Embedding(9, 8), nn.Linear(8, 3)
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, tokens, targets):
                seen = tokens != 0
                x = self.table(tokens) + self.places(seen.cumsum(1) * seen)
                x = self.attention(x, x, x, key_padding_mask=~seen)[0]
                seen = seen.unsqueeze(-1)
                return F.cross_entropy(self.head((x * seen).sum(1) / seen.sum(1)), targets)
        sentences = torch.randint(1, 20, (4, 8))
        sentences[1, 5:], sentences[2, 1:] = 0, 0
        report, graph = self.exported(Net(), (sentences, torch.randint(0, 3, (4,))))
        self.assertEqual(graph.inputs["tokens"], "i32[4,8]")
        self.assertIn("\ninput tokens i32[4,8] 0 20\n", graph.text)
        self.assertNotIn("as in the example", str(report))

    def test_quotients(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(1000, 2)

            def forward(self, tokens, x):
                parts = [tokens // n + tokens % n * 1000 for n in (1, 2, 3, 7, 10, 999)]
                return (self.table(tokens).sum(-1) * sum(part * 1e-4 for part in parts) * x).sum()
        self.expect_equal(Net(), torch.arange(1000), torch.randn(1000))

    def test_labels_that_the_module_shifts(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 3)

            def forward(self, tokens, targets):
                before = tokens.new_zeros(tokens.shape)
                before[:, 1:] = tokens[:, :-1]
                before[:, 0] = 3
                return F.cross_entropy(self.head(self.table(before).sum(1)), targets)
        self.expect_equal(Net(), torch.randint(0, 20, (4, 6)), torch.randint(0, 3, (4,)))

    def test_masks_that_are_inputs(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(8, 8)

            def forward(self, mask, x):
                heads = self.a(x).reshape(2, 5, 2, 4).transpose(1, 2)
                y = F.scaled_dot_product_attention(heads, heads, heads, attn_mask=mask[:, None, None, :].bool())
                return (y.transpose(1, 2).reshape(x.shape) * mask[:, :, None]).square().sum() / mask.sum()
        mask = torch.ones(2, 5, dtype=torch.int64)
        mask[1, 2:] = 0
        report, graph = self.exported(Net(), {"mask": mask, "x": torch.randn(SEQUENCE)})
        self.assertIn("has numbers below 2, as in the example", str(report))
        nothing = torch.zeros_like(mask)  # a position that sees nothing
        nothing[0] = 1
        x, net = torch.randn(SEQUENCE), Net()
        parameters = {name: p.detach() for name, p in net.named_parameters()}
        self.compare(net, graph, parameters, [nothing, x])


class RefusedTruths(Lowered):
    expect_refused = export_test.Refused.expect_refused

    def test_what_is_not_written(self):
        for function, words in [
                (lambda m, t: m.x(t) * (m.x(t) // 2), ("rounds to integers", "of integers by a number")),
                (lambda m, t: m.x(t) * m.x(t)[m.x(t)[..., 0] > 0].sum(), ("shape that depends on values",)),
                (lambda m, t: m.x(t) * (m.x(t) > 0).any(), ("any", "not written")),
                (lambda m, t: m.x(t) * (m.x(t) * 9).long(), ("torch.int64", "float32")),
                (lambda m, t: m.x(t) * ((m.x(t) > 0) + (m.x(t) < 1)).float(), ("add of truths", "not written yet")),
                (lambda m, t: m.x(t) * (t * 7919 * 104729 % 64 > 3)[..., None], ("exact up to", "smaller factors")),
                (lambda m, t: m.x(t) * m.x(t).view(torch.int32), ("view of integers",))]:
            with self.subTest(words=words):
                self.expect_refused(Words(function), tokens(), ".py:", *words)

    def test_an_input_of_negative_numbers(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(4, 4)

            def forward(self, signs, x):
                return (self.a(x) * signs).sum()
        self.expect_refused(Net(), {"signs": torch.tensor([[1, -1, 1, -1]] * 2), "x": torch.randn(2, 4)}, "has the number -1 in the example",
                            "add to it")


if __name__ == "__main__":
    unittest.main()

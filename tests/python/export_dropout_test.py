"""Dropout of every form: a graph that is given what eager PyTorch drew has its gradients, and without draws those of an
evaluation."""
import copy
import unittest

from export_lowerings_test import IMAGE, ROWS, SEQUENCE, Lowered, Of, graphs  # ends with "skipped" without torch

import numpy
import ostraka_export
import torch
from export_test import MOST, tokens
from modules import Gpt
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


class Draws(TorchDispatchMode):
    """Keeps what eager dropout draws: 1 or 0 for each element."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in (torch.ops.aten.bernoulli_.float, torch.ops.aten.bernoulli.p):
            self.kept.append((result.clone(), args[1] if len(args) > 1 else 0.5))
        return result


class Dropout(Lowered):
    def expect_dropped(self, module, *example):
        """Returns the graph."""
        _, graph = self.exported(module.train(), example, overwrite=True)
        parameters = {name: p.detach() for name, p in module.named_parameters()}
        given = dict(zip(graph.inputs, example))
        drawn = [name for name in graph.inputs if name not in given]
        for _ in range(2):
            with Draws() as draws:
                module.zero_grad()
                loss = module(*example)
            loss.backward()
            self.assertEqual(len(draws.kept), len(drawn))
            masks = {name: kept / keep for name, (kept, keep) in zip(drawn, draws.kept)}
            mine, gradients = graph.gradient(parameters, **given, **masks)
            self.assertAlmostEqual(mine, float(loss.detach()), delta=MOST * max(1, abs(float(loss.detach()))))
            largest = max(float(p.grad.abs().max()) for p in module.parameters() if p.grad is not None)
            for name, p in module.named_parameters():
                apart = float((torch.from_numpy(gradients[name]) - (0 if p.grad is None else p.grad)).abs().max())
                self.assertLessEqual(apart, MOST * largest, name)
        self.compare(copy.deepcopy(module).eval(), graph, parameters, list(example))
        return graph

    def test_gpt(self):
        graph = self.expect_dropped(Gpt(dropout=0.1), *tokens())
        self.assertRegex(graph.text, r"\ninput drawn\.1 f32\[[0-9,]+\] keep 9e-01\n%1 ")

    def test_forms(self):
        heads = lambda x: x.reshape(2, 5, 2, 4).transpose(1, 2)
        attention = lambda x, **more: F.scaled_dot_product_attention(heads(x), heads(x * 2), heads(x), dropout_p=0.3, **more)
        cases = {
            "dropout": (ROWS, lambda x: F.dropout(x, 0.25)),
            "in place": (ROWS, lambda x: F.dropout(x * 2, 0.25, inplace=True)),
            "of a constant": (ROWS, lambda x: x * F.dropout(torch.ones(8), 0.25)),
            "twice": (ROWS, lambda x: F.dropout(F.dropout(x, 0.5).tanh(), 0.1)),
            "nearly all": (ROWS, lambda x: F.dropout(x, 0.99)),
            "channels": (IMAGE, lambda x: F.dropout2d(x, 0.4)),
            "channels of sequences": (SEQUENCE, lambda x: F.dropout1d(x, 0.4)),
            "attention": (SEQUENCE, attention),
            "causal attention": (SEQUENCE, lambda x: attention(x, is_causal=True)),
            "masked attention": (SEQUENCE, lambda x: attention(x, attn_mask=torch.eye(5).fliplr())),
            "heads": (SEQUENCE, lambda x, part: part(x, x, x)[0], nn.MultiheadAttention(8, 2, 0.2, batch_first=True)),
            "lstm": (SEQUENCE, lambda x, part: part(x)[0], nn.LSTM(8, 6, 3, dropout=0.3, batch_first=True)),
            "gru": (SEQUENCE, lambda x, part: part(x)[0], nn.GRU(8, 6, 2, dropout=0.3, bidirectional=True)),
            "encoder": (SEQUENCE, lambda x, part: part(x), nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True))}
        for name, (shape, function, *parts) in cases.items():
            with self.subTest(name):
                module = Of(function, shape, parts)
                if name in ("lstm", "gru", "heads", "encoder"):
                    self.expect_dropped(module, torch.randn(shape))
                    continue
                # The functions have no evaluation: what drops nothing is dropout of zero.
                _, graph = self.exported(module, (torch.randn(shape),), overwrite=True)
                self.assertIn(" keep ", graph.text)

    def test_given_draws(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 4)
                self.drop, self.channels = nn.Dropout(0.25), nn.Dropout1d(0.5)

            def forward(self, x, targets):
                y = self.drop(self.a(x).relu()) + self.channels(x[:, :, None])[:, :6, 0]
                return F.cross_entropy(self.b(y), targets)
        self.expect_dropped(Net(), torch.randn(5, 8), torch.randint(0, 4, (5,)))

    def test_beside_operators_in_place(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.norm, self.b = nn.Linear(8, 6), nn.BatchNorm1d(6, track_running_stats=False), nn.Linear(6, 4)
                self.relu, self.drop = nn.ReLU(inplace=True), nn.Dropout(0.25)

            def forward(self, x, targets):
                return F.cross_entropy(self.b(self.drop(self.relu(self.norm(self.a(x))))), targets)
        graph = self.expect_dropped(Net(), torch.randn(5, 8), torch.randint(0, 4, (5,)))
        self.assertNotIn("_scalar", graph.text[graph.text.index("\n%1 "):].partition(" relu ")[2])

    def test_stochastic_depth(self):
        class Path(nn.Module):
            def __init__(self, keep, scales):
                super().__init__()
                self.keep, self.scales = keep, scales

            def forward(self, x):
                if not self.training:
                    return x
                kept = x.new_empty((len(x), 1)).bernoulli_(self.keep)
                return x * (kept.div_(self.keep) if self.scales else kept)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.path, self.b = nn.Linear(8, 8), Path(0.7, True), nn.Linear(8, 4)

            def forward(self, x, targets):
                return F.cross_entropy(self.b(x + self.path(self.a(x).tanh())), targets)
        self.expect_dropped(Net(), torch.randn(5, 8), torch.randint(0, 4, (5,)))
        self.exported(Of(lambda x, path: path(x), ROWS, [Path(0.7, False)]), (torch.randn(ROWS),), overwrite=True)

    def test_names_that_parameters_have(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drawn = nn.ParameterList([nn.Parameter(torch.randn(8)) for _ in range(3)])

            def forward(self, x):
                for weight in self.drawn:
                    x = F.dropout(x * weight, 0.3, self.training)
                return x.square().mean()
        self.expect_dropped(Net(), torch.randn(ROWS))

    def test_second_verifier(self):
        module, example = Gpt(dropout=0.2), tokens()
        _, graph = self.exported(module, example)
        second = graphs.parse(graph.text.encode())
        self.assertEqual({name: shape for name, (shape, keep) in second.drawn.items()},
                         {"drawn.1": tuple(example[0].shape) + (module.wte.weight.shape[1],)})
        (shape, keep), = second.drawn.values()
        self.assertEqual(keep, numpy.float32(0.8))
        kept = (torch.rand(shape) < 0.8).numpy()
        inputs = {name: x.numpy() for name, x in zip(graph.inputs, example)}
        inputs["drawn.1"] = numpy.where(kept, numpy.float32(1) / keep, numpy.float32(0)).astype(numpy.float32)
        parameters = {name: p.detach().numpy() for name, p in module.named_parameters()}
        loss, gradients = graph.gradient(parameters, **inputs)
        constants = self.constants_of(graph)
        flat = numpy.concatenate([parameters[name].ravel() for name in second.parameters])
        again, gradient = graphs.loss_and_gradient(second, flat, inputs, constants)
        expected = numpy.concatenate([gradients[name].ravel() for name in second.parameters])
        numpy.testing.assert_array_equal(gradient.view(numpy.uint32), expected.view(numpy.uint32))
        self.assertEqual(numpy.float32(again), numpy.float32(loss))

    def constants_of(self, graph):
        path = f"{self.path}.constants.safetensors"
        return ostraka_export.read_tensors(path) if "\nconstant " in graph.text else {}

    def test_what_the_loss_does_not_need_is_not_drawn(self):
        def function(x):
            F.dropout(x, 0.5)
            return F.dropout(x, 0.25)
        _, graph = self.exported(Of(function, ROWS), (torch.randn(ROWS),))
        self.assertEqual(graph.text.count(" keep "), 1)
        self.assertIn("input drawn.2 f32[3,8] keep 7.5e-01\n", graph.text)

    def test_all_dropped(self):
        _, graph = self.exported(Of(lambda x: x + F.dropout(x.tanh(), 1.0), ROWS), (torch.randn(ROWS),))
        self.assertNotIn(" keep ", graph.text)

    def test_the_report_says_what_is_drawn(self):
        report, _ = self.exported(Gpt(dropout=0.1), tokens())
        self.assertIn("what is dropped is drawn from each batch's seed, as inputs of ", str(report))

    def test_dropout_that_is_computed_again(self):
        function = lambda x: checkpoint(lambda y: F.dropout(y.tanh(), 0.25), x, use_reentrant=False)
        with self.assertRaisesRegex(ValueError, "drops more often than its trace.*check=False"):
            self.exported(Of(function, ROWS), (torch.randn(ROWS),))
        self.exported(Of(function, ROWS), (torch.randn(ROWS),), check=False)


if __name__ == "__main__":
    unittest.main()

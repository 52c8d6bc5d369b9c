"""ostraka.export, operator by operator: gradients equal eager PyTorch's at points that the exporter did not choose, and
at the edges of what chooses."""
import math
import sys
import unittest
import warnings
from pathlib import Path

from export_test import MOST, Case, tokens  # ends with "skipped" without torch

import numpy
import ostraka
import ostraka_export
import torch
from modules import BATCH, CONTEXT, WIDTH, Words
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proofs" / "verifier"))
import graphs  # noqa: E402

POINTS = 2
IMAGE, SEQUENCE, ROWS = (2, 4, 9, 7), (2, 5, 8), (3, 8)


class Of(nn.Module):
    """A function of trained values beside an input, and a loss in which every element has a part of its own."""

    def __init__(self, function, shape, parts=()):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(shape[1:]))
        self.parts = nn.ModuleList(parts)
        self.function = function

    def forward(self, x):
        y = self.function(x + self.weight, *self.parts)
        return (y * y * torch.linspace(0.3, 1.7, y.numel()).reshape(y.shape)).mean() + y.mean()


class Lowered(Case):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")  # torch's own, of recurrent layers
        self.addCleanup(warnings.resetwarnings)

    def expect_equal(self, module, *example, **options):
        report, graph = self.exported(module, example, overwrite=True, **options)
        for _ in range(POINTS):
            inputs = [torch.randn_like(x) if x.is_floating_point() else x[torch.randperm(len(x))] for x in example]
            parameters = {name: p.detach() + 0.2 * torch.randn_like(p)
                          for name, p in module.named_parameters() if p.requires_grad}
            self.compare(module, graph, parameters, inputs)
        return report, graph

    def compare(self, module, graph, parameters, inputs):
        leaves = {name: p.clone().requires_grad_() for name, p in parameters.items()}
        buffers = {name: b.clone() for name, b in module.named_buffers()}
        loss = torch.func.functional_call(module, {**leaves, **buffers}, tuple(inputs))
        eager = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
        mine, gradients = graph.gradient(parameters, **dict(zip(graph.inputs, inputs)))
        largest = max(float(g.abs().max()) for g in eager if g is not None)
        self.assertAlmostEqual(mine, float(loss.detach()), delta=MOST * max(abs(float(loss.detach())), largest))
        for name, expected in zip(leaves, eager):
            expected = torch.zeros_like(leaves[name]) if expected is None else expected
            apart = float((torch.from_numpy(gradients[name]) - expected).abs().max())
            self.assertLessEqual(apart, MOST * largest, name)

    def each(self, shape, cases):
        """Cases: {name: function}, or {name: (function, module, ...)}."""
        for name, case in cases.items():
            function, *parts = case if isinstance(case, tuple) else (case,)
            with self.subTest(name):
                self.expect_equal(Of(function, shape, parts), torch.randn(shape))

    def layers(self, shape, *layers):
        self.each(shape, {str(layer): (lambda x, part: part(x), layer) for layer in layers})


class Windows(Lowered):
    def test_convolutions_of_images(self):
        self.layers(IMAGE, *(nn.Conv2d(4, 8, 3, **options) for options in (
            {}, {"stride": 2}, {"padding": 1}, {"padding": (2, 1), "stride": (3, 2)}, {"dilation": 2}, {"bias": False},
            {"padding": "same", "dilation": 2}, {"groups": 2}, {"groups": 4}, {"groups": 4, "stride": 2, "padding": 1},
            {"stride": 3}, {"stride": 5, "padding": 2}, {"padding": 3, "padding_mode": "reflect"},
            {"padding": 3, "padding_mode": "circular"}, {"padding": 3, "padding_mode": "replicate"})))
        self.layers(IMAGE, nn.Conv2d(4, 8, 1), nn.Conv2d(4, 8, 1, stride=2), nn.Conv2d(4, 4, 7, padding=3, groups=4))
        self.layers(IMAGE[1:], nn.Conv2d(4, 8, 3))  # no batch

    def test_other_convolutions(self):
        self.layers((2, 4, 11), *(nn.Conv1d(4, 8, 3, **options) for options in (
            {}, {"stride": 2, "padding": 2}, {"groups": 4, "padding": 1}, {"dilation": 3, "groups": 2})))
        self.layers((2, 4, 5, 6, 4), nn.Conv3d(4, 3, (2, 3, 2), stride=(1, 2, 1), padding=1))

    def test_largest_of_windows(self):
        self.layers(IMAGE, *(nn.MaxPool2d(*of, ceil_mode=ceil) for ceil in (False, True) for of in (
            (2,), (2, 1), (3, 2, 1), (3, 2, 0), (3, 1, 0, 2), ((3, 2), (2, 1), (1, 0)))))
        self.layers((2, 4, 11), nn.MaxPool1d(3, 2, 1))
        self.layers((2, 4, 5, 6, 4), nn.MaxPool3d(2))
        self.each(IMAGE, {"of equal ones": lambda x: F.max_pool2d(F.relu(x) + 1, 3, 2, 1)})

    def test_means_of_windows(self):
        self.layers(IMAGE, *(nn.AvgPool2d(*of, ceil_mode=ceil, count_include_pad=counted) for ceil in (False, True)
                             for counted in (False, True) for of in ((2,), (3, 2, 1), ((2, 3), 1, (1, 1)))))
        self.layers(IMAGE, nn.AvgPool2d(3, 2, 1, divisor_override=5), *(
            nn.AdaptiveAvgPool2d(size) for size in (1, (3, 7), (2, 3), (5, 4), (12, 7))))
        self.layers((2, 4, 11), nn.AvgPool1d(3, 2, 1), nn.AdaptiveAvgPool1d(3))
        self.layers((1, 1, 20000), nn.AdaptiveAvgPool1d(1))  # no matrix of all places

    def test_changes_of_size(self):
        self.layers(IMAGE, *(nn.Upsample(**options) for options in (
            {"scale_factor": 2}, {"size": (5, 10)}, {"scale_factor": 2, "mode": "bilinear"}, {"scale_factor": 2.4},
            {"scale_factor": 1.5, "mode": "bilinear", "align_corners": True},
            {"scale_factor": 2.3, "mode": "bicubic"}, {"size": (20, 21), "mode": "nearest-exact"})))
        self.layers((2, 4, 11), nn.Upsample(scale_factor=2, mode="linear"), nn.Upsample(scale_factor=0.5))
        self.layers((1, 1, 20000), nn.Upsample(scale_factor=2))
        self.layers((2, 4, 6, 8), nn.PixelShuffle(2), nn.PixelUnshuffle(2), nn.ChannelShuffle(2))

    def test_windows_as_they_are(self):
        self.layers(IMAGE, nn.Unfold((2, 3), padding=1, stride=2), nn.Unfold(2, dilation=2))
        self.each(ROWS, {"unfold": lambda x: x.unfold(1, 3, 2), "of rows": lambda x: x.unfold(0, 2, 1),
                         "pad": lambda x: F.pad(x, (1, 2, 3, -1), value=0.5), "cut": lambda x: F.pad(x, (-2, 1))})

    def test_an_image_that_is_too_large(self):
        module = Of(lambda x, part: part(x), (1, 8, 1, 1), [nn.Conv2d(8, 8, 9)])
        with self.assertRaisesRegex(ValueError, r"parts\.0 \(Conv2d\).*: the windows of this convolution are 3228221952 "
                                    "numbers; a tensor has at most 2147483647"):
            ostraka.export(module, (torch.zeros(1, 8, 2240, 2240),), self.path, check=False)


class Norms(Lowered):
    def test_by_the_batch(self):
        for layer in (nn.BatchNorm2d(4), nn.BatchNorm2d(4, affine=False), nn.InstanceNorm2d(4, affine=True),
                      nn.InstanceNorm2d(4), nn.GroupNorm(2, 4), nn.GroupNorm(4, 4, affine=False),
                      nn.BatchNorm2d(4, track_running_stats=False), nn.InstanceNorm2d(4, track_running_stats=True)):
            for training in (True, False):
                with self.subTest(f"{layer}, {training}"):
                    module = Of(lambda x, part: torch.sigmoid(part(x)), IMAGE, [layer]).train(training)
                    self.expect_equal(module, torch.randn(IMAGE))
        self.layers((6, 8), nn.BatchNorm1d(8))
        self.layers((2, 5, 7), nn.BatchNorm1d(5))

    def test_running_statistics(self):
        layer = nn.BatchNorm2d(4)
        nn.init.normal_(layer.running_mean)
        nn.init.uniform_(layer.running_var, 0.5, 2)
        kept = layer.running_mean.clone()
        report, _ = self.expect_equal(Of(lambda x, part: part(x), IMAGE, [layer]), torch.randn(IMAGE))
        self.assertEqual(report.statistics, ("parts.0.num_batches_tracked", "parts.0.running_mean",
                                             "parts.0.running_var"))
        self.assertIn("update_bn", str(report))
        self.assertTrue(torch.equal(layer.running_mean, kept))
        report, _ = self.expect_equal(Of(lambda x, part: part(x), IMAGE, [layer]).eval(), torch.randn(IMAGE))
        self.assertEqual(report.statistics, ())
        self.assertNotIn("update_bn", str(report))

    def test_of_weights(self):
        self.layers(ROWS, torch.nn.utils.weight_norm(nn.Linear(8, 5)))
        self.layers(SEQUENCE, torch.nn.utils.parametrizations.weight_norm(nn.Conv1d(5, 5, 3), dim=2))

    def test_lengths(self):
        self.each(ROWS, {"two": lambda x: x.norm(dim=1), "one": lambda x: x.norm(1, dim=1), "all": lambda x: x.norm() * x,
                         "inf": lambda x: x.norm(float("inf"), dim=0), "normalize": lambda x: F.normalize(x, dim=-1),
                         "cosine": lambda x: F.cosine_similarity(x, x.roll(1, 1))})


class Choices(Lowered):
    POINTWISE = {
        "clamp": lambda x: x.clamp(-1, 0.5), "below": lambda x: x.clamp(max=3), "above": lambda x: x.clamp(min=0),
        "hardtanh": F.hardtanh, "relu6": F.relu6, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid,
        "leaky_relu": lambda x: F.leaky_relu(x, 0.2), "elu": lambda x: F.elu(x, 0.7), "selu": F.selu,
        "celu": lambda x: F.celu(x, 2.0), "abs": torch.abs, "sign": lambda x: x.sign() * x, "exp": torch.exp,
        "threshold": lambda x: F.threshold(x, 0.5, 20.0), "softsign": F.softsign, "softplus": F.softplus,
        "steep": lambda x: F.softplus(x * 9, beta=2.0), "mish": F.mish, "log_sigmoid": F.logsigmoid,
        "l1": lambda x: F.l1_loss(x, x * x),
        "huber": lambda x: F.huber_loss(x, 2 * x, delta=3.0), "smooth": lambda x: F.smooth_l1_loss(x, 3 * x, beta=2.0),
        "mse": lambda x: F.mse_loss(x, x * x, reduction="sum")}
    AMONG = {
        "maximum": lambda x: torch.maximum(x, x.roll(1, 0)), "minimum": lambda x: torch.minimum(x, x.roll(1, 1)),
        "max of two": lambda x: torch.max(x, x.flip(0)), "amax": lambda x: x.amax(1), "amin": lambda x: x.amin(0),
        "amax of all": lambda x: x.amax((0, 1), keepdim=True), "max": lambda x: x.max(1).values,
        "max kept": lambda x: x.max(0, keepdim=True).values, "min": lambda x: x.min(1)[0],
        "max of all": lambda x: x.max() * x}

    def test_at_drawn_points(self):
        self.each(ROWS, self.POINTWISE | self.AMONG)
        self.each(ROWS, {"one slope": (lambda x, part: part(x), nn.PReLU()),
                         "slopes": (lambda x, part: part(x), nn.PReLU(8))})

    def test_at_the_edges(self):
        edges = torch.tensor([0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 2.0, 0.5]).repeat(4, 1)
        # 32 elements: torch 2.5 has another gradient of hardswish at 3 in what is left over from 16.
        for name, function in (self.POINTWISE | self.AMONG).items():
            with self.subTest(name):
                module = Of(function, edges.shape)
                nn.init.zeros_(module.weight)
                _, graph = self.exported(module, (torch.randn(edges.shape),), overwrite=True, check=False)
                self.compare(module, graph, {"weight": torch.zeros(8)}, [edges])

    def test_values_to_the_bit(self):
        """Of very different sizes, where a + relu(b - a) is not b."""
        module = Of(lambda x: torch.maximum(x, x.roll(1, 1)), ROWS)
        x = torch.randn(ROWS) * 10.0 ** torch.arange(-30, 2, 4)
        _, graph = self.exported(module, (x,))
        mine = graph.loss({"weight": torch.zeros(8)}, x=x)
        wanted = torch.maximum(x, x.roll(1, 1))
        module = Of(lambda x: x, ROWS)
        _, graph = self.exported(module, (x,), overwrite=True)
        self.assertEqual(mine, graph.loss({"weight": torch.zeros(8)}, x=wanted))


class Logarithms(Lowered):
    SHARES = torch.linspace(0, 1, 24).reshape(3, 8)
    CLASSES = torch.tensor([1, -100, 0])

    def test_of_numbers(self):
        self.each(ROWS, {"log": lambda x: (x.abs() + 1e-20).log(), "log2": lambda x: (x * x + 1e-3).log2(),
                         "large": lambda x: (x * 8).exp().log10(), "near one": lambda x: (1 + x.tanh() / 1000).log()})

    def test_values_of_all_sizes(self):
        module = Of(torch.log, (1, 1))
        _, graph = self.exported(module, (torch.ones(1, 1),))
        for size in (1e-37, 3e-20, 0.001, 0.4, 0.7, 0.71, 0.9999, 1.0, 1.0001, 1.41, 1.42, 2.0, 3.0, 1e5, 2e19, 3e38):
            x = torch.tensor([[size]])
            mine, wanted = graph.loss({"weight": torch.zeros(1)}, x=x), float(x.double().log())
            wanted = wanted * wanted * 0.3 + wanted
            self.assertAlmostEqual(mine, wanted, delta=3e-7 * abs(wanted), msg=size)
        self.assertFalse(math.isfinite(graph.loss({"weight": torch.zeros(1)}, x=torch.zeros(1, 1))))

    def test_of_sums(self):
        self.each(ROWS, {
            "logsumexp": lambda x: x.logsumexp(1), "of all": lambda x: (x * 30).logsumexp((0, 1), keepdim=True),
            "log_softmax": lambda x: x.log_softmax(-1), "of columns": lambda x: (x * x).log_softmax(0),
            "entropy": lambda x: (x.softmax(-1) * x.log_softmax(-1)).sum(-1),
            "divergence": lambda x: F.kl_div(x.log_softmax(1), self.SHARES.softmax(1), reduction="batchmean")})

    def test_losses(self):
        binary = F.binary_cross_entropy_with_logits
        self.each(ROWS, {
            "binary": lambda x: binary(x, self.SHARES), "weights": lambda x: binary(
                x, self.SHARES, pos_weight=torch.linspace(1, 3, 8), weight=torch.full((8,), 2.0), reduction="sum"),
            "fixed classes": lambda x: F.cross_entropy(x, self.CLASSES), "a sum": lambda x: F.cross_entropy(
                x, self.CLASSES, reduction="sum"), "each": lambda x: F.cross_entropy(x, self.CLASSES, reduction="none"),
            "of weights": lambda x: F.cross_entropy(x, self.CLASSES, weight=torch.linspace(1, 2, 8)),
            "nll": lambda x: F.nll_loss((x * x).log_softmax(0), self.CLASSES)})
        self.each((2, 4, 3, 2), {"classes second": lambda x: F.cross_entropy(x, torch.arange(12).reshape(2, 3, 2) % 4)})


class Selection(Lowered):
    PLACES, MANY = torch.tensor([3, 1, 1, 7]), torch.randint(0, 8, (300,), generator=torch.Generator().manual_seed(3))

    def test_fixed_indices(self):
        self.each(ROWS, {
            "of an axis": lambda x: x[:, self.PLACES], "many": lambda x: x[:, self.MANY], "flip": lambda x: x.flip(0, 1),
            "of two": lambda x: x[torch.tensor([0, 2, 1]), torch.tensor([5, -3, 0])], "back": lambda x: x[:, [-1, 0]],
            "periods": lambda x: x[:, self.PLACES.repeat(30)], "index_select": lambda x: x.index_select(1, self.PLACES),
            "gather": lambda x: x.gather(1, torch.tensor([[0, 1], [7, 7], [3, 2]])),
            "gather rows": lambda x: x.gather(0, torch.tensor([[0, 1, 2, 0], [2, 2, 2, 1]])),
            "diagonal": lambda x: (x.T @ x).diagonal(1), "tril": lambda x: x.tril(1), "nothing": lambda x: torch.cat(
                [x[:, 4:4], x], 1), "repeated": lambda x: x.repeat_interleave(2, 0)})
        alike = torch.arange(5)[None, :, None].expand(2, 5, 3) + torch.arange(3)
        self.each(SEQUENCE, {
            "gather alike": lambda x: x.gather(2, alike), "middle": lambda x: x[:, torch.tensor([[0, 4], [2, 2]])],
            "apart": lambda x: x[torch.tensor([0, 1]), :, torch.tensor([3, 4])]})

    def test_tables_at_fixed_places(self):
        distance = (torch.arange(40)[:, None] - torch.arange(40)).abs().clamp(max=30)
        self.each(ROWS, {"bias": (lambda x, table: table(distance).permute(2, 0, 1) * x.mean(), nn.Embedding(31, 2))})

    def test_parts_that_are_written_to(self):
        def built(x):
            y = torch.empty(3, 8)
            y[:, 0] = x[:, 1]
            y[:, 1:] = x[:, :7] * 2
            return y

        def changed(x):
            y = torch.zeros_like(x)
            y[1] = x[0]
            y[:, 2:5] += x[:, :3]
            y[:, ::2] = x[:, 1::2]
            return y
        self.each(ROWS, {"built": built, "changed": changed, "like": lambda x: x * torch.full_like(x, 3) + x.new_ones(8)})

    def test_a_padding_row(self):
        """Eager PyTorch's lookup passes it no gradient, and other uses of the table do."""
        for tied in (False, True):
            words = Words(lambda m, t: m.x(t), padding_idx=3)
            nn.init.normal_(words.table.weight)
            if tied:
                words.head.weight = words.table.weight
            example = tokens()
            example[0][:, ::4] = 3
            _, graph = self.expect_equal(words, *example)
            self.assertNotIn("constant padding", graph.text)
            parameters = {name: p.detach() for name, p in words.named_parameters()}
            _, gradients = graph.gradient(parameters, tokens=example[0], targets=example[1])
            self.assertEqual(bool(gradients["table.weight"][3].any()), tied)

    def test_what_passes_no_gradient(self):
        """Of all sizes that a row of a table has."""
        words = Words(lambda m, t: m.x(t), padding_idx=0)
        example = torch.zeros(BATCH, CONTEXT, dtype=torch.long), tokens()[1]
        _, graph = self.exported(words, example)
        for scale in (1e-8, 1e-5, 0.02, 1.0, 30.0, 1000.0):
            parameters = {name: p.detach().clone() for name, p in words.named_parameters()}
            parameters["table.weight"][0] = scale * torch.randn(WIDTH)
            parameters["layer.weight"] /= scale
            _, gradients = graph.gradient(parameters, tokens=example[0], targets=example[1])
            self.assertFalse(gradients["table.weight"].any())
            self.compare(words, graph, parameters, example)


def sinkhorn(scores, rounds=3, temperature=0.05):
    """Of n rows of scores for k prototypes: codes that use each prototype alike (Caron et al., NeurIPS 2020)."""
    codes = torch.exp(scores / temperature).t()
    codes = codes / codes.sum()
    for _ in range(rounds):
        codes = codes / codes.sum(dim=1, keepdim=True) / codes.shape[0]
        codes = codes / codes.sum(dim=0, keepdim=True) / codes.shape[1]
    return (codes * codes.shape[1]).t()


class Swav(nn.Module):
    """SwAV's loss of two crops of each image: each predicts the other's code, which passes no gradient."""

    def __init__(self, prototypes=6):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 16))
        self.prototypes = nn.Linear(16, prototypes, bias=False)

    def forward(self, first, second):
        weight = F.normalize(self.prototypes.weight)
        scores = [F.linear(F.normalize(self.body(crop)), weight) for crop in (first, second)]
        with torch.no_grad():
            codes = [sinkhorn(of) for of in scores]
        return -sum((code * F.log_softmax(score / 0.1, -1)).sum(-1).mean()
                    for code, score in zip(codes, reversed(scores))) / 2


class Stopped(Lowered):
    def test_by_detach(self):
        self.each(ROWS, {"one of two uses": lambda x: x * x.detach().tanh(), "of a part": lambda x: x * x[:, :1].detach(),
                         "of what is stopped": lambda x: x * x.detach().tanh().detach(),
                         "beside a change in place": lambda x: (x * 2).mul_(3) * x.detach().tanh(),
                         "all of a part": (lambda x, part: x * part(x).detach(), nn.Linear(8, 8)),
                         "log_softmax": lambda x: x * F.log_softmax(x, -1).detach()})
        _, graph = self.expect_equal(Of(lambda x: x + (x * 2).detach() + (x * 2), ROWS), torch.randn(ROWS))
        self.assertEqual(self.path.read_text().count("stop_gradient"), 1)

    def test_by_no_grad(self):
        def function(x):
            with torch.no_grad():
                y = x.tanh()
                with torch.enable_grad():
                    z = x.sigmoid() * y
                y = y.exp()
            return x * y + z + x.sigmoid()

        def beside(x, norm):
            with torch.no_grad():
                y = (x * 2).mul_(3)
                with torch.enable_grad():
                    w = x.sigmoid() * y
                z = (norm(x.tanh()) + y).relu_()
            return x * y + norm(x) * z + w
        self.each(ROWS, {"regions": function, "changes in place": (beside, nn.BatchNorm1d(8))})

    def test_swav(self):
        crops = torch.randn(8, 3, 8, 8), torch.randn(8, 3, 8, 8)
        self.expect_equal(Swav(), *crops)
        kept = self.path.read_text()
        self.assertIn("stop_gradient", kept)


class Layers(Lowered):
    def test_recurrent(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            for options in ({}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True}, {"bias": False},
                            {"num_layers": 2, "dropout": 0.3}):
                with self.subTest(f"{kind.__name__} {options}"):
                    module = Of(lambda x, part: torch.cat([part(x)[0].flatten(), *(
                        end.flatten() for end in torch.utils._pytree.tree_leaves(part(x)[1]))]), SEQUENCE,
                        [kind(8, 6, **options)])
                    self.expect_equal(module.eval(), torch.randn(SEQUENCE))
        self.each(SEQUENCE[1:], {"no batch": (lambda x, part: part(x)[0], nn.LSTM(8, 6, 2))})
        self.each(SEQUENCE, {"relu": (lambda x, part: part(x)[0], nn.RNN(8, 6, nonlinearity="relu"))})

    def test_cells(self):
        self.each(ROWS, {"lstm": (lambda x, part: torch.cat(part(x)), nn.LSTMCell(8, 6)),
                         "gru": (lambda x, part: part(x, x[:, :6]), nn.GRUCell(8, 6)),
                         "rnn": (lambda x, part: part(x), nn.RNNCell(8, 6))})

    def test_attention_with_masks_that_are_no_constants_of_all(self):
        slopes = torch.arange(50).reshape(1, 2, 5, 5) * -0.1
        shown = torch.eye(5, dtype=torch.bool) | (torch.rand(2, 5, 5, generator=torch.Generator().manual_seed(1)) > 0.5)

        def heads(x):
            q, k, v = x.reshape(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
            return q, k, v

        def trained(x, table, **options):
            q, k, v = heads(x)
            if options:
                k, v = k[:, :1], v[:, :1]
            return F.scaled_dot_product_attention(q, k, v, attn_mask=table.weight.view(2, 5, 5), **options)
        attention = F.scaled_dot_product_attention
        self.each((2, 5, 24), {
            "trained": (trained, nn.Embedding(10, 5)),
            "groups": (lambda x, table: trained(x, table, enable_gqa=True), nn.Embedding(10, 5)),
            "of each head": lambda x: attention(*heads(x), attn_mask=slopes),
            "shown by head": lambda x: attention(*heads(x), attn_mask=shown),
            "wide values": lambda x: attention(*heads(x)[:2], torch.cat([heads(x)[2]] * 2, -1), is_causal=True),
            "fewer queries": lambda x: attention(heads(x)[0][:, :, :3], *heads(x)[1:], is_causal=True)})

    def test_products_and_sums(self):
        self.each(SEQUENCE, {"baddbmm": lambda x: torch.baddbmm(x[:, :, :5], x, x.transpose(1, 2), beta=0.3, alpha=2),
                             "einsum": lambda x: torch.einsum("bij,bkj->bik", x, x),
                             "of one side": lambda x: torch.einsum("bij->j", x)})
        self.each(ROWS, {"addmm": lambda x: torch.addmm(x[:, :3], x, x.T, beta=2, alpha=0.5),
                         "cumsum": lambda x: x.cumsum(1), "mv": lambda x: x.mv(x[0]), "addcmul": lambda x: torch.addcmul(x, x, x, value=0.5),
                         "addcdiv": lambda x: torch.addcdiv(x, x, x.exp()), "lerp": lambda x: torch.lerp(x, x * x, 0.3),
                         "glu": F.glu, "tensordot": lambda x: torch.tensordot(x, x, ([0], [0])),
                         "outer": lambda x: torch.outer(x[0], x[1]), "diff": lambda x: x.diff(dim=1)})


class SecondVerifier(Lowered):
    """proofs/verifier computes what export makes of choices, logarithms and padding to the same bits: infinities on the
    way, and numbers below the smallest."""

    def test_equal_bits(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(7, 4, padding_idx=2)
                self.conv, self.norm, self.head = nn.Conv1d(4, 6, 3, padding=1), nn.BatchNorm1d(6), nn.Linear(6, 5)
                nn.init.normal_(self.table.weight)

            def forward(self, tokens, targets):
                x = F.max_pool1d(F.elu(self.norm(self.conv(self.table(tokens).transpose(1, 2)))), 3, 2, 1)
                y = self.head(x.amax(2))
                return F.cross_entropy(y, targets) + F.softplus(y).mean() + y.log_softmax(0).square().mean() + \
                    y.clamp(-1, 1).norm()
        example = torch.randint(0, 7, (3, 8)), torch.randint(0, 5, (3,))
        module = Net()
        report, graph = self.exported(module, example)
        parameters = {name: p.detach().numpy() for name, p in module.named_parameters()}
        inputs = {name: x.numpy() for name, x in zip(graph.inputs, example)}
        loss, gradients = graph.gradient(parameters, **inputs)
        second = graphs.parse(graph.text.encode())
        constants = ostraka_export.read_tensors(report.constants_path) if report.constants_path else {}
        flat = numpy.concatenate([parameters[name].ravel() for name in second.parameters])
        again, gradient = graphs.loss_and_gradient(second, flat, inputs, constants)
        expected = numpy.concatenate([gradients[name].ravel() for name in second.parameters])
        numpy.testing.assert_array_equal(gradient.view(numpy.uint32), expected.view(numpy.uint32))
        self.assertEqual(numpy.float32(again), numpy.float32(loss))
        self.assertTrue(numpy.isfinite(expected).all() and expected.any())


class Twice(Lowered):
    def test_weights_that_two_lowerings_share(self):
        conv, flat = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1, stride=2, bias=False)
        flat.weight = conv.weight
        self.each(IMAGE, {"shared": (lambda x, a, b: b(F.relu(a(a(x)))), conv, flat)})

    def test_frozen_layers(self):
        conv = nn.Conv2d(4, 4, 3).requires_grad_(False)
        norm = nn.BatchNorm2d(4).requires_grad_(False)
        self.each(IMAGE, {"frozen": (lambda x, a, b: b(a(x)), conv, norm)})


if __name__ == "__main__":
    unittest.main()

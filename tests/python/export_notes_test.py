"""What ostraka.export says: reasons and remedies of refusals, and what a run does otherwise than the module."""
import contextlib
import io
import random
import types
import unittest
from unittest import mock

from export_test import Case, tokens, transformers  # ends with "skipped" without torch

import modules
import numpy
import ostraka
import torch
from modules import BATCH, CONTEXT, VOCABULARY, WIDTH, Words, next_token_loss
from ostraka_export.initial import could_draw, law_of
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Returning(Words):
    """Its forward's result is made of logits and loss."""

    def __init__(self, result):
        super().__init__(None)
        self.result = result

    def forward(self, tokens, targets=None):
        logits = self.head(self.x(tokens))
        return self.result(logits, None if targets is None else next_token_loss(logits, targets))


class Noted(Case):
    def said(self, module, example, **options):
        """(report, text on stderr)."""
        with contextlib.redirect_stderr(io.StringIO()) as text:
            report = ostraka.export(module, example, self.path, overwrite=True, **options)
        return report, text.getvalue()

    def refused(self, module, example, *words, **options):
        """Returns what else came to stderr."""
        self.path.unlink(missing_ok=True)
        with contextlib.redirect_stderr(io.StringIO()) as text, self.assertRaises(ValueError) as caught:
            ostraka.export(module, example, self.path, **options)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        for word in words:
            self.assertIn(word, message)
        self.assertFalse(self.path.exists())
        return text.getvalue()


class Refusals(Noted):
    def test_logits_without_a_loss(self):
        for result, what in [(lambda logits, _: logits, "a tensor of [2, 12, 37]"),
                             (lambda logits, _: {"logits": logits}, "a dict of [2, 12, 37]"),
                             (lambda logits, _: types.SimpleNamespace(logits=logits), "a SimpleNamespace")]:
            self.refused(Returning(result), tokens(), what, "loss='cross_entropy'")
            self.said(Returning(result), tokens(), loss="cross_entropy")
        self.refused(Returning(lambda logits, loss: (loss, 2 * loss)), tokens(), "returns 2 numbers", "sum")

    def test_a_branch_by_a_value(self):
        def chosen(m, t):
            x = m.x(t)
            if x.mean() > 0:
                x = x * 2
            return x
        left = self.refused(Words(chosen), tokens(), "the module (Words), export_notes_test.py:", "`if x.mean() > 0:`",
                            "takes a branch or a shape by a value", "module.eval()")
        self.assertEqual(left, "")
        self.refused(Words(lambda m, t: m.x(t) + m.x(t)[m.x(t) > 0].mean()), tokens(), "the module (Words)")

    def test_labels_that_are_shifted_inside(self):
        shifted = Returning(lambda logits, loss: loss)
        shifted.forward = lambda tokens, targets: F.cross_entropy(
            shifted.head(shifted.x(tokens)).flatten(0, 1), F.pad(targets, (0, 1), value=-100)[:, 1:].flatten())
        self.refused(shifted, tokens(), "targets is shifted in the module (labels=...)",
                     "export the logits with loss='cross_entropy'")

    def test_targets_of_minus_hundred(self):
        example = tokens()
        example[1][:, ::3] = -100
        for options in ({}, {"loss": "cross_entropy"}):
            self.refused(Returning(lambda logits, loss: logits if loss is None else loss), example,
                         "the targets have -100", "a run gives -1", "targets.clamp(min=-1)", "ignore_index=-1", **options)
        self.said(Returning(lambda logits, loss: loss), (example[0], example[1].clamp(min=-1)))  # the remedy

    def test_several_results(self):
        for result in (lambda logits, loss: (logits, loss), lambda logits, loss: {"loss": loss, "logits": logits},
                       lambda logits, loss: types.SimpleNamespace(loss=loss, logits=logits), lambda logits, loss: [loss]):
            report, _ = self.said(Returning(result), tokens())
            self.assertIn("head.weight", report.initial)
        last = Returning(lambda logits, loss: (logits[:, -1:], loss))
        self.refused(last, tokens(), "logits are [2, 1, 37] for targets of [2, 12]", "leave out loss=", loss="cross_entropy")

    def test_functions_that_hide_layers(self):
        def reentrant(m, t):
            return checkpoint(m.layer, m.table(t), use_reentrant=True)

        class Reversible(torch.autograd.Function):
            @staticmethod
            def forward(context, x, layer):
                with torch.no_grad():
                    return layer(x)

            @staticmethod
            def backward(context, gradient):
                return gradient, None
        self.refused(Words(reentrant), tokens(), "use_reentrant=False")
        self.refused(Words(lambda m, t: Reversible.apply(m.table(t), m.layer)), tokens(),
                     "call the layers without the torch.autograd.Function Reversible")

    def test_what_is_not_written_yet(self):
        for name, function in [("atan", torch.atan), ("round", lambda x: x * x.round()),
                               ("index_put", lambda x: x.index_put((torch.tensor([1]),), x[:1]))]:
            self.refused(Words(lambda m, t: function(m.x(t))), tokens(), name, "not written yet")

    def test_examples_by_name(self):
        first, last = tokens()

        class Named(Returning):
            def forward(self, tokens, unused=None, kinds=None, targets=None):
                x = self.x(tokens) + self.table(kinds)
                return next_token_loss(self.head(x), targets) if targets is not None else (self.head(x),)
        module = Named(None)
        for options in ({}, {"loss": "cross_entropy"}):
            self.said(module, {"kinds": first % 2, "targets": last, "tokens": first}, **options)
            graph = ostraka.Graph(str(self.path))
            self.assertEqual(set(graph.inputs), {"kinds", "tokens", "targets"})
        self.said(Returning(lambda logits, loss: (logits,)), {"tokens": first, "labels": last}, loss="cross_entropy")
        self.refused(module, {"tokens": first}, "it needs 'targets', too", loss="cross_entropy")
        self.refused(module, {"tokens": [1, 2]}, "a dict of them by the names")
        self.refused(module, (), "a dict of them by the names")
        self.refused(module, (torch.zeros(0, 4), last), "the example's tokens is [0, 4]: a graph has no empty tensors")

    def test_too_many_lines(self):
        module = Words(lambda m, t: m.x(t) + m.gru(m.x(t).reshape(-1, 1, WIDTH))[0].mean(0))
        module.gru = nn.GRU(WIDTH, WIDTH)
        with mock.patch("ostraka_export.exporter.MOST_LINES", 300):
            self.refused(module, tokens(), "gru (GRU)", "the graph has ", " lines", "at most 300")
        self.said(module, tokens())


class Chance(Noted):
    def test_layers_that_are_dropped_rarely(self):
        for draw in (random.random, numpy.random.rand):
            def dropped(m, t, draw=draw):
                x = m.x(t)
                for _ in range(4):
                    if m.training and draw() < 0.01:
                        continue
                    x = x + m.layer(x)
                return x
            before = random.getstate(), numpy.random.get_state()[1].copy()
            for _ in range(3):
                self.refused(Words(dropped), tokens(), "draws by chance", "module.eval()")
            self.assertEqual(random.getstate(), before[0])
            self.assertTrue((numpy.random.get_state()[1] == before[1]).all())
            self.said(Words(dropped).eval(), tokens())

    def test_what_is_drawn_for_nothing(self):
        self.said(Words(lambda m, t: m.x(t) if random.random() < 2 else None), tokens())

    def test_a_generator_of_its_own(self):
        generator = random.Random(1)
        self.refused(Words(lambda m, t: m.x(t) * (1 + generator.random())), tokens(), "chance")


class Wrapped(Noted):
    def test_names_are_the_inner_modules(self):
        inner = modules.Gpt(layers=1)
        names = [name for name, _ in inner.named_parameters()]
        for module in (torch.compile(inner), nn.DataParallel(inner), torch.compile(nn.DataParallel(inner))):
            report, _ = self.said(module, tokens())
            self.assertEqual(list(report.initial), names)
        if not hasattr(torch.compiler, "set_stance"):  # before 2.6 a trace runs what is compiled inside, and fails
            return
        words = Words(lambda m, t: m.x(t))
        words.layer = torch.compile(words.layer)
        report, said = self.said(words, tokens())
        self.assertIn("_orig_mod is in the names", said)


class Laws(Noted):
    def test_values_that_no_law_draws(self):
        generator = torch.Generator().manual_seed(5)
        for values in (torch.full((8,), 1e-5), torch.tensor(2.66), torch.eye(8), torch.linspace(1, 8, 8),
                       1 + 0.02 * torch.randn(64, generator=generator), torch.randn(4000, generator=generator) ** 3,
                       torch.tensor([0.5, 0.5, 0.5])):
            self.assertFalse(could_draw(law_of(values), values), values)
        for layer in (nn.Linear(16, 37), nn.Conv2d(3, 8, 3), nn.Embedding(37, 16, padding_idx=3), nn.LayerNorm(8)):
            for values in layer.parameters():
                self.assertTrue(could_draw(law_of(values), values), layer)

    def test_false_alarms_are_rare(self):
        generator = torch.Generator().manual_seed(6)
        for count in (2, 5, 8, 16, 64, 700, 20000):
            found = 0
            for _ in range(150):
                for values in (torch.randn(count, generator=generator), torch.rand(count, generator=generator) - 0.5):
                    found += not could_draw(law_of(values), values)
            self.assertLessEqual(found, 2, count)

    def test_what_is_said(self):
        words = Words(lambda m, t: m.x(t) * m.size)
        words.size = nn.Parameter(torch.full((WIDTH,), 0.1))
        report, said = self.said(words, tokens())
        self.assertEqual(said.count("\n"), 1)
        self.assertIn("no law of a graph fits the values of size (uniform 1e-01)", said)
        self.assertIn("does not carry the values", str(report))
        for name, law in report.initial.items():
            self.assertIn(f"{name} {law}", str(report))
        report, said = self.said(words, tokens(), initial={"size": "ones"})
        self.assertEqual((said, report.notes), ("", ()))


class Data(Noted):
    def causal(self, kinds, positions=CONTEXT):
        class Plain(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.head = nn.Embedding(kinds, WIDTH), nn.Linear(WIDTH, kinds)

            def forward(self, tokens):
                return self.head(self.table(tokens))
        example = tuple(torch.randint(0, kinds, (BATCH, positions)) for _ in range(2))
        return self.said(Plain(), example, loss="cross_entropy")[0]

    def test_which_data_feeds_the_graph(self):
        self.assertIn("--data text:FILE feeds it, in records of 12 bytes", self.causal(256).data)
        self.assertIn("--data tokens:FILE of ostraka.data.pack", self.causal(1000).data)
        self.assertIn("of at most 1000 tokens; also --data text:FILE", self.causal(1000).data)
        self.assertIn("of at most 100 tokens", self.causal(100).data)
        self.assertNotIn("text:FILE", self.causal(100).data)
        self.assertIn("--data tokens:FILE", str(self.causal(100)))
        report, _ = self.said(modules.Vit(), (torch.randn(BATCH, 1, 8, 8), torch.randint(0, 10, (BATCH,))))
        self.assertIn("images with 64 features and at most 10 classes", report.data)
        report, _ = self.said(nn.Sequential(nn.Flatten(0), nn.Linear(8, 1)), (torch.randn(2, 4),))
        self.assertIn("--data examples:FILE of ostraka.data.pack_examples feeds it, with the columns input [4]", report.data)

    def test_positions_that_see_their_targets(self):
        report, said = self.said(modules.Bert(), tokens())
        self.assertIn("each position sees the next token", said)
        for module in (modules.Gpt(), modules.Llama()):
            report, said = self.said(module, tokens())
            self.assertNotIn("next token", said)


@unittest.skipUnless(transformers, "NOT TESTED: no transformers")
class HuggingFace(Noted):
    def test_padding_as_it_comes(self):
        """Tables that are tied to the head, with the padding row that the configuration names."""
        config = transformers.BertConfig(vocab_size=VOCABULARY, hidden_size=16, intermediate_size=24, num_hidden_layers=1,
                                         num_attention_heads=2, max_position_embeddings=CONTEXT)
        self.assertEqual(config.pad_token_id, 0)
        example = tokens()
        example[0][:, ::3] = 0
        self.said(transformers.BertForMaskedLM(config).eval(), example, loss="cross_entropy")

    def test_results_of_its_own_kind(self):
        config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=16, intermediate_size=24, num_hidden_layers=1,
                                          num_attention_heads=2)
        module = transformers.LlamaForCausalLM(config).eval()
        self.refused(module, tokens()[:1], "CausalLMOutputWithPast", "loss='cross_entropy'")
        first, last = tokens()
        self.refused(module, {"input_ids": first, "labels": last}, "shifted in the module", "loss='cross_entropy'")
        self.said(module, {"input_ids": first, "labels": last}, loss="cross_entropy")

    def test_a_trained_bias_of_attention(self):
        config = transformers.T5Config(vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2,
                                       dropout_rate=0.0, decoder_start_token_id=0)

        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = transformers.T5ForConditionalGeneration(config)

            def forward(self, tokens, targets):
                logits = self.inner(input_ids=tokens, decoder_input_ids=tokens).logits
                return next_token_loss(logits, targets)
        self.said(Both(), tokens())


if __name__ == "__main__":
    unittest.main()

"""The second verifier's gradients (proofs/verifier/graphs.py) and losses are those of the node's kernels, bit for bit: operation by
operation, and on random graphs, for ordinary and for wild values."""
import random
import re
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import ostraka

from random_graphs import GraphMaker

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "proofs" / "verifier"))

import graphs  # noqa: E402

GRAPHS = 300
SPECIALS = np.array([0, -0.0, np.inf, -np.inf, 2.0**-149, -2.0**-130, 2.0**-126, 3e38, -3e38, 88.72284, -87, np.nan], np.float32)


def operation_cases():
    """{name: a graph file}: those that tests/unit/exact/run/gradient_test.cpp differentiates."""
    source = (ROOT / "exact/device/operation_cases.h").read_text()
    table = source[source.index("kOperationCases[] = {"):]
    cases = re.findall(r'\{"(\w+)",\s+((?:"[^"]*"\s*)+)\}', table)
    return {name: "ostraka-graph 1\n" + "".join(re.findall(r'"([^"]*)"', lines)).replace("\\n", "\n") for name, lines in cases}


def draw_inputs(text, rng):
    inputs = {}
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "input":
            shape = graphs.shape_of(words[2])
            of_floats = words[2].startswith("f32")
            inputs[words[1]] = np.asarray(rng.normal(size=shape), "float32") if of_floats else rng.integers(
                int(words[3]), int(words[4]), shape)
    return inputs


def draw_parameters(graph, rng, wild):
    """One in `wild` is special; 0: none."""
    parameters = {}
    for name, shape in graph.parameters.items():
        values = rng.normal(size=shape).astype("float32")
        if wild:
            special = rng.integers(0, wild, shape) == 0
            values = np.where(special, rng.choice(SPECIALS, shape), values).astype("float32")
        parameters[name] = np.asarray(values)
    return parameters


class SecondGradientsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name) / "a.graph")

    def check(self, text, seed, wild):
        """Returns how many elements of the gradient are finite and not zero."""
        Path(self.path).write_text(text)
        first, second = ostraka.Graph(self.path, threads=1), graphs.parse(text.encode())
        rng = np.random.default_rng(seed)
        parameters, inputs = draw_parameters(second, rng, wild), draw_inputs(text, rng)
        loss, gradients = first.gradient(parameters, **inputs)
        flat = np.concatenate([values.reshape(-1) for values in parameters.values()])
        again, gradient = graphs.loss_and_gradient(second, flat, inputs, {})
        expected = np.concatenate([gradients[name].reshape(-1) for name in second.parameters])
        np.testing.assert_array_equal(gradient.view(np.uint32), expected.view(np.uint32), text)
        np.testing.assert_array_equal(np.float32(again), np.float32(loss), text)
        return int((np.isfinite(gradient) & (gradient != 0)).sum())

    def test_each_operation(self):
        cases = operation_cases()
        self.assertGreater(len(cases), 15)
        named = set(re.findall(r"= (\w+)", "".join(cases.values())))
        # No slope shows what stops a gradient; random graphs have it.
        self.assertEqual(named, set(graphs.OPERATIONS) - {"stop_gradient"})
        for name, text in cases.items():
            for seed, wild in enumerate((0, 0, 100, 10, 3)):
                with self.subTest(name=name, wild=wild):
                    self.assertTrue(self.check(text, seed, wild) or wild)

    def test_random_graphs(self):
        finite, named = 0, set()
        for seed in range(GRAPHS):
            text = GraphMaker(random.Random(seed)).text(steps=4 + seed % 12)
            named.update(re.findall(r"= (\w+)", text))
            with self.subTest(seed=seed):
                finite += self.check(text, seed, (0, 0, 200, 30)[seed % 4]) > 0
        self.assertGreater(finite, GRAPHS // 2)
        self.assertEqual(named, set(graphs.OPERATIONS))


if __name__ == "__main__":
    unittest.main()

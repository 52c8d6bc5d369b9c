"""ostraka.Graph: the loss and gradient of a graph file against NumPy, and what it refuses."""
import hashlib
import tempfile
import unittest
from pathlib import Path

import numpy
import ostraka

TABLE = numpy.arange(6, dtype="float32").reshape(2, 3) / 7


def softmax_graph(constant_hash):
    """Rows of 3 features, plus a frozen table, to 4 classes."""
    return f"""ostraka-graph 1
parameter w f32[4,3] normal 2e-02
parameter b f32[4] zeros
constant table f32[2,3] {constant_hash}
input x f32[2,3]
input targets i32[2] -1 4
%1 f32[2,3] = add x table
%2 f32[2,4] = linear %1 w b
%3 f32[] = cross_entropy %2 targets
loss %3
"""


def hash_of(array):
    return hashlib.blake2b(array.tobytes(), digest_size=32, person=b"constant/1".ljust(16, b"\0")).hexdigest()


class GraphTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name) / "softmax.graph")
        self.text = softmax_graph(hash_of(TABLE))
        Path(self.path).write_text(self.text)
        draw = numpy.random.default_rng(1)
        self.parameters = {"w": draw.normal(size=(4, 3)).astype("float32"), "b": draw.normal(size=4).astype("float32")}
        self.inputs = {"x": draw.normal(size=(2, 3)).astype("float32"), "targets": numpy.array([3, 1])}

    def graph(self, **options):
        return ostraka.Graph(self.path, constants={"table": TABLE}, **options)

    def test_gradient_is_that_of_the_formula(self):
        x = (self.inputs["x"] + TABLE).astype("float64")
        logits = x @ self.parameters["w"].T.astype("float64") + self.parameters["b"]
        shares = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
        error = (shares - numpy.eye(4)[self.inputs["targets"]]) / 2
        loss, gradient = self.graph().gradient(self.parameters, **self.inputs)
        numpy.testing.assert_allclose(loss, -numpy.log(shares[[0, 1], [3, 1]]).mean(), rtol=1e-6)
        numpy.testing.assert_allclose(gradient["w"], error.T @ x, atol=1e-6)
        numpy.testing.assert_allclose(gradient["b"], error.sum(0), atol=1e-6)
        self.assertEqual(self.graph().loss(self.parameters, **self.inputs), loss)
        self.assertEqual(gradient["w"].dtype, numpy.float32)

    def test_threads_change_no_bit(self):
        one, two = (self.graph(threads=n).gradient(self.parameters, **self.inputs) for n in (1, 2))
        self.assertEqual(one[0], two[0])
        self.assertEqual(one[1]["w"].tobytes(), two[1]["w"].tobytes())

    def test_what_it_tells(self):
        graph = self.graph()
        self.assertEqual(graph.parameters, {"w": (4, 3), "b": (4,)})
        self.assertEqual(graph.inputs, {"x": "f32[2,3]", "targets": "i32[2]"})
        self.assertEqual(graph.text, self.text)
        self.assertEqual(graph.id, hashlib.blake2b(self.text.encode(), digest_size=32,
                                                   person=b"graph/1".ljust(16, b"\0")).hexdigest())
        self.assertGreater(graph.peak_bytes, 0)
        self.assertGreater(graph.operations, 0)

    def test_refused_in_one_line(self):
        graph = self.graph()
        inputs, parameters = self.inputs, self.parameters
        for call, words in [
                (lambda: ostraka.Graph(self.path), "the graph has constants, such as table"),
                (lambda: ostraka.Graph(self.path, constants={"table": TABLE + 1}), "other values than the graph names"),
                (lambda: ostraka.Graph(self.path, constants={"table": TABLE[0]}), "table is f32[3]"),
                (lambda: ostraka.Graph(self.path, constants={}), "constant table is missing"),
                (lambda: ostraka.Graph(self.path, constants=self.path), "no safetensors file"),
                (lambda: ostraka.Graph(self.path + "x"), "cannot be read"),
                (lambda: ostraka.Graph("."), "is a folder, and no graph file"),
                (lambda: graph.gradient(parameters, mask=inputs["x"], **inputs), "the graph has no input mask"),
                (lambda: graph.gradient({"w": parameters["w"]}, **inputs), "parameter b is missing"),
                (lambda: graph.gradient(parameters, x=inputs["x"]), "input targets is missing"),
                (lambda: graph.gradient({**parameters, "b": parameters["w"]}, **inputs), "b is f32[4,3]"),
                (lambda: graph.gradient(parameters, x=inputs["x"], targets=numpy.array([4, 0])), "the value 4"),
                (lambda: graph.gradient(parameters, x=inputs["x"], targets=numpy.array([-2, 0])), "the value -2"),
                (lambda: graph.gradient(parameters, x=inputs["x"], targets=numpy.array([0.5, 0])), "no array of integers"),
                (lambda: graph.gradient(parameters, x="three", targets=inputs["targets"]), "x is no array of floats")]:
            with self.subTest(words=words), self.assertRaises(ValueError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

"""The second verifier's arithmetic gives the digests that every build of the node's kernels must give: those of the conformance vectors
(exact/kernels/conformance.cpp) and of whole gradients of models (tests/unit/exact/model_digests.h)."""
import re
import unittest
from fractions import Fraction

import numpy as np

from base_rng import Rng
from canonical_writer import VERIFIER  # also puts proofs/verifier into sys.path
from harness import TestCase, expect_ok
from tensors_file import write_tensors

import graphs
import kernels
import row_operations
import tensors
from hashing import hashed
from kernels import F32

ROOT = VERIFIER.parents[1]
RECORDED = (ROOT / "tests/unit/exact/model_digests.h").read_text()
CONFORMANCE = (ROOT / "exact/kernels/conformance.cpp").read_text()
LAYERS = ["--width", 64, "--heads", 4, "--layers", 1]
TEXT = [*LAYERS, "--context", 64, "--vocabulary", 96]
SIZES = {"gpt": TEXT, "llama": [*TEXT, "--groups", 2], "albert": [*TEXT[:4], "--layers", 2, *TEXT[6:]],
         "vit": [*LAYERS, "--side", 32, "--patch", 4], "mlp": ["--features", 64, "--hidden", 1024], "softmax": ["--features", 64]}


def bits(*words):
    return np.array(words, np.uint32).view(F32)


# --- fma --------------------------------------------------------------------------------------------


def nearest(value):
    """The float next to a fraction that is not 0, the even one of two."""
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2)**exponent
    unit = Fraction(2)**max(exponent - 23, -149)
    with np.errstate(over="ignore"):
        return F32(float(round(value / unit) * unit))


def tie_and_a_little(rng):
    """a b is half way between two floats, or next to it, and c far below decides; or c is odd among subnormals and a b is half a unit."""
    if rng.below(2):
        # (2^12 + i)(2^12 + j) has 25 bits or 26: often one too many.
        scale = rng.between(-30, 30)
        a, b = ((4096 + rng.below(4096)) * 2.0**(scale - 12) for _ in range(2))
        return a, b, (1 - 2 * rng.below(2)) * 2.0**rng.between(-149, 2 * scale - 60)
    near = 2.0**-23 * rng.below(8)
    return (1 + near) * 2.0**-75, (1 - near) * 2.0**-75, (1 - 2 * rng.below(2)) * (1 + 2 * rng.below(1 << 22)) * 2.0**-149


class FmaTest(unittest.TestCase):
    def test_it_rounds_once(self):
        rng = Rng(7)
        cases = np.array([tie_and_a_little(rng) for _ in range(20_000)])
        a, b, c = cases.astype(F32).T
        self.assertTrue((np.stack([a, b, c], 1) == cases).all())
        expected = np.array([nearest(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in cases.tolist()])
        np.testing.assert_array_equal(kernels.fma(a, b, c), expected)
        twice = (cases[:, 0] * cases[:, 1] + cases[:, 2]).astype(F32)
        for subnormal in (False, True):
            differs = (twice != expected) & ((np.abs(expected) < 2.0**-126) == subnormal)
            self.assertGreater(differs.sum(), 100, "rounding twice gives the same: these cases say nothing")


# --- the conformance vectors ----------------------------------------------------------------------

COUNT = 1024 + 5
SPECIALS = np.array([0.0, -0.0, np.inf, -np.inf, 2.0**-149, -2.0**-130, 2.0**-126, float.fromhex("0x1.fffffep127"), 0, 0], F32)
SPECIALS[8:] = bits(0x7FC00000, 0xFFC12345)


def wild(rng):
    values = np.zeros(COUNT, F32)
    for i in range(COUNT):
        scale = bits(rng.between(127 - 40, 127 + 40) << 23)
        values[i:i + 1] = rng.normals(1).astype(F32) * scale
        if rng.chance(1, 8):
            values[i] = SPECIALS[rng.below(len(SPECIALS))]
    return values


def ordinary(rng):
    return (4 * rng.normals(COUNT)).astype(F32)


class Recorder:
    """What exact/kernels/conformance.cpp feeds to its digest, in its order, of three vectors."""

    def __init__(self, a, b, c):
        self.a, self.b, self.c, self.fed = a, b, c, b""

    def feed(self, values):
        self.fed += kernels.canonical(values).astype("<f4").tobytes()

    def all(self):
        for record in (self.maps, self.sums, self.rows, self.norms, self.products):
            record()
        return self.fed

    def maps(self):
        operations = graphs.OPERATIONS
        step = graphs.Instruction((), "", [], {"scalar": float.fromhex("0x1.99999ap-4")})
        for name in ("add", "sub", "mul", "div"):
            self.feed(operations[name].forward(step, self.a, self.b))
        for name in ("add_scalar", "mul_scalar", "div_scalar", "rsqrt", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh", "relu"):
            self.feed(operations[name].forward(step, self.a))
        self.feed(operations["div"].backward(step, self.a, None, self.b, self.c)[1])
        for name in ("rsqrt", "tanh", "sigmoid"):  # of the result
            self.feed(operations[name].backward(step, self.a, self.b, None)[0])
        for name in ("silu", "gelu", "gelu_tanh", "relu"):
            self.feed(operations[name].backward(step, self.a, None, self.b)[0])
        self.feed(kernels.exp(self.a))
        self.feed(kernels.erf(self.a))

    def sums(self):
        for count in (1, 15, 48, COUNT):
            self.feed(kernels.row_sum(self.a[:count]))
            self.feed(kernels.row_dot(self.a[:count], self.b[:count]))
        self.feed(kernels.rows(self.a[:11 * 93].reshape(11, 93)))

    def rows(self):
        width = 41
        for begin in range(0, COUNT - width + 1, width):
            x, g, y = self.a[begin:begin + width], self.b[begin:begin + width], np.zeros(width, F32)
            seen = begin % (width + 1)
            y[:seen] = kernels.softmax(x[:seen])
            self.feed(y)
            self.feed(kernels.softmax_backward(g, y))
            self.feed(row_operations.CrossEntropy.losses(x[None], [begin // width]))
            self.feed(row_operations.CrossEntropy.backward(None, kernels.const("0x1.5p-3"), None, x[None], np.array([begin // width]))[0])

    def norms(self):
        width = 37
        count = COUNT // width
        x, w, bias = self.a[:count * width].reshape(count, width), self.b[:width], self.c[:width]
        step = graphs.Instruction((), "", [], {"epsilon": float.fromhex("0x1.4f8b58p-17")})
        for name in ("layer_norm", "rms_norm"):
            norm = graphs.OPERATIONS[name]
            y = norm.forward(step, x, w, bias)
            dx = norm.backward(step, self.c[:count * width].reshape(count, width), None, x, w, bias)[0]
            for row, slope in zip(y, dx):
                self.feed(row)
                self.feed(slope)
            mean, _, r = norm.statistics(step, x)
            self.feed(np.column_stack([mean, r]))
            g = self.b[:count * width].reshape(count, width)
            self.feed(norm.backward(step, g, None, x, w, bias)[1])
            self.feed(kernels.rows(g))

    def products(self):
        for rows, columns, depth in ((1, 1, 1), (15, 33, 17), (29, 35, 29), (2, 2, 500)):
            for left in (False, True):
                for right in (False, True):
                    a, b = self.a[:rows * depth], self.b[:depth * columns]
                    a = a.reshape(depth, rows).T if left else a.reshape(rows, depth)
                    b = b.reshape(columns, depth).T if right else b.reshape(depth, columns)
                    once = kernels.product(a, b)
                    self.feed(once)
                    self.feed(kernels.product(a, b, once))


class ConformanceTest(unittest.TestCase):
    def test_the_vectors_have_the_recorded_digest(self):
        recorded, = re.findall(r'kConformanceDigest =\s+"([0-9a-f]{64})"', CONFORMANCE)
        rng = Rng(1)
        with np.errstate(all="ignore"):
            fed = b"".join(Recorder(*(draw(rng.fork(label, draw is wild)) for label in "abc")).all() for draw in (ordinary, wild))
        self.assertEqual(hashed("conformance/1", fed).hex(), recorded)


# --- gradients of models ----------------------------------------------------------------------------


class Problem:
    """A graph with all that it declares drawn, as tests/unit/exact/problem.h draws it; constants that `known` has are these."""

    def __init__(self, text, known):
        self.graph, self.constants, self.inputs = graphs.parse(text), {}, {}
        rng, parameters = Rng(1), []
        for words in (line.split(" ") for line in text.decode().splitlines()):
            shape = graphs.shape_of(words[2]) if words[0] in ("parameter", "constant", "input") else ()
            count = int(np.prod(shape))
            if words[0] == "parameter":
                values = rng.floats(count, 0.05)
                parameters.append(F32(1) + F32(0.1) * values if words[3] == "ones" else values)
            elif words[0] == "constant":
                self.constants[words[1]] = known[words[1]] if words[1] in known else rng.floats(count, 0.05).reshape(shape)
            elif words[0] == "input" and words[2].startswith("f32"):
                self.inputs[words[1]] = rng.floats(count, 1).reshape(shape)
            elif words[0] == "input":
                values = [rng.between(int(words[3]), int(words[4]) - 1) for _ in range(count)]
                self.inputs[words[1]] = np.array(values, np.int32).reshape(shape)
        self.parameters = np.concatenate(parameters)

    def digest(self):
        loss, gradient = graphs.loss_and_gradient(self.graph, self.parameters, self.inputs, self.constants)
        return hashed("conformance/1", np.append(gradient, loss).astype("<f4").tobytes()).hex()[:16]


class ModelsTest(TestCase):
    RECORDED = dict(re.findall(r'\{"(\w+)", "([0-9a-f]{16})"\}', RECORDED))

    def make(self, model, *options, name=None):
        path = self.folder / (name or f"{model}.graph")
        expect_ok("model", "make", model, "--batch", 8, *SIZES[model], "--out", path, *options)
        return path

    def problem(self, path, known=True):
        text = path.read_bytes()
        shapes = {name: constant.shape for name, constant in graphs.parse(text).constants.items()}
        if not shapes or not known:
            return Problem(text, {})
        return Problem(text, graphs.split(tensors.read(f"{path}.constants.safetensors", shapes, more=False, allowed=("F32", "BF16")), shapes))

    def test_every_model_has_the_recorded_digest(self):
        for model in ("gpt", "llama", "albert", "vit", "mlp", "softmax"):
            with self.subTest(model=model):
                path = self.make(model)
                self.assertEqual(self.problem(path).digest(), self.RECORDED[model])

    def test_factors_beside_a_frozen_gpt_have_it(self):
        shapes = graphs.parse(self.make("gpt").read_bytes()).parameters
        write_tensors(self.folder / "base", {name: np.zeros(shape) for name, shape in shapes.items()})
        path = self.make("gpt", "--lora", 8, "--base", self.folder / "base", name="lora.graph")
        self.assertEqual(self.problem(path, known=False).digest(), self.RECORDED["lora"])

    def test_subnormal_numbers_and_a_nan_have_it(self):
        path, rng = self.make("gpt"), Rng(5)
        subnormal = self.problem(path)
        specials = np.array([1e-45, -1e-40, 2.0**-126, -0.0], F32)
        for i in range(len(subnormal.parameters)):
            if rng.chance(1, 5):
                subnormal.parameters[i] = specials[rng.below(len(specials))]
        self.assertEqual(subnormal.digest(), self.RECORDED["gpt_subnormal"])
        nan = self.problem(path)
        nan.parameters.view(np.uint32)[len(nan.parameters) // 2] = 0xFFC00099
        self.assertEqual(nan.digest(), self.RECORDED["gpt_nan"])


if __name__ == "__main__":
    unittest.main()

"""A false gradient of every kind of model, and on every kind of data, is a proof to both verifiers; the true gradient is none, whatever
a file says, and neither is anything after one bit of state, graph, constants or data has changed.
"""
import json
import unittest
from pathlib import Path

import numpy as np

import image_files
from harness import TestCase, expect_ok
from model_proof import CONSTANTS, LIARS, SMALL, ModelProof, OfGraph, OnBook, WithConstants, WithData, write_book
from tensors_file import write_tensors

from hashing import hashed  # proofs/verifier, put into sys.path by model_proof


class SoftmaxOnMnistTest(WithData, ModelProof, TestCase):
    WRONG_DATA = ("train-images-idx3-ubyte", -1)

    @classmethod
    def prepare(cls):
        image_files.write_mnist(cls.base / "data", 600, 100)
        cls.SWARM = [*LIARS, "--model", "softmax", *cls.data()]

    @classmethod
    def data(cls):
        return ["--data", f"mnist:{cls.base / 'data'}"]


class MlpOnTextTest(OnBook, TestCase):
    @classmethod
    def model(cls):
        return ["--model", "mlp", "--hidden", 8]


class LlamaTest(WithConstants, OnBook, TestCase):
    """Its angles are constants."""

    @classmethod
    def model(cls):
        return ["--model", "llama", *SMALL, "--context", 12, "--batch-size", 4]


class GroupedLlamaOnPackedTokensTest(WithConstants, OnBook, TestCase):
    """Two layers, heads that share keys and values, and two micro-batches a step."""

    FORM = "tokens"

    @classmethod
    def model(cls):
        book, graph = cls.base / "data" / "book", cls.base / "llama.graph"
        text = book.rename(cls.base / "text")
        expect_ok("data", "pack", text, "--context", 10, "--out", book)
        expect_ok("model", "make", "llama", "--layers", 2, "--width", 16, "--heads", 4, "--groups", 2, "--context", 10, "--batch", 2,
                  "--out", graph)
        return ["--model", f"graph:{graph}", "--batch-size", 4]


class GptOnWideTokensTest(OfGraph, OnBook, TestCase):
    """Tokens of two bytes, of a vocabulary that is no byte's; the model's is that of the file."""

    FORM = "tokens"

    @classmethod
    def model(cls):
        tokens = np.random.default_rng(2).integers(0, 300, size=(200, 13)).astype("<u2")
        (cls.base / "data" / "book").write_bytes(b"ostraka-tokens 2 u16 300 12 160 20 20\n" + tokens.tobytes())
        return ["--model", "gpt", *SMALL, "--context", 12, "--batch-size", 4]


class AlbertOnCompressedTextTest(OfGraph, OnBook, TestCase):
    WRONG_DATA = ("book", -30)

    @classmethod
    def model(cls):
        write_book(cls.base / "data" / "book", compressed=True)
        return ["--model", "albert", "--layers", 2, "--width", 16, "--heads", 2, "--context", 12, "--batch-size", 4]


class LoraTest(WithConstants, OnBook, TestCase):
    """A frozen gpt with factors beside its layers."""

    @classmethod
    def model(cls):
        sizes = ["gpt", *SMALL, "--context", 12, "--batch", 4]
        expect_ok("model", "make", *sizes, "--out", cls.base / "base.graph")
        shown = json.loads(expect_ok("model", "show", cls.base / "base.graph", "--json"))
        draw = np.random.default_rng(1)
        write_tensors(cls.base / "weights", {each["name"]: draw.normal(scale=0.1, size=json.loads(each["type"][3:]))
                                             for each in shown["parameters"]})
        expect_ok("model", "make", *sizes, "--lora", 2, "--base", cls.base / "weights", "--out", cls.base / "lora.graph")
        return ["--model", f"graph:{cls.base / 'lora.graph'}"]


class VitOnCifar10Test(OfGraph, WithData, ModelProof, TestCase):
    WRONG_DATA = ("data_batch_3.bin", 5)

    @classmethod
    def prepare(cls):
        image_files.write_cifar10(cls.base / "data", 60)
        expect_ok("model", "make", "vit", *SMALL, "--side", 32, "--channels", 3, "--patch", 8, "--batch", 4, "--out", cls.base / "vit.graph")
        cls.SWARM = [*LIARS, "--model", f"graph:{cls.base / 'vit.graph'}", *cls.data()]

    @classmethod
    def data(cls):
        return ["--data", f"cifar10:{cls.base / 'data'}"]


OTHER_OPERATIONS = """ostraka-graph 1
parameter embed f32[16,8] normal 3e-01
parameter scale f32[16] ones
parameter shift f32[8] zeros
parameter head f32[10,8] normal 3e-01
parameter bias f32[10] zeros
constant mask f32[8,8] HASH
input pixels f32[4,1,8,8]
input targets i32[4] -1 10
%1 f32[4,8,8] = reshape pixels
%2 f32[4,8,16] = linear %1 embed
%3 f32[4,8,16] = rms_norm %2 scale epsilon=1e-05
%4 f32[4,8,2,8] = reshape %3
%5 f32[4,8,1,8] = slice %4 axis=2 begin=1 end=2
%6 f32[4,8,2,8] = attention %4 %5 %5 mask causal=0 scale=3.5e-01
%7 f32[4,2,8,8] = permute %6 order=[0,2,1,3]
%8 f32[4,2,8,8] = softmax %7
%9 f32[4,2,8,8] = matmul %8 %7
%10 f32[4,2,8,8] = tanh %9
%11 f32[4,2,8,8] = sigmoid %7
%12 f32[4,2,8,8] = mul %10 %11
%13 f32[4,2,8,8] = gelu %12
%14 f32[4,2,8,8] = mul %7 %7
%15 f32[4,2,8,8] = add_scalar %14 scalar=1e+00
%16 f32[4,2,8,8] = rsqrt %15
%17 f32[4,2,8,8] = div %13 %15
%18 f32[4,2,8,8] = sub %17 %16
%19 f32[4,2,8,8] = mul_scalar %18 scalar=-2.5e+00
%20 f32[4,2,8,8] = div_scalar %13 scalar=3e+00
%21 f32[4,2,8,8] = silu %20
%22 f32[4,2,8,16] = cat %19 %21 axis=3
%23 f32[4,2,8] = sum %22 axis=3
%24 f32[4,8] = mean %23 axis=1
%25 f32[4,8] = expand shift
%26 f32[4,8] = add %24 %25
%27 f32[4,8] = relu %26
%28 f32[4,10] = linear %27 head bias
%29 f32[] = cross_entropy %28 targets
loss %29
"""


class OtherOperationsOnDigitsTest(WithConstants, ModelProof, TestCase):
    """All that the models above do without, and a mask that is a constant."""

    @classmethod
    def prepare(cls):
        mask = np.where(np.arange(8) > np.arange(8)[:, None] + 2, np.float32("-inf"), np.float32(0.125))
        graph = cls.base / "other.graph"
        graph.write_text(OTHER_OPERATIONS.replace("HASH", hashed("constant/1", mask.astype("<f4").tobytes()).hex()))
        write_tensors(Path(f"{graph}{CONSTANTS}"), {"mask": mask})
        cls.SWARM = [*LIARS, "--model", f"graph:{graph}", "--data", "digits"]


DROPPING = """ostraka-graph 1
parameter table f32[256,16] normal 2e-01
parameter weight f32[256,16] normal 2e-01
input tokens i32[2,12] 0 256
input targets i32[2,12] -1 256
input drawn.1 f32[2,12,16] keep 7.5e-01
input drawn.2 f32[2,1,16] keep 3e-01
%1 f32[2,12,16] = embedding table tokens
%2 f32[2,12,16] = mul %1 drawn.1
%3 f32[2,12,16] = expand drawn.2
%4 f32[2,12,16] = mul %2 %3
%5 f32[2,12,256] = linear %4 weight
%6 f32[] = cross_entropy %5 targets
loss %6
"""


class DropoutOnTextTest(OfGraph, OnBook, TestCase):
    """Two micro-batches a step, each with draws of its own."""

    @classmethod
    def model(cls):
        (cls.base / "dropping.graph").write_text(DROPPING)
        return ["--model", f"graph:{cls.base / 'dropping.graph'}", "--batch-size", 4]


if __name__ == "__main__":
    unittest.main()

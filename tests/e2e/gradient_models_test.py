"""A false gradient of every kind of model, and on every kind of data, is a proof to both verifiers; the true gradient is none, whatever
a file says, and neither is anything after one bit of state, graph, constants or data has changed.

Needs the interpreter that the second verifier is for: it computes the true gradients here.
"""
import base64
import gzip
import json
import random
import shutil
import tomllib
import unittest
from pathlib import Path

import nacl.signing
import numpy as np

import image_files
from canonical_writer import encode
from harness import TestCase, expect_ok
from liar_swarm import MISSING, NOT_PROVEN, PROVEN, LiarSwarm, with_bit_flipped
from tensors_file import write_tensors

import gradient  # proofs/verifier, put into sys.path by canonical_writer
import messages
from canonical import decode
from hashing import hashed

SIGNATURE = 64
LIARS = ["--peers", 5, "--byzantine", 1, "--attack", "bit_flip", "--attack-param", "bit=1", "coordinates=1", "--steps", 40, "--seed", 3]
SMALL = ["--layers", 1, "--width", 16, "--heads", 2]
CONSTANTS = ".constants.safetensors"


def write_book(path, size=20_000, compressed=False):
    rng = random.Random(5)
    words = ["tree", "river", "stone", "and", "the", "under", "light", "of", "a", "moves"]
    text = " ".join(rng.choice(words) for _ in range(size // 4))[:size].encode()
    path.write_bytes(gzip.compress(text) if compressed else text)


class ModelProof(LiarSwarm):
    """What holds of each kind of model."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.graph = Path(f"{cls.out / 'run.toml'}.graph")
        cls.constants = Path(f"{cls.graph}{CONSTANTS}")

    def judged(self, file, **given):
        return self.verdicts("--state", self.evidence, file, **given)

    def test_both_verifiers_find_the_lie(self):
        self.assertEqual(self.verdicts("--state", self.evidence, *self.files), (PROVEN, PROVEN))

    def test_the_gradient_that_was_due_is_no_lie_and_one_bit_of_it_is(self):
        manifest = (self.out / "run.toml").read_bytes()
        data = self.data()[1] if self.data() else None
        judge = gradient.Judge(tomllib.loads(manifest.decode()), hashed("manifest/1", manifest), self.evidence, data, str(self.graph))
        file = decode(messages.EVIDENCE, self.files[0].read_bytes())
        commit = self.commit_of(file)
        due, parts = judge.due_gradient(file["accused"], file["slot"]["step"], decode(messages.BLOCK, file["block"]),
                                        commit["parameters_root"])
        lie = due.copy()
        lie.view(np.uint32)[len(lie) // 2] ^= 1
        for values, verdict in ((due, NOT_PROVEN), (lie, PROVEN)):
            other = self.signed_anew(file, dict(commit, gradient_root=gradient.gradient_root(values, parts)))
            self.assertEqual(self.judged(other), (verdict, verdict))

    @staticmethod
    def commit_of(file):
        return decode(messages.BODIES["commit"], decode(messages.ENVELOPE, file["frames"][0][SIGNATURE:])["body"])

    def signed_anew(self, file, commit):
        """The accused's COMMIT with another body, signed by it."""
        envelope = decode(messages.ENVELOPE, file["frames"][0][SIGNATURE:])
        core = encode(messages.ENVELOPE, dict(envelope, body=encode(messages.BODIES["commit"], commit)))
        frame = self.key_of(file["accused"]).sign(hashed("envelope/1", core)).signature + core
        path = self.base / "other.evidence"
        path.write_bytes(encode(messages.EVIDENCE, dict(file, frames=[frame])))
        return path

    def key_of(self, peer):
        for path in self.out.glob("*.key"):
            text = path.read_text().split("\n")
            if peer.hex() in text[0]:
                return nacl.signing.SigningKey(base64.b64decode("".join(text[1:]))[-64:-32])
        raise AssertionError("no such key")

    def test_one_bit_of_the_state_proves_nothing(self):
        for at in (-1, -self.state.stat().st_size // 3):
            other = with_bit_flipped(self.state, self.base / "state.safetensors", at)
            self.assertEqual(self.verdicts("--state", other, self.files[0]), (MISSING, MISSING), at)


class OfGraph:
    """Of models that are graph files."""

    def test_one_bit_of_the_graph_proves_nothing(self):
        for at in (60, -10):
            other = with_bit_flipped(self.graph, self.base / "other.graph", at)
            if self.constants.exists():
                shutil.copy(self.constants, f"{other}{CONSTANTS}")
            self.assertNotIn(PROVEN, self.verdicts("--graph", other, "--state", self.evidence, self.files[0]))


class WithConstants(OfGraph):
    """Of graphs that have some."""

    def test_one_bit_of_the_constants_proves_nothing(self):
        other = self.base / "same.graph"
        shutil.copy(self.graph, other)
        beside = Path(f"{other}{CONSTANTS}")
        for at in (-1, -self.constants.stat().st_size // 4, 50):
            with_bit_flipped(self.constants, beside, at)
            self.assertNotIn(PROVEN, self.verdicts("--graph", other, "--state", self.evidence, self.files[0]), at)
        for content in (None, b"", self.constants.read_bytes()[:-4], self.constants.read_bytes() + b"\0"):
            beside.unlink(missing_ok=True)
            if content is not None:
                beside.write_bytes(content)
            self.assertNotIn(PROVEN, self.verdicts("--graph", other, "--state", self.evidence, self.files[0]))
        shutil.copy(self.constants, beside)
        self.assertEqual(self.verdicts("--graph", other, "--state", self.evidence, self.files[0]), (PROVEN, PROVEN))


class WithData:
    """Of data that are not the program's own. WRONG_DATA: (file, byte) of them, to be changed."""

    WRONG_DATA = None

    def test_one_bit_of_the_data_proves_nothing(self):
        name, at = self.WRONG_DATA
        kind, place = self.data()[1].split(":")
        other = self.base / "other"
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(self.base / "data", other)
        elsewhere = ["--data", f"{kind}:{place.replace(str(self.base / 'data'), str(other))}"]
        self.assertEqual(self.judged(self.files[0], data=elsewhere), (PROVEN, PROVEN))
        with_bit_flipped(self.base / "data" / name, other / name, at)
        self.assertNotIn(PROVEN, self.judged(self.files[0], data=elsewhere))


class SoftmaxOnMnistTest(WithData, ModelProof, TestCase):
    WRONG_DATA = ("train-images-idx3-ubyte", -1)

    @classmethod
    def prepare(cls):
        image_files.write_mnist(cls.base / "data", 600, 100)
        cls.SWARM = [*LIARS, "--model", "softmax", *cls.data()]

    @classmethod
    def data(cls):
        return ["--data", f"mnist:{cls.base / 'data'}"]


class OnBook(WithData, ModelProof):
    """A book as FORM: a kind of data."""

    WRONG_DATA = ("book", 1000)
    FORM = "text"

    @classmethod
    def prepare(cls):
        (cls.base / "data").mkdir()
        write_book(cls.base / "data" / "book")
        cls.SWARM = [*LIARS, *cls.model(), *cls.data()]

    @classmethod
    def data(cls):
        return ["--data", f"{cls.FORM}:{cls.base / 'data' / 'book'}"]


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


if __name__ == "__main__":
    unittest.main()

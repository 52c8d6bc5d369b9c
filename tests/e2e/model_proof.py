"""What holds of false gradients of any kind of model, as both verifiers judge them; for tests.

Needs the interpreter that the second verifier is for: it computes the true gradients here.
"""
import base64
import gzip
import random
import shutil
import tomllib
from pathlib import Path

import nacl.signing
import numpy as np

from canonical_writer import encode
from liar_swarm import MISSING, NOT_PROVEN, PROVEN, LiarSwarm, with_bit_flipped

import gradient  # proofs/verifier, put into sys.path by canonical_writer
import messages
from canonical import decode
from hashing import hashed

SIGNATURE = 64


def liars(*attack):
    return ["--peers", 5, "--byzantine", 1, "--attack", *attack, "--steps", 40, "--seed", 3]


LIARS = liars("bit_flip", "--attack-param", "bit=1", "coordinates=1")
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
        if judge.codec == "raw":
            lie.view(np.uint32)[len(lie) // 2] ^= 1
        else:  # a smaller one may be none
            lie[np.abs(lie).argmax()] *= -1
        for values, verdict in ((due, NOT_PROVEN), (lie, PROVEN)):
            other = self.signed_anew(file, dict(commit, gradient_root=gradient.gradient_root(values, parts, judge.codec)))
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

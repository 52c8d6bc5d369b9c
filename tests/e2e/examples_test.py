"""Rows of named columns: a graph of any inputs trains on them under attack, and a false gradient is proven to a stranger who has them."""
import json
import random
import struct
import unittest

from harness import TestCase, expect_ok, run
from liar_swarm import MISSING, PROVEN, LiarSwarm

CLASSES = 4
GRAPH = """ostraka-graph 1
parameter words f32[40,8] normal 1e-01
parameter hints.weight f32[8,3] normal 1e-01
parameter head.weight f32[4,8] normal 1e-01
parameter head.bias f32[4] zeros
input hints f32[8,3]
input question i32[8,5] 0 40
input answer i32[8] -1 4
%1 f32[8,5,8] = embedding words question
%2 f32[8,8] = sum %1 axis=1
%3 f32[8,8] = linear hints hints.weight
%4 f32[8,8] = add %2 %3
%5 f32[8,8] = tanh %4
%6 f32[8,4] = linear %5 head.weight head.bias
%7 f32[] = cross_entropy %6 answer
loss %7
"""


def write_rows(path, count=400):
    """The class of a row is that of its first word, but that a hint says otherwise; every tenth row has none."""
    draw = random.Random(7)
    rows = []
    for i in range(count):
        words = [draw.randrange(40) for _ in range(5)]
        words = [words[0], *(word - word % CLASSES + words[0] % CLASSES for word in words[1:])]
        hints = [draw.uniform(-1, 1) for _ in range(3)]
        answer = -1 if i % 10 == 3 else words[0] % CLASSES
        rows.append(struct.pack("<5BB3f", *words, answer + 1, *hints))
    lines = "question u8[5] 0 40\nanswer u8[] -1 4\nhints f32[3]\n"
    path.write_bytes(f"ostraka-examples 1 3 {count - 100} 60 40\n{lines}".encode() + b"".join(rows))


class ExamplesTest(LiarSwarm, TestCase):
    @classmethod
    def prepare(cls):
        cls.rows = cls.base / "questions.examples"
        write_rows(cls.rows)
        cls.graph = cls.base / "questions.graph"
        cls.graph.write_text(GRAPH)
        cls.SWARM = ["--model", f"graph:{cls.graph}", "--batch-size", 16, "--data", f"examples:{cls.rows}", "--peers", 5, "--byzantine", 1,
                     "--attack", "sign_flip", "--learning-rate", 0.5, "--momentum", 0.9, "--steps", 60, "--seed", 3]

    @classmethod
    def data(cls):
        return ["--data", f"examples:{cls.rows}"]

    def test_it_learns_and_the_proof_is_computed_by_both_verifiers(self):
        self.assertTrue(self.result["ok"])
        self.assertGreater(self.result["metric"]["value"], 0.9)
        self.assertEqual(self.verdicts("--state", self.evidence, *self.files), (PROVEN, PROVEN))

    def test_other_rows_prove_nothing(self):
        other = self.base / "other.examples"
        content = bytearray(self.rows.read_bytes())
        content[-1] ^= 1
        other.write_bytes(content)
        ended = run("evidence", "verify", "--manifest", self.out / "run.toml", "--data", f"examples:{other}", "--state", self.evidence,
                    self.files[0])
        self.assertEqual(ended.returncode, MISSING)
        self.assertIn("are not those of the other members", ended.stdout)

    def test_the_command_names_columns(self):
        shown = json.loads(expect_ok("data", "check", f"examples:{self.rows}", "--json"))
        self.assertEqual(shown["columns"], ["question u8[5] 0 40", "answer u8[] -1 4", "hints f32[3]"])
        self.assertNotIn("classes", shown)
        self.assertIn("  hints f32[3]\n", expect_ok("data", "check", f"examples:{self.rows}"))
        self.assertTrue((self.out / "run.toml").read_text().count(shown["id"]))

    def test_what_does_not_fit_is_refused(self):
        def refused(reason, *words):
            ended = run("swarm", "--peers", 4, "--byzantine", 0, "--steps", 3, *words)
            self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
            self.assertIn(reason, ended.stderr)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        data = ["--data", f"examples:{self.rows}"]
        refused("data examples are for graphs", "--model", "mlp", *data)
        other = self.base / "other.graph"
        other.write_text(GRAPH.replace("question", "words_of_it"))
        refused("no column is named words_of_it; there are question, answer, hints", "--model", f"graph:{other}", *data)
        refused("text:FILE", "--model", "gpt", *data)
        cut = self.base / "cut.examples"
        cut.write_bytes(self.rows.read_bytes()[:-1])
        refused(f"{cut}: has ", "--model", f"graph:{self.graph}", "--data", f"examples:{cut}")


if __name__ == "__main__":
    unittest.main(verbosity=2)

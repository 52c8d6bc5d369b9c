"""A false gradient is a proof: whoever has the run's manifest, data and the parameters of a step convinces itself, by either verifier,
and nothing that differs in a bit convinces anybody."""
import json
import os
import random
import shutil
import unittest
from pathlib import Path

from harness import TestCase, expect_ok, run
from liar_swarm import MISSING, NOT_PROVEN, PROVEN, LiarSwarm, second_verifier, with_bit_flipped

MUTATIONS = int(os.environ.get("OSTRAKA_MUTATIONS", "500"))


class GradientProof(LiarSwarm):
    """What holds of any run whose attackers send false gradients."""

    def test_each_ban_by_verdict_has_a_proof_that_both_verifiers_compute(self):
        banned = {removal["peer"] for removal in self.result["removals"] if removal["kind"] == "verdict"}
        self.assertTrue(banned)
        accused = {json.loads(expect_ok("evidence", "show", "--json", file))["accused"] for file in self.files}
        self.assertEqual(accused, banned)
        self.assertEqual(self.verdicts("--state", self.evidence, *self.files), (PROVEN, PROVEN))

    def test_a_file_of_parameters_that_is_none_proves_nothing(self):
        nested = b'{"a":' + b"[" * 100_000
        nested += b" " * (-len(nested) % 8)
        for wrong in [b"", b"12345678", len(nested).to_bytes(8, "little") + nested, self.state.read_bytes()[:-4],
                      (1 << 60).to_bytes(8, "little")]:
            path = self.base / "wrong.safetensors"
            path.write_bytes(wrong)
            first, second = self.verdicts("--state", path, self.files[0])
            self.assertNotIn(PROVEN, (first, second))
            self.assertEqual(second, MISSING)

    def test_without_parameters_or_manifest_the_file_lacks_data(self):
        self.assertEqual(run("evidence", "verify", self.files[0]).returncode, MISSING)
        self.assertEqual(second_verifier(self.files[0]).returncode, MISSING)
        self.assertEqual(self.verdicts("--state", self.base / "none.safetensors", self.files[0]), (MISSING, MISSING))

    def test_one_bit_of_the_state_proves_nothing(self):
        for at in (-1, -self.state.stat().st_size // 3):
            other = with_bit_flipped(self.state, self.base / "state.safetensors", at)
            self.assertEqual(self.verdicts("--state", other, self.files[0]), (MISSING, MISSING), at)
        garbage = self.base / "garbage.safetensors"
        for content in (b"", b"\xff" * 64, self.state.read_bytes()[:300]):
            garbage.write_bytes(content)
            first, second = self.verdicts("--state", garbage, self.files[0])
            self.assertEqual((first, second), (MISSING, MISSING))

    def test_another_manifest_proves_nothing(self):
        other = self.base / "other.toml"
        other.write_text((self.out / "run.toml").read_text() + "\n# another run\n")
        graph = Path(f"{self.out / 'run.toml'}.graph")
        if graph.exists():
            shutil.copy(graph, f"{other}.graph")
        ended = run("evidence", "verify", "--manifest", other, *self.data(), "--state", self.evidence, self.files[0])
        self.assertEqual(ended.returncode, NOT_PROVEN, ended.stdout + ended.stderr)

    def test_no_mutation_is_proven(self):
        rng = random.Random(20240601)
        folder = self.base / "mutated"
        folder.mkdir()
        whole = {file.read_bytes() for file in self.files}
        mutants = []
        for i in range(MUTATIONS):
            data = bytearray(rng.choice(sorted(whole)))
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(data))
                edit = rng.randrange(4)
                if edit == 0:
                    data[at] ^= 1 << rng.randrange(8)
                elif edit == 1:
                    data[at:at + 8] = bytes(8)
                elif edit == 2:
                    other = rng.choice(sorted(whole))
                    data[at:at + 64] = other[at:at + 64]
                else:
                    del data[at & ~7:(at & ~7) + 8]
            if bytes(data) in whole or not data:
                continue
            mutants.append(folder / f"{i}.evidence")
            mutants[-1].write_bytes(data)
        ended = run("evidence", "verify", "--json", *self.given, "--state", self.evidence, *mutants, timeout=600)
        findings = json.loads(ended.stdout)["findings"]
        self.assertEqual(len(findings), len(mutants))
        self.assertLessEqual({finding["verdict"] for finding in findings}, {"not_proven", "malformed"})
        again = second_verifier("--manifest", self.out / "run.toml", *self.data(), "--state", self.evidence, *mutants)
        self.assertNotIn("Traceback", again.stderr)
        judged = [line.split(": ")[1] for line in again.stdout.splitlines()]
        self.assertEqual(judged, [finding["verdict"] for finding in findings])


class DigitsProofTest(GradientProof, TestCase):
    SWARM = ["--peers", 8, "--byzantine", 3, "--attack", "sign_flip", "--steps", 60, "--seed", 7]

    def test_other_data_prove_nothing(self):
        ended = run("evidence", "verify", "--manifest", self.out / "run.toml", "--data", "mnist:/nowhere", "--state",
                    self.evidence, self.files[0])
        self.assertEqual(ended.returncode, MISSING)
        self.assertIn("--data mnist:/nowhere: the run trains on digits", ended.stdout.splitlines()[0])
        digits = Path(__file__).resolve().parents[2] / "node/train/data/digits.csv"
        lines = digits.read_text().splitlines()
        pixels = lines[100].split(",")
        pixels[20] = str((int(pixels[20]) + 1) % 17)
        other = self.base / "digits.csv"
        other.write_text("\n".join(lines[:100] + [",".join(pixels)] + lines[101:]) + "\n")
        ended = second_verifier("--manifest", self.out / "run.toml", "--data", other, "--state", self.evidence,
                                self.files[0])
        self.assertEqual(ended.returncode, MISSING)
        self.assertIn("not those that the manifest names", ended.stdout)

    def test_wrong_data_do_not_keep_other_files_from_being_judged(self):
        bans = sorted(path for path in self.evidence.glob("*.evidence")
                      if json.loads(run("evidence", "show", path, "--json").stdout)["kind"] == "sealed_ban")
        self.assertTrue(bans)
        words = ["--manifest", self.out / "run.toml", "--data", "mnist:/nowhere", "--state", self.evidence]
        for verify in (lambda *words: run("evidence", "verify", *words), second_verifier):
            self.assertEqual(verify(*words, bans[0]).returncode, PROVEN)
            self.assertEqual(verify(*words, bans[0], self.files[0]).returncode, MISSING)


class GptProofTest(GradientProof, TestCase):
    @classmethod
    def prepare(cls):
        rng = random.Random(5)
        words = ["tree", "river", "stone", "and", "the", "under", "light", "of", "a", "moves"]
        cls.book = cls.base / "book.txt"
        cls.book.write_text(" ".join(rng.choice(words) for _ in range(4000)))
        cls.SWARM = ["--model", "gpt", "--layers", 1, "--width", 16, "--heads", 2, "--context", 12, "--batch-size", 4,
                     "--data", f"text:{cls.book}", "--peers", 5, "--byzantine", 1, "--attack", "bit_flip", "--attack-param", "bit=1",
                     "--attack-param", "coordinates=1", "--steps", 60, "--seed", 3]

    @classmethod
    def data(cls):
        return ["--data", f"text:{cls.book}"]

    def test_one_bit_of_graph_or_text_proves_nothing(self):
        graph = Path(f"{self.out / 'run.toml'}.graph")
        other = with_bit_flipped(graph, self.base / "other.graph", 60)
        first, second = self.verdicts("--graph", other, "--state", self.evidence, self.files[0])
        self.assertEqual(first, MISSING)
        self.assertEqual(second, MISSING)
        text = with_bit_flipped(self.book, self.base / "other.txt", 1000)
        ended = run("evidence", "verify", "--manifest", self.out / "run.toml", "--data", f"text:{text}", "--state",
                    self.evidence, self.files[0])
        self.assertEqual(ended.returncode, MISSING)
        ended = second_verifier("--manifest", self.out / "run.toml", "--data", text, "--state", self.evidence, self.files[0])
        self.assertEqual(ended.returncode, MISSING)


if __name__ == "__main__":
    unittest.main()

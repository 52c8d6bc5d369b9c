"""`ostraka evidence`: two verifiers accept the files of real swarms, and neither accepts damaged ones."""
import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import TestCase, expect_ok, run

VERIFIER = Path(__file__).resolve().parents[2] / "proofs" / "verifier" / "ostraka_evidence.py"
DEBIAN_PYTHON = "/usr/bin/python3"  # python3-nacl is for it
TOY = ["--model", "toy", "--hidden", "256", "--steps", 40]


def second_verifier(*args):
    return subprocess.run([DEBIAN_PYTHON, VERIFIER, *map(str, args)], stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class SwarmEvidenceTest(TestCase):
    """One swarm whose attackers equivocate: a self-contained proof and a sealed ban of each."""

    @classmethod
    def setUpClass(cls):
        cls.base = Path(tempfile.mkdtemp(prefix="ostraka-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        cls.out = cls.base / "out"
        result = json.loads(expect_ok("swarm", *TOY, "--attack", "equivocate", "--json", "--out", cls.out))
        cls.byzantine = sorted(result["byzantine"])
        cls.manifest = cls.out / "run.toml"
        cls.files = sorted((cls.out / "evidence").glob("*.evidence"))

    def judge(self, file, *options):
        ended = run("evidence", "verify", "--json", file, *options)
        return ended.returncode, json.loads(ended.stdout)

    def test_evidence_of_both_kinds_exists_against_each_attacker_only(self):
        found = {}
        for file in self.files:
            code, finding = self.judge(file, "--manifest", self.manifest)
            self.assertEqual((code, finding["verdict"]), (0, "proven"), file)
            found.setdefault(finding["kind"], []).append(finding["accused"])
        self.assertEqual(sorted(found), ["equivocation", "sealed_ban"])
        for accused in found.values():
            self.assertEqual(sorted(accused), self.byzantine)

    def test_the_second_verifier_agrees(self):
        ended = second_verifier("--manifest", self.manifest, *self.files)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stdout.count(": proven: "), len(self.files))

    def test_without_the_manifest_a_sealed_ban_lacks_data_and_the_rest_is_proven(self):
        for file in self.files:
            sealed = "sealed_ban" in file.name
            code, finding = self.judge(file)
            self.assertEqual((code, finding["verdict"]), (3, "missing_data") if sealed else (0, "proven"))
            self.assertEqual(second_verifier(file).returncode, code)

    def test_another_runs_manifest_proves_nothing(self):
        other = self.base / "other.toml"
        text = self.manifest.read_text()
        other.write_text(text + "\n# another run\n")
        file = next(file for file in self.files if "sealed_ban" in file.name)
        code, finding = self.judge(file, "--manifest", other)
        self.assertEqual((code, finding["verdict"]), (1, "not_proven"))
        self.assertIn("another run", finding["reason"])
        self.assertEqual(second_verifier("--manifest", other, file).returncode, 1)

    def test_several_files_are_judged_and_the_worst_is_the_exit_code(self):
        damaged = self.base / "damaged.evidence"
        damaged.write_bytes(self.files[0].read_bytes()[:-8])
        args = ["--manifest", self.manifest, self.files[0], damaged]
        ended = run("evidence", "verify", *args)
        self.assertEqual(ended.returncode, 2)
        lines = ended.stdout.splitlines()
        self.assertTrue(lines[0].startswith(f"{self.files[0]}: proven: "), lines)
        self.assertTrue(lines[1].startswith(f"{damaged}: malformed: "), lines)
        printed = json.loads(run("evidence", "verify", "--json", *args).stdout)["findings"]
        self.assertEqual([(finding["file"], finding["verdict"]) for finding in printed],
                         [(str(self.files[0]), "proven"), (str(damaged), "malformed")])
        self.assertEqual(second_verifier(*args).returncode, 2)

    def test_an_unreadable_file_leaves_the_others_judged(self):
        missing = self.base / "missing.evidence"
        args = ["--manifest", self.manifest, missing, self.files[0]]
        ended = run("evidence", "verify", *args)
        self.assertEqual(ended.returncode, 3)
        self.assertIn(str(missing), ended.stderr)
        self.assertTrue(ended.stdout.startswith(f"{self.files[0]}: proven: "), ended.stdout)
        unread, judged = json.loads(run("evidence", "verify", "--json", *args).stdout)["findings"]
        self.assertEqual((unread["file"], judged["verdict"]), (str(missing), "proven"))
        self.assertIn("missing.evidence", unread["error"])

    def test_with_the_manifest_people_see_names(self):
        names = json.loads(expect_ok("run", "show", "--json", self.manifest))["members"]
        names = {member["peer"]: member["name"] for member in names}
        for file in self.files:
            code, finding = self.judge(file, "--manifest", self.manifest)
            self.assertEqual(finding["name"], names[finding["accused"]])
            shown = f"{finding['name']} ({finding['accused'][:8]})"
            said = expect_ok("evidence", "verify", file, "--manifest", self.manifest)
            self.assertTrue(said.startswith(f"proven: {shown} in step "), said)
            text = expect_ok("evidence", "show", file, "--manifest", self.manifest)
            self.assertIn(f"accused  {shown}\n", text)
            self.assertNotRegex(text, r" by [0-9a-f]{16},")
            self.assertNotIn("name", self.judge(file)[1])
            self.assertIn(finding["accused"], run("evidence", "verify", file).stdout)

    def test_show_prints_its_content(self):
        file = next(file for file in self.files if "equivocation" in file.name)
        shown = json.loads(expect_ok("evidence", "show", "--json", file))
        self.assertEqual((shown["kind"], len(shown["frames"])), ("equivocation", 2))
        self.assertTrue(all(frame["signature_holds"] for frame in shown["frames"]))
        self.assertTrue(file.name.endswith(shown["id"][:8] + ".evidence"))
        self.assertIn("signature holds", expect_ok("evidence", "show", file))

    def test_export_writes_the_files_of_one_ledger(self):
        into = self.base / "exported"
        expect_ok("evidence", "export", self.out / "node0", into)
        names = {file.name for file in into.glob("*.evidence")}
        self.assertTrue(names)
        self.assertLessEqual(names, {file.name for file in self.files})


class BadInputTest(TestCase):
    def test_other_files_are_malformed_and_absent_files_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            junk = Path(folder) / "junk"
            junk.write_bytes(b"x" * 64)
            ended = run("evidence", "verify", junk)
            self.assertEqual(ended.returncode, 2)
            self.assertTrue(ended.stdout.startswith("malformed: "), ended.stdout)
            self.assertEqual(run("evidence", "show", junk).returncode, 2)
            self.assertEqual(run("evidence", "verify", Path(folder) / "none").returncode, 3)
            self.assertEqual(run("evidence", "export", folder, Path(folder) / "out").returncode, 3)

    def test_the_second_verifier_reports_errors_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            junk = Path(folder) / "junk"
            junk.write_bytes(b"x" * 64)
            for args, code in ([["none"], 3], [[folder], 3], [["--manifest", "none", junk], 3],
                               [["--manifest", junk, junk], 2]):
                ended = second_verifier(*args)
                self.assertEqual((ended.returncode, len(ended.stderr.splitlines())), (code, 1), ended.stderr)
            self.assertEqual(second_verifier(junk).returncode, 2)


if __name__ == "__main__":
    unittest.main()

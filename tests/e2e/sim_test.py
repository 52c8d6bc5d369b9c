"""`ostraka sim`: the same seed gives the same run, and failures can be replayed."""
import json

import harness
from harness import TestCase, run

SMALL = ["--peers", 4, "--byzantine", 1, "--attack", "sign_flip", "--dimension", 64, "--steps", 15]
KEYS = {"ok", "seeds", "failures", "steps", "events", "trace_digest", "removed",
        "detection_steps", "returns", "loss", "recovery"}


class SimTest(TestCase):
    def sim(self, *args, code=0):
        result = run("sim", *args, "--json", cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def test_the_result_keeps_its_contract(self):
        result = self.sim(*SMALL, "--seed", 5)
        self.assertEqual(set(result), KEYS)
        self.assertEqual((result["ok"], result["seeds"], result["failures"]), (True, 1, []))
        self.assertEqual(result["removed"], {"byzantine": 1, "honest": 0})
        self.assertGreaterEqual(result["steps"], 15)
        self.assertRegex(result["trace_digest"], r"\A[0-9a-f]{64}\Z")
        self.assertGreater(result["detection_steps"]["mean"], 0)

    def test_the_seed_alone_decides_the_run(self):
        first = self.sim(*SMALL, "--seed", 5)
        self.assertEqual(self.sim(*SMALL, "--seed", 5), first)
        self.assertNotEqual(self.sim(*SMALL, "--seed", 6)["trace_digest"], first["trace_digest"])

    def test_many_seeds(self):
        result = self.sim(*SMALL, "--seeds", "1..3")
        self.assertEqual((result["ok"], result["seeds"]), (True, 3))
        self.assertEqual(result["removed"], {"byzantine": 3, "honest": 0})

    def test_saved_options_give_the_same_run(self):
        saved = self.folder / "saved.replay"
        saved.write_text("seed=5 peers=4 byzantine=1 attack=sign_flip dimension=64 steps=15\n")
        self.assertEqual(self.sim("--replay", saved), self.sim(*SMALL, "--seed", 5))

    def test_a_failure_exits_1_and_leaves_what_replays_it(self):
        # No bug can be planted from outside, but a run can be given too little virtual time.
        hurried = self.folder / "hurried.replay"
        hurried.write_text("seed=7 peers=4 byzantine=0 attack=none dimension=64 steps=15 "
                           "time_limit_ns=1000000\n")
        result = self.sim("--replay", hurried, code=1)
        self.assertIs(result["ok"], False)
        failure, = result["failures"]
        self.assertEqual(set(failure), {"seed", "checker", "message", "replay"})
        self.assertEqual(failure["seed"], 7)
        self.assertTrue(failure["checker"] and failure["message"])
        self.assertTrue(failure["replay"].startswith("ostraka sim --replay "))
        words = failure["replay"].split()[1:]
        again = self.sim(*words[1:], code=1)
        self.assertEqual(again["trace_digest"], result["trace_digest"])
        self.assertEqual(again["failures"][0]["message"], failure["message"])

    def test_text_for_people(self):
        result = run("sim", *SMALL, "--seed", 5, cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertIn("removed: 1 Byzantine, 0 honest", result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], "OK")

    def test_bad_input(self):
        self.refused(2, ["sim", "--attack", "nonsense"], "'nonsense' is not known", "sign_flip")
        self.refused(2, ["sim", "--attack", "sign_flip", "--attack-param", "x=1"], "'x'", "lambda")
        self.refused(2, ["sim", "--attack", "sign_flip", "--attack-param", "lambda"],
                     "write name=value")
        self.refused(2, ["sim", "--byzantine", 8], "byzantine must be below peers")
        self.refused(2, ["sim", "--mode", "thrid"], "'thrid'", "majority, balanced or third")
        self.refused(2, ["sim", "--seeds", "5..1"], "write FIRST..LAST")
        self.refused(2, ["sim", "--seeds", "1..2", "--seed", 4], "--seeds")
        self.refused(3, ["sim", "--replay", self.folder / "none"], "none", "check the path")
        empty, garbage = self.folder / "empty", self.folder / "garbage"
        empty.touch()
        garbage.write_bytes(bytes(range(256)))
        self.refused(2, ["sim", "--replay", empty], str(empty), "is empty")
        self.refused(2, ["sim", "--replay", garbage], str(garbage))
        self.refused(2, ["sim", "--replay", "/dev/zero"], "larger than 64 KiB")


if __name__ == "__main__":
    harness.main()

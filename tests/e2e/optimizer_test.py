"""Runs with AdamW: its moments are part of the state, in files, after kills, and in a run that goes on."""
import json
import unittest

import kill_test
import safetensors_file
from harness import TestCase, expect_ok, run
from recover_test import RecoverTest

ADAMW = ("--optimizer", "adamw", "--schedule", "cosine", "--learning-rate", "0.02")
SLOTS = ("first_moment", "second_moment")


class SwarmTest(TestCase):
    def test_an_attacker_is_banned_and_the_honest_end_with_equal_moments(self):
        out = self.folder / "out"
        ended = run("swarm", "--json", "--out", out, "--peers", 5, "--byzantine", 1, "--steps", 60, "--checkpoint-every", 10,
                    "--warmup", 5, "--clip", 2, *ADAMW)
        result = json.loads(ended.stdout)
        self.assertTrue(result["ok"], result["problems"])
        self.assertEqual({removal["peer"] for removal in result["removals"]}, set(result["byzantine"]))
        self.assertGreater(result["metric"]["value"], 0.8)
        shown = json.loads(expect_ok("run", "show", out / "run.toml", "--json"))
        self.assertEqual((shown["optimizer"], shown["schedule"], shown["clip_norm"]), ("adamw", "cosine", 2))

        files = sorted((out / "node0" / "checkpoints").glob("step-*.safetensors"))
        metadata, tensors = safetensors_file.read(files[-1])
        names = [name for name in tensors if not name.startswith("optimizer.")]
        self.assertEqual(list(tensors), names + [f"optimizer.{slot}.{name}" for slot in SLOTS for name in names])
        for name in names:
            self.assertTrue(any(tensors[f"optimizer.first_moment.{name}"][1]))
            self.assertTrue(all(value >= 0 for value in tensors[f"optimizer.second_moment.{name}"][1]))
        self.assertTrue(metadata["state_root"])
        model = self.folder / "model.safetensors"
        expect_ok("export", out / "node0", model)
        self.assertEqual(list(safetensors_file.read(model)[1]), names)

    def test_a_contradiction_is_refused_in_one_line(self):
        swarm = ["swarm", "--peers", 4, "--byzantine", 1, "--out", self.folder / "out"]
        self.refused(2, [*swarm, "--optimizer", "adam"], "--optimizer must be sgd, nesterov, adamw or lamb, not 'adam'")
        self.refused(2, [*swarm, "--schedule", "step"], "--schedule must be linear, constant, cosine or wsd")
        self.refused(2, [*swarm, "--optimizer", "adamw", "--clip", 0], "training.clip_norm must be above 0")
        self.refused(2, [*swarm, "--optimizer", "adamw", "--momentum", 0.9], "training.momentum must be 0")
        self.refused(2, [*swarm, "--optimizer", "adamw", "--learning-rate", 3], "training.learning_rate must be at most 1")
        self.refused(2, [*swarm, "--optimizer", "nesterov", "--momentum", 0], "training.momentum must be above 0")
        self.refused(2, [*swarm, "--decay-steps", 5], "training.decay_steps is of schedule wsd")
        self.refused(2, [*swarm, "--schedule", "wsd", "--decay-steps", 1000], "training.decay_steps must be")
        self.refused(2, [*swarm, "--clip", "nan"], "--clip: must be a number such as 0.01")


class KilledTest(kill_test.NodesTest):
    def test_all_killed_at_once_go_on_with_their_moments(self):
        self.start(count=4, steps=60, options=ADAMW)
        self.await_step(self.honest, 20)
        for process in self.nodes.processes.values():
            process.kill()
        for index in self.honest:
            self.nodes.kill(index)
            self.nodes.start(index)
        self.finish()
        self.audit()

    def test_a_member_without_its_disk_ends_with_the_moments_of_the_others(self):
        self.start(count=4, steps=200, options=ADAMW)
        self.await_step(self.honest, 25)
        self.nodes.kill(3)
        kill_test.shutil.rmtree(self.made.data_dir(3))
        self.nodes.start(3)
        self.finish()  # all end with one state root, which covers the slots


class AdamWRecoverTest(RecoverTest):
    OPTIONS = ("--optimizer", "adamw", "--schedule", "constant", "--learning-rate", "0.1")

    def test_three_of_four_continue_from_their_newest_common_state(self):
        super().test_three_of_four_continue_from_their_newest_common_state()
        step = json.loads(expect_ok("run", "show", self.next, "--json"))["origin"]["step"]
        self.assertIn(f"\nupdates = {step + 1} ", self.next.read_text())
        self.next.write_text(self.next.read_text().replace('"adamw"', '"sgd"'))
        self.refused(2, ["node", self.next, "--key", self.made.key(0), "--data-dir", self.made.folder / "other", "--origin",
                         self.made.data_dir(0) / "checkpoints" / f"step-{step}.safetensors"], "another optimizer than sgd")


del RecoverTest  # else it would run here, too

if __name__ == "__main__":
    unittest.main(verbosity=2)

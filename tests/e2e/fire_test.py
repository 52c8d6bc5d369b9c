"""Attacks on the protocol in real processes: the rule that ends each, as `swarm` reports it.

All of them, with their numbers: docs/measurements/attacks.md.
"""
import json

import harness
from harness import TestCase, run

SWARM = ["swarm", "--model", "toy", "--hidden", "256", "--steps", 15, "--part-timeout-ms", 1500,
         "--json"]


class FireTest(TestCase):
    def attack(self, name):
        ended = run(*SWARM, "--attack", name, "--out", self.folder / "out")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        result = json.loads(ended.stdout)
        self.assertEqual((result["ok"], result["honest_banned"], result["honest_dropped"]), (True, 0, 0))
        self.assertEqual(sorted(removal["peer"] for removal in result["removals"]),
                         sorted(result["byzantine"]))
        self.assertEqual(len(result["removals"]), 3)
        self.assertEqual(result["returns"], [])
        return result["removals"], ended.stderr, lambda peer: f"{result['names'][peer]} ({peer[:8]})"

    def test_two_commits_for_one_slot_ban_by_evidence_in_the_same_step(self):
        bans, told, named = self.attack("equivocate")
        for removal in bans:
            self.assertEqual((removal["kind"], removal["step"]), ("evidence", 0))
            self.assertEqual(removal["reason"], "signed two different COMMITs of one slot")
            self.assertIn(f"step 0: BANNED {named(removal['peer'])} (evidence)", told)

    def test_silent_members_are_dropped_and_not_banned(self):
        bans, told, named = self.attack("silent")
        for removal in bans:
            self.assertEqual(removal["kind"], "drop")
            self.assertRegex(removal["reason"], "sealed absent: its [A-Z]+ did not come")
            self.assertIn(f"step {removal['step']}: dropped {named(removal['peer'])} (drop)", told)
        self.assertNotIn("BANNED", told)


if __name__ == "__main__":
    harness.main()

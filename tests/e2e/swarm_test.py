"""`ostraka swarm`: real nodes, some of them attackers, and their ledgers afterwards."""
import json
import math
import os
import shutil
import signal
import sqlite3
import stat
import tempfile
from pathlib import Path

import harness
from harness import Running, TestCase, await_gone, children_of, expect_ok, run

TOY = ["--model", "toy", "--hidden", "256"]
KEYS = {"ok", "peers", "byzantine", "attack", "unprotected", "seed", "parameters", "steps", "removals", "returns",
        "came", "honest_banned", "honest_dropped", "names", "state_roots_equal", "metric", "loss", "seconds", "bytes_sent",
        "peak_rss_bytes", "longest_turn_seconds", "problems", "seconds_per_step", "payload_bytes_per_step"}


def named(result, peer):
    """A member as people see it."""
    return f"{result['names'][peer]} ({peer[:8]})"


def with_names(result, text):
    for peer in result["names"]:
        text = text.replace(peer[:16], named(result, peer))
    return text


class BanishTest(TestCase):
    """Eight nodes, three of which flip the sign of their gradients; all tests share their run."""

    @classmethod
    def setUpClass(cls):
        cls.base = Path(tempfile.mkdtemp(prefix="ostraka-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        cls.out = cls.base / "out"
        cls.ended = run("swarm", *TOY, "--steps", 60, "--json", "--out", cls.out)
        if cls.ended.returncode != 0:
            raise AssertionError(f"exit {cls.ended.returncode}\n{cls.ended.stdout}\n"
                                 f"{cls.ended.stderr}")
        cls.result = json.loads(cls.ended.stdout)
        cls.honest = [cls.out / f"node{i}" for i in range(5)]

    def test_the_result_keeps_its_contract(self):
        result = self.result
        self.assertEqual(self.ended.stdout.count("\n"), 1)
        self.assertEqual(set(result), KEYS)
        self.assertIs(result["ok"], True)
        self.assertEqual(result["problems"], [])
        self.assertEqual((result["peers"], result["attack"], result["seed"]), (8, "sign_flip", 0))
        self.assertIs(result["unprotected"], False)
        self.assertEqual(result["parameters"], 256)
        self.assertEqual((result["honest_banned"], result["honest_dropped"]), (0, 0))
        self.assertIs(result["state_roots_equal"], True)
        self.assertGreaterEqual(result["steps"], 60)
        self.assertEqual(set(result["metric"]), {"name", "on", "value", "loss", "step"})
        self.assertTrue(result["loss"] and all(math.isfinite(loss) for loss in result["loss"]))
        self.assertLess(result["loss"][-1], result["loss"][0])
        self.assertEqual(set(result["seconds_per_step"]),
                         {"compute", "aggregate", "agree", "total"})
        for key in ["seconds", "bytes_sent", "peak_rss_bytes", "longest_turn_seconds", "payload_bytes_per_step"]:
            self.assertGreater(result[key], 0)

    def test_only_byzantine_nodes_are_banned_with_step_and_reason(self):
        self.assertEqual(len(self.result["byzantine"]), 3)
        self.assertEqual(sorted(removal["peer"] for removal in self.result["removals"]),
                         sorted(self.result["byzantine"]))
        for removal in self.result["removals"]:
            self.assertEqual(set(removal), {"peer", "step", "kind", "cause", "reason"})
            self.assertEqual(len(removal["peer"]), harness.ID_DIGITS)
            self.assertEqual(removal["kind"], "verdict")
            self.assertIn("does not follow from its batch", removal["reason"])
            self.assertTrue(0 < removal["step"] < self.result["steps"])
            self.assertIn(f"step {removal['step']}: BANNED {named(self.result, removal['peer'])} ({removal['kind']}): ",
                          self.ended.stderr)

    def test_honest_ledgers_are_equal(self):
        shown = [json.loads(expect_ok("ledger", "show", "--json", node)) for node in self.honest]
        self.assertEqual(len({ledger["peer"] for ledger in shown}), 5)
        self.assertEqual(len({ledger["run_id"] for ledger in shown}), 1)
        blocks = shown[0]["blocks"]
        self.assertEqual(len(blocks), self.result["steps"] + 2)  # genesis, and the closing step
        removals = [removal for block in blocks for removal in block["removals"]]
        self.assertEqual(removals, self.result["removals"])
        self.assertEqual(blocks[-1]["members"], 5)
        self.assertTrue(any("state_root" in block for block in blocks[:-1]))
        self.assertTrue(blocks[-1]["closes"])
        self.assertIn("state_root", blocks[-1], "the last state is sealed")
        for ledger in shown:
            self.assertEqual(ledger["blocks"], blocks)
            self.assertEqual(ledger["outcome"], "all steps are done")
            self.assertGreater(ledger["slots"], self.result["steps"])

    def test_explain_agrees_and_finds_a_peer_by_its_first_digits(self):
        for node in self.honest:
            removals = json.loads(expect_ok("ledger", "explain", "--json", node))["removals"]
            plain = [{key: entry[key] for key in ("peer", "step", "kind", "cause", "reason")}
                     for entry in removals]
            self.assertEqual(plain, self.result["removals"])
            for entry in removals:
                self.assertIn(entry["accuser"][:16], entry["reason"])
                self.assertEqual(entry["target"], entry["peer"])
        first = self.result["removals"][0]
        text = expect_ok("ledger", "explain", self.honest[0], first["peer"][:12])
        self.assertIn(f"{named(self.result, first['peer'])} was banned in step {first['step']} (verdict)", text)
        self.assertIn(with_names(self.result, first["reason"]), text)
        self.assertNotIn(named(self.result, self.result["removals"][1]["peer"]) + " was banned", text)
        self.assertEqual(text, expect_ok("ledger", "explain", self.honest[0], self.result["names"][first["peer"]]))
        me = json.loads(expect_ok("ledger", "show", "--json", self.honest[0]))["peer"]
        self.assertIn("was not banned or dropped", expect_ok("ledger", "explain", self.honest[0], me))

    def test_the_ledger_as_text(self):
        text = expect_ok("ledger", "show", self.honest[0])
        lines = text.splitlines()
        self.assertEqual(lines[3], "end   all steps are done")
        self.assertEqual(len(lines), 5 + self.result["steps"] + 2)
        for removal in self.result["removals"]:
            line = lines[5 + removal["step"] + 1]
            self.assertTrue(line.startswith(str(removal["step"]) + " "))
            self.assertIn("banned " + named(self.result, removal["peer"]), line)

    def test_anyone_can_query_it_with_sqlite(self):
        for node in self.honest:
            with sqlite3.connect(f"file:{node}/ledger.sqlite?mode=ro", uri=True) as ledger:
                rows = ledger.execute("SELECT peer, step, kind, reason FROM removals "
                                      "ORDER BY height, peer").fetchall()
            ledger.close()
            wanted = sorted(self.result["removals"], key=lambda removal: (removal["step"], removal["peer"]))
            self.assertEqual(rows, [(b["peer"], b["step"], b["kind"], b["reason"])
                                    for b in wanted])

    def test_no_key_signed_a_slot_twice(self):
        for node in self.honest:
            copy = self.base / "copy.sqlite"
            with sqlite3.connect(f"file:{node}/ledger.sqlite?mode=ro", uri=True) as ledger, \
                    sqlite3.connect(copy) as writable:
                ledger.backup(writable)
                twice = ledger.execute("SELECT step FROM slots GROUP BY slot "
                                       "HAVING COUNT(DISTINCT digest) > 1").fetchall()
                commits = dict(ledger.execute("SELECT step, COUNT(*) FROM slots WHERE type = 1 "
                                              "GROUP BY step").fetchall())
                self.assertEqual(twice, [])
                # The COMMIT after the closing step attests to the last block.
                self.assertEqual(commits, {s: 1 for s in range(self.result["steps"] + 2)})
                # The table refuses a second digest for a slot.
                with self.assertRaises(sqlite3.IntegrityError):
                    writable.execute("INSERT INTO slots SELECT slot, step, phase, type, 'other' "
                                     "FROM slots LIMIT 1")
            ledger.close()
            writable.close()
            copy.unlink()

    def test_kept_files(self):
        expect_ok("run", "check", self.out / "run.toml", "--faults", 3)
        for i in range(8):
            self.assertTrue((self.out / f"node{i}.log").exists())
            mode = stat.S_IMODE((self.out / f"node{i}.key").stat().st_mode)
            self.assertEqual(mode, 0o600)
        self.assertIn(str(self.out), self.ended.stderr)



class SecondActTest(TestCase):
    """While eight train, three of them attackers, others come in and one leaves."""

    def test_one_joins_one_intrudes_and_one_leaves(self):
        with tempfile.TemporaryDirectory(prefix="ostraka-e2e-") as folder:
            out = Path(folder) / "out"
            ended = run("swarm", *TOY, "--steps", 150, "--join", 1, "--intrude", 1, "--leave", 1, "--json",
                        "--out", out)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            result = json.loads(ended.stdout)
            names = {name: peer for peer, name in result["names"].items()}
            self.assertEqual([one["peer"] for one in result["came"]], [names["node8"], names["node9"]])
            self.assertIn(names["node9"], result["byzantine"])
            removed = {removal["peer"] for removal in result["removals"]}
            self.assertEqual(removed, set(result["byzantine"]))
            self.assertIn("node8 (" + names["node8"][:8] + ") came in", ended.stderr)
            self.assertIn("has left", ended.stderr)
            explained = run("ledger", "show", out / "node8")
            self.assertEqual(explained.returncode, 0, explained.stderr)

    def test_a_second_act_that_cannot_be_is_refused(self):
        for options, words in ((["--leave", 3], "three must stay"), (["--unprotected", "--join", 1], "no second act")):
            ended = run("swarm", *TOY, "--steps", 20, *options)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(words, ended.stderr)


class OutcomeTest(TestCase):
    def swarm(self, *args, **popen):
        result = run("swarm", *args, "--json", **popen)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        parsed = json.loads(result.stdout)
        self.assertEqual(parsed["ok"], result.returncode == 0)
        self.assertEqual(parsed["ok"], not parsed["problems"])
        return parsed, result

    def test_honest_nodes_are_not_removed(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        result, _ = self.swarm("--peers", 4, "--byzantine", 1, "--attack", "none", *TOY,
                               "--steps", 12, env={**os.environ, "TMPDIR": str(temporary)})
        self.assertTrue(result["ok"], result["problems"])
        self.assertEqual((result["removals"], result["returns"]), ([], []))
        self.assertEqual(result["steps"], 12)
        self.assertEqual(list(temporary.iterdir()), [], "a run that went well leaves nothing")

    def test_text_names_removed_nodes_and_reasons(self):
        result = run("swarm", "--peers", 4, "--byzantine", 1, *TOY, "--steps", 20)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^3 +[0-9a-f]{16} +byzantine +banned +step \d+, "
                                        r"verdict: its gradient of step \d+ does not follow")
        self.assertRegex(result.stdout, r"(?m)^0 +[0-9a-f]{16} +honest +finished")
        self.assertIn("state roots of the honest nodes: equal", result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], "OK")
        self.assertTrue(result.stderr.startswith("4 nodes on loopback, 1 Byzantine (sign_flip): "))

    def test_averaging_without_protection_ends_with_a_clear_reason(self):
        result, ended = self.swarm("--unprotected", "--peers", 4, "--byzantine", 1, *TOY,
                                   "--steps", 30, "--out", self.folder / "out")
        self.assertEqual((result["removals"], result["returns"]), ([], []))
        self.assertIs(result["unprotected"], True)
        # A gradient of the wrong sign, a thousandfold, destroys the model.
        self.assertIs(result["ok"], False)
        self.assertRegex(" ".join(result["problems"]), "diverged|not finite|the loss rises")

    def test_a_target_that_is_missed_is_a_negative_result(self):
        args = ["--peers", 3, "--byzantine", 0, *TOY, "--steps", 8]
        result, _ = self.swarm(*args, "--target", 1e-9)
        self.assertFalse(result["ok"])
        self.assertEqual(len(result["problems"]), 1)
        self.assertRegex(result["problems"][0], r"loss is \S+, above the target 0\.0000")
        result, _ = self.swarm(*args, "--target", 1e9)
        self.assertTrue(result["ok"], result["problems"])

    def test_softmax_on_digits_learns_beside_an_attacker(self):
        result, _ = self.swarm("--peers", 4, "--byzantine", 1, "--model", "softmax", "--steps", 40)
        self.assertTrue(result["ok"], result["problems"])
        self.assertEqual([removal["peer"] for removal in result["removals"]], result["byzantine"])
        self.assertEqual(result["metric"]["name"], "accuracy")
        self.assertGreater(result["metric"]["value"], 0.8)
        self.assertEqual(result["parameters"], 64 * 10 + 10)


class InterruptTest(TestCase):
    """A swarm that is stopped in the middle takes its nodes with it."""

    def start(self):
        self.out = self.folder / "out"
        swarm = self.running(Running("swarm", "--peers", 3, "--byzantine", 0, *TOY, "--steps",
                                     1000000, "--evaluate-every", 1, "--json", "--out", self.out))
        swarm.wait_for("stderr", lambda line: line.startswith("step 3: "))
        nodes = children_of(swarm.pid)
        self.assertEqual(len(nodes), 3)
        return swarm, nodes

    def check_clean_end(self, swarm, nodes):
        self.assertEqual(swarm.finish(), 1)
        await_gone(nodes)
        result = swarm.report()
        self.assertIs(result["ok"], False)
        self.assertIn("interrupted", result["problems"])
        self.assertFalse([p for p in result["problems"] if "without a report" in p])
        for i in range(3):
            shown = json.loads(expect_ok("ledger", "show", "--json", self.out / f"node{i}"))
            self.assertGreaterEqual(len(shown["blocks"]), 4)
            self.assertIn("SIGTERM", shown["outcome"])

    def test_a_signal_to_the_swarm_ends_all_nodes(self):
        swarm, nodes = self.start()
        swarm.signal(signal.SIGTERM)
        self.check_clean_end(swarm, nodes)

    def test_ctrl_c_on_a_terminal_ends_all_nodes(self):
        swarm, nodes = self.start()
        os.killpg(swarm.pid, signal.SIGINT)
        self.check_clean_end(swarm, nodes)

    def test_a_killed_swarm_leaves_no_node_running(self):
        swarm, nodes = self.start()
        swarm.signal(signal.SIGKILL)
        self.assertEqual(swarm.finish(), -signal.SIGKILL)
        await_gone(nodes)
        for i in range(3):
            expect_ok("ledger", "show", self.out / f"node{i}")

    def test_a_lost_node_is_named_and_the_others_continue(self):
        swarm = self.running(Running("swarm", "--peers", 4, "--byzantine", 0, *TOY, "--steps", 20,
                                     "--evaluate-every", 1, "--part-timeout-ms", 1500, "--json",
                                     "--out", self.folder / "out"))
        swarm.wait_for("stderr", lambda line: line.startswith("step 3: "))
        nodes = children_of(swarm.pid)
        os.kill(nodes[1], signal.SIGKILL)
        self.assertEqual(swarm.finish(), 1)
        await_gone(nodes)
        result = swarm.report()
        self.assertEqual(len(result["problems"]), 2)
        self.assertRegex(result["problems"][0],
                         r"node 1 \([0-9a-f]{16}\) ended without a report, status 137")
        self.assertEqual(result["problems"][1], "1 honest peers were banned or dropped")
        self.assertEqual([removal["kind"] for removal in result["removals"]], ["drop"])
        self.assertEqual((result["steps"], result["state_roots_equal"]), (20, True))
        self.assertRegex(swarm.text["stderr"], r"node1 \([0-9a-f]{8}\) ended without a report, status 137: "
                                               "the others continue without it")
        self.assertRegex(swarm.text["stderr"], r"step \d+: dropped node1 \([0-9a-f]{8}\) \(drop\): sealed")


if __name__ == "__main__":
    harness.main()

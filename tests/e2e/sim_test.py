"""`ostraka sim`: a seed determines the run, and failures can be replayed."""
import collections
import json
import os
import select
import shlex
import signal
import subprocess

import browser
import harness
from harness import TestCase, run

SMALL = ["--peers", 4, "--byzantine", 1, "--attack", "sign_flip", "--dimension", 64, "--steps", 15]
KEYS = {"ok", "seeds", "failures", "steps", "events", "batches", "virtual_seconds", "honest_late_ms", "trace_digest", "banned", "dropped",
        "returned", "stragglers", "detection_steps", "loss", "recovery", "ranges", "slow_steps", "stood_still", "run_twice",
        "occurred", "interrupted"}


class SimTest(TestCase):
    def sim(self, *args, code=0):
        result = run("sim", *args, "--json", cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def test_the_result_keeps_its_contract(self):
        result = self.sim(*SMALL, "--seed", 5)
        self.assertEqual(set(result), KEYS | {"history"})
        self.assertEqual((result["ok"], result["seeds"], result["failures"]), (True, 1, []))
        self.assertEqual(result["banned"], {"byzantine": 1, "honest": 0})
        self.assertEqual((result["dropped"], result["returned"]), ({"byzantine": 0, "honest": 0},) * 2)
        self.assertGreaterEqual(result["steps"], 15)
        self.assertRegex(result["trace_digest"], r"\A[0-9a-f]{64}\Z")
        self.assertGreater(result["detection_steps"]["mean"], 0)

    def test_a_gpt_trains_in_the_exact_profile(self):
        gpt = ("--model", "gpt", "--peers", 5, "--byzantine", 1, "--attack", "label_flip", "--steps", 30)
        result = self.sim(*gpt)
        self.assertEqual(result["trace_digest"], self.sim(*gpt, "--exact")["trace_digest"])
        losses = [step["loss"] for step in self.history(result)["steps"]]
        self.assertLess(losses[-1], losses[0] - 0.3)
        refused = run("sim", "--model", "gpt", "--dimension", 20)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--dimension is of the toy problem", refused.stderr)

    def history(self, result):
        """The history of one run, after what must hold of each."""
        history = result["history"]
        self.assertEqual(set(history), {"byzantine", "names", "steps"})
        self.assertEqual([step["step"] for step in history["steps"]],
                         sorted({step["step"] for step in history["steps"]}))
        self.assertEqual(sorted(history["names"].values()),
                         sorted(f"peer {i}" for i in range(len(history["names"]))))
        kinds = {peer: "byzantine" if peer in history["byzantine"] else "honest" for peer in history["names"]}
        members = collections.Counter(kinds.values())
        counts = {fate: {"byzantine": 0, "honest": 0} for fate in ("banned", "dropped", "returned")}
        gone, out = {}, set()
        for step in history["steps"]:
            # A block names the members that its step began with; it removes those of the next.
            for removal in step["removals"]:
                self.assertEqual(removal["step"], step["step"])
                self.assertTrue(removal["reason"])
                if removal["peer"] not in out:
                    members[kinds[removal["peer"]]] -= 1
                    out.add(removal["peer"])
                gone[removal["peer"]] = removal["kind"]
                counts["dropped" if removal["kind"] == "drop" else "banned"][kinds[removal["peer"]]] += 1
            for back in step["returns"]:
                self.assertEqual((back["step"], gone.pop(back["peer"])), (step["step"], "drop"))
                out.discard(back["peer"])
                members[kinds[back["peer"]]] += 1
                counts["returned"][kinds[back["peer"]]] += 1
            self.assertEqual(step["members"], {kind: members[kind] for kind in ("byzantine", "honest")}, step["step"])
        self.assertEqual(counts, {fate: result[fate] for fate in counts})
        return history

    def test_one_run_has_a_history(self):
        history = self.history(self.sim(*SMALL, "--seed", 5))
        self.assertEqual(len(history["byzantine"]), 1)
        [removal] = [removal for step in history["steps"] for removal in step["removals"]]
        self.assertEqual((removal["peer"], removal["kind"]), (history["byzantine"][0], "verdict"))
        self.assertEqual([step["step"] for step in history["steps"]][:15], list(range(15)))
        returned = self.sim("--byzantine", 0, "--crashes", 3, "--lose-disk")
        history = self.history(returned)
        self.assertEqual(history["byzantine"], [])
        self.assertGreater(returned["returned"]["honest"], 0)

    def test_the_last_loss_of_a_history_is_the_loss_at_the_end(self):
        for options in (["--attack", "none"], ["--attack", "none", "--unprotected"]):
            result = self.sim("--peers", 4, "--byzantine", 0, "--dimension", 64, "--steps", 12, *options)
            steps = self.history(result)["steps"]
            self.assertEqual(steps[-1]["loss"], result["loss"]["mean"])
            self.assertGreater(steps[0]["loss"], steps[-1]["loss"])
        ruined = self.sim("--peers", 4, "--byzantine", 1, "--dimension", 64, "--steps", 40, "--attack", "sign_flip",
                          "--unprotected", code=1)
        steps = self.history(ruined)["steps"]
        self.assertTrue(steps[-1]["loss"] is None or steps[-1]["loss"] > 1e6 * steps[0]["loss"])

    def test_many_runs_have_no_history(self):
        self.assertNotIn("history", self.sim("--peers", 4, "--byzantine", 0, "--steps", 8, "--dimension", 64, "--seeds", "1..2"))
        self.assertNotIn("history", self.sim("--swarm-test", "--steps", 12))
        one = self.folder / "one.json"
        one.write_text(json.dumps(self.sim(*SMALL, "--seed", 5)))
        merged = json.loads(run("sim", "merge", one, "--json", cwd=self.folder).stdout)
        self.assertNotIn("history", merged)

    def test_an_unprotected_run_shows_its_loss_and_is_never_ok_over_a_ruined_model(self):
        plain = ["sim", "--unprotected", "--steps", 60, "--dimension", 200]
        ruined = run(*plain, "--attack", "label_flip", cwd=self.folder)
        self.assertEqual(ruined.returncode, 1, ruined.stdout + ruined.stderr)
        self.assertRegex(ruined.stdout, r"(?m)^loss at the end: \d")
        self.assertRegex(ruined.stdout, r"(?m)^FAIL seed=1 checker=loss: .*the honest rows alone give")
        self.assertEqual(ruined.stdout.splitlines()[-1], "FAILED")
        exploded = run(*plain, "--attack", "sign_flip", "--seeds", "1..2", cwd=self.folder)
        self.assertEqual(exploded.returncode, 1)
        self.assertRegex(exploded.stdout, r"(?m)^loss at the end: mean \S+, worst \S+$")
        self.assertEqual(exploded.stdout.splitlines()[-1], "FAILED")
        sound = run(*plain, "--attack", "none", cwd=self.folder)
        self.assertEqual(sound.returncode, 0, sound.stdout + sound.stderr)
        self.assertRegex(sound.stdout, r"(?m)^loss at the end: 0\.\d+$")

    def test_a_drop_is_no_ban(self):
        # Members that come back without their disk are dropped, and return.
        result = self.sim("--byzantine", 0, "--crashes", 3, "--lose-disk")
        dropped = result["dropped"]["honest"]
        self.assertGreater(dropped, 0)
        self.assertEqual(result["banned"], {"byzantine": 0, "honest": 0})
        self.assertEqual(result["dropped"]["byzantine"], 0)
        self.assertTrue(0 < result["returned"]["honest"] <= dropped, result["returned"])
        silent = self.sim("--peers", 4, "--byzantine", 1, "--attack", "silent", "--steps", 15)
        self.assertEqual(silent["banned"], {"byzantine": 0, "honest": 0})
        self.assertGreater(silent["dropped"]["byzantine"], 0)

    def test_the_seed_alone_decides_the_run(self):
        first = self.sim(*SMALL, "--seed", 5)
        self.assertEqual(self.sim(*SMALL, "--seed", 5), first)
        self.assertNotEqual(self.sim(*SMALL, "--seed", 7)["trace_digest"], first["trace_digest"])

    def test_many_seeds(self):
        result = self.sim(*SMALL, "--seeds", "1..3")
        self.assertEqual((result["ok"], result["seeds"]), (True, 3))
        self.assertEqual(result["banned"], {"byzantine": 3, "honest": 0})

    def test_saved_options_give_the_same_run(self):
        saved = self.folder / "saved.replay"
        saved.write_text("seed=5 peers=4 byzantine=1 attack=sign_flip dimension=64 steps=15\n")
        self.assertEqual(self.sim("--replay", saved), self.sim(*SMALL, "--seed", 5))

    def test_a_failure_exits_1_and_leaves_a_replay(self):
        # A test cannot plant a bug in this binary, but it can give a run too little virtual time.
        hurried = self.folder / "hurried.replay"
        hurried.write_text("seed=7 peers=4 byzantine=0 attack=none dimension=64 steps=15 "
                           "time_limit_ns=1000000\n")
        result = self.sim("--replay", hurried, code=1)
        self.assertIs(result["ok"], False)
        failure, = result["failures"]
        self.assertEqual(set(failure), {"seed", "checker", "message", "options", "replay"})
        self.assertEqual(failure["seed"], 7)
        self.assertTrue(failure["checker"] and failure["message"])
        self.assertTrue(failure["replay"].startswith("ostraka sim --replay "))
        words = failure["replay"].split()[1:]
        again = self.sim(*words[1:], code=1)
        self.assertEqual(again["trace_digest"], result["trace_digest"])
        self.assertEqual(again["failures"][0]["message"], failure["message"])

    def test_a_failure_leaves_a_bundle_and_can_be_shrunk(self):
        hurried = self.folder / "hurried.replay"
        hurried.write_text("seed=7 peers=6 byzantine=0 attack=none dimension=64 steps=15 "
                           "loss_permille=20 time_limit_ns=1000000\n")
        failure, = self.sim("--replay", hurried, code=1)["failures"]
        bundle = (self.folder / failure["replay"].split()[-1]).parent
        self.assertEqual({file.name for file in bundle.iterdir()}, {"options.replay", "events.txt", "sequence.mmd"})
        self.assertTrue((bundle / "sequence.mmd").read_text().startswith("sequenceDiagram"))
        ended = run("sim", "shrink", bundle / "options.replay", "--json", cwd=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        shrunk = json.loads(ended.stdout)
        self.assertEqual(shrunk["checker"], failure["checker"])
        self.assertIn("peers=3 ", shrunk["options"])
        self.assertIn("loss_permille=0 ", shrunk["options"])
        again = self.sim(*shrunk["replay"].split()[2:], code=1)
        self.assertEqual(again["failures"][0]["checker"], failure["checker"])
        passing = self.folder / "passing.replay"
        passing.write_text("seed=5 peers=4 byzantine=0 dimension=64 steps=6\n")
        self.refused(2, ["sim", "shrink", passing], "nothing to shrink")

    def hurried(self, steps=15):
        """A replay file of a run that fails, because it has too little virtual time."""
        path = self.folder / f"hurried-{steps}.replay"
        path.write_text(f"seed=7 peers=6 byzantine=0 attack=none dimension=64 steps={steps} loss_permille=20 "
                        "time_limit_ns=1000000\n")
        return path

    def test_no_bundle_overwrites_another(self):
        first, = self.sim("--replay", self.hurried(), code=1)["failures"]
        kept = {path: path.read_bytes() for path in (self.folder / "ostraka-sim-seed-7").iterdir()}
        self.assertEqual(self.sim("--replay", self.hurried(), code=1)["failures"], [first], "the bundle of that run is there")
        second, = self.sim("--replay", self.hurried(16), code=1)["failures"]
        self.assertEqual(second["replay"], "ostraka sim --replay ostraka-sim-seed-7-2/options.replay")
        ended = run("sim", "shrink", "ostraka-sim-seed-7/options.replay", cwd=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("  replay: ostraka sim --replay ostraka-sim-seed-7-3/options.replay\n", ended.stdout)
        self.assertEqual({path: path.read_bytes() for path in kept}, kept)

    def test_a_failure_in_an_unwritable_folder_is_reported_nevertheless(self):
        nowhere = "/proc"  # unwritable even for root
        ended = run("sim", "--replay", self.hurried(), cwd=nowhere)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        lines = ended.stdout.splitlines()
        failed, = (i for i, line in enumerate(lines) if line.startswith("FAIL seed=7 checker=progress: "))
        self.assertEqual(lines[failed + 1], "  replay: ostraka sim --replay FILE")
        self.assertIn("cannot make folder 'ostraka-sim-seed-7'", lines[failed + 2])
        saved = self.folder / "saved.replay"
        saved.write_text(lines[failed + 3])
        again, = self.sim("--replay", saved, code=1)["failures"]
        self.assertEqual(again["options"], lines[failed + 3])
        ended = run("sim", "shrink", self.hurried(), "--json", cwd=nowhere)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("cannot make folder", json.loads(ended.stdout)["not_written"])

    def test_ranges_of_seeds_merge_to_the_whole(self):
        options = ["--swarm-test", "--attack", "equivocate", "--steps", 8]
        whole = self.sim(*options, "--seeds", "19..22", "--threads", 2)
        parts = []
        for name, seeds in (("one.json", "19..20"), ("two.json", "21..22")):
            path = self.folder / name
            path.write_text(json.dumps(self.sim(*options, "--seeds", seeds, "--threads", 1)))
            parts.append(path)
        self.assertEqual(whole["run_twice"], 1)
        ended = run("sim", "merge", *reversed(parts), "--json", cwd=self.folder)
        self.assertEqual(ended.returncode, 0 if whole["ok"] else 1, ended.stderr)
        merged = json.loads(ended.stdout)
        for key in ("seeds", "steps", "slow_steps", "events", "banned", "dropped", "returned", "occurred", "run_twice"):
            self.assertEqual(merged[key], whole[key], key)
        self.assertEqual(merged["ranges"], [[19, 20], [21, 22]])
        other = self.folder / "other.json"  # what is counted there is not counted in the first
        other.write_text(json.dumps(self.sim("--byzantine", 1, "--attack", "lying_echo", "--steps", 8, "--seed", 30)))
        ended = run("sim", "merge", parts[0], other, "--json", cwd=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual({"equivocate", "lying_echo"}, set(json.loads(ended.stdout)["occurred"]["attacks"]))
        self.refused(2, ["sim", "merge", parts[0], parts[0]], "in two of the results")
        older = json.loads(parts[0].read_text())
        del older["stragglers"]  # an older build's
        other.write_text(json.dumps(older))
        for files in ([other], [other, parts[1]], [parts[1], other]):
            ended = run("sim", "merge", *files, cwd=self.folder)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        del older["banned"]
        other.write_text(json.dumps(older))
        self.refused(2, ["sim", "merge", other], "a result lacks a key", "'banned'")
        self.refused(2, ["sim", "merge", self.folder / "one.json", __file__], "give the output of `ostraka sim --json`")

    def interrupted(self, *args, seeds_done):
        """The end of a sweep that gets SIGINT when so many seeds have ended; its progress needs a terminal."""
        terminal, stderr = os.openpty()
        process = subprocess.Popen([harness.OSTRAKA, "sim", *map(str, args)], stdin=subprocess.DEVNULL, cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=stderr, start_new_session=True, text=True)
        os.close(stderr)
        shown = b""
        try:
            while f"\x1b[K{seeds_done} of ".encode() not in shown:
                self.assertTrue(select.select([terminal], [], [], harness.DEADLINE_S)[0], shown)
                shown += os.read(terminal, 4096)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=harness.DEADLINE_S)
        finally:
            harness.kill_group(process)
            os.close(terminal)
        return process.returncode, out

    def test_ctrl_c_keeps_what_a_sweep_has(self):
        # Seven steps are too few to find the attacker of seed 5.
        options = [*SMALL[:-1], 7]
        code, out = self.interrupted(*options, "--seeds", "1..1000000", "--threads", 2, "--json", seeds_done=8)
        result = json.loads(out)
        self.assertEqual((code, result["ok"]), (1, False))
        done = result["seeds"]
        self.assertEqual(result["ranges"], [[1, done]] if done else [])
        self.assertEqual(result["interrupted"]["left"], [done + 1, 1000000])
        self.assertIn(5, [failure["seed"] for failure in result["failures"]])
        words = shlex.split(result["interrupted"]["go_on"])
        self.assertEqual(words[-2:], ["--seeds", f"{done + 1}..1000000"])
        rest = json.loads(run("sim", *words[2:-2], "--seeds", f"{done + 1}..{done + 4}", "--json", cwd=self.folder).stdout)
        parts = [self.folder / "stopped.json", self.folder / "rest.json"]
        for path, part in zip(parts, (result, rest)):
            path.write_text(json.dumps(part))
        merged = json.loads(run("sim", "merge", *parts, "--json", cwd=self.folder).stdout)
        whole = self.sim(*options, "--seeds", f"1..{done + 4}", code=1)
        for key in ("seeds", "steps", "events", "banned", "dropped", "occurred", "ok"):
            self.assertEqual(merged[key], whole[key], key)

    def test_ctrl_c_names_the_command_that_goes_on(self):
        code, out = self.interrupted(*SMALL, "--seeds", "1..1000000", "--attack-param", "lambda=2", "--threads", 2, seeds_done=3)
        self.assertEqual(code, 1)
        self.assertRegex(out, r"(?m)^\d+ seeds?, \d+ steps")
        self.assertRegex(out, r"INTERRUPTED: go on with\n  ostraka sim --peers 4 --byzantine 1 --attack sign_flip "
                              r"--steps 15 --attack-param lambda=2 --dimension 64 --threads 2 --seeds \d+\.\.1000000\n\Z")

    def test_the_dht_under_attack(self):
        options = ["dht", "--nodes", 60, "--minutes", 1, "--gets", 20, "--serve-at-once", "--adversary", "colluder",
                   "--share", 20, "--least-found", 90]
        result = self.sim(*options)
        self.assertTrue(result["ok"])
        self.assertEqual(result["gets"], 20)
        self.assertEqual(result["failure"], None)
        lost = self.sim(*options, "--loss", 900, code=1)
        self.assertEqual(lost["failure"]["checker"], "found")
        self.refused(2, ["sim", "dht", "--adversary", "coluder", "--share", 50], "did you mean 'colluder'?")

    def test_text_output(self):
        result = run("sim", *SMALL, "--seed", 5, cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertIn("\nbanned: 1 Byzantine, 0 honest; dropped: 0 Byzantine, 0 honest; returned: 0 Byzantine, 0 honest\n",
                      result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], "OK")

    def test_a_run_too_short_to_validate_all_members_says_so(self):
        result = run("sim", *SMALL[:-1], 7, "--seed", 5, cwd=self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("checker=undetected", result.stdout)
        self.assertIn("more --steps", result.stdout)

    def test_an_attack_below_its_limit_is_contained(self):
        for times in ("0.01", "1"):
            result = self.sim("--byzantine", 2, "--attack", "near_tolerance", "--attack-param", f"times={times}",
                              "--steps", 20)
            self.assertTrue(result["ok"], result["failures"])
        self.assertGreater(result["occurred"]["attacks"]["near_tolerance"]["misdeeds"], 0)

    def test_a_small_swarm_has_as_many_attackers_as_it_bears(self):
        result = run("sim", "--peers", 4, "--steps", 8, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "note: --byzantine 1: 4 peers in mode majority bear no more than that\n")
        self.refused(2, ["sim", "--peers", 2], "peers must be 3..256")
        self.assertEqual(run("sim", "--peers", 8, "--steps", 8, cwd=self.folder).stderr, "")

    def test_a_note_says_how_many_validators_the_mode_spares(self):
        result = run("sim", "--steps", 20, "--validators", 9, cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^note: \d of 9 validators a step: \d+ peers in mode majority can spare no more\n$")
        self.assertEqual(run("sim", "--steps", 20, "--validators", 1, cwd=self.folder).stderr, "")

    def test_a_report_of_one_run(self):
        page = self.folder / "page.html"
        plain = self.sim(*SMALL, "--seed", 5)
        self.assertEqual(self.sim(*SMALL, "--seed", 5, "--report", page), plain)
        text = page.read_text()
        self.assertNotIn("http", text.replace("http://www.w3.org/2000/svg", ""))
        for part in ("Bans, drops and returns", "banned by verdict", "with protection", "seal a decided"):
            self.assertIn(part, text)
        self.sim(*SMALL, "--seed", 5, "--report", page, "--report-step", 3, "--force")
        self.assertIn("<h2>Step 3</h2>", page.read_text())

    @browser.needs_browser
    def test_the_figures_of_a_report_can_be_read(self):
        page = self.folder / "page.html"
        for peers, attack, more in ((8, "equivocate", ["--attack-param", "split=1"]),
                                    (8, "sign_flip", []), (12, "frame_victim", [])):
            self.sim("--peers", peers, "--byzantine", 3, "--attack", attack, "--dimension", 64,
                     "--steps", 25, "--report", page, "--force", *more)
            probe = browser.probe(page.read_text(), self.folder)
            self.assertEqual(probe, {"figures": 3, "found": []}, attack)

    def test_reports_that_are_impossible(self):
        page = self.folder / "page.html"
        self.refused(2, ["sim", *SMALL, "--seeds", "1..3", "--report", page], "--seed instead")
        self.refused(2, ["sim", *SMALL, "--report-step", 3], "give --report FILE")
        self.refused(2, ["sim", *SMALL, "--unprotected", "--report", page], "--unprotected out")
        self.refused(2, ["sim", *SMALL, "--report", page, "--report-step", 9999],
                     "never came to step 9999")
        self.refused(3, ["sim", *SMALL, "--report", self.folder / "none" / "page.html"],
                     "cannot write")
        self.refused(3, ["sim", *SMALL, "--report", self.folder], "cannot write")
        self.assertEqual(list(self.folder.iterdir()), [], "nothing is left behind")
        self.refused(2, ["sim", *SMALL, "--force"], "give --report FILE")
        page.write_text("another run")
        self.refused(2, ["sim", *SMALL, "--report", page], "exists and is kept", "--force")
        self.assertEqual(page.read_text(), "another run")

    def test_bad_input(self):
        self.refused(2, ["sim", "--attack", "nonsense"], "'nonsense' is not known", "sign_flip")
        self.refused(2, ["sim", "--attack", "sign_flp"], "did you mean 'sign_flip'?")
        self.refused(2, ["swarm", "--attack", "SignFlipping"], "SignFlipping is the attack 'sign_flip' with lambda=1 here")
        self.refused(2, ["sim", "--attack", "sign_flip", "--attack-param", "x=1"], "'x'", "lambda")
        self.refused(2, ["sim", "--attack", "sign_flip", "--attack-param", "lambda"],
                     "write name=value")
        self.refused(2, ["sim", "--byzantine", 8], "byzantine is 8 and peers 8: byzantine must be below peers")
        self.refused(2, ["sim", "--peers", 4, "--byzantine", 3], "4 peers")
        self.refused(2, ["sim", "--seed", 2 ** 64], "--seed", "must be at most 9223372036854775807")
        self.refused(2, ["sim", "--seed", -1], "--seed", "whole number of at least 0")
        self.refused(2, ["sim", "--seeds", f"1..{2 ** 64}"], "at most 18446744073709551615")
        self.refused(2, ["sim", "--steps", 5], "steps must be at least 6")
        self.refused(2, ["sim", "--mode", "thrid"], "'thrid'", "majority, balanced, third or checked")
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

"""`ostraka node`: a few nodes of one run, one of which is stopped, killed, or started badly."""
import json
import os
import re
import shutil
import signal
import socket
import time
from pathlib import Path

import harness
from harness import TestCase, expect_ok, run

REPORT_KEYS = {"event", "ok", "peer", "end", "step", "reason", "steps", "removals", "member", "seconds",
               "bytes_sent", "payload_bytes_sent", "peak_rss_bytes", "longest_turn_seconds", "state_root", "metric", "trend",
               "seconds_per_step", "checkpoint"}


class RunTest(TestCase):
    def test_three_nodes_finish_with_equal_states(self):
        made = self.make_run(steps=12)
        nodes = [self.running(made.start(i)) for i in range(3)]
        reports = []
        for i, node in enumerate(nodes):
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            events = [json.loads(line) for line in node.text["stdout"].splitlines()]
            kinds = [event["event"] for event in events]
            self.assertEqual(kinds[0], "started")
            self.assertEqual(kinds[-1], "report")
            self.assertEqual(kinds.count("step"), 13, "one more closes the run")
            self.assertEqual([event["step"] for event in events if "closes" in event], [12])
            self.assertEqual(kinds.count("halted"), 1)
            reports.append(events[-1])
            self.assertEqual(set(reports[i]), REPORT_KEYS)
            self.assertEqual((reports[i]["ok"], reports[i]["end"]), (True, "finished"))
            self.assertEqual((reports[i]["peer"], reports[i]["steps"]), (made.ids[i], 12))
        self.assertEqual(len({report["state_root"] for report in reports}), 1)
        self.the_folder_is_refused_to_another_key_and_to_another_run(made)

    @harness.in_soak  # it waits for the others as long as they may need it
    def test_started_again_it_has_nothing_to_do(self):
        made = self.make_run(steps=12)
        nodes = [self.running(made.start(i)) for i in range(3)]
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
        before = self.ledger(made, 0)
        again = self.running(made.start(0))
        self.assertEqual(again.finish(), 0, again.text["stderr"])
        self.assertEqual((again.report()["end"], again.report()["reason"]),
                         ("finished", "all steps are done"))
        for key in ("steps", "state_root", "member", "checkpoint"):
            self.assertEqual(again.report()[key], nodes[0].report()[key])
        self.assertEqual(self.ledger(made, 0), before)

    def the_folder_is_refused_to_another_key_and_to_another_run(self, made):
        before = self.ledger(made, 0)
        self.refused(2, ["node", made.manifest, "--key", made.key(1), "--data-dir",
                         made.data_dir(0)], "belongs to the key of " + made.ids[0][:16])
        text = made.manifest.read_text()
        made.manifest.write_text(text + "# one more comment is another run\n")
        self.refused(2, ["node", made.manifest, "--key", made.key(0), "--data-dir",
                         made.data_dir(0)], "belongs to run ", "give this run its own folder")
        self.assertEqual(self.ledger(made, 0), before)

    def ledger(self, made, index):
        return json.loads(expect_ok("ledger", "show", "--json", made.data_dir(index)))

    @harness.in_soak
    def test_the_default_data_folder_is_named_by_the_run(self):
        made = self.make_run(steps=8)
        home = self.folder / "home"
        home.mkdir()
        fd = made.sockets[0].fileno()
        first = self.running(harness.Running(
            "node", made.manifest, "--key", made.key(0), "--listen-fd", fd, "--json",
            pass_fds=(fd,), env={**os.environ, "HOME": str(home)}))
        others = [self.running(made.start(i)) for i in (1, 2)]
        for node in [first, *others]:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
        self.assertEqual(first.text["stdout"].count("\n"), 1)
        self.assertEqual(set(first.report()), REPORT_KEYS - {"event"})
        run_id = json.loads(expect_ok("run", "show", "--json", made.manifest))["run_id"]
        folder = home / ".local/share/ostraka" / run_id
        self.assertEqual(json.loads(expect_ok("ledger", "show", "--json", folder))["run_id"],
                         run_id)

    def test_an_encrypted_key_opens_with_its_passphrase(self):
        made = self.make_run(count=3, steps=8)
        secret = self.folder / "secret"
        secret.write_text("correct horse\n")
        encrypted = self.folder / "encrypted.key"
        ident = expect_ok("key", "new", encrypted, "--passphrase-file", secret).strip()
        made.replace(made.ids[0], ident)
        read, write = os.pipe()
        os.write(write, b"correct horse\n")
        os.close(write)
        fd = made.sockets[0].fileno()
        first = self.running(harness.Running(
            "node", made.manifest, "--key", encrypted, "--passphrase-fd", read, "--data-dir",
            made.data_dir(0), "--listen-fd", fd, "--json", pass_fds=(fd, read)))
        os.close(read)
        others = [self.running(made.start(i)) for i in (1, 2)]
        for node in [first, *others]:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
        self.assertEqual(first.report()["peer"], ident)


class LostNodeTest(TestCase):
    """One node ends in the middle of a run. The others continue without it, if they are enough for
    the protocol, and it may return."""

    def start(self, count, steps):
        self.made = self.make_run(count=count, steps=steps, deadlines_ms=(1000, 4000))
        self.nodes = [self.running(self.made.start(i)) for i in range(count)]
        for node in self.nodes:
            node.wait_for_event(event="step", step=2)

    def check_others_went_on(self):
        for node in self.nodes[1:]:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            report = node.report()
            self.assertEqual((report["end"], report["member"]), ("finished", True))
            self.assertEqual([(row["peer"], row["kind"]) for row in report["removals"]],
                             [(self.made.ids[0], "drop")])
            self.assertRegex(report["removals"][0]["reason"], "sealed absent: its [A-Z]+ did not")

    def shown(self, index):
        return json.loads(expect_ok("ledger", "show", "--json", self.made.data_dir(index)))

    def test_the_others_continue_without_a_killed_node(self):
        self.start(count=4, steps=20)
        self.nodes[0].signal(signal.SIGKILL)
        self.assertEqual(self.nodes[0].finish(), -signal.SIGKILL)
        self.check_others_went_on()
        shown = self.shown(0)
        self.assertEqual(shown["outcome"], "")
        # The node had announced step 2, so genesis and blocks 0 and 1 were durable. Block 2 may still
        # have been on its way to the disk.
        self.assertGreaterEqual(len(shown["blocks"]), 3)
        self.assertIn("it was killed", expect_ok("ledger", "show", self.made.data_dir(0)))

    def test_the_others_continue_without_a_node_stopped_by_ctrl_c(self):
        self.start(count=4, steps=20)
        self.nodes[0].signal(signal.SIGINT)
        self.assertEqual(self.nodes[0].finish(), 1)
        report = self.nodes[0].report()
        self.assertEqual((report["ok"], report["end"]), (False, "interrupted"))
        self.check_others_went_on()
        shown = self.shown(0)
        self.assertIn("Ctrl-C", shown["outcome"])
        self.assertGreaterEqual(len(shown["blocks"]), report["steps"] + 1)

    @harness.in_soak
    def test_a_service_manager_that_stops_a_node_sees_no_failure_and_a_closed_terminal_loses_nothing(self):
        self.start(count=4, steps=1000000)
        self.nodes[0].signal(signal.SIGTERM)
        self.nodes[1].signal(signal.SIGHUP)
        for node, code, name in zip(self.nodes, (0, 1), ("SIGTERM", "SIGHUP")):
            self.assertEqual(node.finish(), code, node.text["stderr"])
            report = node.report()
            self.assertEqual(report["end"], "interrupted")
            self.assertIn("stopped by " + name, report["reason"])
            self.assertTrue(Path(report["checkpoint"]).is_file())

    @harness.in_soak
    def test_three_members_name_a_missing_one_and_wait_for_it(self):
        self.start(count=3, steps=15)
        self.nodes[0].signal(signal.SIGKILL)
        self.nodes[0].finish()
        for node in self.nodes[1:]:
            node.wait_for("stderr", lambda line: re.fullmatch(
                rf"step \d+: waiting \d+ s for {self.made.ids[0][:16]}; nothing is lost", line))
        self.nodes[0] = self.running(self.made.start(0))
        for node in self.nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            report = node.report()
            self.assertEqual(report["end"], "finished")
            # A member that returns too late for the seal that waited for it is dropped, and never banned.
            self.assertLessEqual({(row["peer"], row["kind"]) for row in report["removals"]},
                                 {(self.made.ids[0], "drop")})
        self.assertEqual(len({node.report()["state_root"] for node in self.nodes}), 1)


class LeavingTest(TestCase):
    """Ctrl-C leaves a run that can do without the node: nobody waits, and nobody is dropped."""

    def start(self, steps):
        self.made = self.make_run(count=6, steps=steps, deadlines_ms=(1000, 4000))
        self.nodes = [self.running(self.made.start(i)) for i in range(6)]
        for node in self.nodes:
            node.wait_for_event(event="step", step=2)

    def leave(self, index):
        self.nodes[index].signal(signal.SIGINT)
        self.assertEqual(self.nodes[index].finish(), 0, self.nodes[index].text["stderr"])
        report = self.nodes[index].report()
        self.assertEqual((report["ok"], report["end"], report["member"]), (True, "left", False))
        self.assertRegex(report["reason"], r"^left the run with the block of step \d+; start the node again to come back: its seat is kept until step \d+$")
        return report

    def test_the_others_go_on_without_a_wait(self):
        self.start(steps=60)
        report = self.leave(0)
        self.assertIn("leaving: the others let this node go", self.nodes[0].text["stderr"])
        for node in self.nodes[1:]:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
            self.assertEqual(node.report()["removals"], [])
        shown = json.loads(expect_ok("ledger", "show", "--json", self.made.data_dir(1)))["blocks"]
        [left] = [block for block in shown if "left" in block]
        self.assertEqual((left["left"], left["step"]), ([self.made.ids[0]], report["steps"] - 1))
        [first, *_] = [block for block in shown if "leaving" in block]
        self.assertLess(left["step"] - first["step"], 15)
        applied = [block["applied"] == block["parts"] for block in shown if not block["genesis"]]
        self.assertTrue(all(applied), "a column was void")

    @harness.in_soak
    def test_a_command_from_another_terminal(self):
        self.start(steps=1000000)
        told = run("leave", self.made.data_dir(2))
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"^left the run with the block of step \d+; ")
        self.assertEqual(self.nodes[2].finish(), 0)
        self.refused(3, ["leave", self.made.data_dir(2)], "no node runs on")
        self.refused(3, ["leave", self.folder / "nowhere"], "no node has its data in")

    @harness.in_soak
    def test_the_command_says_why_a_node_was_stopped_instead(self):
        made = self.make_run(count=3, steps=1000000)
        nodes = [self.running(made.start(i)) for i in range(3)]
        nodes[0].wait_for_event(event="step", step=2)
        told = run("leave", made.data_dir(0))
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertRegex(told.stdout, r"^it did not leave: stopped by Ctrl-C in step \d+")
        self.assertIn("the run cannot do without it", told.stderr)

    @harness.in_soak
    def test_it_comes_back_and_a_second_ctrl_c_ends_it_at_once(self):
        self.start(steps=1000000)
        self.leave(0)
        again = self.nodes[0] = self.running(self.made.start(0))
        again.wait_for_event(event="step", returned=[self.made.ids[0]])
        again.wait_for_event(event="step", members=6)
        for other in self.nodes[1:]:
            other.signal(signal.SIGSTOP)  # nobody lets it go
        again.signal(signal.SIGINT)
        again.wait_for("stderr", lambda line: "leaving: " in line)
        again.signal(signal.SIGINT)
        self.assertEqual(again.finish(), 1, again.text["stderr"])
        self.assertEqual(again.report()["end"], "interrupted")
        for other in self.nodes[1:]:
            other.signal(signal.SIGCONT)

    @harness.in_soak
    def test_ctrl_c_while_it_leaves_for_a_pause_ends_it_once_it_has_left(self):
        self.start(steps=1000000)
        node, folder = self.nodes[2], self.made.data_dir(2)
        others = [other for other in self.nodes if other is not node]
        for other in others:
            other.signal(signal.SIGSTOP)  # nobody lets it go
        (folder / "paused").write_text("")
        node.wait_for("stderr", lambda line: "leaving: " in line)
        node.signal(signal.SIGINT)
        node.wait_for("stderr", lambda line: "this node leaves already" in line)
        for other in others:
            other.signal(signal.SIGCONT)
        self.assertEqual(node.finish(), 0, node.text["stderr"])
        self.assertEqual(node.report()["end"], "left")
        self.assertNotIn('"rests"', node.text["stdout"])

    def test_it_rests_and_comes_back(self):
        self.start(steps=1000000)
        node, folder = self.nodes[2], self.made.data_dir(2)
        told = run("pause", folder)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"^paused: left the run with the block of step \d+; .*\n`ostraka resume .*` goes on\n$")
        self.assertIn("paused: `ostraka resume", node.wait_for_event(event="rests")["why"])
        status = json.loads(run("status", "--json", folder).stdout)
        self.assertEqual((status["running"], status["paused"]), (False, True))
        self.assertIn("paused: `ostraka resume", status["rests"])
        self.assertNotIn("starts it again", status["outcome"])
        self.assertIn("\nrests   paused", run("status", folder).stdout)
        self.assertIn("its node rests already", run("pause", folder).stdout)
        self.assertIn("the node that rests there", run("resume", folder).stdout)
        node.wait_for_event(event="goes_on")
        node.wait_for_event(event="step", returned=[self.made.ids[2]])
        node.wait_for_event(event="step", members=6)
        status = json.loads(run("status", "--json", folder).stdout)
        self.assertFalse(status.keys() & {"paused", "rests"})
        # Ctrl-C ends a node that rests; one that is started in its folder rests on.
        self.assertEqual(run("pause", folder).returncode, 0)
        node.wait_for_event(event="rests")
        node.signal(signal.SIGINT)
        self.assertEqual(node.finish(), 0, node.text["stderr"])
        told = run("pause", folder)
        self.assertEqual((told.returncode, told.stdout.count("no node runs there")), (0, 1))
        self.assertIn("no node rests here", run("status", folder).stdout)
        again = self.running(self.made.start(2))
        again.wait_for_event(event="rests")
        self.assertEqual(run("resume", folder).returncode, 0)
        again.wait_for_event(event="goes_on")
        self.assertEqual((run("resume", folder).returncode, run("resume", self.folder / "nowhere").returncode), (1, 3))
        self.refused(3, ["pause", self.folder / "nowhere"], "name the data folder of a node")
        for other in self.nodes:  # nobody was removed
            if other is not node:
                self.assertNotIn('"event":"removal"', other.text["stdout"])

    def test_it_rests_outside_its_hours(self):
        self.made = self.make_run(count=3)
        hour = time.localtime().tm_hour
        node = self.running(self.made.start(0, "--hours", f"{(hour + 2) % 24}-{(hour + 4) % 24}"))
        self.assertIn("outside --hours", node.wait_for_event(event="rests")["why"])
        node.signal(signal.SIGTERM)
        self.assertEqual(node.finish(), 0, node.text["stderr"])
        node = self.running(self.made.start(0, "--hours", "7"))
        self.assertEqual(node.finish(), 2)
        self.assertIn("22-7 or 22:30-7:15", node.text["stderr"])

    @harness.in_soak
    def test_four_that_bear_a_fault_are_needed(self):
        made = self.make_run(count=4, steps=1000000)
        nodes = [self.running(made.start(i)) for i in range(4)]
        nodes[0].wait_for_event(event="step", step=2)
        nodes[0].signal(signal.SIGINT)
        self.assertEqual(nodes[0].finish(), 1)
        self.assertIn("stopped by Ctrl-C in step", nodes[0].report()["reason"])


class OtherManifestTest(TestCase):
    @harness.in_soak
    def test_one_byte_more_is_said_once_of_each_member(self):
        made = self.make_run()
        first = self.running(made.start(0))
        first.wait_for_event(event="started")
        same, told = made.manifest.read_text(), None
        made.manifest.write_text(same + "\n")
        for _ in range(3):  # it comes back, and is refused, again and again
            other = self.running(made.start(2))
            other.wait_for("stderr", lambda line: made.ids[0][:16] in line and "manifest that differs" in line)
            other.signal(signal.SIGINT)
            other.finish()
            self.assertEqual(other.text["stderr"].count("manifest that differs"), 1, other.text["stderr"])
            if told is None:
                first.wait_for("stderr", lambda line: "manifest that differs" in line)
            told = run("status", made.data_dir(0))
            self.assertEqual(told.returncode, 1, "it is not well: the run cannot begin")
            for line in ("health  UNHEALTHY: ", "DIFFERS "):
                self.assertIn(f"{line}{made.ids[2][:16]} has a manifest that differs from ours", told.stdout)
        made.manifest.write_text(same)
        shutil.rmtree(made.data_dir(2), ignore_errors=True)
        mended = self.running(made.start(2))
        first.wait_for_event(event="links", up=1)
        self.assertEqual(run("status", made.data_dir(0)).returncode, 0)
        mended.signal(signal.SIGINT)
        mended.finish()
        first.signal(signal.SIGINT)
        first.finish()
        said = [line for line in first.text["stderr"].splitlines() if "manifest that differs" in line]
        self.assertEqual(len(said), 1, first.text["stderr"])
        self.assertRegex(said[0], made.ids[2][:16] + ".* has a manifest that differs from ours: use the same bytes")


class FolderTest(TestCase):
    def test_one_folder_serves_one_process(self):
        made = self.make_run()
        first = self.running(made.start(0))
        first.wait_for_event(event="started")
        self.refused(2, ["node", made.manifest, "--key", made.key(0), "--data-dir",
                         made.data_dir(0)], made.ids[0][:16], f"process {first.pid}")
        first.signal(signal.SIGINT)
        self.assertEqual(first.finish(), 1)

    def test_a_node_that_signed_nothing_may_start_again(self):
        made = self.make_run()
        for _ in range(2):
            node = self.running(made.start(0))
            node.wait_for_event(event="started")
            node.signal(signal.SIGINT)
            self.assertEqual(node.finish(), 1, node.text["stderr"])
            self.assertEqual(node.report()["end"], "interrupted")

    def test_busy_port(self):
        made = self.make_run()
        port = made.sockets[0].getsockname()[1]
        self.refused(3, ["node", made.manifest, "--key", made.key(0), "--data-dir",
                         made.data_dir(0)], f"127.0.0.1:{port}", "the port is taken", "--listen")
        # Nothing was lost: the node starts from this folder with a free socket.
        node = self.running(made.start(0))
        node.wait_for_event(event="started")

    def test_malformed_addresses_and_sockets(self):
        made = self.make_run()
        common = ["node", made.manifest, "--key", made.key(0), "--data-dir", made.data_dir(0)]
        self.refused(2, [*common, "--listen", "nonsense"], "--listen", "host:port")
        self.refused(2, [*common, "--listen", "127.0.0.1:70000"], "--listen", "65535")
        self.refused(2, [*common, "--peers", "x@y"], "--peers", "ID@HOST:PORT")
        self.refused(2, [*common, "--peers", made.ids[1] + "@nowhere"], "--peers", "host:port")
        self.refused(2, [*common, "--peers", "0" * 64 + "@a:1"], "no member of this run")
        self.refused(2, [*common, "--attack", "nonsense"], "'nonsense' is not known", "sign_flip")
        self.assertFalse(made.data_dir(0).exists(), "what is refused leaves nothing behind")
        self.refused(2, [*common, "--listen-fd", 77], "77")
        unbound = socket.socket()
        self.addCleanup(unbound.close)
        self.refused(2, [*common, "--listen-fd", unbound.fileno()], "listening",
                     pass_fds=(unbound.fileno(),))


if __name__ == "__main__":
    harness.main()

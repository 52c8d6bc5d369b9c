"""`ostraka status` and `ostraka node --http`, as people and monitors use them."""
import json
import os
import signal
import socket
import sys
import time
import unittest
import urllib.error
import urllib.request

import harness
from harness import TestCase, expect_ok, run

try:
    # Debian's package works with any Python 3, even with one that is not Debian's.
    sys.path.append("/usr/lib/python3/dist-packages")
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

STATUS_KEYS = {"computes_on", "running", "peer", "run_id", "healthy", "health", "place", "member", "step", "steps", "phase",
               "waits_for", "seconds_since_progress", "members", "linked", "unlinked", "peers", "dht", "dial_back", "reachable", "removals",
               "uptime_seconds", "rss_bytes", "run", "news", "awaited", "keys", "curve", "phases", "counters"}


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


class StatusTestCase(TestCase):
    def start(self, *options, count=3, **made):
        self.made = self.make_run(count=count, steps=1000000, **made)
        self.first = self.running(self.made.start(0, "--http", "127.0.0.1:0", *options))
        self.port = self.first.wait_for_event(event="started")["http_port"]
        return self.first

    def start_others(self):
        self.others = [self.running(self.made.start(i)) for i in (1, 2)]
        self.first.wait_for_event(event="step", step=3)

    def status(self, code=0, where=None):
        result = run("status", "--json", where or self.made.data_dir(0))
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)


class LiveTest(StatusTestCase):
    def test_a_single_node_names_the_members_it_waits_for(self):
        self.start()
        status = self.status()
        self.assertEqual(set(status), STATUS_KEYS)
        self.assertEqual((status["running"], status["healthy"]), (True, True))
        self.assertEqual((status["phase"], status["linked"], status["members"]), ("genesis", 0, 3))
        self.assertEqual(status["peer"], self.made.ids[0])
        others = set(self.made.ids[1:])
        self.assertEqual(set(status["unlinked"]), others)
        self.assertEqual({(w["peer"], w["message"], w["linked"]) for w in status["waits_for"]},
                         {(peer, "boot", False) for peer in others})
        text = expect_ok("status", self.made.data_dir(0))
        for fragment in [self.made.ids[0], "0 of 2 linked", "step 0 of 1000000, genesis",
                         f"boot of {min(others)[:16]} (not linked)"]:
            self.assertIn(fragment, text)

    def test_status_while_training_counts_and_estimates(self):
        self.start()
        self.start_others()
        self.first.wait_for_event(event="evaluation")
        by_folder, by_address = self.status(), self.status(where=f"127.0.0.1:{self.port}")
        self.assertEqual(set(by_folder) - {"state_root"},  # sealed now and then
                         STATUS_KEYS | {"join", "eta_seconds", "seconds_per_step", "batch", "metric", "trend", "price",
                                        "samples_from", "late_allowed_ms", "step_costs"})
        self.assertEqual({key["peer"]: key["state"] in ("trains", "checks") for key in by_folder["keys"]},
                         {peer: True for peer in self.made.ids})
        for status in (by_folder, by_address):
            self.assertGreaterEqual(status["step"], 3)
            self.assertEqual((status["steps"], status["linked"]), (1000000, 2))
            left = (status["steps"] - status["step"]) * status["seconds_per_step"]
            self.assertAlmostEqual(status["eta_seconds"], left, delta=left / 100)
            costs = status["step_costs"]
            self.assertGreater(min(costs["sent_bytes"], costs["received_bytes"]), 1000)
            self.assertGreater(costs["agree_seconds"], 0)
            self.assertGreaterEqual(costs["written_bytes"], 0)
        self.assertGreaterEqual(by_address["step"], by_folder["step"])
        text = expect_ok("status", f"http://127.0.0.1:{self.port}/")
        self.assertIn("other members", text)
        self.assertRegex(text, r"(?m)^costs +a step sends .* and gets .*, and writes .* to the disk; it computes for ")
        self.assertRegex(text, r"(?m)^learns +loss \d+\.\d{4} after step \d+$")
        self.assertEqual(by_folder["trend"], "fine")
        # A member that stops answering is the one that the status names.
        self.others[0].signal(signal.SIGSTOP)
        lost = self.made.ids[1]
        status = by_folder
        while {w["peer"] for w in status["waits_for"]} != {lost} or \
                status["seconds_since_progress"] < 0.5:
            status = self.status()
        self.others[0].signal(signal.SIGCONT)

    def test_status_after_the_end_comes_from_the_ledger(self):
        self.start()
        self.start_others()
        for node in [self.first, *self.others]:
            node.signal(signal.SIGINT)
        for node in [self.first, *self.others]:
            self.assertEqual(node.finish(), 1, node.text["stderr"])
        status = self.status(code=1)
        self.assertEqual((status["running"], status["healthy"]), (False, False))
        self.assertIn("Ctrl-C", status["outcome"])
        self.assertGreaterEqual(status["step"], 3)
        self.assertFalse((self.made.data_dir(0) / "status.sock").exists())
        self.refused(3, ["status", f"127.0.0.1:{self.port}"], "nobody listens")

    def test_the_socket_of_a_killed_node_counts_as_not_running(self):
        self.start()
        self.first.signal(signal.SIGKILL)
        self.first.finish()
        self.assertTrue((self.made.data_dir(0) / "status.sock").is_socket())
        self.assertIs(self.status(code=1)["running"], False)
        again = self.running(self.made.start(0))
        again.wait_for_event(event="started")
        self.assertIs(self.status()["running"], True)

    def test_status_of_a_stuck_node_times_out(self):
        self.start()
        self.first.signal(signal.SIGSTOP)
        self.refused(3, ["status", self.made.data_dir(0)], "status.sock", "no answer for 5000 ms")
        self.first.signal(signal.SIGCONT)

    def test_the_default_is_the_only_folder(self):
        made = self.make_run()
        home = self.folder / "home"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home)}
        self.refused(3, ["status"], "no node has a data folder", str(home), env=environment)
        node = self.running(harness.Running(
            "node", made.manifest, "--key", made.key(0), "--listen", "127.0.0.1:0", "--events",
            env=environment))
        node.wait_for_event(event="started")
        self.assertIn(made.ids[0], expect_ok("status", env=environment))
        root = home / ".local/share/ostraka"
        [folder] = [entry for entry in root.iterdir() if entry.name != "locks"]
        (root / "other").mkdir()
        (root / "other/ledger.sqlite").write_bytes((folder / "ledger.sqlite").read_bytes())
        self.refused(2, ["status"], "which node?", str(folder), env=environment)


class HttpTest(StatusTestCase):
    def test_metrics_status_and_health(self):
        self.start()
        self.start_others()
        self.first.wait_for_event(event="evaluation")
        self.assertEqual(get(self.port, "/healthz")[:2], (200, "text/plain; charset=utf-8"))
        code, kind, text = get(self.port, "/status?pretty")
        self.assertEqual((code, kind), (200, "application/json"))
        self.assertGreaterEqual(set(json.loads(text)), STATUS_KEYS)
        self.assertEqual(get(self.port, "/nothing")[0], 404)
        self.assertIn("/metrics", get(self.port, "/")[2])
        code, kind, text = get(self.port, "/metrics")
        self.assertEqual((code, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.check_metrics(text)
        self.assertNotIn("ostraka_peer_info", text, "the manifest names nobody")

    def test_names_are_one_family_of_metrics(self):
        made = self.make_run(count=3, steps=1000000)
        text = made.manifest.read_text()
        for peer, name in zip(made.ids, ("anna", "zoe")):
            text = text.replace(f'id = "{peer}"', f'id = "{peer}"\nname = "{name}"')
        made.manifest.write_text(text)
        node = self.running(made.start(0, "--http", "127.0.0.1:0"))
        lines = get(node.wait_for_event(event="started")["http_port"], "/metrics")[2].splitlines()
        self.assertEqual(sorted(line for line in lines if line.startswith("ostraka_peer_info")),
                         sorted(f'ostraka_peer_info{{peer="{peer[:16]}",name="{name}"}} 1'
                                for peer, name in zip(made.ids, ("anna", "zoe"))))
        self.assertEqual([line for line in lines if "anna" in line or "zoe" in line],
                         [line for line in lines if line.startswith("ostraka_peer_info")])

    @unittest.skipUnless(text_string_to_metric_families, "NOT TESTED: needs python3-prometheus-client")
    def check_metrics(self, text):
        families = {family.name: family for family in text_string_to_metric_families(text)}
        samples = {}
        for family in families.values():
            self.assertTrue(family.documentation, family.name)
            self.assertNotEqual(family.type, "unknown", family.name)
            for sample in family.samples:
                key = (sample.name, tuple(sorted(sample.labels.items())))
                self.assertNotIn(key, samples)
                samples[key] = sample.value

        def value(name, **labels):
            return samples[name, tuple(sorted(labels.items()))]
        self.assertGreaterEqual(value("ostraka_step"), 3)
        self.assertGreaterEqual(value("ostraka_steps_done_total"), 3)
        self.assertEqual(value("ostraka_healthy"), 1)
        self.assertEqual(value("ostraka_members"), 3)
        self.assertEqual(value("ostraka_member"), 1)
        self.assertEqual(value("ostraka_place", place="member"), 1)
        self.assertEqual(value("ostraka_linked_members"), 2)
        self.assertEqual(value("ostraka_removals_total", kind="verdict"), 0)
        self.assertGreater(value("ostraka_evaluation", metric="loss"), 0)
        self.assertEqual({trend: value("ostraka_loss_trend", trend=trend)
                          for trend in ("fine", "flat", "rising", "diverged")},
                         {"fine": 1, "flat": 0, "rising": 0, "diverged": 0})
        phases = [v for (name, _), v in samples.items() if name == "ostraka_phase"]
        self.assertEqual(sum(phases), 1)
        for way in ("sent", "received"):
            total = sum(value(f"ostraka_{way}_bytes_total", kind=kind)
                        for kind in ("control", "payload"))
            by_peer = sum(v for (name, _), v in samples.items()
                          if name == f"ostraka_peer_{way}_bytes_total")
            self.assertGreater(value(f"ostraka_{way}_bytes_total", kind="payload"), 0)
            self.assertEqual(total, by_peer)
        self.assertEqual(families["ostraka_step_duration_seconds"].type, "histogram")
        done = value("ostraka_step_duration_seconds_count")
        self.assertEqual(value("ostraka_step_duration_seconds_bucket", le="+Inf"), done)
        self.assertEqual(value("ostraka_steps_done_total"), done)
        buckets = [v for (name, _), v in samples.items()
                   if name == "ostraka_step_duration_seconds_bucket"]
        self.assertEqual(buckets, sorted(buckets))
        self.assertGreater(value("ostraka_step_duration_seconds_sum"), 0)
        self.assertGreater(value("ostraka_ledger_commits_total"), 0)
        self.assertGreater(value("process_resident_memory_bytes"), 1 << 20)
        self.assertGreater(value("process_open_fds"), 5)

    @harness.in_soak
    def test_a_node_without_progress_is_unhealthy_with_a_reason(self):
        # node_status_test tests the rule. Here its verdict becomes 503 and exit code 1.
        # Two of three members continue without the third. With both others gone nothing can be sealed.
        self.start("--verbose", deadlines_ms=(1000, 3000))
        self.start_others()
        for other in self.others:
            other.signal(signal.SIGSTOP)
        deadline = time.monotonic() + harness.DEADLINE_S
        while get(self.port, "/healthz")[0] == 200 and time.monotonic() < deadline:
            time.sleep(1)  # the node's patience is a minute: this is how often we look
        code, _, text = get(self.port, "/healthz")
        status = self.status(code=1)
        for other in self.others:
            other.signal(signal.SIGCONT)
        self.assertEqual(code, 503)
        self.assertIn("no progress", text)
        self.assertEqual((status["running"], status["healthy"]), (True, False))
        self.assertTrue({w["peer"] for w in status["waits_for"]} <= set(self.made.ids[1:]))
        self.assertTrue(any(ident[:16] in status["health"] for ident in self.made.ids[1:]))

    @harness.in_soak
    def test_garbage_does_not_disturb_the_server(self):
        self.start()
        clients = []
        for i in range(40):  # more than it holds
            client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
            self.addCleanup(client.close)
            client.sendall([b"", b"\x16\x03\x01" + bytes(range(256)), b"GET / HTTP/1.1\r\n",
                            b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
                            b"\r\n" * 1000][i % 5])
            clients.append(client)
        self.assertEqual(get(self.port, "/healthz")[0], 200)
        huge = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(huge.close)
        huge.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 20000)
        self.assertIn(b"413", huge.recv(100))
        self.start_others()
        self.assertEqual(get(self.port, "/healthz")[0], 200)

    def test_serves_only_loopback_by_default(self):
        made = self.make_run()
        node = ["node", made.manifest, "--key", made.key(0), "--data-dir", made.data_dir(0)]
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.org:80"):
            self.refused(2, [*node, "--http", address], "--http " + address, "--http-remote",
                         "127.0.0.1")
        self.refused(2, [*node, "--http", "nonsense"], "--http", "host:port")
        self.assertFalse(made.data_dir(0).exists())
        started = self.running(made.start(0, "--http", "0.0.0.0:0", "--http-remote"))
        port = started.wait_for_event(event="started")["http_port"]
        self.assertEqual(get(port, "/healthz")[0], 200)
        self.refused(3, ["node", made.manifest, "--key", made.key(1), "--data-dir", self.folder / "other", "--listen",
                         "127.0.0.1:0", "--http", f"127.0.0.1:{port}"], "the port is taken")


class WrongPlaceTest(TestCase):
    def test_other_folders_and_addresses_are_refused(self):
        self.refused(3, ["status", self.folder], "name the data folder")
        self.refused(3, ["status", self.folder / "none"], "no folder and no HOST:PORT")
        self.refused(3, ["status", "127.0.0.1:1"], "nobody listens")
        self.refused(2, ["status", "127.0.0.1:70000"], "65535")

    def test_another_http_server_is_refused(self):
        answers = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                   b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"running\":true}",
                   b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"220 smtp ready\r\n"]
        for answer in answers:
            listener = socket.create_server(("127.0.0.1", 0))
            self.addCleanup(listener.close)
            process = self.running(harness.Running(
                "status", f"127.0.0.1:{listener.getsockname()[1]}"))
            client, _ = listener.accept()
            with client:
                client.recv(4096)
                client.sendall(answer)
            with self.subTest(answer=answer):
                self.assertEqual(process.finish(), 2, process.text)
                self.assertEqual(process.text["stdout"], "")
                self.assert_one_line(process.text["stderr"])


if __name__ == "__main__":
    harness.main()

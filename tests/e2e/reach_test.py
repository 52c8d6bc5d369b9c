"""Members that find each other through the DHT: real processes, real UDP on loopback."""
import json
import os
import random
import re
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

import harness
import namespaces
from harness import DEADLINE_S, TestCase, run

NO_NAMESPACES = namespaces.why_not()
DEAD = "127.0.0.1:1"  # nobody listens there, and a dial is refused at once


def udp_sockets_of(pid):
    """The inodes of the process's UDP sockets."""
    of_process = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link))
        except FileNotFoundError:
            continue
        if found:
            of_process.add(found.group(1))
    udp = set()
    for table in ("udp", "udp6"):
        lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        udp |= {line.split()[9] for line in lines}
    return of_process & udp


class ReachTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.sockets = {}

    def listener(self, index):
        """A socket of the member that the manifest does not name."""
        self.sockets[index] = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.sockets[index].close)
        return self.address(index)

    def address(self, index):
        return f"127.0.0.1:{self.sockets[index].getsockname()[1]}"

    def start(self, made, index, *options):
        """The member at its own socket, knowing a dead address of each other member."""
        fd = self.sockets[index].fileno()
        peers = [f"--peers={peer}@{DEAD}" for i, peer in enumerate(made.ids) if i != index]
        return self.running(harness.Running(
            "node", made.manifest, "--key", made.key(index), "--data-dir", made.data_dir(index),
            "--listen-fd", fd, "--events", "--dht-network", "e2e", *peers, *options, pass_fds=(fd,)))

    def status_until(self, made, index, condition):
        """Polls the status until it is as wanted; the deadline fails the test."""
        deadline = time.monotonic() + DEADLINE_S
        status = None
        while time.monotonic() < deadline:
            result = run("status", "--json", made.data_dir(index))
            if result.stdout:
                status = json.loads(result.stdout)
                if condition(status):
                    return status
        raise AssertionError(f"the status stayed {json.dumps(status, indent=1)}")


class FindTest(ReachTestCase):
    def test_members_with_dead_addresses_find_each_other(self):
        made = self.make_run(count=3, steps=15)
        first = self.listener(0)
        nodes = [self.start(made, 0, "--dht", "on")]
        for i in (1, 2):
            self.listener(i)
            nodes.append(self.start(made, i, "--dht", "on", "--dht-bootstrap", first))
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])

    def test_what_was_learned_survives_a_restart_without_the_dht(self):
        made = self.make_run(count=3, steps=1000000)
        first = self.listener(0)
        nodes = [self.start(made, 0, "--dht", "on")]
        for i in (1, 2):
            self.listener(i)
            nodes.append(self.start(made, i, "--dht", "on", "--dht-bootstrap", first))
        nodes[2].wait_for_event(event="step", step=2)
        for node in nodes:
            node.signal(signal.SIGINT)
        for node in nodes:
            self.assertEqual(node.finish(), 1, node.text["stderr"])
        learned = [(made.data_dir(i) / "learned").read_text() for i in range(3)]
        # Of each pair, the one that dialed knows where the other is.
        for i, j in ((0, 1), (0, 2), (1, 2)):
            self.assertTrue(self.address(j) in learned[i] or self.address(i) in learned[j], learned)
        again = [self.start(made, i) for i in range(3)]
        again[2].wait_for_event(event="links", up=2)
        self.assertFalse(udp_sockets_of(again[2].pid), "--dht off opens no UDP socket")

    def test_a_member_that_moves_is_back(self):
        made = self.make_run(count=4, steps=1000000)
        first = self.listener(0)
        nodes = [self.start(made, 0, "--dht", "on")]
        for i in (1, 2, 3):
            self.listener(i)
            nodes.append(self.start(made, i, "--dht", "on", "--dht-bootstrap", first))
        nodes[0].wait_for_event(event="links", up=3)
        old = self.address(3)
        nodes[3].signal(signal.SIGKILL)
        nodes[3].finish()
        nodes[0].wait_for_event(event="links", up=2)
        # It forgets where the others are, and sits elsewhere.
        (made.data_dir(3) / "learned").unlink(missing_ok=True)
        self.sockets[3].close()
        new = self.listener(3)
        self.assertNotEqual(old, new)
        began = time.monotonic()
        back = self.start(made, 3, "--dht", "on", "--dht-bootstrap", first)
        back.wait_for_event(event="links", up=3)
        self.assertLess(time.monotonic() - began, 60)
        status = self.status_until(made, 0, lambda status: status["linked"] == 3)
        peer = next(p for p in status["peers"] if p["peer"] == made.ids[3])
        self.assertEqual(peer["path"], "direct")

    def test_a_damaged_file_costs_one_line(self):
        made = self.make_run(count=3, steps=1000000)
        made.data_dir(0).mkdir(mode=0o700)
        (made.data_dir(0) / "learned").write_bytes(random.Random(1).randbytes(5000))
        self.listener(0)
        node = self.start(made, 0)
        line = node.wait_for("stderr", lambda text: "learned" in text)
        self.assertIn("is written anew", line)
        self.assertIs(self.status_until(made, 0, lambda status: True)["running"], True)


@unittest.skipIf(NO_NAMESPACES, f"NOT TESTED: {NO_NAMESPACES}")
class MachinesTest(ReachTestCase):
    """Three machines, which are network namespaces on one bridge: two of them move at once."""

    def ip(self, *args):
        subprocess.run(["ip", *args], check=True, capture_output=True)

    def machine(self, index, address):
        name = f"{self.prefix}m{index}"
        self.ip("netns", "add", name)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        self.ip("link", "add", f"{self.prefix}v{index}", "type", "veth", "peer", "name", "e0", "netns", name)
        self.ip("link", "set", f"{self.prefix}v{index}", "master", self.bridge, "up")
        self.ip("-n", name, "addr", "add", f"{address}/24", "dev", "e0")
        self.ip("-n", name, "link", "set", "e0", "up")
        return name

    def node(self, index):
        return self.running(harness.Running(
            "netns", "exec", self.names[index], harness.OSTRAKA, "node", self.manifest, "--key",
            self.folder / f"{index}.key", "--data-dir", self.folder / f"node{index}", "--events",
            "--dht", "on", "--dht-network", "e2e", program="ip"))

    def test_two_members_that_move_at_once_find_each_other(self):
        self.prefix = f"o{os.getpid() % 100000}"
        self.bridge = self.prefix + "b"
        self.ip("link", "add", self.bridge, "type", "bridge")
        self.addCleanup(subprocess.run, ["ip", "link", "del", self.bridge], check=False)
        self.ip("link", "set", self.bridge, "up")
        self.names = [self.machine(i, f"10.99.7.{i + 1}") for i in range(3)]
        self.manifest = self.folder / "run.toml"
        members = []
        for i in range(3):
            peer = harness.expect_ok("key", "new", self.folder / f"{i}.key", "--no-passphrase").strip()
            members += ["--member", f"{peer}@10.99.7.{i + 1}:9000"]
        harness.expect_ok("run", "init", "--out", self.manifest, "--model", "toy", "--steps", 1000000,
                          "--delta-ms", 250, *members)
        nodes = [self.node(i) for i in range(3)]
        for node in nodes:
            node.wait_for_event(event="links", up=2)
        for i in (1, 2):
            nodes[i].close()
            self.ip("-n", self.names[i], "addr", "flush", "dev", "e0")
            self.ip("-n", self.names[i], "addr", "add", f"10.99.7.{i + 100}/24", "dev", "e0")
        moved = [self.node(i) for i in (1, 2)]
        for node in moved:
            node.wait_for_event(event="links", up=2)
        for node in [nodes[0], *moved]:
            node.close()


class DialBackTest(ReachTestCase):
    def test_members_tell_each_other_that_they_can_be_dialed(self):
        made = self.make_run(count=3, steps=1000000)
        off, on = 0, (1, 2)
        nodes = [self.running(made.start(i, *(["--dial-back", "off"] if i == off else []))) for i in range(3)]
        for node in nodes:
            node.wait_for_event(event="links", up=2)
        said = set()
        for i in on:
            status = self.status_until(made, i, lambda status: len(status["dial_back"]["results"]) == 2)
            port = made.sockets[i].getsockname()[1]
            self.assertEqual((status["dial_back"]["on"], status["dial_back"]["port"]), (True, port))
            self.assertNotIn("advice", status["dial_back"])
            for result in status["dial_back"]["results"]:
                # One of two members dialed the other for their link, and is dialed back by it.
                if result["outcome"] == "declined":
                    self.assertEqual(result["peer"], made.ids[off])
                    continue
                self.assertEqual(result["outcome"], "reached", result)
                said.add(result.get("address", "by its link"))
                self.assertIn(result.get("address"), (None, f"127.0.0.1:{port}"))
        self.assertEqual(len(said), 2, said)
        status = self.status_until(made, off, lambda status: status["linked"] == 2)
        self.assertFalse(status["dial_back"]["on"])
        self.assertFalse([r for r in status["dial_back"]["results"] if "address" in r], "it asks nobody")
        for node in nodes:
            node.close()


class TroubleTest(ReachTestCase):
    def test_no_answer_names_the_addresses_and_harms_nothing(self):
        made = self.make_run(count=3, steps=15)
        nodes = [self.running(made.start(0, "--dht", "on", "--dht-network", "e2e",
                                         "--dht-bootstrap", DEAD))]
        node = nodes[0]
        line = node.wait_for("stderr", lambda text: "no answer by UDP" in text)
        self.assertIn(DEAD, line)
        self.assertIn("UDP is blocked here", line)
        status = self.status_until(made, 0, lambda status: "problem" in status["dht"])
        self.assertIn(DEAD, status["dht"]["problem"])
        nodes += [self.running(made.start(i)) for i in (1, 2)]
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])

    def test_a_taken_udp_port_harms_nothing(self):
        made = self.make_run(count=3, steps=15)
        port = made.sockets[0].getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", port))
            nodes = [self.running(made.start(0, "--dht", "on", "--dht-network", "e2e"))]
            line = nodes[0].wait_for("stderr", lambda text: "cannot receive UDP" in text)
            self.assertIn(f"127.0.0.1:{port}", line)
            nodes += [self.running(made.start(i)) for i in (1, 2)]
            for node in nodes:
                self.assertEqual(node.finish(), 0, node.text["stderr"])

    def test_junk_datagrams_change_nothing(self):
        made = self.make_run(count=3, steps=1000000)
        nodes = [self.running(made.start(i, "--dht", "on", "--dht-network", "e2e"))
                 for i in range(3)]
        nodes[0].wait_for_event(event="step", step=1)
        before = self.status_until(made, 0, lambda status: status["dht"]["joined"])
        rng = random.Random(7)
        target = made.sockets[0].getsockname()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as junk:
            for _ in range(10000):
                junk.sendto(rng.randbytes(rng.choice([0, 1, 24, 700, 1200, 1201, 9000])), target)
        after = self.status_until(made, 0, lambda status: status["step"] > before["step"] + 2)
        self.assertEqual(after["removals"], [])
        self.assertLess(after["rss_bytes"], before["rss_bytes"] + (64 << 20))

    def test_bad_options(self):
        made = self.make_run(count=3)
        node = ["node", made.manifest, "--key", made.key(0), "--data-dir", made.data_dir(0)]
        self.refused(2, [*node, "--dial-back", "maybe"], "--dial-back", "on", "off")
        self.refused(2, [*node, "--dht", "yes"], "--dht 'yes'", "on, server, client or off")
        self.refused(2, [*node, "--dht-bootstrap", "a:1"], "does nothing without --dht on")
        self.refused(2, [*node, "--dht", "on", "--dht-bootstrap", "a"], "--dht-bootstrap", "host:port")
        self.refused(2, [*node, "--dht", "on", "--announce", "name:80"], "--announce 'name:80'")
        self.refused(2, [*node, "--dht", "on", "--announce", "224.0.0.1:80"], "no host")
        self.refused(2, [*node, "--dht", "on", *["--announce", "192.0.2.1:1"] * 5], "at most 4")


class CommandTest(ReachTestCase):
    """`ostraka dht ...` against nodes of the DHT on loopback."""

    def bootstrap(self, *options):
        node = self.running(harness.Running("dht", "bootstrap", "--listen", "127.0.0.1:0", "--network",
                                            "e2e", "--json", *options))
        started = node.wait_for_event(event="started")
        return node, started["id"], f"127.0.0.1:{started['port']}"

    def test_put_get_crawl_ping(self):
        first, first_id, first_at = self.bootstrap()
        _, second_id, second_at = self.bootstrap("--bootstrap", first_at)
        of = ["--network", "e2e", "--json"]
        key = self.folder / "me.key"
        me = harness.expect_ok("key", "new", key, "--no-passphrase").strip()
        nothing = run("dht", "get", me, "--bootstrap", first_at, *of)
        self.assertEqual((nothing.returncode, json.loads(nothing.stdout)["ok"]), (1, False))
        put = json.loads(harness.expect_ok("dht", "put", "--key", key, "--announce", "192.0.2.7:9000",
                                           "--announce", "[2001:db8::7]:9000", "--bootstrap", first_at, *of))
        self.assertEqual((put["id"], put["refused"]), (me, 0))
        self.assertGreaterEqual(put["stored"], 1)
        got = json.loads(harness.expect_ok("dht", "get", me, "--bootstrap", second_at, *of))
        self.assertEqual(got["addresses"], ["192.0.2.7:9000", "[2001:db8:0:0:0:0:0:7]:9000"])
        # A newer announcement takes the older one's place.
        harness.expect_ok("dht", "put", "--key", key, "--announce", "192.0.2.8:9000", "--bootstrap",
                          second_at, *of)
        again = json.loads(harness.expect_ok("dht", "get", me, "--bootstrap", first_at, *of))
        self.assertEqual(again["addresses"], ["192.0.2.8:9000"])
        self.assertGreater(again["seq"], got["seq"])
        crawled = json.loads(harness.expect_ok("dht", "crawl", "--bootstrap", second_at, *of))
        self.assertEqual({(node["id"], node["address"]) for node in crawled["nodes"]},
                         {(first_id, first_at), (second_id, second_at)})
        pong = json.loads(harness.expect_ok("dht", "ping", first_at, *of))
        self.assertEqual((pong["id"], pong["address"], pong["server"]), (first_id, first_at, True))
        first.signal(signal.SIGINT)
        self.assertEqual(first.finish(), 0)
        self.assertGreaterEqual(json.loads(first.text["stdout"].splitlines()[-1])["records"], 1)

    def test_errors_name_each_address_and_how_it_failed(self):
        me = "ab" * 32
        self.refused(3, ["dht", "get", me, "--bootstrap", DEAD, "--bootstrap", "no-such-name.invalid:4"],
                     "no node of the DHT answers", DEAD + ": no answer by UDP; TCP: Connection refused",
                     "no-such-name.invalid:4: Host not found")
        with socket.create_server(("127.0.0.1", 0)) as tcp:
            at = f"127.0.0.1:{tcp.getsockname()[1]}"
            self.refused(3, ["dht", "ping", at], "the DHT (UDP) is blocked here, or off there",
                         at + ": no answer by UDP, though TCP is answered")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            self.refused(3, ["dht", "bootstrap", "--listen", f"127.0.0.1:{other.getsockname()[1]}"],
                         "cannot receive UDP", "choose another with --listen")

    def test_bad_input(self):
        self.refused(2, ["dht", "get", "00", "--bootstrap", "a:1"], "'00' is no id")
        self.refused(2, ["dht", "get", "ab" * 32, "--bootstrap", "a"], "--bootstrap", "host:port")
        self.refused(2, ["dht", "ping", "a:0"], "port 0")
        self.refused(2, ["dht", "bootstrap", "--listen", "everywhere"], "--listen 'everywhere'")
        self.refused(2, ["dht", "put", "--key", "k", "--announce", "name:1", "--bootstrap", "a:1"],
                     "--announce 'name:1'")


if __name__ == "__main__":
    harness.main()

#!/usr/bin/env python3
"""Ports that a router forwards: a home network, which is a network namespace, and its router, a NAT-PMP
server of ours in another. Exit code 77, which CTest shows as skipped: not root, or no `ip`."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

import harness
import namespaces

OUTSIDE = "203.0.113.9"
SKIPPED = 77
TCP, UDP = 2, 1


class Router(threading.Thread):
    """Answers NAT-PMP (RFC 6886) on a socket, and notes what it was asked."""

    def __init__(self, sock):
        super().__init__(daemon=True)
        self.sock = sock
        self.asked = []  # (opcode, private port, seconds)
        self.changed = threading.Condition()
        self.answer = self.honest
        self.outside = OUTSIDE
        self.closing = False

    def honest(self, request):
        if request[1] == 0:
            return struct.pack(">BBHI4s", 0, 128, 0, 7, socket.inet_aton(self.outside))
        private, public, seconds = struct.unpack(">HHI", request[4:12])
        return struct.pack(">BBHIHHI", 0, 128 + request[1], 0, 7, private, public + 1 if public else 0, seconds)

    def run(self):
        while True:
            request, sender = self.sock.recvfrom(1100)
            if self.closing:
                return
            if len(request) >= 12:
                _, opcode, _, private, _, seconds = struct.unpack(">BBHHHI", request[:12])
                with self.changed:
                    self.asked.append((opcode, private, seconds))
                    self.changed.notify_all()
            answer = self.answer(request)
            if answer is not None:
                self.sock.sendto(answer, sender)

    def close(self):
        """From now on the kernel says that the port is closed. A socket that is read from stays open, so this wakes it."""
        if self.is_alive():
            self.closing = True
            self.sock.sendto(b"", self.sock.getsockname())
            self.join()
        self.sock.close()

    def wait_for(self, what):
        with self.changed:
            assert self.changed.wait_for(lambda: what in self.asked, harness.DEADLINE_S), (what, self.asked)


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True)


class PortmapTest(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.home = f"o{os.getpid() % 100000}h"
        wire = f"o{os.getpid() % 100000}w"
        ip("netns", "add", self.home)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", self.home], check=False)
        ip("link", "add", wire, "type", "veth", "peer", "name", "e0", "netns", self.home)
        self.addCleanup(subprocess.run, ["ip", "link", "del", wire], check=False, capture_output=True)
        ip("addr", "add", "10.99.8.1/24", "dev", wire)
        ip("link", "set", wire, "up")
        ip("-n", self.home, "addr", "add", "10.99.8.2/24", "dev", "e0")
        ip("-n", self.home, "link", "set", "e0", "up")
        ip("-n", self.home, "link", "set", "lo", "up")
        ip("-n", self.home, "route", "add", "default", "via", "10.99.8.1")
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("10.99.8.1", 5351))
        self.router = Router(sock)
        self.router.start()
        self.addCleanup(self.router.close)

    def portmap(self, *args):
        return subprocess.run(["ip", "netns", "exec", self.home, harness.OSTRAKA, "portmap", "--port", "7000", *args],
                              capture_output=True, text=True, timeout=harness.DEADLINE_S)

    def fails(self, *words):
        done = self.portmap()
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assert_one_line(done.stderr, *words)

    def test_a_person_asks_once_and_takes_it_back(self):
        done = self.portmap("--udp")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"{OUTSIDE}:7001 leads to port 7000 of this machine for 3600 s\n")
        self.assertIn((TCP, 7000, 3600), self.router.asked)
        self.assertIn((UDP, 7000, 3600), self.router.asked)
        self.assertEqual(self.portmap("--remove").returncode, 0)
        self.assertIn((TCP, 7000, 0), self.router.asked)

    def test_a_router_that_cannot_help_is_one_line(self):
        self.router.outside = "192.168.5.2"
        self.fails("behind another one", "192.168.5.2")
        self.router.outside = "100.64.0.9"
        self.fails("behind another one")
        self.router.answer = lambda request: struct.pack(">BBHI", 0, 128 + request[1], 2, 7)
        self.fails("refuses", "switched off")
        self.router.answer = lambda request: struct.pack(">BBHI", 1, 128 + request[1], 1, 7)
        self.fails("10.99.8.1")
        self.router.close()
        self.fails("does not know NAT-PMP")
        ip("-n", self.home, "route", "del", "default")
        self.fails("no default gateway")

    def test_a_router_that_talks_rubbish_or_nothing(self):
        junk = iter([b"", b"\0", b"\0\x80", b"\xff" * 11, b"\0\x80\0\0" * 250, os.urandom(64)])
        self.router.answer = lambda request: next(junk, None)
        self.fails("10.99.8.1")
        # Answers to other questions than those that were asked.
        self.router.answer = lambda request: struct.pack(">BBHIHHI", 0, 129, 0, 7, 1, 2, 3)
        self.fails("does not answer")

    def node(self):
        manifest = self.folder / "run.toml"
        peers = [harness.expect_ok("key", "new", self.folder / f"{i}.key", "--no-passphrase").strip() for i in range(3)]
        harness.expect_ok("run", "init", "--out", manifest, "--model", "toy", "--steps", 10,
                          "--member", f"{peers[0]}@10.99.8.2:7000", "--member", f"{peers[1]}@10.99.8.3:7000",
                          "--member", f"{peers[2]}@10.99.8.4:7000")
        node = harness.Running("netns", "exec", self.home, harness.OSTRAKA, "node", manifest, "--key", self.folder / "0.key",
                               "--data-dir", self.folder / "node", "--map-port", program="ip")
        self.addCleanup(node.close)
        return node

    def status(self):
        return json.loads(harness.run("status", self.folder / "node", "--json").stdout)

    def test_a_node_keeps_its_port_and_gives_it_back(self):
        node = self.node()
        node.wait_for("stderr", lambda text: f"the router forwards {OUTSIDE}:7001 to this node" in text)
        self.assertEqual(self.status()["port_mapping"], {"outside": f"{OUTSIDE}:7001"})
        self.assertIn(f"forwards {OUTSIDE}:7001 to this node", harness.run("status", self.folder / "node").stdout)
        self.assertNotIn((UDP, 7000, 3600), self.router.asked, "no DHT, no UDP")
        node.signal(signal.SIGTERM)
        self.assertEqual(node.finish(), 0, node.text["stderr"])
        self.router.wait_for((TCP, 7000, 0))

    def test_a_killed_node_leaves_no_mapper_and_no_port(self):
        node = self.node()
        node.wait_for("stderr", lambda text: "the router forwards" in text)
        node.signal(signal.SIGKILL)
        self.router.wait_for((TCP, 7000, 0))

    def test_a_node_goes_on_without_a_router(self):
        self.router.close()
        node = self.node()
        line = node.wait_for("stderr", lambda text: "no port is forwarded by the router" in text)
        self.assertIn("forward it by hand", line)
        self.assertIn("does not know NAT-PMP", self.status()["port_mapping"]["problem"])

    def test_the_mapper_has_no_environment_and_no_files(self):
        node = self.node()
        node.wait_for("stderr", lambda text: "the router forwards" in text)
        mappers = subprocess.run(["pgrep", "-f", "portmap --keep --port 7000"], capture_output=True, text=True).stdout.split()
        mine = [pid for pid in mappers if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(harness.OSTRAKA)]
        self.assertEqual(len(mine), 1)
        with open(f"/proc/{mine[0]}/environ", "rb") as environment:
            self.assertEqual(environment.read(), b"")
        kinds = {os.readlink(f"/proc/{mine[0]}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{mine[0]}/fd")}
        self.assertEqual(kinds, {"pipe", "/dev/null"})
        with open(f"/proc/{mine[0]}/status") as status:
            self.assertIn("NoNewPrivs:\t1", status.read())


if __name__ == "__main__":
    REASON = namespaces.why_not()
    if REASON is not None:
        print(f"NOT TESTED: ports that a router forwards: {REASON}", file=sys.stderr)
        sys.exit(SKIPPED)
    harness.main()

"""Eight real nodes, three of them behind three kinds of NAT, with IPv4 and IPv6: a run that ends, and one with a cheat."""
import itertools
import json
import os
import shutil
import subprocess
import sys
import time

import harness
import namespaces
from harness import TestCase

PUBLIC = 5
# What a NAT does with ports, and with a packet to it that belongs to no connection; and how
# `ostraka doctor` names it.
KINDS = {"port-preserving": ("masquerade", "drop", "keeps port numbers and drops strays"),
         "random ports": ("masquerade fully-random", "drop",
                          "shows each other party another port and drops strays"),
         "RST to strays": ("masquerade", "reject with tcp reset",
                           "keeps port numbers and answers strays with RST")}
RULES = """
table inet walls {{
  chain input {{
    type filter hook input priority 0; policy accept;
    iifname "pub" ct state established,related accept
    iifname "pub" meta l4proto ipv6-icmp accept
    iifname "pub" meta l4proto tcp {strays}
  }}
  chain forward {{
    type filter hook forward priority 0; policy accept;
    iifname "pub" ct state established,related accept
    iifname "pub" meta l4proto tcp {strays}
  }}
}}
table ip nat {{
  chain out {{
    type nat hook postrouting priority 100; policy accept;
    oifname "pub" {masquerade}
  }}
}}
table ip6 nat {{
  chain out {{
    type nat hook postrouting priority 100; policy accept;
    oifname "pub" {masquerade}
  }}
}}
"""


class NatTest(TestCase):
    networks = itertools.count()

    def setUp(self):
        super().setUp()
        # The kernel takes a while to remove the devices of the test before.
        self.prefix = f"n{os.getpid() % 100000}{'abcdefghij'[next(self.networks)]}"
        self.bridge = self.prefix + "b"
        self.ip("link", "add", self.bridge, "type", "bridge")
        self.addCleanup(subprocess.run, ["ip", "link", "del", self.bridge], check=False)
        self.ip("link", "set", self.bridge, "up")

    def ip(self, *args):
        subprocess.run(["ip", *map(str, args)], check=True, capture_output=True)

    def inside(self, name, *command, **options):
        subprocess.run(["ip", "netns", "exec", name, *command], check=True, capture_output=True, **options)

    def namespace(self, suffix):
        name = self.prefix + suffix
        self.ip("netns", "add", name)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        self.ip("-n", name, "link", "set", "lo", "up")
        return name

    def address(self, name, device, *addresses):
        for address in addresses:
            nodad = ["nodad"] if ":" in address else []
            self.ip("-n", name, "addr", "add", address, "dev", device, *nodad)
        self.ip("-n", name, "link", "set", device, "up")

    def on_bridge(self, name, device, host):
        port = f"{self.prefix}v{host}"
        self.ip("link", "add", port, "type", "veth", "peer", "name", device, "netns", name)
        self.ip("link", "set", port, "master", self.bridge, "up")
        self.address(name, device, f"203.0.113.{host}/24", f"2001:db8:7::{host}/64")

    def public(self, index):
        name = self.namespace(f"m{index}")
        self.on_bridge(name, "e0", index + 1)
        return name

    def behind_nat(self, index, masquerade, strays, _named):
        router = self.namespace(f"r{index}")
        name = self.namespace(f"m{index}")
        self.on_bridge(router, "pub", 100 + index)
        self.ip("-n", router, "link", "add", "in", "type", "veth", "peer", "name", "e0", "netns", name)
        self.address(router, "in", f"10.{index}.0.1/24", f"fd00:{index}::1/64")
        self.address(name, "e0", f"10.{index}.0.2/24", f"fd00:{index}::2/64")
        self.ip("-n", name, "route", "add", "default", "via", f"10.{index}.0.1")
        self.ip("-n", name, "-6", "route", "add", "default", "via", f"fd00:{index}::1")
        self.inside(router, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        self.inside(router, "nft", "-f", "-", text=True,
                    input=RULES.format(masquerade=masquerade, strays=strays))
        return name

    def where(self, index, hidden=False):
        """Two of the public members are named by IPv4, three by IPv6; a hidden one as its NAT."""
        if hidden:
            return f"203.0.113.{100 + index}:9000"
        host = index + 1
        return f"203.0.113.{host}:9000" if index < 2 else f"[2001:db8:7::{host}]:9000"

    def make(self, nat, steps, *options, declares=True, delta_ms=4000):
        """Keys, namespaces and a manifest, whose last three members are behind NATs if `nat`. They
        are listed as members that only dial if `declares`."""
        self.ids, self.names, members = [], [], []
        for i in range(8):
            self.ids.append(harness.expect_ok("key", "new", self.folder / f"{i}.key", "--no-passphrase").strip())
        for i in range(8):
            hidden = nat and i >= PUBLIC
            if hidden:
                self.names.append(self.behind_nat(i, *list(KINDS.values())[i - PUBLIC]))
            else:
                self.names.append(self.public(i))
            named = self.ids[i] if hidden and declares else f"{self.ids[i]}@{self.where(i, hidden)}"
            members += ["--member", named]
            members += ["--only-dials", self.ids[i]] if hidden and declares else []
        self.manifest = self.folder / "run.toml"
        init = harness.run("run", "init", "--out", self.manifest, "--model", "toy", "--steps", steps, "--mode", "third",
                           "--delta-ms", delta_ms, *members, *options)
        self.assertEqual(init.returncode, 0, init.stderr)

    def node(self, index, *options):
        return self.running(harness.Running(
            "netns", "exec", self.names[index], harness.OSTRAKA, "node", self.manifest, "--key",
            self.folder / f"{index}.key", "--data-dir", self.folder / f"node{index}", "--events", *options, program="ip"))

    def status(self, index):
        result = harness.run("status", "--json", self.folder / f"node{index}")
        return json.loads(result.stdout) if result.stdout else None

    def tries_of(self, index, wanted):
        """What `wanted` members found that dialed this one in vain, as soon as they have."""
        deadline = time.monotonic() + harness.DEADLINE_S
        while time.monotonic() < deadline:
            status = self.status(index)
            tries = [each for each in status["dial_back"]["results"] if "address" in each] if status else []
            if len(tries) >= wanted:
                return tries
        raise AssertionError(f"member {index} was not dialed back: {status and status['dial_back']}")

    def doctor(self, index):
        """The findings of the doctor on that member's machine, by check."""
        result = subprocess.run(
            ["ip", "netns", "exec", self.names[index], str(harness.OSTRAKA), "doctor", str(self.manifest),
             "--data-dir", str(self.folder / f"node{index}"), "--json"],
            check=False, capture_output=True, text=True, timeout=harness.DEADLINE_S)
        return {finding["check"]: finding for finding in json.loads(result.stdout)["findings"]}

    def seconds_a_step(self, nodes, steps):
        nodes[0].wait_for_event(event="step", step=2)
        began = time.monotonic()
        nodes[0].wait_for_event(event="step", step=2 + steps)
        return (time.monotonic() - began) / steps

    def finish(self, nodes):
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])

    def removals(self, index):
        ledger = harness.expect_ok("ledger", "show", self.folder / f"node{index}", "--json")
        return [removal for block in json.loads(ledger)["blocks"] for removal in block["removals"]]

    def test_a_run_with_three_behind_nats_ends_and_removes_nobody(self):
        self.make(True, 14)
        nodes = [self.node(i) for i in range(8)]
        took = self.seconds_a_step(nodes, 6)
        status = self.status(7)
        self.assertIsNotNone(status)
        self.assertFalse(status["reachable"])
        paths = {peer["peer"]: peer.get("path") for peer in status["peers"]}
        self.assertEqual([paths[self.ids[i]] for i in range(7)], ["direct"] * PUBLIC + ["forwarded"] * 2)
        reachable = {peer["peer"]: peer["reachable"] for peer in status["peers"]}
        self.assertEqual([reachable[self.ids[i]] for i in range(7)], [True] * PUBLIC + [False] * 2)
        shown = harness.expect_ok("status", self.folder / "node7")
        self.assertIn("only: this node", shown)
        self.finish(nodes)
        self.assertEqual(self.removals(0), [])
        print(f"a step took {took:.2f} s with three members behind NATs", file=sys.stderr)

    def test_doctor_names_each_kind_as_it_is_seen_from_outside(self):
        self.make(True, 1000000)
        nodes = [self.node(i, "--dht", "server") if i < PUBLIC else self.node(i, "--listen", "*:9000")
                 for i in range(8)]
        for node in nodes[PUBLIC:]:
            node.wait_for_event(event="links", up=PUBLIC)
        for i, (kind, (_, strays, named)) in zip(range(PUBLIC, 8), KINDS.items()):
            tries = self.tries_of(i, 4)
            outcome = "silent" if strays == "drop" else "refused"
            self.assertEqual({each["outcome"] for each in tries}, {outcome}, kind)
            router = {f"203.0.113.{100 + i}:9000", f"[2001:db8:7:0:0:0:0:{100 + i}]:9000"}
            self.assertEqual({each["address"] for each in tries}, router, "IPv4 and IPv6")
            self.assertNotIn("advice", self.status(i)["dial_back"], "it declares that it only dials")
            findings = self.doctor(i)
            self.assertIn("behind a NAT that " + named, findings["outside"]["text"])
            self.assertEqual(findings["dialed"]["severity"], "ok", findings["dialed"])
            self.assertIn("declares that it only dials", findings["dialed"]["text"])
            self.assertIn("9000: " + ("no answer" if strays == "drop" else "the connection was refused (RST)"),
                          findings["dialed"]["text"])
        reached = self.doctor(0)
        self.assertIn("no NAT", reached["outside"]["text"])
        self.assertEqual(reached["dialed"]["severity"], "ok", reached["dialed"])
        self.assertIn("others reach the node", reached["dialed"]["text"])
        for node in nodes:
            node.close()

    def test_a_member_that_cannot_be_dialed_and_does_not_say_so_is_told(self):
        self.make(True, 1000000, declares=False)
        nodes = [self.node(i) for i in range(PUBLIC + 1)]
        line = nodes[PUBLIC].wait_for("stderr", lambda text: "others cannot dial this node" in text)
        self.assertIn("let TCP port 9000 through", line)
        self.assertIn("--reachable no", line)
        self.assertIn("203.0.113.105:9000: no answer", line)
        shown = harness.run("status", self.folder / f"node{PUBLIC}").stdout
        self.assertRegex(shown, r"(?m)^CLOSED +others cannot dial this node")
        self.assertRegex(shown, r"(?m)^tried +[0-9a-f]{16} dialed ")
        finding = self.doctor(PUBLIC)["dialed"]
        self.assertEqual(finding["severity"], "warning", finding)
        self.assertIn("TCP port 9000", finding["fix"])
        for node in nodes:
            node.close()

    def test_the_same_run_without_nats(self):
        self.make(False, 14)
        nodes = [self.node(i) for i in range(8)]
        took = self.seconds_a_step(nodes, 6)
        self.finish(nodes)
        print(f"a step took {took:.2f} s with all members reachable", file=sys.stderr)

    def move(self, name, device, old, new):
        """Its machine has another address, and the old one is gone."""
        for family, prefix, length in (("-4", "203.0.113.{}", 24), ("-6", "2001:db8:7::{}", 64)):
            self.ip("-n", name, family, "addr", "del", f"{prefix.format(old)}/{length}", "dev", device)
            self.ip("-n", name, family, "addr", "add", f"{prefix.format(new)}/{length}", "dev", device,
                    *(["nodad"] if family == "-6" else []))

    def seconds_until_back(self, index, moved):
        """From now until that member is in a newer step, with a path to every other one, and a member again; or it follows until it may
        be: one that is cut off between its COMMIT and its REVEAL is barred for 1000 steps (docs/protocol/removals.md)."""
        began = time.monotonic()
        before, members = (self.status(0)[key] for key in ("step", "members"))
        while time.monotonic() < began + harness.DEADLINE_S:
            status, others = self.status(index), self.status(0)
            if status and others and status["running"] and status["step"] > before + 3:
                paths = {peer.get("path") for peer in status["peers"]}
                seen = {peer["peer"]: peer.get("path") for peer in others["peers"]}
                barred = any(removal["peer"] == self.ids[index] and "REVEAL" in removal["reason"] for removal in self.removals(0))
                member = others["members"] >= members
                if "none" not in paths and seen[self.ids[index]] == "direct" and (member or barred):
                    return f"{time.monotonic() - began:.1f} s" + ("" if member else ", barred")
            time.sleep(0.1)
        raise AssertionError(f"{moved} is not back: {self.status(index)}")

    def test_members_that_move_are_back(self):
        self.make(True, 1000000, "--part-timeout-ms", 8000, delta_ms=1000)
        nodes = [self.node(i) for i in range(8)]
        nodes[0].wait_for_event(event="step", step=2)
        for node in nodes:
            harness.drain(node)
        self.move(self.names[4], "e0", 5, 55)
        took = self.seconds_until_back(4, "a member that can be dialed")
        router = f"{self.prefix}r6"
        self.move(router, "pub", 106, 156)
        took_behind = self.seconds_until_back(6, "a member behind a NAT")
        self.assertEqual([removal for removal in self.removals(0) if removal["kind"] != "drop"], [])
        print(f"back after {took} with another address, and {took_behind} behind a NAT with another one", file=sys.stderr)
        for node in nodes:
            node.close()

    def test_a_cheat_is_banned(self):
        self.make(True, 80)
        cheat = 6  # behind the NAT with random ports
        nodes = [self.node(i, *(["--attack", "sign_flip", "--attack-from", 2] if i == cheat else []))
                 for i in range(8)]
        banned = nodes[0].wait_for_event(event="removal")
        self.assertEqual(banned["peer"], self.ids[cheat])
        self.assertEqual(banned["kind"], "verdict")
        self.finish([node for i, node in enumerate(nodes) if i != cheat])
        for i in range(8):
            if i != cheat:
                self.assertEqual([removal["peer"] for removal in self.removals(i)], [self.ids[cheat]])


if __name__ == "__main__":
    REASON = namespaces.why_not() or (None if shutil.which("nft") else "there is no `nft` (package nftables)")
    if REASON is not None:
        print(f"NOT TESTED: members behind NATs: {REASON}", file=sys.stderr)
        sys.exit(77)
    harness.main()

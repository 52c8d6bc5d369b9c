"""Eight real nodes, three of them behind three kinds of NAT, with IPv4 and IPv6: a run that ends, and one with a cheat."""
import json
import os
import shutil
import subprocess
import sys
import time

import harness
from harness import TestCase

PUBLIC = 5
# What a NAT does with ports, and with a packet to it that belongs to no connection.
KINDS = {"port-preserving": ("masquerade", "drop"),
         "random ports": ("masquerade fully-random", "drop"),
         "RST to strays": ("masquerade", "reject with tcp reset")}
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
    def setUp(self):
        super().setUp()
        self.prefix = f"n{os.getpid() % 100000}"
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

    def behind_nat(self, index, masquerade, strays):
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

    def where(self, index):
        """Two of the public members are named by IPv4, three by IPv6."""
        host = index + 1
        return f"203.0.113.{host}:9000" if index < 2 else f"[2001:db8:7::{host}]:9000"

    def make(self, nat, steps, *options):
        """Keys, namespaces and a manifest, whose last three members are behind NATs if `nat`."""
        self.ids, self.names, members = [], [], []
        for i in range(8):
            self.ids.append(harness.expect_ok("key", "new", self.folder / f"{i}.key", "--no-passphrase").strip())
        for i in range(8):
            hidden = nat and i >= PUBLIC
            if hidden:
                self.names.append(self.behind_nat(i, *list(KINDS.values())[i - PUBLIC]))
            else:
                self.names.append(self.public(i))
            members += ["--member", self.ids[i] if hidden else f"{self.ids[i]}@{self.where(i)}"]
            members += ["--only-dials", self.ids[i]] if hidden else []
        self.manifest = self.folder / "run.toml"
        init = harness.run("run", "init", "--out", self.manifest, "--model", "toy", "--steps", steps, "--mode", "third",
                           "--delta-ms", 4000, *members, *options)
        self.assertEqual(init.returncode, 0, init.stderr)

    def node(self, index, *options):
        return self.running(harness.Running(
            "netns", "exec", self.names[index], harness.OSTRAKA, "node", self.manifest, "--key",
            self.folder / f"{index}.key", "--data-dir", self.folder / f"node{index}", "--events", *options, program="ip"))

    def status(self, index):
        result = harness.run("status", "--json", self.folder / f"node{index}")
        return json.loads(result.stdout) if result.stdout else None

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

    def test_the_same_run_without_nats(self):
        self.make(False, 14)
        nodes = [self.node(i) for i in range(8)]
        took = self.seconds_a_step(nodes, 6)
        self.finish(nodes)
        print(f"a step took {took:.2f} s with all members reachable", file=sys.stderr)

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
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nft"):
        print("NOT TESTED: NATs in network namespaces need root, iproute2 and nftables", file=sys.stderr)
        sys.exit(77)
    harness.main()

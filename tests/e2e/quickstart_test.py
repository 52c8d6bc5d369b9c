#!/usr/bin/env python3
"""docs/quickstart.md, line by line, on four machines: network namespaces with addresses of their own on a bridge.

    sudo OSTRAKA=build/release/ostraka tests/e2e/quickstart_test.py

The commands are read from the page. One machine is known by a host name only. Exit code 77, which CTest shows as
skipped: not root, or no `ip`.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import harness
import namespaces

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/quickstart.md"
DIGITS = ROOT / "node/train/data/digits.csv"
HOSTS_OF_NAMESPACES = Path("/etc/netns")  # `ip netns exec NAME` shows NAME/hosts as /etc/hosts
SKIPPED = 77
FRIENDS = {"ann": "203.0.113.11", "ben": "203.0.113.12", "cem": "203.0.113.13", "dee": "203.0.113.14"}
STEPS = "--steps 1500"  # of the page's run, long enough for a person to watch
SHORTER = "--steps 400"  # here, which is long enough to stop a node and start it again
LAST_STEP = 399
NAMED = "ann.example.org"  # the only name; the page's other addresses are numbers


def blocks():
    """[(label, text)] of the page's fenced code, in order: "sh everybody", "python"."""
    return re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True, timeout=harness.DEADLINE_S)


def remove(namespace):
    subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)
    shutil.rmtree(HOSTS_OF_NAMESPACES / namespace, ignore_errors=True)
    with contextlib.suppress(OSError):  # it holds others'
        HOSTS_OF_NAMESPACES.rmdir()


def remove_those_of_the_dead():
    """Namespaces that a killed run of this test has left."""
    named = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    for name, pid in re.findall(r"^(ostraka-(\d+)-\w+)", named, re.MULTILINE):
        if not Path(f"/proc/{pid}").exists():
            remove(name)


class Network:
    """A bridge in a namespace of its own, and one namespace for each friend. This machine's network is untouched."""

    def __init__(self):
        self.hub = self.name("hub")
        try:
            ip("netns", "add", self.hub)
            ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
            ip("-n", self.hub, "link", "set", "bridge", "up")
            for friend, address in FRIENDS.items():
                self.add(friend, address)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def name(what):
        return f"ostraka-{os.getpid()}-{what}"

    def add(self, friend, address):
        mine = self.name(friend)
        ip("netns", "add", mine)
        ip("-n", self.hub, "link", "add", friend, "type", "veth", "peer", "name", "eth0", "netns", mine)
        ip("-n", self.hub, "link", "set", friend, "master", "bridge", "up")
        ip("-n", mine, "address", "add", address + "/24", "dev", "eth0")
        ip("-n", mine, "link", "set", "eth0", "up")
        ip("-n", mine, "link", "set", "lo", "up")
        hosts = HOSTS_OF_NAMESPACES / mine / "hosts"
        hosts.parent.mkdir(parents=True)
        hosts.write_text(f"127.0.0.1 localhost\n{FRIENDS['ann']} {NAMED}\n")

    def close(self):
        for name in [*FRIENDS, "hub"]:
            remove(self.name(name))


class QuickstartTest(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.network = Network()
        self.addCleanup(self.network.close)
        self.blocks = blocks()
        self.homes = {friend: self.folder / friend for friend in FRIENDS}
        for home in self.homes.values():
            home.mkdir()

    def shell(self, friend, text):
        """Arguments that run lines of the page in a shell of that friend's machine."""
        return ["netns", "exec", self.network.name(friend), "bash", "-euc", f"NAME={friend}\n{text}"]

    def environment(self, friend):
        return {"HOME": str(self.homes[friend]), "PATH": f"{Path(harness.OSTRAKA).resolve().parent}:{os.environ['PATH']}"}

    def does(self, friend, text):
        """What the lines print; they end well."""
        done = subprocess.run(["ip", *self.shell(friend, text)], cwd=self.homes[friend], env=self.environment(friend),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=harness.DEADLINE_S)
        self.assertEqual(done.returncode, 0, f"{friend}: {text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def starts(self, friend, text):
        return self.running(harness.Running(*self.shell(friend, "exec " + text), program="ip", cwd=self.homes[friend],
                                            env=self.environment(friend)))

    def sends(self, sender, name, receivers):
        for receiver in receivers:
            if receiver != sender:
                shutil.copy(self.homes[sender] / name, self.homes[receiver] / name)

    def next_block(self, label):
        found, text = self.blocks.pop(0)
        self.assertEqual(found, label, "the page tells another story than this test")
        return text

    def test_every_line_of_the_page(self):
        self.package(self.next_block("sh package"))
        self.machine(self.next_block("sh machine"))
        self.assertEqual(self.next_block("sh everybody"), "NAME=ann\n")
        keys = self.next_block("sh everybody")
        for friend in FRIENDS:
            self.does(friend, keys)
            self.sends(friend, f"{friend}.id", ["ann"])
        init = self.next_block("sh ann")
        self.assertIn(STEPS, init)
        self.does("ann", init.replace(STEPS, SHORTER))
        self.sends("ann", "run.toml", FRIENDS)
        check = self.next_block("sh everybody")
        checked = {self.does(friend, check) for friend in FRIENDS}
        self.assertEqual(len(checked), 1, "one run id")
        for friend in FRIENDS:
            self.assertRegex(next(iter(checked)), rf"(?m)^member {friend}  [0-9a-f]{{64}}  ")
        self.trains(self.next_block("sh node"), self.next_block("sh everybody"))
        self.exports(self.next_block("sh everybody"), self.next_block("python"))
        self.assertEqual(self.blocks, [])

    def package(self, text):
        """What `make dist` makes is another test's business: here a tarball of its form holds the program under test."""
        folder = self.folder / "ostraka-0/bin"
        folder.mkdir(parents=True)
        subprocess.run(["strip", "-o", folder / "ostraka", harness.OSTRAKA], check=True, timeout=harness.DEADLINE_S)
        subprocess.run(["tar", "-C", self.folder, "-czf", self.homes["ann"] / "ostraka-0-linux-x86_64.tar.gz", "ostraka-0"],
                       check=True, timeout=harness.DEADLINE_S)
        self.assertTrue(text.endswith("\nostraka swarm\n"))
        path = self.does("ann", text.replace("\nostraka swarm\n", "\ncommand -v ostraka\nostraka swarm >&2\n"))
        self.assertEqual(path.strip(), str(self.homes["ann"] / "ostraka-0/bin/ostraka"))

    def machine(self, text):
        """Building and its packages are other tests' business: `make` shows what it would do."""
        targets = re.findall(r"^make (\w+)$", text, re.MULTILINE)
        self.assertEqual(targets, ["demo"])
        shown = subprocess.run(["make", "-n", *targets], cwd=ROOT, capture_output=True, text=True, check=True,
                               timeout=harness.DEADLINE_S).stdout
        self.assertIn("build/release/ostraka swarm", shown)
        self.does("ann", re.sub(r"^make \w+\n", "", text, flags=re.MULTILINE))

    def trains(self, node, status):
        nodes = {friend: self.starts(friend, node) for friend in FRIENDS}
        for friend in FRIENDS:
            nodes[friend].wait_for("stderr", lambda line: re.match(r"step \d+: loss", line))
            told = self.does(friend, status)
            self.assertIn("health  ok: ", told)
            self.assertRegex(told, rf"(?m)^node    [0-9a-f]{{64}}  {friend}$")
            self.assertRegex(nodes[friend].text["stderr"], rf"(?m)^this node is {friend} \([0-9a-f]{{8}}\), ")
        page = self.does("ann", f"""{sys.executable} -c '
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:9464/").read().decode())'""")
        for friend in FRIENDS:
            self.assertIn(f"<bdi>{friend}</bdi> <code", page)
        nodes["ben"].signal(signal.SIGINT)
        self.assertEqual(nodes["ben"].finish(), 1, nodes["ben"].text["stderr"])
        self.assertIn("interrupted: stopped by Ctrl-C in step", nodes["ben"].text["stderr"])
        nodes["ben"] = self.starts("ben", node)
        again = nodes["ben"].wait_for("stderr", lambda line: re.match(r"step \d+: loss", line))
        self.assertLess(int(re.match(r"step (\d+)", again)[1]), LAST_STEP, "it came back before the end")
        for friend, running in nodes.items():
            self.assertEqual(running.finish(), 0, f"{friend}:\n" + running.text["stderr"])
            self.assertIn("finished: ", running.text["stderr"])
            self.assertNotIn("BANNED", running.text["stderr"])

    def exports(self, export, python):
        sums = {self.does(friend, export).splitlines()[-1] for friend in FRIENDS}
        self.assertEqual(len(sums), 1, "all have equal models")
        self.assertRegex(next(iter(sums)), r"^[0-9a-f]{64}  model\.safetensors$")
        program = self.homes["dee"] / "use.py"
        program.write_text(python + f"""
rows = [list(map(int, line.split(","))) for line in open({str(DIGITS)!r})]
print(sum(digit(numpy.array(row[:64])) == row[64] for row in rows) / len(rows))
""")
        interpreter = "/usr/bin/python3"  # NumPy is Debian's
        has = lambda module: subprocess.run([interpreter, "-c", f"import {module}"], check=False,
                                            capture_output=True).returncode == 0
        if not has("numpy"):
            print("NOT TESTED: the lines in Python, for there is no python3-numpy", file=sys.stderr)
            return
        if not has("safetensors.numpy"):
            self.stand_in_for_safetensors()
        shown = subprocess.run([interpreter, program], cwd=self.homes["dee"], capture_output=True, text=True, check=False,
                               timeout=harness.DEADLINE_S, env={"PYTHONPATH": str(self.folder)})
        self.assertEqual(shown.returncode, 0, shown.stderr)
        drawing, share = shown.stdout.split()
        self.assertEqual(drawing, "0", "the page's drawing")
        self.assertGreater(float(share), 0.9)

    def stand_in_for_safetensors(self):
        """Debian has no such package. The tests' own reader of the format takes its place."""
        package = self.folder / "safetensors"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "numpy.py").write_text(f"""
import sys, numpy, pathlib
sys.path.insert(0, {str(Path(__file__).parent)!r})
import safetensors_file
def load_file(path):
    _, tensors = safetensors_file.read(pathlib.Path(path))
    return {{name: numpy.array(values).reshape(shape) for name, (shape, values) in tensors.items()}}
""")


if __name__ == "__main__":
    REASON = namespaces.why_not()
    if REASON is not None:
        print(f"NOT TESTED: docs/quickstart.md: {REASON}", file=sys.stderr)
        sys.exit(SKIPPED)
    remove_those_of_the_dead()
    harness.main()

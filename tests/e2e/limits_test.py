"""Little memory and few open files: one line and exit code 3, whatever the command and wherever it runs out."""
import json
import resource
import signal
import subprocess
import unittest

import harness
import npy
from harness import Running, TestCase, expect_ok, run

MIB = 1 << 20


def limited(kind, value):
    def apply():
        resource.setrlimit(kind, (value, value))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


class LimitsTest(TestCase):
    def setUp(self):
        super().setUp()
        moderator = self.folder / "moderator.key"
        ident = expect_ok("key", "new", moderator, "--no-passphrase").strip()
        self.made = self.make_run(count=3, steps=8, options=["--moderator", ident])
        nodes = [self.running(self.made.start(i, "--checkpoint-every", 2)) for i in range(3)]
        for node in nodes:
            self.assertEqual(node.finish(), 0, node.text["stderr"])
        self.data = self.made.data_dir(0)
        self.key = self.folder / "locked.key"
        passphrase = self.folder / "passphrase"
        passphrase.write_text("correct horse\n")
        expect_ok("key", "new", self.key, "--passphrase-file", passphrase)
        rows = npy.write(self.folder / "rows.npy", [0.5, -1.0] * (8 * MIB // 8), (8, MIB // 4))
        text = self.folder / "text"
        text.write_text("Nobody vouches for anybody here. " * 30000)
        graph = self.folder / "mlp.graph"
        expect_ok("model", "make", "mlp", "--out", graph)
        out = iter(range(10**6))
        self.commands = {
            "aggregate": lambda: ["aggregate", "--rule", "geometric_median", "--threads", 4, rows, self.folder / f"{next(out)}.npy"],
            "attack": lambda: ["attack", "--name", "alie", "--byzantine", 2, rows, self.folder / f"{next(out)}.npy"],
            "data pack": lambda: ["data", "pack", text, "--out", self.folder / str(next(out))],
            "data check": lambda: ["data", "check", f"text:{text}"],
            "key show": lambda: ["key", "show", self.key],
            "key passwd": lambda: ["key", "passwd", self.key, "--passphrase-file", passphrase,
                                   "--new-passphrase-file", passphrase],
            "run check": lambda: ["run", "check", self.made.manifest],
            "ledger show": lambda: ["ledger", "show", self.data],
            "status": lambda: ["status", self.data],
            "export": lambda: ["export", self.data, self.folder / f"{next(out)}.safetensors"],
            "link": lambda: ["link", self.data, "--manifest", self.made.manifest],
            "evidence export": lambda: ["evidence", "export", self.data, self.folder / str(next(out))],
            "run recover": lambda: ["run", "recover", self.made.manifest, self.data, "--out", self.folder / str(next(out))],
            "model show": lambda: ["model", "show", graph],
            "sim": lambda: ["sim", "--peers", 4, "--byzantine", 0, "--steps", 8, "--dimension", 16],
            "manual": lambda: ["manual"],
            "dht ping": lambda: ["dht", "ping", "127.0.0.1:1"],
            "doctor": lambda: ["doctor"],
        }

    def check(self, name, kind, value):
        result = run(*self.commands[name](), preexec_fn=limited(kind, value))
        what = f"{name} with a limit of {value}: exit {result.returncode}\n{result.stderr}"
        self.assertIn(result.returncode, (0, 1, 3), what)
        if result.returncode == 3:
            self.assertEqual(result.stderr.count("\n"), 1, what)
            self.assertRegex(result.stderr, r"\Aostraka: ", what)
        return result

    def loads(self, value):
        """Whether the program can be loaded at all: before that, only the system's loader speaks."""
        return run("--version", preexec_fn=limited(resource.RLIMIT_AS, value)).returncode == 0

    def test_memory(self):
        low, high = MIB, 256 * MIB
        while high - low > MIB // 4:
            middle = (low + high) // 2
            low, high = (low, middle) if self.loads(middle) else (middle, high)
        # OpenBLAS, which the doctor measures, waits for ever for memory that it does not get; a ping waits for answers.
        for name in set(self.commands) - {"doctor", "dht ping"}:
            refused = 0
            for more in (0, 1, 2, 4, 8, 12, 16, 32, 64, 128, 256):
                with self.subTest(command=name, more_mib=more):
                    result = self.check(name, resource.RLIMIT_AS, high + more * MIB)
                    refused += result.returncode == 3
            if name in ("aggregate", "attack", "key passwd"):
                self.assertGreater(refused, 0, name)

    def test_a_large_array(self):
        rows = self.folder / "large.npy"
        d = 50_000_000
        header = npy.write(rows, [], (8, d)).read_bytes()
        with open(rows, "wb") as file:
            file.write(header)
            file.truncate(len(header) + 8 * d * 4)
        for limit in (100, 500, 1000, 1500):
            for command in (["aggregate", "--rule", "krum", "--f", 2], ["attack", "--name", "alie"]):
                with self.subTest(limit=limit, command=command):
                    self.refused(3, [*command, rows, self.folder / "out.npy"], "ostraka: ",
                                 preexec_fn=limited(resource.RLIMIT_AS, limit * MIB))

    def test_open_files(self):
        for name in self.commands:
            for files in (4, 5, 6, 7, 8, 10, 12, 16):  # with 3 the system cannot load the program
                with self.subTest(command=name, files=files):
                    self.check(name, resource.RLIMIT_NOFILE, files)


class NodeTest(TestCase):
    def test_open_files_of_a_node(self):
        """With too few it ends with one line; with enough it runs until it is stopped. It never aborts."""
        made = self.make_run(count=3, steps=1000)
        enough = 0
        for files in (*range(4, 24), 32, 64):
            for http in ([], ["--http", "127.0.0.1:0"]):
                with self.subTest(files=files, http=http):
                    node = Running("node", made.manifest, "--key", made.key(0), "--data-dir", self.folder / f"{files}-{len(http)}",
                                   "--listen", "127.0.0.1:0", "--events", *http,
                                   preexec_fn=limited(resource.RLIMIT_NOFILE, files))
                    self.addCleanup(node.close)
                    started = True
                    try:
                        node.wait_for("stdout", lambda line: '"event":"started"' in line)
                    except AssertionError:
                        started = False
                    if started:
                        enough += 1
                        node.signal(signal.SIGTERM)
                    code = node.finish()
                    self.assertIn(code, (0, 1, 3), node.text["stderr"])
                    if not started:
                        self.assertEqual(code, 3, node.text["stderr"])
                        self.assertRegex(node.text["stderr"].splitlines()[-1], r"\Aostraka: .*", node.text["stderr"])
        self.assertGreater(enough, 2)


# Runs the rest where there is no /proc.
NO_PROC = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


@unittest.skipIf(subprocess.run([*NO_PROC, "true"], check=False, capture_output=True).returncode != 0,
                 "NOT TESTED: no mount namespace is allowed here")
class NoProcTest(TestCase):
    def run_there(self, *args):
        return subprocess.run([*NO_PROC, harness.OSTRAKA, *map(str, args)], check=False, capture_output=True, text=True,
                              timeout=harness.DEADLINE_S)

    def test_the_machine_is_not_called_without_memory_and_old(self):
        def facts(result):
            return {finding["check"]: finding for finding in json.loads(result.stdout)["findings"]}
        here, there = facts(run("doctor", "--json")), facts(self.run_there("doctor", "--json"))
        self.assertEqual(there["memory"]["severity"], here["memory"]["severity"], there["memory"])
        self.assertNotIn(" 0 B available", there["memory"]["text"])
        for kernels in ("avx2", "avx-512"):
            self.assertEqual(kernels in there["cpu"]["text"].lower(), kernels in here["cpu"]["text"].lower())

    def test_a_swarm_starts_and_ends(self):
        out = self.folder / "out"
        result = self.run_there("swarm", "--peers", 3, "--byzantine", 0, "--model", "toy", "--steps", 8, "--out", out, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(expect_ok("ledger", "show", out / "node0"))


if __name__ == "__main__":
    harness.main()

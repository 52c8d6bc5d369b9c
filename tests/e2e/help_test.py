"""Help, usage errors, and where output goes."""
import re
import resource
import signal
import subprocess
import unittest

import harness
from harness import OSTRAKA, TestCase, run

COMMANDS = [[], ["swarm"], ["node"], ["key"], ["key", "new"], ["key", "show"], ["key", "passwd"],
            ["key", "import"], ["run"],
            ["run", "init"], ["run", "show"], ["run", "check"], ["run", "recover"], ["ledger"], ["ledger", "show"],
            ["ledger", "explain"], ["sim"], ["sim", "dht"], ["dht"], ["dht", "bench"], ["dht", "bootstrap"], ["dht", "crawl"], ["dht", "get"], ["dht", "ping"], ["dht", "put"], ["portmap"], ["invite"], ["invite", "new"], ["invite", "show"], ["invite", "list"], ["invite", "revoke"], ["link"], ["join"], ["status"], ["leave"], ["pause"], ["resume"], ["doctor"], ["bench"], ["bench", "aggregation"], ["export"],
            ["aggregate"], ["attack"], ["compare"], ["compare", "merge"],
            ["model"], ["model", "make"], ["model", "show"], ["generate"], ["memory"], ["data"], ["data", "pack"], ["data", "check"], ["manual"],
            ["evidence"], ["evidence", "verify"], ["evidence", "show"],
            ["evidence", "export"], ["replay"]]


class HelpTest(TestCase):
    def test_every_subcommand_has_help_with_an_example(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                result = run(*command, "--help")
                self.assertEqual(result.returncode, 0)
                self.assertEqual(result.stderr, "")
                example = " ".join(["Examples?: ostraka", *command])
                self.assertRegex(result.stdout, example)

    def test_the_list_above_is_complete(self):
        def listed(command):
            text = run(*command, "--help").stdout
            _, _, after = text.partition("Subcommands:\n")
            return re.findall(r"^  ([a-z]+) ", after.partition("\n\n")[0], re.MULTILINE)
        for command in [[], ["key"], ["run"], ["ledger"], ["bench"], ["dht"], ["compare"], ["evidence"], ["model"], ["data"], ["invite"]]:
            names = [c[-1] for c in COMMANDS if c[:-1] == command and c]
            self.assertEqual(sorted(listed(command)), sorted(names))

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"\Aostraka \d+\.\d+\.\d+\nOpenSSL 3\.\S+ .*, (of this system|in this program)\n\Z")

    def test_the_program_itself_links_no_libtorch(self):
        # A program that starts in milliseconds cannot load half a gigabyte first.
        libraries = subprocess.run(["ldd", OSTRAKA], capture_output=True, text=True, check=True)
        self.assertIn("libsodium", libraries.stdout)
        for heavy in ["torch", "libc10", "openblas"]:
            self.assertNotIn(heavy, libraries.stdout)


class UsageTest(TestCase):
    def test_no_subcommand_lists_them(self):
        alone = run()
        self.assertEqual(alone.returncode, 2)
        *beginning, last = alone.stderr.splitlines()
        self.assertEqual(beginning[0], "ostraka: train one model together with peers that need not trust each other.")
        self.assertIn("Example: ostraka swarm", beginning)
        self.assert_one_line(last + "\n", "give a subcommand: swarm, node, key, run, invite, link, join, status, leave, pause, resume, doctor, ledger, evidence, replay, export, model, generate, memory, data, sim, compare, aggregate, attack")
        self.refused(2, ["key"], "give a subcommand: new, show, passwd, import", "`ostraka key --help`")

    def test_unknown_subcommand_suggests(self):
        self.refused(2, ["swrm"], "unknown subcommand 'swrm'", "did you mean 'swarm'?")
        self.refused(2, ["sim", "--peers", 8, "--parts", "i16"], "unknown option '--parts'")
        self.refused(2, ["key", "shwo", "a"], "unknown subcommand 'shwo'", "did you mean 'show'?",
                     "`ostraka key --help`")
        self.refused(2, ["abracadabra"], "known: swarm, node, key, run, invite, link, join, status, leave, pause, resume, doctor, ledger, evidence, replay, export, model, generate, memory, data, sim, compare, aggregate, attack")

    def test_unknown_option_suggests(self):
        self.refused(2, ["swarm", "--stps", "3"], "unknown option '--stps'",
                     "did you mean '--steps'?", "`ostraka swarm --help`")
        self.refused(2, ["swarm", "--stps=3"], "unknown option '--stps'", "'--steps'")
        self.refused(2, ["node", "run.toml", "--kye", "k"], "unknown option '--kye'", "'--key'")
        self.refused(2, ["--abracadabra"], "unknown option '--abracadabra'")

    def test_missing_arguments_are_named(self):
        self.refused(2, ["key", "new"], "file is required", "`ostraka key new --help`")
        self.refused(2, ["node", "run.toml"], "--key is required")

    def test_malformed_numbers(self):
        self.refused(2, ["swarm", "--steps", "-3"], "--steps", "at least 0", "'-3'")
        self.refused(2, ["swarm", "--steps", "18446744073709551615"], "--steps", "at most 9223372036854775807")
        self.refused(2, ["swarm", "--steps", "many"], "--steps", "'many'")
        self.refused(2, ["swarm", "--steps"], "--steps")
        self.refused(2, ["swarm", "--target", "much"], "--target", "much")


class OutputTest(TestCase):
    """A result that could not be written is a failure."""

    def test_a_file_that_cannot_be_written_to_its_end_is_not_left(self):
        def limited():  # as a full disk: a write beyond 100 bytes fails, and the signal for it is ignored
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        text = self.folder / "text"
        text.write_text("Nobody vouches for anybody here. " * 100)
        out = self.folder / "out"
        for args in (["model", "make", "softmax", "--out", out], ["data", "pack", text, "--out", out],
                     ["sim", "--peers", 4, "--byzantine", 0, "--steps", 8, "--dimension", 16, "--report", out]):
            with self.subTest(args=args):
                self.refused(3, args, "cannot write", str(out), preexec_fn=limited)
                self.assertFalse(out.exists())

    def test_full_disk(self):
        key = self.folder / "a.key"
        harness.expect_ok("key", "new", key, "--no-passphrase")
        for args in [["--help"], ["--version"], ["swarm", "--help"], ["key", "show", key],
                     ["sim", "--steps", "6", "--json"]]:
            with self.subTest(args=args), open("/dev/full", "wb") as full:
                result = run(*args, stdout=full)
                self.assertEqual(result.returncode, 3)
                self.assert_one_line(result.stderr, "cannot write to standard output")

    def test_closed_descriptors_do_not_become_files(self):
        # With 0, 1 and 2 closed, the key file would get one of these numbers, and the program would
        # print into it.
        key = self.folder / "a.key"
        script = f'exec "{OSTRAKA}" key new "{key}" --no-passphrase <&- >&- 2>&-'
        ended = subprocess.run(["bash", "-c", script], timeout=harness.DEADLINE_S)
        self.assertEqual(ended.returncode, 3)
        lines = key.read_bytes().splitlines()
        self.assertEqual(len(lines), 2)
        shown = harness.expect_ok("key", "show", key)
        self.assertIn(shown.strip().encode(), lines[0])


if __name__ == "__main__":
    harness.main()

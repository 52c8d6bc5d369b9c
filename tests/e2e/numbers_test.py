"""Numbers on the command line: every option of every command reads them in decimal, or refuses them in one line."""
import re

import harness
from harness import TestCase, expect_ok, run

# Ends the command line of every command with an error after its numbers are read, before anything is done.
STOP = "--no-such-option"
# tests/unit/cli/terminal/usage_test.cpp has more of them, for an option of each type.
WHOLE = ("0x10", "1_000", "1e3", "٧")
REAL = ("0x10", "1_000", "nan", "٧")


def commands(path=()):
    """Every command, found by --help alone: a tuple of words, and its help."""
    text = expect_ok(*path, "--help")
    yield path, text
    _, _, after = text.partition("Subcommands:\n")
    for name in re.findall(r"^  ([a-z]+)(?: |$)", after.partition("\n\n")[0], re.MULTILINE):
        yield from commands((*path, name))


def number_options():
    """(command, option, type) of every option that takes a number."""
    for path, text in commands():
        listed = re.split(r"\n\n(?=Examples?:)", text)[0]
        for name, kind in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) (UINT|INT|FLOAT)\b", listed, re.MULTILINE):
            yield path, name, kind


OPTIONS = list(number_options())


class NumbersTest(TestCase):
    def outcome(self, path, name, value):
        result = run(*path, f"{name}={value}", STOP)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assert_one_line(result.stderr)
        return result.stderr

    def test_there_are_options(self):
        self.assertGreater(len(OPTIONS), 100)
        self.assertEqual({kind for _, _, kind in OPTIONS}, {"UINT", "INT", "FLOAT"})

    def test_leading_zeros_and_a_plus_change_nothing(self):
        # 08 is no octal number, and 010 is ten.
        for path, name, _ in OPTIONS:
            for plain, written in (("8", "+08"), ("10", "010")):
                with self.subTest(command=path, option=name, value=written):
                    # Where 8 is too large the line has the number as it was written, but for its sign.
                    said = self.outcome(path, name, written).replace(f"Value {written.lstrip('+')} ", f"Value {plain} ")
                    self.assertEqual(said, self.outcome(path, name, plain))

    def test_other_notations_are_refused(self):
        for path, name, kind in OPTIONS:
            for value in REAL if kind == "FLOAT" else WHOLE:
                with self.subTest(command=path, option=name, value=value):
                    refusal = self.outcome(path, name, value)
                    self.assertIn(name, refusal)
                    self.assertNotIn(STOP, refusal)

    def test_a_count_is_not_negative(self):
        for path, name, kind in OPTIONS:
            if kind == "UINT":
                with self.subTest(command=path, option=name):
                    self.assertIn("at least 0, not '-1'", self.outcome(path, name, "-1"))

    def test_numbers_within_a_text(self):
        for args in (["swarm", "--log-max-bytes", "0x10"], ["swarm", "--log-max-bytes", "+5"],
                     ["sim", "--seeds", "0x1..2"], ["sim", "--seeds", "1..1e1"], ["sim", "--seeds", "1_0..20"],
                     ["compare", "--preset", "smoke", "--out", self.folder / "out", "--shard", "0x1/2"],
                     ["aggregate", "--rule", "krum", "--param", "f=0x1", "a.npy", "b.npy"],
                     ["aggregate", "--rule", "krum", "--param", "f=1_0", "a.npy", "b.npy"],
                     ["model", "show", "--max-memory", "1e3", "a.graph"],
                     ["portmap", "--port", "0x50"]):
            with self.subTest(args=args):
                self.refused(2, args)
        self.assertEqual(list(self.folder.iterdir()), [])


class ListsTest(TestCase):
    def test_a_list_does_not_take_the_word_after_its_value(self):
        made = self.make_run()
        peer = f"{made.ids[1]}@127.0.0.1:1"
        self.refused(3, ["node", "--peers", peer, made.manifest, "--key", self.folder / "none"], "none", "does not exist")
        self.refused(2, ["node", made.manifest, "--key", made.key(0), "--peers", peer, peer],
                     "--peers takes one value: write it before each")

    def test_no_list_takes_a_word(self):
        """In every command that takes words, a word after a list's value is the command's."""
        found = 0
        for path, text in commands():
            words = text.partition("Positionals:\n")[2].partition("\n\n")[0]
            if not words:
                continue
            listed = re.split(r"\n\n(?=Examples?:)", text)[0]
            needed = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) [^\n]*REQUIRED", listed, re.MULTILINE)
            names = re.findall(r"^  ([a-z_]+) ", words, re.MULTILINE)
            for name in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) [^\n]*\.\.\.", listed, re.MULTILINE):
                found += 1
                with self.subTest(command=path, option=name):
                    result = run(*path, *(f"{one}=1" for one in needed), name, "1", *(["1"] * len(names)), STOP)
                    self.assertEqual(result.returncode, 2)
                    # The words are all there, or CLI11 would miss one of them first.
                    self.assert_one_line(result.stderr, f"unknown option '{STOP}'")
                    missing = run(*path, *(f"{one}=1" for one in needed), name, "1", *(["1"] * len(names)))
                    self.assertNotIn("is required", missing.stderr)
        self.assertGreater(found, 5)


class RangesTest(TestCase):
    def test_the_range_of_peers_is_the_true_one(self):
        for command in ("sim", "swarm"):
            for peers in (1, 2, 257):
                refusal = self.refused(2, [command, "--byzantine", 0, "--peers", peers])
                self.assertRegex(refusal.stderr, r"3(\.\.| to )256")

    def test_an_invite_ends_with_the_run(self):
        key = self.folder / "moderator.key"
        moderator = expect_ok("key", "new", key, "--no-passphrase").strip()
        made = self.make_run(options=["--moderator", moderator])
        new = ["invite", "new", "--manifest", made.manifest, "--key", key]
        expect_ok(*new, "--until", 15)
        for until in (16, 10**18):
            self.refused(2, [*new, "--until", until], "--until must be at most 15, the run's steps")

    def test_no_file_is_named_dash(self):
        key, run_, text = self.folder / "a.key", self.make_run(), self.folder / "text"
        expect_ok("key", "new", key, "--no-passphrase")
        text.write_text("Nobody vouches for anybody here. " * 100)
        members = [word for ident in run_.ids for word in ("--member", ident)]
        where = self.folder / "here"
        where.mkdir()
        for args in (["key", "new", "-", "--no-passphrase"], ["key", "import", key, "-", "--no-passphrase"],
                     ["run", "init", "--out", "-", *members], ["run", "recover", run_.manifest, where, "--out", "-"],
                     ["export", where, "-"], ["evidence", "export", where, "-"], ["data", "pack", text, "--out", "-"],
                     ["model", "make", "softmax", "--out", "-"], ["swarm", "--out", "-"],
                     ["sim", "--report", "-"], ["compare", "--preset", "smoke", "--out", "-"],
                     ["compare", "merge", "-", where], ["link", where, "--file", "-"],
                     ["invite", "new", "--manifest", run_.manifest, "--key", key, "--file", "-"],
                     ["node", run_.manifest, "--key", key, "--log-file", "-"],
                     ["node", run_.manifest, "--key", key, "--record", "-"]):
            with self.subTest(args=args):
                self.refused(2, args, "'-' is no path", cwd=where)
                self.assertEqual(list(where.iterdir()), [])


if __name__ == "__main__":
    harness.main()

"""Wrong input: each error is one line that says what is wrong and what to do, and no data are lost."""
import os
import shutil
import unittest

import harness
from harness import OSTRAKA, TestCase, expect_ok, needs_torch, run
from junk import PROTOCOL_VERSION


class KeyTest(TestCase):
    def new_key(self, name="a.key", *options):
        path = self.folder / name
        return path, expect_ok("key", "new", path, *(options or ["--no-passphrase"])).strip()

    def text(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_wrong_passphrase(self):
        right, wrong = self.text("right", "correct horse\n"), self.text("wrong", "battery\n")
        key, ident = self.new_key("a.key", "--passphrase-file", right)
        before = key.read_bytes()
        self.assertEqual(expect_ok("key", "show", key).strip(), ident)
        made = self.make_run(count=3)
        made.replace(made.ids[0], ident)
        data = self.folder / "data"
        node = ["node", made.manifest, "--key", key, "--data-dir", data]
        self.refused(2, [*node, "--passphrase-file", wrong], str(key), "wrong passphrase",
                     "try again")
        self.refused(2, node, "no terminal", "--passphrase-file")
        self.refused(2, [*node, "--passphrase-fd", 77, "--passphrase-file", right], "excludes")
        self.refused(3, [*node, "--passphrase-fd", 77], "--passphrase-fd", "Bad file descriptor")
        self.refused(3, [*node, "--passphrase-file", self.folder / "none"], "none")
        self.refused(2, [*node, "--passphrase-file", self.text("empty", "")], "is empty")
        self.refused(2, [*node, "--passphrase-file", self.text("long", "x" * 2000)], "1 KiB")
        self.assertEqual(key.read_bytes(), before)
        self.assertFalse(data.exists())

    def test_a_key_that_others_may_read(self):
        made = self.make_run()
        key, data = made.key(0), self.folder / "data"
        for mode in (0o644, 0o640, 0o604):
            key.chmod(mode)
            for command in (["key", "show", key],
                            ["node", made.manifest, "--key", key, "--data-dir", data]):
                self.refused(2, command, str(key), "open to other users", "chmod 600")
        self.assertFalse(data.exists())

    def test_a_file_that_holds_no_key_keeps_its_mode(self):
        made = self.make_run()
        other = self.text("passwd", "root:x:0:0:root:/root:/bin/bash\n")
        other.chmod(0o644)
        for command in (["key", "show", other],
                        ["node", made.manifest, "--key", other, "--data-dir", self.folder / "data"]):
            refusal = self.refused(2, command, str(other), "not an ostraka identity key")
            self.assertNotIn("chmod", refusal.stderr)

    def test_a_key_is_never_overwritten(self):
        key, _ = self.new_key()
        before = key.read_bytes()
        self.refused(2, ["key", "new", key, "--no-passphrase"], str(key), "never overwritten")
        self.assertEqual(key.read_bytes(), before)

    def test_a_new_key_needs_a_passphrase_or_an_explicit_none(self):
        self.refused(2, ["key", "new", self.folder / "a.key"], "no terminal", "--no-passphrase")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_other_files_as_keys_are_refused(self):
        key, _ = self.new_key()
        whole = key.read_bytes()
        for name, data in {"empty": b"", "garbage": bytes(range(256)), "cut": whole[:-9],
                           "zeros": bytes(300), "manifest": b"[run]\nname = 'x'\n"}.items():
            path = self.folder / name
            path.write_bytes(data)
            path.chmod(0o600)
            with self.subTest(name=name):
                self.refused(2, ["key", "show", path], str(path))
        self.refused(2, ["key", "show", self.folder], "not a regular file")
        self.refused(3, ["key", "show", self.folder / "none"], "does not exist")
        self.refused(3, ["key", "new", self.folder / "none/a.key", "--no-passphrase"],
                     "check the path")

    def test_a_file_name_that_is_not_utf8(self):
        path = os.fsencode(self.folder) + b"/\xff\x1b[2J.key"
        result = harness.subprocess.run([OSTRAKA, "key", "new", path, "--no-passphrase", "--json"],
                                        capture_output=True, timeout=harness.DEADLINE_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        harness.json.loads(result.stdout.decode())
        again = harness.subprocess.run([OSTRAKA, "key", "new", path, "--no-passphrase"],
                                       capture_output=True, timeout=harness.DEADLINE_S)
        self.assertEqual(again.returncode, 2)
        self.assert_one_line(again.stderr.decode(), "??[2J")
        self.assertNotIn(b"\x1b", again.stderr)


class ManifestTest(TestCase):
    def setUp(self):
        super().setUp()
        self.made = self.make_run()
        self.whole = self.made.manifest.read_text()

    def refused_manifest(self, *fragments, code=2):
        """Every command that reads a manifest refuses this one."""
        path, data = self.made.manifest, self.folder / "data"
        for command in (["run", "check", path], ["run", "show", path],
                        ["node", path, "--key", self.made.key(0), "--data-dir", data]):
            self.refused(code, command, *fragments)
        self.assertFalse(data.exists())

    def test_a_misspelt_key_is_named_with_its_line_and_the_right_one(self):
        self.made.replace("momentum =", "momentmu =")
        line = self.whole[:self.whole.index("momentum =")].count("\n") + 1
        self.refused_manifest(str(self.made.manifest), f"line {line}:",
                              "unknown key 'momentmu' in [training]",
                              "did you mean 'momentum'?")

    def test_a_misspelt_section(self):
        self.made.replace("[checks]", "[cheks]")
        self.refused_manifest("unknown key 'cheks'", "did you mean 'checks'?")

    def test_wrong_values(self):
        for old, new, fragment in [
                ("steps = 15", "steps = \"15\"", "training.steps must be a whole number"),
                ("steps = 15", "steps = -15", "training.steps must be a whole number"),
                ("steps = 15", "steps = 2", "training.steps must be above training.settle_steps (5)"),
                ("momentum = 0.0", "momentum = nan", "training.momentum"),
                ("mode = \"majority\"", "mode = \"most\"", "run.mode must be \"majority\""),
                (f"protocol_version = {PROTOCOL_VERSION}", "protocol_version = 999", f"protocol version {PROTOCOL_VERSION}"),
                (f"protocol_version = {PROTOCOL_VERSION}", f"protocol_version = {PROTOCOL_VERSION - 1}",
                 f"protocol version {PROTOCOL_VERSION}"),
                ("[[members]]\n", "[[members]]\nreachable = \"no\"\n", "reachable must be true or false"),
                ("[[members]]\n", "[[members]]\nreachable = false\n", "only 2 members can be dialed"),
                ("address = \"127.0.0.1", "address = \"nowhere\" #", "host:port")]:
            with self.subTest(new=new):
                self.made.manifest.write_text(self.whole.replace(old, new, 1))
                self.refused_manifest(fragment, str(self.made.manifest))

    def refused_check(self, old, new, *fragments):
        """`run check` refuses this change of the manifest."""
        self.assertEqual(self.whole.count(old), 1)
        self.made.manifest.write_text(self.whole.replace(old, new))
        self.refused(2, ["run", "check", self.made.manifest], *fragments)

    def test_check_refuses_what_no_node_can_start_from(self):
        expect_ok("run", "check", self.made.manifest)
        self.refused_check("hidden = 64", "hidden = 1000000000", "hidden", "1000000000")
        self.refused_check("hidden = 64", "hidden = 5", "5 parameters", "--hidden 6")
        ports = [listener.getsockname()[1] for listener in self.made.sockets]
        self.refused_check(f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}", self.made.ids[0][:16], self.made.ids[1][:16],
                           f"one address, 127.0.0.1:{ports[1]}")

    def test_check_refuses_a_size_that_the_model_cannot_have_and_other_data(self):
        self.made = harness.Run(self.folder / "digits", model="mlp")
        self.addCleanup(self.made.close)
        self.whole = self.made.manifest.read_text()
        expect_ok("run", "check", self.made.manifest)
        self.refused_check("hidden = 64", "hidden = 1000000000", "hidden must be 1 to")
        self.refused_check("batch_size = 32", "batch_size = 1000000000", "batch_size must be 1 to")
        at = self.whole.index("digits@") + len("digits@")
        digest = self.whole[at:at + 64]
        self.refused_check(digest, digest[::-1], "digits")
        out = self.folder / "large.toml"
        members = [word for ident in self.made.ids for word in ("--member", ident)]
        self.refused(2, ["run", "init", "--out", out, *members, "--hidden", 10**8], "hidden must be 1 to", "100000000")
        self.assertFalse(out.exists())

    def test_check_says_what_it_could_not_look_at(self):
        text = self.folder / "text"
        text.write_text("abcdefgh " * 500)
        self.made = harness.Run(self.folder / "text-run", model="softmax", options=["--data", f"text:{text}"])
        self.addCleanup(self.made.close)
        checked = harness.run("run", "check", self.made.manifest)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("not checked: whether the model fits the data: say with --data", checked.stderr)
        checked = harness.run("run", "check", self.made.manifest, "--data", f"text:{text}")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertNotIn("not checked", checked.stderr)
        text.write_text("abcdefgh " * 499)
        self.refused(2, ["run", "check", self.made.manifest, "--data", f"text:{text}"], "text")

    def test_a_node_that_would_always_be_late_comes_to_no_run(self):
        text = self.folder / "text"
        text.write_text("abcdefgh " * 500)
        self.made = harness.Run(self.folder / "slow", model="gpt", options=[
            "--data", f"text:{text}", "--width", 64, "--context", 64, "--batch-size", 16, "--part-timeout-ms", 1])
        self.addCleanup(self.made.close)
        folder = self.folder / "late"
        self.refused(2, ["node", self.made.manifest, "--key", self.made.key(0), "--data-dir", folder, "--data", f"text:{text}"],
                     "the least work of a step takes this node", "nobody waits longer than 1 ms", "--threads")
        self.assertIn("is never late; of a machine ten times as fast", expect_ok("run", "check", self.made.manifest))

    def test_a_member_listed_twice(self):
        self.made.replace(self.made.ids[0], self.made.ids[1])
        self.refused_manifest("member " + self.made.ids[1][:16] + " is listed twice")

    def test_unknown_model_and_data_set(self):
        data = self.folder / "data"
        for old, new, fragment in [("model = \"toy\"", "model = \"resnet18\"", "toy softmax mlp cnn"),
                                   ("data = \"toy\"", "data = \"text:/x\"", "toy digits mnist")]:
            self.made.manifest.write_text(self.whole.replace(old, new))
            for command in (["run", "check", self.made.manifest],
                            ["node", self.made.manifest, "--key", self.made.key(0), "--data-dir",
                             data]):
                self.refused(2, command, "unknown", new.split('"')[1], fragment)
        self.assertFalse(data.exists())

    def test_other_files_as_manifests_are_refused(self):
        for data in (b"", b"\0" * 100, bytes(range(256)), b"a = [" * 10000, b"[[[", b"x" * (1 << 20 | 1),
                     b"[run]", self.whole.encode()[:-100]):
            with self.subTest(data=data[:16]):
                self.made.manifest.write_bytes(data)
                self.refused_manifest(str(self.made.manifest))
        self.made.manifest.unlink()
        self.refused_manifest("cannot read manifest", "ostraka run init", code=3)
        self.made.manifest.mkdir()
        self.refused_manifest("cannot read manifest", code=3)

    def test_a_mode_that_is_too_weak_suggests_another(self):
        members = []
        for i in range(8):
            key = self.folder / f"{i}.key"
            members += ["--member", expect_ok("key", "new", key, "--no-passphrase").strip()]
        out = self.folder / "weak.toml"
        init = ["run", "init", "--out", out, "--model", "toy", *members]
        self.refused(2, [*init, "--faults", 4], "mode majority bears 3 faulty of 8 peers, not 4",
                     "no mode bears more than 3", "use 10 peers or more, or fewer faults")
        self.refused(2, [*init, "--faults", 3, "--mode", "third"],
                     "mode third bears 2 faulty of 8 peers, not 3", "use --mode majority")
        self.refused(2, [*init, "--mode", "thrid"], "'thrid'", "majority, balanced, third or checked")
        self.assertFalse(out.exists())
        expect_ok(*init, "--faults", 3)
        self.refused(2, ["run", "check", out, "--faults", 4], "no mode bears more than 3")

    def test_run_init_refuses_before_it_writes(self):
        out = self.folder / "new.toml"
        ids = self.made.ids
        init = ["run", "init", "--out", out, "--model", "toy"]
        members = [word for id_ in ids for word in ("--member", id_)]
        self.refused(2, [*init, *members, "--hidden", 10**9], "hidden", "1000000000")
        self.refused(2, [*init, "--member", ids[0] + "@a:1", "--member", ids[1] + "@a:1", "--member", ids[2]],
                     "one address, a:1")
        self.refused(2, [*init, "--member", ids[0]], "at least 3 members")
        self.refused(2, [*init, "--member", ids[0], "--member", ids[1], "--member", ids[0]],
                     "listed twice")
        self.refused(2, [*init, "--member", "abc@127.0.0.1:1"], "'abc@127.0.0.1:1'", "ID@HOST:PORT")
        self.refused(2, [*init, "--member", ids[0] + "@nowhere"], "nowhere", "host:port")
        members = [word for ident in ids for word in ("--member", ident)]
        self.refused(2, [*init, *members, "--momentum", "nan"], "--momentum: must be a number")
        self.refused(2, [*init, *members, "--learning-rate", "inf"], "--learning-rate: must be a number")
        self.refused(2, [*init, *members, "--steps", 0], "training.steps")
        self.refused(2, [*init, "--member", "a b=" + ids[0]], "'a b=", "a member's name must consist of")
        self.refused(2, [*init, "--member", "be81737a=" + ids[0]], "must not read like the digits of a key")
        named = [word for ident in ids for word in ("--member", "anna=" + ident)]
        self.refused(2, [*init, *named], "have one name, anna")
        self.refused(2, [*init, *members, "--only-dials", "nobody"], "--only-dials 'nobody' is no member")
        self.refused(2, [*init, *members, "--only-dials", ids[0]], "only 2 members can be dialed",
                     "open a port for another member")
        self.assertFalse(out.exists())
        made = run(*init, *members)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("have no address, so they cannot reach each other", made.stderr)
        self.assertIn("have no address, so they cannot reach each other", run("run", "check", out).stderr)
        for stderr in (made.stderr, run("run", "check", out).stderr):
            self.assertIn("warning: with 3 members nothing is protected", stderr)
            self.assertIn("4 members bear one of them", stderr)
            self.assertNotIn("strangers", stderr)
        opened = run("run", "init", "--out", self.folder / "open.toml", "--model", "toy", *members, "--moderator", ids[0])
        self.assertEqual(opened.returncode, 0, opened.stderr)
        self.assertIn("the key of one alone convicts anybody before a stranger", opened.stderr)
        before = out.read_bytes()
        self.refused(2, [*init, *members], str(out), "exists")
        self.assertEqual(out.read_bytes(), before)
        self.refused(3, ["run", "init", "--out", self.folder / "none/x", "--model", "toy",
                         *members], "No such file or directory")

    def test_a_stranger(self):
        stranger = self.folder / "stranger.key"
        ident = expect_ok("key", "new", stranger, "--no-passphrase").strip()
        self.refused(2, ["node", self.made.manifest, "--key", stranger, "--data-dir",
                         self.folder / "data"], ident[:16], "no member of this run")
        self.assertFalse((self.folder / "data").exists())


class FolderTest(TestCase):
    def setUp(self):
        super().setUp()
        self.made = self.make_run()

    def node(self, *options):
        return ["node", self.made.manifest, "--key", self.made.key(0), *options]

    def test_no_home(self):
        environment = {k: v for k, v in os.environ.items() if k != "HOME"}
        self.refused(2, self.node(), "HOME is not set", "--data-dir", env=environment)

    def test_a_folder_that_cannot_be_created_or_written(self):
        file = self.folder / "file"
        file.touch()
        self.refused(3, self.node("--data-dir", file), str(file), "give a folder")
        self.refused(3, self.node("--data-dir", "/proc/none"), "/proc/none", "give a folder")
        self.refused(3, ["swarm", "--model", "toy", "--out", "/proc/none"], "/proc/none", "--out")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_read_only_folder(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o500)
        self.refused(3, self.node("--data-dir", closed), str(closed))

    def test_other_files_as_ledgers_are_refused(self):
        self.refused(3, ["ledger", "show", self.folder / "none"], "is not there")
        self.refused(3, ["ledger", "show", self.folder], "name the data folder")
        for data in (b"", b"\0" * 5000, bytes(range(256)), b"SQLite format 3\0" + bytes(200)):
            (self.folder / "ledger.sqlite").write_bytes(data)
            for command in ("show", "explain"):
                with self.subTest(data=data[:16]):
                    self.refused(2, ["ledger", command, self.folder], "ledger.sqlite")
            self.assertEqual((self.folder / "ledger.sqlite").read_bytes(), data)
            # A node leaves other files unchanged, too.
            if data:
                self.refused(2, self.node("--data-dir", self.folder), "ledger.sqlite")
                self.assertEqual((self.folder / "ledger.sqlite").read_bytes(), data)


class SwarmTest(TestCase):
    def refused_swarm(self, args, *fragments, code=2):
        """One line, and no folder is left in the temporary one."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        self.refused(code, ["swarm", *args], *fragments,
                     env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual(list(temporary.iterdir()), [])

    def test_refused_before_anything_starts(self):
        toy = ["--model", "toy"]
        self.refused_swarm([*toy, "--byzantine", 4], "mode majority bears 3 faulty of 8 peers",
                           "no mode bears more than 3")
        self.refused_swarm([*toy, "--mode", "third"], "use --mode majority")
        self.refused_swarm([*toy, "--byzantine", 8], "--byzantine must be below --peers")
        self.refused_swarm([*toy, "--peers", 2], "--peers must be from 3 to 256")
        self.refused_swarm([*toy, "--peers", 100000], "--peers must be from 3 to 256")
        self.refused_swarm([*toy, "--attack", "nonsense"], "'nonsense' is not known", "sign_flip")
        self.refused_swarm([*toy, "--attack-param", "x=1"], "'x'", "lambda")
        self.refused_swarm([*toy, "--hidden", 3], "3 parameters", "--hidden 16")
        self.refused_swarm([*toy, "--steps", 5], "settle_steps")
        self.refused_swarm([*toy, "--steps", 20, "--warmup", 50], "of 20 --steps 15 train", "give at most 15")
        self.refused_swarm([*toy, "--target", "nan"], "--target: must be a number")
        self.refused_swarm([*toy, "--batch-size", 0], "batch_size")
        self.refused_swarm(["--model", "resnet18"], "unknown model 'resnet18'", "softmax")
        self.refused_swarm(["--data", "speech:/x"], "unknown data 'speech'", "digits")
        self.refused_swarm(["--model", "gtp"], "unknown model 'gtp'; did you mean 'gpt'?", "llama", "graph:FILE")
        self.refused_swarm(["--model", "gpt"], "model gpt learns a text, and data digits are none: give --data text:FILE")
        book = self.folder / "book.txt"
        book.write_text("to be or not to be")
        self.refused_swarm(["--model", "gpt", "--data", book], f"say what the file is: text:{book}")
        self.refused_swarm(["--data", self.folder], f"mnist:{self.folder}", f"cifar10:{self.folder}")
        self.refused_swarm(["--data", "text:/x"], "/x does not exist", code=3)
        self.refused_swarm([*toy, "--data", "mnist:/x"], "model toy goes with data toy")
        self.refused_swarm([*toy, "--keep-checkpoints", 0], "--keep-checkpoints")
        self.refused_swarm(["--data", "mnist:/x"], "/x does not exist: give the folder that holds", code=3)

    def test_a_folder_that_is_in_use_is_left_alone(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "thesis.txt").write_text("years of work")
        self.refused_swarm(["--model", "toy", "--out", out], "is not empty", "--out")
        self.assertEqual([path.name for path in out.iterdir()], ["thesis.txt"])

    def test_a_missing_trainer_module(self):
        lone = self.folder / "bin"
        lone.mkdir()
        shutil.copy(OSTRAKA, lone / "ostraka")
        ended = harness.subprocess.run([lone / "ostraka", "swarm", "--model", "cnn"], capture_output=True,
                                       text=True, timeout=harness.DEADLINE_S)
        self.assertEqual(ended.returncode, 3)
        self.assert_one_line(ended.stderr, "libostraka_torch.so", str(lone), "build")

    @needs_torch
    def test_a_damaged_trainer_module(self):
        lone = self.folder / "bin"
        lone.mkdir()
        shutil.copy(OSTRAKA, lone / "ostraka")
        (lone / "libostraka_torch.so").write_bytes(b"not a library")
        ended = harness.subprocess.run([lone / "ostraka", "swarm", "--model", "cnn"], capture_output=True,
                                       text=True, timeout=harness.DEADLINE_S)
        self.assertEqual(ended.returncode, 3)
        self.assert_one_line(ended.stderr, "libostraka_torch.so")


if __name__ == "__main__":
    harness.main()

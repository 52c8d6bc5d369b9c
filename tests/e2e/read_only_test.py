"""Reading needs no right to write: every command that reads a node's folder, on copies that nobody may write to."""
import os
import re
import shutil
import subprocess
import unittest

import harness
from harness import OSTRAKA, TestCase, expect_ok, run
from manual_test import COMMANDS

# Mounts FOLDER again, read-only, in a namespace of its own, and runs the rest there.
MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && ! touch "$1/x" 2>&- && shift && exec "$@"'


def namespace():
    """The words before a command that may mount, or None."""
    for words in (["unshare", "-m"], ["unshare", "-rm"]):
        if shutil.which("unshare") and subprocess.run([*words, "sh", "-c", "mount --bind /mnt /mnt"], check=False,
                                                      capture_output=True).returncode == 0:
            return words
    return None


NAMESPACE = namespace()

# The commands whose help names a data folder, and why those that are not in `readers` are left out.
NOT_READERS = {"node": "writes", "join": "writes", "leave": "asks a running node", "pause": "writes", "resume": "writes", "swarm": "writes",
               "generate": "reads a state, as export does", "doctor": "tries to write, on purpose", "invite revoke": "writes", "ledger": "only holds the two below it",
               "evidence verify": "reads a link there, as any file", "evidence show": "the same"}


class ReadOnlyTest(TestCase):
    @classmethod
    def setUpClass(cls):
        if NAMESPACE is None and os.geteuid() == 0:
            raise unittest.SkipTest("NOT TESTED: root may write everywhere, and there is no mount namespace here")

    def setUp(self):
        super().setUp()
        self.moderator = self.folder / "moderator.key"
        ident = expect_ok("key", "new", self.moderator, "--no-passphrase").strip()
        self.made = self.make_run(count=4, steps=30, options=["--moderator", ident])
        expect_ok("invite", "new", "--manifest", self.made.manifest, "--key", self.moderator)
        self.data = self.made.data_dir(0)

    def ended(self, kill):
        nodes = [self.running(self.made.start(i, "--checkpoint-every", 5)) for i in range(4)]
        if kill:
            nodes[0].wait_for_event(event="step", step=12)
        for node in nodes:
            if kill:
                node.process.kill()
            node.finish()

    def readers(self):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        made, data = self.made, self.data
        return {
            "status": ["status", data, "--json"],
            "ledger show": ["ledger", "show", data, "--json"],
            "ledger explain": ["ledger", "explain", data, made.ids[1][:16]],
            "evidence export": ["evidence", "export", data, out / "evidence"],
            "export": ["export", data, out / "model.safetensors"],
            "link": ["link", data, "--manifest", made.manifest],
            "invite new": ["invite", "new", "--manifest", made.manifest, "--key", self.moderator, "--data-dir", data],
            "invite list": ["invite", "list", "--manifest", made.manifest, "--key", self.moderator, "--data-dir", data],
            "run recover": ["run", "recover", made.manifest, data, self.made.data_dir(1), "--out", out / "next.toml"],
        }

    def test_the_list_is_complete(self):
        named = {" ".join(path) for path, text in COMMANDS.items()
                 if re.search("data folder|node's folder|folders? of (a )?nodes?", text) and path}
        self.assertEqual(named - set(NOT_READERS), named & set(self.readers()))

    def words(self, args):
        if NAMESPACE is None:
            return [OSTRAKA, *map(str, args)]
        return [*NAMESPACE, "sh", "-c", MOUNTED, "sh", str(self.data), OSTRAKA, *map(str, args)]

    def check(self):
        plain = {name: run(*args) for name, args in self.readers().items()}
        before = sorted((path, path.stat().st_size) for path in self.data.rglob("*"))
        for folder in (self.data, *(path for path in self.data.rglob("*") if path.is_dir())):
            folder.chmod(0o555)
        try:
            for name, args in self.readers().items():
                with self.subTest(command=name):
                    found = subprocess.run(self.words(args), capture_output=True, text=True, check=False,
                                           timeout=harness.DEADLINE_S)
                    wanted = plain[name]
                    self.assertEqual((found.returncode, found.stderr != ""), (wanted.returncode, wanted.stderr != ""),
                                     found.stderr + wanted.stderr)
                    # These make an invite, or a run, each time that they are called, and the list has it.
                    if name not in ("invite new", "invite list", "run recover"):
                        self.assertEqual(found.stdout, wanted.stdout)
        finally:
            for folder in (self.data, *(path for path in self.data.rglob("*") if path.is_dir())):
                folder.chmod(0o755)
        self.assertEqual(sorted((path, path.stat().st_size) for path in self.data.rglob("*")), before)
        good = [name for name, result in plain.items() if result.returncode == 0]
        self.assertGreater(len(good), 6, {name: result.stderr for name, result in plain.items()})

    def test_a_node_that_ended(self):
        self.ended(kill=False)
        self.check()

    def test_a_node_that_was_killed(self):
        self.ended(kill=True)
        # A copy of its folder, without the memory that its process shared: the newest blocks are in the log alone.
        copy = self.folder / "copy"
        shutil.copytree(self.data, copy, ignore=shutil.ignore_patterns("*.sock"))
        (copy / "ledger.sqlite-shm").unlink()
        self.assertGreater((copy / "ledger.sqlite-wal").stat().st_size, 0)
        blocks = expect_ok("ledger", "show", self.data, "--json")
        self.data = copy
        with_log = subprocess.run(self.words(["ledger", "show", copy, "--json"]), capture_output=True, text=True, check=False)
        self.assertEqual(with_log.returncode, 0, with_log.stderr)
        self.assertEqual(with_log.stdout, blocks)
        shutil.copy(self.made.data_dir(0) / "ledger.sqlite-shm", copy)
        self.check()


if __name__ == "__main__":
    harness.main()

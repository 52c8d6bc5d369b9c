"""`ostraka key passwd` and `import`, and one key run by one node."""
import json
import os
import signal
import stat
import subprocess
import unittest

import harness
from harness import OSTRAKA, TestCase, expect_ok, run

# RFC 8032, 7.1, test 1.
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


class KeyTestCase(TestCase):
    def text(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def encrypted(self, key):
        return json.loads(expect_ok("key", "show", "--json", key))["encrypted"]


class PasswdTest(KeyTestCase):
    def setUp(self):
        super().setUp()
        self.key = self.folder / "a.key"
        self.ident = expect_ok("key", "new", self.key, "--no-passphrase").strip()
        self.made = self.make_run()
        self.made.replace(self.made.ids[0], self.ident)
        self.one, self.two = self.text("one", "first words\n"), self.text("two", "other words\n")

    def passwd(self, *options):
        return run("key", "passwd", self.key, *options)

    def opens_with(self, *options):
        """A node opens the key, and then fails at a data folder that cannot be made."""
        result = run("node", self.made.manifest, "--key", self.key, *options, "--listen",
                     "127.0.0.1:0", "--data-dir", "/proc/none")
        return "/proc/none" in result.stderr

    def test_add_change_and_remove(self):
        result = self.passwd("--new-passphrase-file", self.one, "--json")
        self.assertEqual(json.loads(result.stdout),
                         {"peer": self.ident, "file": str(self.key), "encrypted": True})
        self.assertTrue(self.encrypted(self.key))
        self.assertEqual(stat.S_IMODE(self.key.stat().st_mode), 0o600)
        self.assertEqual(self.passwd("--passphrase-file", self.one, "--new-passphrase-file",
                                     self.two).stdout.strip(), self.ident)
        self.assertTrue(self.opens_with("--passphrase-file", self.two))
        self.refused(2, ["key", "passwd", self.key, "--passphrase-file", self.one,
                         "--no-passphrase"], "wrong passphrase")
        self.assertEqual(self.passwd("--passphrase-file", self.two, "--no-passphrase").returncode, 0)
        self.assertFalse(self.encrypted(self.key))
        self.assertTrue(self.opens_with())
        self.assertEqual({path.name for path in self.folder.iterdir()} - {"run"},
                         {"a.key", "one", "two"})

    def test_both_from_one_descriptor_line_by_line(self):
        self.assertEqual(self.passwd("--new-passphrase-file", self.one).returncode, 0)
        read, write = os.pipe()
        os.write(write, b"first words\nother words\n")
        os.close(write)
        ended = subprocess.run([OSTRAKA, "key", "passwd", self.key, "--passphrase-fd", str(read),
                                "--new-passphrase-fd", str(read)], pass_fds=(read,),
                               capture_output=True, timeout=harness.DEADLINE_S)
        os.close(read)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.passwd("--passphrase-file", self.two, "--no-passphrase").returncode, 0)

    def test_a_refusal_changes_nothing(self):
        before = self.key.read_bytes()
        self.refused(2, ["key", "passwd", self.key], "no terminal")
        self.refused(2, ["key", "passwd", self.key, "--new-passphrase-file", self.text("e", "")],
                     "is empty")
        self.refused(3, ["key", "passwd", self.folder / "none", "--no-passphrase"],
                     "does not exist")
        self.key.chmod(0o640)
        self.refused(2, ["key", "passwd", self.key, "--no-passphrase"], "chmod 600")
        self.key.chmod(0o600)
        self.assertEqual(self.key.read_bytes(), before)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_is_read_only(self):
        before = self.key.read_bytes()
        self.folder.chmod(0o500)
        self.refused(2, ["key", "passwd", self.key, "--new-passphrase-file", self.one])
        self.folder.chmod(0o700)
        self.assertEqual(self.key.read_bytes(), before)


class ImportTest(KeyTestCase):
    def test_from_a_file_and_from_standard_input(self):
        out = self.folder / "a.key"
        self.assertEqual(expect_ok("key", "import", self.text("seed", SEED + "\n"), out,
                                   "--no-passphrase").strip(), PUBLIC)
        self.assertEqual(expect_ok("key", "show", out).strip(), PUBLIC)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)
        ended = subprocess.run([OSTRAKA, "key", "import", "-", self.folder / "b.key",
                                "--passphrase-file", self.text("pass", "words\n")],
                               input=SEED.encode(), capture_output=True,
                               timeout=harness.DEADLINE_S)
        self.assertEqual((ended.returncode, ended.stdout.decode().strip()), (0, PUBLIC))
        self.assertTrue(self.encrypted(self.folder / "b.key"))

    @unittest.skipUnless(harness.shutil.which("openssl"), "NOT TESTED: no openssl program")
    def test_import_of_openssl_keys(self):
        pem = self.folder / "key.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", pem], check=True)
        public = subprocess.run(["openssl", "pkey", "-in", pem, "-pubout", "-outform", "DER"],
                                check=True, capture_output=True).stdout[-32:].hex()
        out = self.folder / "a.key"
        self.assertEqual(expect_ok("key", "import", pem, out, "--no-passphrase").strip(), public)
        subprocess.run(["openssl", "pkey", "-in", pem, "-aes256", "-passout", "pass:x", "-out",
                        self.folder / "sealed.pem"], check=True)
        (self.folder / "sealed.pem").chmod(0o600)
        self.refused(2, ["key", "import", self.folder / "sealed.pem", self.folder / "b.key",
                         "--no-passphrase"], "sealed.pem", "openssl pkey")
        subprocess.run(["openssl", "genpkey", "-algorithm", "x25519", "-out",
                        self.folder / "x.pem"], check=True)
        self.refused(2, ["key", "import", self.folder / "x.pem", self.folder / "b.key",
                         "--no-passphrase"], "no Ed25519 key")
        self.assertFalse((self.folder / "b.key").exists())

    def test_refusals(self):
        seed, out = self.text("seed", SEED), self.folder / "a.key"
        self.refused(2, ["key", "import", self.text("open", SEED, 0o644), out, "--no-passphrase"],
                     "open to other users")
        self.refused(2, ["key", "import", self.text("short", SEED[:-1]), out, "--no-passphrase"],
                     "short", "64 hexadecimal digits")
        self.refused(3, ["key", "import", self.folder / "none", out, "--no-passphrase"], "none")
        self.refused(2, ["key", "import", seed, out], "no terminal")
        self.assertFalse(out.exists())
        expect_ok("key", "import", seed, out, "--no-passphrase")
        self.refused(2, ["key", "import", seed, out, "--no-passphrase"], "never overwritten")
        endless = subprocess.run(f"'{OSTRAKA}' key import - '{self.folder}/b.key' --no-passphrase"
                                 " < /dev/zero", shell=True, capture_output=True,
                                 timeout=harness.DEADLINE_S)
        self.assertEqual(endless.returncode, 2)
        self.assertIn(b"too long", endless.stderr)


class OneNodeAKeyTest(TestCase):
    def test_a_second_node_of_a_key_is_refused_whatever_its_folder(self):
        made = self.make_run()
        first = self.running(made.start(0))
        first.wait_for_event(event="started")
        second = ["node", made.manifest, "--key", made.key(0), "--listen", "127.0.0.1:0"]
        other = self.folder / "other"
        self.refused(2, [*second, "--data-dir", other], made.ids[0][:16],
                     f"in use for this run by process {first.pid}", "end that one first")
        self.assertFalse(other.exists())
        # A copy of the key file is refused, too.
        copy = self.folder / "copy.key"
        copy.write_bytes(made.key(0).read_bytes())
        copy.chmod(0o600)
        self.refused(2, ["node", made.manifest, "--key", copy, "--listen", "127.0.0.1:0",
                         "--data-dir", other], "in use for this run")
        # A killed node leaves no lock behind.
        first.signal(signal.SIGKILL)
        first.finish()
        again = self.running(harness.Running(*second, "--data-dir", other, "--events"))
        again.wait_for_event(event="started")


if __name__ == "__main__":
    harness.main()

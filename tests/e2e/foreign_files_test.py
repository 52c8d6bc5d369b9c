"""Files that other programs and other systems wrote: read as their formats' own readers read them, or refused for the true reason."""
import base64
import gzip
import io
import json
import os
import signal
import struct
import subprocess
import time
import tomllib
import unittest
import warnings
from pathlib import Path

import harness
import npy
from harness import Running, TestCase, expect_ok, run

try:
    import numpy as np
    from numpy.lib import format as npy_format
except ImportError:
    np = None

MARK = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")


def file_of(header, data, version=(1, 0)):
    """A .npy file with exactly this header."""
    length = struct.pack("<H" if version == (1, 0) else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + length + header + data


@unittest.skipIf(np is None, "NOT TESTED: there is no NumPy")
class ArrayTest(TestCase):
    ROWS = [[1.5, -2.0, 0.25], [0.5, 4.0, 1.0]]

    def files(self):
        """(what, bytes, fragment of the refusal or None)"""
        for dtype in ("<f4", "<f8"):
            rows = np.array(self.ROWS, dtype)
            header = "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }" % dtype
            for version in ((1, 0), (2, 0), (3, 0)):
                file = io.BytesIO()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    npy_format.write_array(file, rows, version)
                yield f"numpy {version} {dtype}", file.getvalue(), None
                for padding in range(17):
                    padded = (header + " " * padding).encode()
                    yield f"{padding} blanks {version}", file_of(padded, rows.tobytes(), version), None
                    yield f"{padding} blanks, line {version}", file_of(padded + b"\n", rows.tobytes(), version), None
            for text in (header.replace("(2, 3)", "(2L, 3L)"), header.replace("'descr'", "u'descr'"),
                         header.replace(" ", "\t"), header.replace(", ", ",\r\n"), header.replace("'", '"'),
                         header.replace(dtype, dtype[1:]), header.replace(dtype, "=" + dtype[1:])):
                yield text, file_of(text.encode(), rows.tobytes()), None
            file = io.BytesIO()
            np.save(file, np.asfortranarray(rows))
            yield "Fortran", file.getvalue(), "Fortran order"
            file = io.BytesIO()
            np.save(file, rows.astype(">" + dtype[1:]))
            yield "big-endian", file.getvalue(), "little-endian"
            yield "two arrays", file_of(header.encode(), rows.tobytes() + b"more"), "4 bytes follow"
        file = io.BytesIO()
        np.savez(file, rows=np.array(self.ROWS))
        yield "npz", file.getvalue(), ".npz"
        long = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + " " * 20000
        yield "long header", file_of(long.encode(), bytes(24)), "at most 10000"
        yield "cut", file_of(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes(23)), "cut short"
        yield "no dictionary", file_of(b"[1]", bytes(24)), "header cannot be read"

    def test_arrays(self):
        path = self.folder / "in.npy"
        for what, content, refusal in self.files():
            with self.subTest(what=what):
                path.write_bytes(content)
                if refusal:
                    self.refused(2, ["aggregate", "--rule", "mean", path, "-"], refusal)
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows = np.load(path)
                answer = json.loads(expect_ok("aggregate", "--rule", "mean", path, "-"))
                self.assertEqual(answer["dtype"], rows.dtype.name)
                self.assertEqual(answer["result"], rows.mean(axis=0).tolist())


class CutTest(TestCase):
    def test_a_file_that_is_cut_while_it_is_read(self):
        path, d = self.folder / "in.npy", 30_000_000
        header = npy.write(path, [], (8, d)).read_bytes()
        for left in (100, 4096 * 1000, len(header) + 32 * d - 100):
            for command in (["aggregate", "--rule", "geometric_median"], ["attack", "--name", "alie"]):
                with self.subTest(left=left, command=command):
                    with open(path, "wb") as file:
                        file.write(header)
                        file.truncate(len(header) + 32 * d)
                    reader = Running(*command, "--threads", 2, path, self.folder / "out.npy")
                    self.addCleanup(reader.close)
                    maps = Path(f"/proc/{reader.pid}/maps")
                    while str(path) not in maps.read_text():
                        self.assertIsNone(reader.process.poll())
                        time.sleep(0.001)
                    reader.signal(signal.SIGSTOP)
                    os.truncate(path, left)
                    reader.signal(signal.SIGCONT)
                    self.assertEqual(reader.finish(), 3, reader.text["stderr"])
                    self.assert_one_line(reader.text["stderr"], "in.npy", "cut")
                    self.assertFalse((self.folder / "out.npy").exists())


class GzipTest(TestCase):
    def test_text_as_zcat_reads_it(self):
        parts = [b"Nobody vouches for anybody here. " * 100, b"Each looks for itself. " * 200]
        first, second, none = (gzip.compress(part) for part in (*parts, b""))
        path = self.folder / "text.gz"
        for what, content, whole in (("one", first, True), ("two", first + second, True),
                                     ("bgzip", first + none + second + none, True),
                                     ("zeros", first + second + bytes(512), True),
                                     ("one zero", first + b"\0", True),
                                     ("garbage", first + b"garbage", False), ("tar", first + bytes(9) + b"x", False),
                                     ("cut", first + second[:-9], False)):
            with self.subTest(what=what):
                path.write_bytes(content)
                plain = subprocess.run(["zcat", path], capture_output=True, check=False)
                out = self.folder / f"{what}.tokens"
                if not whole:
                    self.assertNotEqual(plain.returncode, 0)
                    self.refused(2, ["data", "pack", path, "--out", out], "text.gz: gzip: ")
                    continue
                self.assertEqual(plain.returncode, 0, plain.stderr)
                expect_ok("data", "pack", path, "--out", out)
                (self.folder / "plain").write_bytes(plain.stdout)
                expect_ok("data", "pack", self.folder / "plain", "--out", self.folder / f"{what}.plain")
                self.assertEqual(out.read_bytes(), (self.folder / f"{what}.plain").read_bytes())


class ManifestTest(TestCase):
    def setUp(self):
        super().setUp()
        self.made = self.make_run()
        self.text = self.made.manifest.read_text()

    def test_names_as_toml_means_them(self):
        line = next(line for line in self.text.splitlines() if line.startswith("name ="))
        for name in ('name="ü"', "name='ü'", 'name = "ü" # ü', 'name\t=\t"Łódź 東京 😀"', '"name" = "ü"', "'name'='ü'",
                     'name = """ü"""', "name = '''\nü''' # é", 'name = "\\u00fc"', 'name="a\\"ü\\\\"', "name = 'C:\\ü\\\"'",
                     'name = """\nü \\\n   é"""'):
            for end in ("\n", "\r\n"):
                with self.subTest(name=name, end=end):
                    text = self.text.replace(line, name).replace("\n", end)
                    self.made.manifest.write_bytes(text.encode())
                    shown = json.loads(expect_ok("run", "show", self.made.manifest, "--json"))
                    self.assertEqual(shown["name"].replace("\r\n", "\n"), tomllib.loads(text)["run"]["name"])
        for name in ("nüme = 'x'", 'name = ü', 'name = "a" ü', 'name = "\\ü"'):
            with self.subTest(name=name):
                text = self.text.replace(line, name)
                with self.assertRaises(tomllib.TOMLDecodeError):
                    tomllib.loads(text)
                self.made.manifest.write_text(text)
                number = text[:text.index(name)].count("\n") + 1
                self.refused(2, ["run", "show", self.made.manifest], f"line {number}: ", "not ASCII")
        self.made.manifest.write_bytes(self.text.replace(line, 'name = "\xfc"').encode("latin-1"))
        self.refused(2, ["run", "check", self.made.manifest], "save the file as UTF-8")

    def test_a_copy_of_another_system_is_another_run_and_check_says_so(self):
        def check(content):
            self.made.manifest.write_bytes(content)
            result = run("run", "check", self.made.manifest, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            return json.loads(result.stdout)["run_id"], result.stderr
        plain, crlf = self.text.encode(), self.text.replace("\n", "\r\n").encode()
        ident, warned = check(plain)
        self.assertNotIn("note: ", warned)
        for content, words in ((crlf, "CRLF"), (MARK + plain, "byte order mark"), (MARK + crlf, "byte order mark")):
            other, note = check(content)
            self.assertNotEqual(other, ident)
            self.assertTrue(note.endswith(warned))
            note = note.removesuffix(warned)
            self.assertRegex(note, rf"\Anote: [^\n]*{words}[^\n]*run is {other[:16]}; without them it is {ident[:16]}[^\n]*\n\Z")
        for mark, coding in UTF16:
            self.made.manifest.write_bytes(mark + self.text.encode(coding))
            self.refused(2, ["run", "check", self.made.manifest], "UTF-8")


class PeoplesFilesTest(TestCase):
    """What editors of other systems put into files that people make changes nothing."""

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return path

    @staticmethod
    def forms(text):
        plain, crlf = text.encode(), text.replace("\n", "\r\n").encode()
        return {"plain": plain, "no last line end": plain.rstrip(b"\n"), "mark": MARK + plain, "crlf": crlf, "both": MARK + crlf}

    def utf16(self, text):
        return [mark + text.encode(coding) for mark, coding in UTF16]

    def test_passphrases(self):
        text = "pässword with  blanks \n"
        key = self.folder / "a.key"
        expect_ok("key", "new", key, "--passphrase-file", self.write("plain", text.encode()))
        forms = self.forms(text)
        for name, content in forms.items():
            with self.subTest(form=name):
                made = self.folder / f"{name}.key"
                expect_ok("key", "passwd", key, "--passphrase-file", self.write("form", content),
                          "--new-passphrase-file", self.folder / "form")
                expect_ok("key", "new", made, "--passphrase-file", self.folder / "form")
                expect_ok("key", "passwd", made, "--passphrase-file", self.folder / "plain", "--no-passphrase")
                script = f'exec {harness.OSTRAKA} key passwd "{key}" --passphrase-fd 5 --new-passphrase-fd 6 5<"$1" 6<"$2"'
                done = subprocess.run(["bash", "-c", script, "sh", self.folder / "form", self.folder / "plain"],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
        for content in self.utf16(text):
            self.refused(2, ["key", "passwd", key, "--passphrase-file", self.write("form", content), "--no-passphrase"], "UTF-16")
        for content in (MARK, MARK + b"\r\n", b"\r\n"):
            self.refused(2, ["key", "passwd", key, "--passphrase-file", self.write("form", content), "--no-passphrase"], "is empty")

    def test_key_files(self):
        key = self.folder / "a.key"
        ident = expect_ok("key", "new", key, "--no-passphrase")
        text = key.read_text()
        for name, content in self.forms(text).items():
            with self.subTest(form=name):
                self.assertEqual(expect_ok("key", "show", self.write("form", content)), ident)
                self.refused(2, ["key", "import", self.folder / "form", self.folder / "b.key", "--no-passphrase"], "use it as it is")
        for content in self.utf16(text):
            self.refused(2, ["key", "show", self.write("form", content)], "UTF-16")

    def test_keys_of_other_programs(self):
        seed = bytes(range(32))
        der = bytes.fromhex("302e020100300506032b657004220420") + seed
        pem = "-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(der).decode() + "\n-----END PRIVATE KEY-----\n"
        idents = set()
        for text in (pem, seed.hex() + "\n"):
            for name, content in self.forms(text).items():
                with self.subTest(form=name, text=text[:10]):
                    out = self.folder / f"{len(idents)}{len(text)}{name}.key"
                    idents.add(expect_ok("key", "import", self.write("form", content), out, "--no-passphrase"))
        self.assertEqual(len(idents), 1)

    def test_invites_and_links(self):
        moderator = self.folder / "moderator.key"
        ident = expect_ok("key", "new", moderator, "--no-passphrase").strip()
        made = self.make_run(options=["--moderator", ident])
        file = self.folder / "invite.json"
        expect_ok("invite", "new", "--manifest", made.manifest, "--key", moderator, "--file", file)
        link = expect_ok("invite", "new", "--manifest", made.manifest, "--key", moderator)
        shown = expect_ok("invite", "show", file)
        for name, content in self.forms(file.read_text()).items():
            with self.subTest(form=name):
                self.assertEqual(expect_ok("invite", "show", self.write("form", content)), shown)
                expect_ok("invite", "show", self.write("form", content + b"\r\n \n"))
        for name, content in self.forms(link).items():
            with self.subTest(form=name):
                expect_ok("invite", "show", self.write("form", content))
        for text in (file.read_text(), link):
            for content in self.utf16(text):
                self.refused(2, ["invite", "show", self.write("form", content)], "UTF-16")

    def test_graphs(self):
        graph = self.folder / "a.graph"
        expect_ok("model", "make", "softmax", "--out", graph)
        shown = expect_ok("model", "show", graph, "--json")
        for name, content in self.forms(graph.read_text()).items():
            if name != "no last line end":
                with self.subTest(form=name):
                    graph.write_bytes(content)
                    self.assertEqual(expect_ok("model", "show", graph, "--json"), shown)

    def test_grids(self):
        for name, content in self.forms('preset = "smoke"\n# für alle\nrules = ["mean"]\n').items():
            with self.subTest(form=name):
                planned = run("compare", self.write("grid.toml", content), "--dry-run")
                if harness.HAS_TORCH:
                    self.assertEqual(planned.returncode, 0, planned.stderr)
                else:  # the plan takes a trainer's profile, after the grid is read
                    self.assertIn("libostraka_torch", planned.stderr)

    def test_names_of_files_in_other_alphabets(self):
        folder = self.folder / "Łódź 東京 'ü'"
        folder.mkdir()
        key = folder / "ключ.key"
        ident = expect_ok("key", "new", key, "--no-passphrase")
        self.assertEqual(expect_ok("key", "show", key), ident)
        rows = npy.write_rows(folder / "ряды.npy", [[1, 2], [3, 4]])
        expect_ok("aggregate", "--rule", "mean", rows, folder / "mean😀.npy")
        text = folder / "текст"
        text.write_text("Nobody vouches for anybody here. " * 100)
        expect_ok("data", "check", f"text:{text}")
        made = harness.Run(folder / "run")
        self.addCleanup(made.close)
        expect_ok("run", "check", made.manifest)


if __name__ == "__main__":
    harness.main()

"""`make install`: the installed files work, and uninstall leaves nothing."""
import gzip
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import harness
from harness import HAS_TORCH, OSTRAKA, TestCase

BUILD = Path(OSTRAKA).parent
SOURCE = Path(__file__).resolve().parents[2]
PREFIX = "/opt/p"
HAS_PYTHON = any((BUILD / "python").glob("ostraka.*.so"))


class InstallTest(TestCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        command = ["cmake", "--install", BUILD, "--prefix", PREFIX, "--strip"]
        # What is configured is perhaps not built.
        components = ["program"] + ["trainer"] * HAS_TORCH + ["python"] * HAS_PYTHON
        self.files = self.folder / "installed.txt"
        with self.files.open("w") as files:
            for component in components:
                ended = subprocess.run([*command, "--component", component],
                                       env={**os.environ, "DESTDIR": str(self.root)},
                                       capture_output=True, text=True, timeout=harness.DEADLINE_S)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                files.write((BUILD / f"install_manifest_{component}.txt").read_text() + "\n")
        self.prefix = Path(f"{self.root}{PREFIX}")
        self.unit = self.prefix / "lib/systemd/system/ostraka@.service"

    def installed(self, *args):
        return subprocess.run([self.prefix / "bin/ostraka", *args], capture_output=True, text=True,
                              timeout=harness.DEADLINE_S)

    def test_the_installed_program_runs(self):
        self.assertRegex(self.installed("--version").stdout, r"\Aostraka \d+\.\d+\.\d+\n")
        ended = self.installed("sim", "--steps", "6", "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for doc in ("README.md", "LICENSE", "NOTICE", "SECURITY.md", "docs/operating.md"):
            self.assertEqual((self.prefix / "share/doc/ostraka" / doc).read_bytes(),
                             (SOURCE / doc).read_bytes())

    def test_manual_and_completions_are_where_programs_look(self):
        share = self.prefix / "share"
        page = gzip.decompress((share / "man/man1/ostraka.1.gz").read_bytes()).decode()
        self.assertEqual(page, self.installed("manual").stdout)
        for form, name in [("bash", "bash-completion/completions/ostraka"),
                           ("zsh", "zsh/site-functions/_ostraka"),
                           ("fish", "fish/vendor_completions.d/ostraka.fish")]:
            self.assertEqual((share / name).read_text(), self.installed("manual", form).stdout)

    def sections(self, file):
        ended = subprocess.run(["readelf", "--sections", "--notes", "--wide", file], check=True,
                               capture_output=True, text=True, timeout=harness.DEADLINE_S)
        return (set(re.findall(r"\] (\.\S+)", ended.stdout)),
                re.search(r"Build ID: (\S+)", ended.stdout)[1])

    def test_debug_symbols_are_apart(self):
        pairs = [("bin/ostraka", "bin/.debug/ostraka.debug")]
        if HAS_TORCH:
            pairs.append(("lib/ostraka/libostraka_torch.so",
                          "lib/ostraka/.debug/libostraka_torch.so.debug"))
        for name, symbols in pairs:
            with self.subTest(file=name):
                program, program_id = self.sections(self.prefix / name)
                debug, debug_id = self.sections(self.prefix / symbols)
                self.assertEqual(program_id, debug_id)
                self.assertFalse({".symtab", ".debug_info", ".debug_line"} & program)
                self.assertLessEqual({".symtab", ".debug_info", ".debug_line"}, debug)
                self.assertIn(".gnu_debuglink", program)
        self.assertLess((self.prefix / "bin/ostraka").stat().st_size, 20 << 20)

    @unittest.skipUnless(HAS_PYTHON, "NOT TESTED: the Python module was not built")
    def test_the_python_module_is_importable(self):
        found = list(self.prefix.glob("lib/python3*/site-packages"))
        self.assertEqual(len(found), 1)
        script = "import ostraka; print(ostraka.__file__)"
        ended = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True,
                               env={**os.environ, "PYTHONPATH": str(found[0])}, cwd=self.folder,
                               timeout=harness.DEADLINE_S)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(Path(ended.stdout.strip()).parent, found[0])
        self.assertTrue((found[0] / "ostraka.pyi").exists())

    @unittest.skipUnless(HAS_TORCH, "NOT TESTED: libostraka_torch.so is not beside the binary")
    def test_it_finds_its_trainer_module(self):
        made = self.make_run(model="softmax")
        ended = self.installed("run", "check", made.manifest)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue((self.prefix / "lib/ostraka/libostraka_torch.so").exists())
        doctor = self.installed("doctor", "--data-dir", self.folder)
        self.assertRegex(doctor.stdout, r"(?m)^ok +trainer ")

    def test_the_unit_names_the_program_and_satisfies_systemd(self):
        text = self.unit.read_text()
        self.assertNotIn("@prefix@", text)
        self.assertIn("SystemCallFilter=@system-service", text)
        if not shutil.which("systemd-analyze"):
            self.skipTest("NOT TESTED: no systemd-analyze")
        # A copy of the unit with this machine's path of the program and a user that exists here.
        unit = self.folder / "ostraka@.service"
        unit.write_text(re.sub(r"(?m)^(ExecStart=).*/bin/ostraka", r"\1" + OSTRAKA, text)
                        .replace("User=ostraka", "User=daemon"))
        ended = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                                unit.with_name("ostraka@run.service").as_posix()],
                               cwd=self.folder, capture_output=True, text=True,
                               timeout=harness.DEADLINE_S)
        self.assertEqual((ended.returncode, ended.stdout + ended.stderr), (0, ""))
        rated = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=25",
                                unit], capture_output=True, text=True, timeout=harness.DEADLINE_S)
        self.assertEqual(rated.returncode, 0, rated.stdout[-600:] + rated.stderr)

    def test_uninstall_removes_all_installed_files_and_nothing_else(self):
        mine = self.prefix / "share/doc/other/file"
        mine.parent.mkdir(parents=True)
        mine.write_text("stays")
        uninstall = [SOURCE / "packaging/uninstall", self.files]
        ended = subprocess.run(uninstall, env={**os.environ, "DESTDIR": str(self.root)},
                               capture_output=True, text=True, timeout=harness.DEADLINE_S)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        left = [path for path in self.root.rglob("*") if not path.is_dir()]
        self.assertEqual(left, [mine])
        self.assertFalse((self.prefix / "share/doc/ostraka").exists())
        self.assertFalse((self.prefix / "bin/.debug").exists())
        missing = subprocess.run([SOURCE / "packaging/uninstall", self.folder / "none"],
                                 capture_output=True, text=True, timeout=harness.DEADLINE_S)
        self.assertEqual(missing.returncode, 3)
        self.assertEqual(missing.stderr.count("\n"), 1)


if __name__ == "__main__":
    harness.main()

"""`make deb`: the packages name what they need, hold what they should, and work unpacked."""
import os
import re
import shutil
import stat
import subprocess
import unittest
from pathlib import Path

import harness
from harness import HAS_TORCH, OSTRAKA, TestCase

BUILD = Path(OSTRAKA).parent
SOURCE = Path(__file__).resolve().parents[2]
HAS_PYTHON = any((BUILD / "python").glob("ostraka.*.so"))
COMPONENTS = ["program"] + ["trainer"] * HAS_TORCH + ["python"] * HAS_PYTHON
NAMES = {"program": "ostraka", "trainer": "ostraka-trainer-torch", "python": "python3-ostraka"}
MISSING = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if not shutil.which(tool)]


def output_of(*command, **options):
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True,
                           timeout=harness.DEADLINE_S, **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return ended.stdout


@unittest.skipIf(MISSING, f"NOT TESTED: no {', '.join(MISSING)}")
class PackagesTest(TestCase):
    """One test, because packing takes long: each step needs the one before."""

    def fields(self, package):
        return dict(line.split(": ", 1) for line in output_of("dpkg-deb", "--field", package).split("\n")
                    if re.match(r"[A-Z][\w-]*: ", line))

    def check_control(self, packages):
        fields = {name: self.fields(file) for name, file in packages.items()}
        for name, control in fields.items():
            self.assertEqual(control["Package"], name)
            self.assertRegex(control["Version"], r"\A\d+\.\d+\.\d+-1\Z")
            self.assertIn("libstdc++6", control["Depends"])  # found by dpkg-shlibdeps
        for library in ("libsodium23", "libssl3", "libsqlite3-0", "libcapnp"):
            self.assertIn(library, fields["ostraka"]["Depends"])
        self.assertNotIn("torch", fields["ostraka"]["Depends"])
        if HAS_TORCH:
            depends = fields["ostraka-trainer-torch"]["Depends"]
            self.assertIn("libtorch", depends)
            self.assertIn(f"ostraka (= {fields['ostraka']['Version']})", depends)
        if HAS_PYTHON:
            depends = fields["python3-ostraka"]["Depends"]
            self.assertIn("python3-numpy", depends)
            self.assertRegex(depends, r"python3 \(>= 3\.\d+~\), python3 \(<< 3\.\d+\)")

    def check_files(self, root):
        held = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
        wanted = {"usr/bin/ostraka", "usr/share/man/man1/ostraka.1.gz",
                  "usr/share/bash-completion/completions/ostraka",
                  "usr/share/zsh/vendor-completions/_ostraka",
                  "usr/share/fish/vendor_completions.d/ostraka.fish",
                  "usr/lib/systemd/system/ostraka@.service", "usr/lib/sysusers.d/ostraka.conf",
                  *(f"usr/share/doc/{NAMES[component]}/copyright" for component in COMPONENTS)}
        if HAS_TORCH:
            wanted.add("usr/lib/ostraka/libostraka_torch.so")
        if HAS_PYTHON:
            wanted.add("usr/lib/python3/dist-packages/ostraka.pyi")
        self.assertLessEqual(wanted, held)
        for name in held:
            file = root / name
            self.assertNotIn(os.fsencode(SOURCE), file.read_bytes(), f"{name} names the build's folder")
            self.assertTrue(name.startswith("usr/"), name)
            mode = stat.S_IMODE(file.stat().st_mode)
            self.assertEqual(mode, 0o755 if name == "usr/bin/ostraka" else 0o644, name)
        self.assertLess((root / "usr/bin/ostraka").stat().st_size, 20 << 20)
        unit = (root / "usr/lib/systemd/system/ostraka@.service").read_text()
        self.assertIn("ExecStart=/usr/bin/ostraka node ", unit)
        output_of("sh", "-n", SOURCE / "packaging/postinst")

    def check_it_works(self, root):
        program = root / "usr/bin/ostraka"
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        self.assertRegex(output_of(program, "--version", env=environment, cwd="/"),
                         r"\Aostraka \d+\.\d+\.\d+\nOpenSSL \S+ .*, of this system\n\Z")
        output_of(program, "sim", "--steps", "6", "--json", env=environment, cwd="/")
        if HAS_TORCH:
            doctor = subprocess.run([program, "doctor", "--data-dir", self.folder], env=environment,
                                    capture_output=True, text=True, timeout=harness.DEADLINE_S)
            self.assertRegex(doctor.stdout, r"(?m)^ok +trainer ")
        if HAS_PYTHON:
            folder = root / "usr/lib/python3/dist-packages"
            output_of("/usr/bin/python3", "-c", "import ostraka; ostraka.list_rules()", cwd="/",
                      env={**environment, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})

    def check_symbols(self, made, root):
        """A debugger finds the symbols of a build id in the -dbgsym package."""
        notes = output_of("readelf", "--notes", root / "usr/bin/ostraka")
        build_id = re.search(r"Build ID: (\w+)", notes)[1]
        listed = output_of("dpkg-deb", "--contents", *made.glob("ostraka-dbgsym_*.ddeb"))
        self.assertIn(f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug", listed)

    def test_build_unpack_and_run(self):
        made = self.folder / "packages"
        output_of("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", made, "-D",
                  "CPACK_COMPONENTS_ALL=" + ";".join(COMPONENTS), cwd=BUILD)
        packages = {file.name.split("_")[0]: file for file in made.glob("*.deb")}
        self.assertEqual(sorted(packages), sorted(NAMES[component] for component in COMPONENTS))
        root = self.folder / "root"
        for name, file in packages.items():
            output_of("dpkg-deb", "--extract", file, root)
            print(f"{name}: {file.stat().st_size / 1e6:.1f} MB, "
                  f"installed {int(self.fields(file)['Installed-Size']) / 1e3:.1f} MB")
        self.check_control(packages)
        self.check_files(root)
        self.check_symbols(made, root)
        self.check_it_works(root)

    @unittest.skipUnless(shutil.which("lintian"), "NOT TESTED: no lintian")
    def test_lintian_finds_no_error(self):
        made = self.folder / "packages"
        output_of("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", made, "-D",
                  "CPACK_COMPONENTS_ALL=program", cwd=BUILD)
        output_of("lintian", "--fail-on", "error", *made.glob("*.deb"))


if __name__ == "__main__":
    harness.main()

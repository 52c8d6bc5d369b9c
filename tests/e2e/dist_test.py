"""`make dist`: its files need nothing but glibc 2.34, and each, installed where nothing else is, bans three liars.

OSTRAKA_DIST=FOLDER tests what `make dist` made. Else this test makes its own, by the same script, so that it tests this source
and not an older one; the Debian package is then of the build folder. It prints sizes, and seconds from install to the first ban.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

import harness
from harness import OSTRAKA, TestCase

SOURCE = Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build/dist-build"
MAKING_S = 1800  # the program, from nothing
LIARS = 3
NEWEST_GLIBC = (2, 34)
OF_GLIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
LOADER = "/lib64/ld-linux-x86-64.so.2"

needs_root = unittest.skipUnless(os.geteuid() == 0, "NOT TESTED: an empty root is entered by chroot, which only root may")


def output_of(*command, timeout=harness.DEADLINE_S, **options):
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=timeout, **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return ended.stdout


def makes(into):
    """Runs the script of `make dist`. Without pip's index it makes all but the wheel with the compiled module."""
    debs = into.parent / "debs"
    output_of("cpack", "--config", Path(OSTRAKA).parent / "CPackConfig.cmake", "-B", debs, "-D",
              "CPACK_COMPONENTS_ALL=program", cwd=Path(OSTRAKA).parent)
    command = ["/usr/bin/python3", SOURCE / "packaging/dist.py", "--into", into, "--debs", debs]
    try:
        output_of(*command, timeout=MAKING_S)
    except AssertionError as error:
        if "--no-module" not in str(error):
            raise
        print(f"NOT TESTED: the wheel with the compiled module: {error}", file=sys.stderr)
        output_of(*command, "--no-module", timeout=MAKING_S)


def is_installed(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True).stdout == b"installed"


def put(root, *files):
    """Copies files of this system into a root, each under its own path and that of its links."""
    for file in map(Path, files):
        into = root / file.relative_to("/")
        into.parent.mkdir(parents=True, exist_ok=True)
        if not into.exists():
            shutil.copy(file, into)


class DistTest(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = Path(tempfile.mkdtemp(prefix="ostraka-dist-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        cls.dist = Path(os.environ.get("OSTRAKA_DIST", cls.base / "dist")).resolve()
        if not cls.dist.exists():
            makes(cls.dist)
        cls.tarball, = cls.dist.glob("ostraka-*-linux-x86_64.tar.gz")
        cls.alone, = cls.dist.glob("ostraka-*-py3-none-manylinux_*.whl")
        cls.compiled = sorted(cls.dist.glob("ostraka-*-cp3*.whl"))
        cls.deb, = cls.dist.glob("ostraka_*.deb")

    def held(self, archive):
        """{name: bytes} of a tarball or wheel."""
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as opened:
                return {name: opened.read(name) for name in opened.namelist()}
        with tarfile.open(archive) as opened:
            return {entry.name: opened.extractfile(entry).read() for entry in opened if entry.isfile()}

    def test_sums_agree_and_name_every_file(self):
        output_of("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.dist)
        named = {line.split("  ")[1] for line in (self.dist / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(named | {"SHA256SUMS"}, {file.name for file in self.dist.iterdir()})
        for name in sorted(named):
            print(f"{name}: {(self.dist / name).stat().st_size / 1e6:.1f} MB")

    def test_programs_need_nothing_but_an_older_glibc(self):
        for archive in [self.tarball, self.alone, *self.compiled]:
            tag = re.search(r"manylinux_(\d+)_(\d+)_x86_64", archive.name)
            newest = tuple(map(int, tag.groups())) if tag else NEWEST_GLIBC
            self.assertLessEqual(newest, NEWEST_GLIBC)
            programs = {name: data for name, data in self.held(archive).items() if data[:4] == b"\x7fELF"}
            self.assertEqual(len(programs), 2 if archive in self.compiled else 1, list(programs))
            for name, data in programs.items():
                with self.subTest(archive=archive.name, file=name):
                    file = self.folder / "file"
                    file.write_bytes(data)
                    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "--dynamic", file))
                    self.assertLessEqual(set(needed), OF_GLIBC)
                    versions = output_of("readelf", "--version-info", "--wide", file)
                    glibc = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", versions)}
                    self.assertIn((2, 34), glibc, "readelf shows versions at all")
                    self.assertLessEqual(max(glibc), newest)
                    self.assertNotIn("GLIBCXX", versions)
                    self.assertFalse(os.fsencode(SOURCE) in data, "names the build's folder")

    def test_archives_tell_what_is_linked_into_the_program(self):
        for archive in [self.tarball, self.alone, *self.compiled]:
            files = self.held(archive)
            versions, = [data.decode() for name, data in files.items() if name.endswith("libraries/versions")]
            packages = [line.split()[0] for line in versions.splitlines()]
            for package in ("libssl-dev", "libsodium-dev", "libsqlite3-dev", "libcapnp-dev", "libabsl-dev"):
                self.assertIn(package, packages)
            self.assertEqual("pybind11" in packages, archive in self.compiled)
            for package in packages:
                self.assertTrue(any(name.endswith(f"libraries/{package}.copyright") and data for name, data in files.items()),
                                f"{archive.name} has no licence of {package}")

    def bans(self, label, begun, program, *before, **options):
        """A swarm of eight, three of which lie; the first ban is told. An attacker whose very first lie is found may be
        suspended (docs/decisions/0022); another run has other coins."""
        for _ in range(4):
            swarm = self.running(harness.Running(*before, "swarm", "--attack", "sign_flip", "--byzantine", LIARS, "--json",
                                                 program=program, **options))
            swarm.wait_for("stderr", lambda line: ": BANNED " in line)
            if begun is not None:
                print(f"{label}: {time.monotonic() - begun:.1f} s from install to the first ban, load {os.getloadavg()[0]:.1f}")
                begun = None
            self.assertEqual(swarm.finish(), 0, swarm.text["stderr"])
            self.assertEqual(swarm.report()["honest_banned"], 0)
            if swarm.text["stderr"].count(": BANNED ") == LIARS:
                return
        self.fail(f"no swarm of four banned all liars; the last:\n{swarm.text['stderr']}")

    def root(self):
        """A folder for chroot with no file in it, in which Debian's usual links are."""
        root = self.folder / "root"
        for name in ("usr/lib", "usr/lib64", "tmp", "proc"):
            (root / name).mkdir(parents=True)
        for name in ("lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        return root

    def inside(self, root, program):
        """What runs a program of the root in the root; /proc is mounted for it alone."""
        return ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$1/proc" && exec chroot "$@"', "sh", root, program]

    @needs_root
    def test_tarball_runs_where_nothing_but_glibc_is(self):
        root = self.root()
        put(root, LOADER, *(f"/lib/x86_64-linux-gnu/{name}" for name in sorted(OF_GLIBC - {"ld-linux-x86-64.so.2"})))
        begun = time.monotonic()
        output_of("tar", "-xzf", self.tarball, "-C", root)
        top, = (root / name for name in os.listdir(root) if name.startswith("ostraka-"))
        run = self.inside(root, f"/{top.name}/bin/ostraka")
        self.bans("tarball", begun, *run)
        self.assertRegex(output_of(*run, "--version"), r"\Aostraka \d+\.\d+\.\d+\nOpenSSL \S+ .*, in this program\n\Z")
        trainer = subprocess.run([*run, "swarm", "--model", "cnn", "--steps", "2"], capture_output=True, text=True,
                                 timeout=harness.DEADLINE_S)
        self.assertEqual(trainer.returncode, 3, trainer.stderr)
        self.assert_one_line(trainer.stderr, "ostraka-trainer-torch")
        for name in ("share/man/man1/ostraka.1.gz", "share/doc/ostraka/LICENSE", "share/doc/ostraka/docs/quickstart.md"):
            self.assertTrue((top / name).exists(), name)
        unit = (top / "lib/systemd/system/ostraka@.service").read_text()
        self.assertIn("ExecStart=/usr/local/bin/ostraka node ", unit)

    @needs_root
    def test_debian_package_runs_where_nothing_but_its_dependencies_is(self):
        provider = {}  # of a package, or of a name that packages share
        for line in output_of("dpkg-query", "-W", "-f", "${Package}: ${Provides}\n").splitlines():
            package, shared = line.split(": ")
            provider |= {name: package for name in re.findall(r"[a-z0-9][a-z0-9+.-]+", re.sub(r"\(.*?\)", "", shared))}
        names = lambda text: [re.split(r"[ (|:]", each.strip())[0] for each in text.split(",") if each.strip()]
        wanted, packages = names(output_of("dpkg-deb", "--field", self.deb, "Depends")), set()
        while wanted:
            package = wanted.pop()
            package = package if is_installed(package) else provider[package]
            if package not in packages:
                packages.add(package)
                wanted += names(output_of("dpkg-query", "-W", "-f", "${Depends}\n", package).splitlines()[0])
        root = self.root()
        for package in packages:
            put(root, *(file for file in output_of("dpkg", "-L", package).splitlines()
                        if re.search(r"\.so(\.[\d.]+)?$", file) and Path(file).is_file()))
        begun = time.monotonic()
        output_of("dpkg-deb", "--extract", self.deb, root)
        self.bans("Debian package", begun, *self.inside(root, "/usr/bin/ostraka"))

    def venv(self, python, *install):
        """The folder of a fresh virtual environment in which pip has installed that, without an index."""
        folder = self.folder / "venv"
        output_of(python, "-m", "venv", folder)
        output_of(folder / "bin/pip", "install", "--disable-pip-version-check", "--no-index", *install)
        return folder

    def environment(self, venv):
        return {"cwd": self.folder, "env": {"PATH": f"{venv}/bin:/usr/bin:/bin", "HOME": str(self.folder)}}

    def test_wheel_for_any_python_has_the_program_and_names_what_it_lacks(self):
        begun = time.monotonic()
        venv = self.venv("/usr/bin/python3", self.alone)
        self.bans("wheel for any Python", begun, "ostraka", **self.environment(venv))
        def python(text):
            return subprocess.run([venv / "bin/python", "-c", text], capture_output=True, text=True,
                                  timeout=harness.DEADLINE_S, **self.environment(venv))
        self.assertEqual(python("import ostraka; print(ostraka.__version__)").stdout, self.alone.name.split("-")[1] + "\n")
        self.assertEqual(python("import ostraka; print(hasattr(ostraka, 'nothing'))").stdout, "False\n")
        self.assertTrue(list(venv.glob("lib/python3*/site-packages/ostraka_export/tensors.py")))
        for text in ("import ostraka; ostraka.rules.mean", "from ostraka import Graph", "import ostraka; ostraka.export()"):
            told = python(text).stderr.splitlines()[-1]
            self.assertRegex(told, r"\AImportError: ostraka\.\w+ is compiled, .*-cp3\d+-cp3\d+-\*\.whl .*python3-ostraka")
        self.assertTrue((venv / "share/man/man1/ostraka.1.gz").exists())

    def test_wheel_for_one_python_has_the_module_too(self):
        if not self.compiled:
            self.skipTest("NOT TESTED: there is no wheel with the compiled module")
        for wheel in self.compiled:
            with self.subTest(wheel=wheel.name):
                tools = BUILD / ("python-" + "-".join(wheel.name.split("-")[2:4]))
                if not (tools / "bin/python").exists():
                    self.skipTest(f"NOT TESTED: {wheel.name}: its interpreter is not at {tools}")
                python = output_of(tools / "bin/python", "-c", "import sys; print(sys._base_executable)").strip()
                begun = time.monotonic()
                # pip chooses this wheel, and not the one for any Python.
                venv = self.venv(python, "--find-links", self.dist, "--find-links", tools / "shelf", "ostraka")
                self.bans(wheel.name, begun, "ostraka", **self.environment(venv))
                told = json.loads(output_of(venv / "bin/python", "-c", USE, **self.environment(venv)))
                self.assertEqual(told["mean"], [1.5, 2.5, 3.5])
                self.assertTrue(told["stubs"])
                sys.path.insert(0, str(SOURCE / "python/program_alone"))
                self.addCleanup(sys.path.remove, str(SOURCE / "python/program_alone"))
                import ostraka as alone
                self.assertEqual(set(told["names"]), {*alone._COMPILED, "data"})
                shutil.rmtree(venv)


USE = """
import json, numpy, os, ostraka, ostraka_export
mean = ostraka.rules.mean(numpy.arange(6, dtype="float32").reshape(2, 3))
print(json.dumps({"mean": mean.tolist(), "names": [name for name in dir(ostraka) if not name.startswith("_")],
                  "stubs": os.path.exists(os.path.join(os.path.dirname(ostraka.__file__), "ostraka.pyi"))}))
"""

if __name__ == "__main__":
    harness.main()

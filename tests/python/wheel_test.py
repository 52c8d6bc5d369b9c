"""`pip wheel .` builds a wheel, and a fresh virtual environment can use it.

usage: wheel_test.py FOLDER           the build and its tools stay there, so that a second run is short

Needs a package index, for scikit-build-core, pybind11 and NumPy; without one nothing is tested.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SKIPPED = 77  # ctest reads it as "skipped"
# The packaging is tested, not the optimizer, whose flags pyproject.toml has: half the time of a build.
QUICK = ["--config-settings=cmake.define.CMAKE_CXX_FLAGS=-O0", "--config-settings=cmake.define.OSTRAKA_PCH=ON"]

USE = """
import numpy, ostraka
rows = numpy.arange(21, dtype="float32").reshape(7, 3)
assert ostraka.__file__.startswith({site!r}), ostraka.__file__
assert ostraka.__version__ == {version!r}, ostraka.__version__
assert ostraka.rules.mean(rows).tolist() == rows.mean(axis=0).tolist()
"""


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=True, timeout=900, **options)


def environment(folder, *packages):
    """The interpreter of a virtual environment with `packages`; exits with SKIPPED without an index."""
    python = folder / "bin/python"
    if not (folder / "bin/pip").exists():  # an interpreter alone is left where venv failed
        run("/usr/bin/python3", "-m", "venv", folder)
    # Few retries: the answer without a network should not take minutes.
    ended = subprocess.run([python, "-m", "pip", "install", "-q", "--retries", "1", "--timeout", "15",
                            "--disable-pip-version-check", *packages],
                           capture_output=True, text=True, timeout=900)
    if ended.returncode != 0:
        last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"NOT TESTED: pip cannot install {' '.join(packages)}: {last}", file=sys.stderr)
        sys.exit(SKIPPED)
    return python


def main(folder):
    tools = environment(folder / "tools", "scikit-build-core", "pybind11")
    with tempfile.TemporaryDirectory() as made:
        fresh = environment(Path(made) / "venv", "numpy")
        run(tools, "-m", "pip", "wheel", SOURCE, "--no-deps", "--no-build-isolation", "-q", "-w", made,
            f"--config-settings=build-dir={folder / 'build'}", *QUICK)
        wheels = list(Path(made).glob("ostraka-*.whl"))
        assert len(wheels) == 1, wheels
        names = zipfile.ZipFile(wheels[0]).namelist()
        assert "ostraka.pyi" in names and "ostraka_export/exporter.py" in names and "ostraka_data/__init__.py" in names, names
        assert not any("test" in name or name.endswith(".a") for name in names), names
        run(fresh, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheels[0])
        version = re.search(r"VERSION (\d+\.\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        run(fresh, "-c", USE.format(site=str(Path(made) / "venv"), version=version), cwd=made,
            env={"PATH": os.environ["PATH"]})
        print(f"{wheels[0].name}: {wheels[0].stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("cmake"):
        sys.exit("no cmake: install what cmake/debian-packages.txt names")
    main(Path(sys.argv[1]).resolve())

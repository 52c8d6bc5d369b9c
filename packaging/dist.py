#!/usr/bin/env python3
"""What `make dist` puts into build/dist: Debian packages, a tarball, wheels, and SHA256SUMS of them.

usage: packaging/dist.py [--into FOLDER] [--debs FOLDER] [--jobs N] [--no-module | PYTHON...]

PYTHON: interpreters, each of which gets a wheel with the compiled module; without any, the newest CPython on the PATH that
has its headers. Such a wheel takes NumPy and pybind11 from pip's index; --no-module makes none. The Debian packages are
those that `make deb` left in build/release/packages, or in --debs. Exit code 0, or 3 with one line that says what to do.
"""
import argparse
import fcntl
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from wheel import Wheel

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = SOURCE / "build" / "dist-build"
VERSION = re.search(r"project\(ostraka VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
PLATFORM = "manylinux_2_34_x86_64"  # tests/e2e/dist_test.py holds every file to it
PREFIX = "usr/local"  # what the unit in the tarball names
# Libraries of which the program has headers alone; those with an archive are read from the link command.
HEADERS = ["libboost1.81-dev", "libcli11-dev", "libfmt-dev", "libspdlog-dev", "libtomlplusplus-dev", "nlohmann-json3-dev"]
SUMMARY = "Train one model together with untrusted peers, which are banned by evidence when they cheat"


class Failure(Exception):
    pass


def output_of(*command, **options):
    words = [*map(str, command)]
    ended = subprocess.run(words, cwd=SOURCE, capture_output=True, text=True, **options)
    if ended.returncode != 0:
        last = ((ended.stderr + ended.stdout).strip().splitlines() or ["no message"])[-1]
        raise Failure(f"{' '.join(words[:4])} ...: {last}")
    return ended.stdout


def build(jobs, target, *definitions):
    print(f"make dist: building {target} in {BUILD.relative_to(SOURCE)}", flush=True)
    for command in (["cmake", "--preset", "dist", "--log-level=WARNING", *definitions],
                    ["cmake", "--build", "--preset", "dist", "-j", str(jobs), "--target", target]):
        ended = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ended.returncode != 0:
            raise Failure(f"{' '.join(command[:3])} failed:\n{ended.stdout[-4000:]}")


def installed(component):
    """The folder in which `cmake --install` has put a component, without the symbols that debuggers want."""
    root = BUILD / "stage" / component
    shutil.rmtree(root, ignore_errors=True)
    output_of("cmake", "--install", BUILD, "--prefix", f"/{PREFIX}", "--strip", "--component", component,
              env={**os.environ, "DESTDIR": str(root)})
    for symbols in root.rglob(".debug"):
        shutil.rmtree(symbols)
    return root / PREFIX


def libraries():
    """{package: (version, copyright)} of what is linked into the program."""
    link = output_of("ninja", "-C", BUILD, "-t", "commands", "-s", "ostraka")
    archives = [word for word in link.split() if word.startswith("/") and word.endswith(".a")]
    archives.append(output_of("g++", "-print-file-name=libstdc++.a").strip())
    owners = output_of("dpkg", "-S", *{os.path.realpath(archive) for archive in archives})
    packages = {line.split(": ")[0].split(":")[0] for line in owners.splitlines()} | set(HEADERS)
    versions = output_of("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages).splitlines()
    return {name: (version, pathlib.Path(f"/usr/share/doc/{name}/copyright").read_bytes())
            for name, version in (line.split() for line in sorted(versions))}


def list_of(held):
    """What SECURITY.md tells operators to read."""
    return "".join(f"{name} {version}\n" for name, (version, _) in held.items()).encode()


def epoch():
    """Of the commit, so that one commit gives equal archives."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    ended = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=SOURCE, capture_output=True, text=True)
    return int(ended.stdout) if ended.returncode == 0 else 0


def write_tarball(folder, program, held):
    top = f"ostraka-{VERSION}"
    path = folder / f"{top}-linux-x86_64.tar.gz"
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, epoch()) as packed, \
            tarfile.open(fileobj=packed, mode="w") as tar:
        def add(name, data, mode=0o644):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), mode, epoch()
            tar.addfile(entry, io.BytesIO(data))
        for file in sorted(program.rglob("*")):
            if file.is_file():
                add(file.relative_to(program), file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        add("share/doc/ostraka/libraries/versions", list_of(held))
        for name, (_, copyright) in held.items():
            add(f"share/doc/ostraka/libraries/{name}.copyright", copyright)
    return path


def write_wheel(folder, tag, program, held, module, more=""):
    """`module`: {name: bytes} beside ostraka_data and ostraka_export."""
    wheel = Wheel(folder, "ostraka", VERSION, tag, epoch())
    wheel.add_script("ostraka", (program / "bin/ostraka").read_bytes())
    for name in ("share/man/man1/ostraka.1.gz", "share/bash-completion/completions/ostraka"):
        wheel.add_shared(name, (program / name).read_bytes())
    for name, data in module.items():
        wheel.add(name, data)
    for package in ("ostraka_data", "ostraka_export"):
        for file in sorted((SOURCE / "python" / package).glob("*.py")):
            wheel.add(f"{package}/{file.name}", file.read_bytes())
    for name in ("LICENSE", "NOTICE"):
        wheel.add_licence(name, (SOURCE / name).read_bytes())
    wheel.add_licence("libraries/versions", list_of(held))
    for name, (_, copyright) in held.items():
        wheel.add_licence(f"libraries/{name}.copyright", copyright)
    wheel.close(f"Name: ostraka\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense: Apache-2.0\nRequires-Python: >=3.9\n{more}")
    return wheel.path


FACTS = """import json, os, sys, sysconfig
print(json.dumps({"cpython": sys.implementation.name == "cpython", "version": sys.version_info[:2],
                  "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
                  "headers": os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))}))"""


def facts_of(python):
    try:
        facts = json.loads(output_of(python, "-c", FACTS))
    except (Failure, OSError, ValueError) as error:
        raise Failure(f"{python} is no Python that runs: {error}") from None
    if not facts["cpython"] or not facts["headers"]:
        raise Failure(f"{python} is no CPython with its headers: install python3-dev, or name another interpreter")
    return facts


def newest():
    """The newest CPython on the PATH that has its headers."""
    for minor in range(40, 8, -1):
        if found := shutil.which(f"python3.{minor}"):
            try:
                facts_of(found)
                return found
            except Failure:
                continue
    raise Failure("no python3 on the PATH has its headers: install python3-dev, or --no-module")


def tools_of(python, tag):
    """The interpreter of a virtual environment with what building and testing the module takes."""
    folder, shelf = BUILD / f"python-{tag}", BUILD / f"python-{tag}" / "shelf"
    inside = folder / "bin/python"
    if not (folder / "bin/pip").exists():
        output_of(python, "-m", "venv", folder)
    pip = [inside, "-m", "pip", "--disable-pip-version-check"]
    if not list(shelf.glob("numpy-*.whl")):
        try:
            output_of(*pip, "download", "-q", "--retries", "1", "--timeout", "15", "--only-binary=:all:", "-d", shelf,
                      "numpy", "pybind11>=2.12")
        except Failure as error:
            raise Failure(f"the wheel with the compiled module needs pip's index ({error}); --no-module makes "
                          "everything else") from None
    output_of(*pip, "install", "-q", "--no-index", "--find-links", shelf, "numpy", "pybind11")
    return inside


# pybind11 is headers, from pip and not from Debian.
OF_PYBIND11 = """import importlib.metadata
of = importlib.metadata.distribution("pybind11")
print(of.version, next(file for file in of.files if file.name == "LICENSE").read_text(), sep="\\n")"""


def module_of(python, jobs):
    """(tag, {name: bytes}, what is linked into it beside the program's libraries) of the module compiled for one interpreter."""
    facts = facts_of(python)
    tag = "cp" + "".join(map(str, facts["version"]))
    tag = f"{tag}-{tag}{'t' * facts['free']}"
    inside = tools_of(python, tag)
    build(jobs, "ostraka_python", "-DOSTRAKA_PYTHON=ON", f"-DOSTRAKA_PYTHON_EXECUTABLE={inside}")
    found = [file for file in installed("python").rglob("ostraka.*") if file.suffix in (".so", ".pyi")]
    if len(found) != 2:
        raise Failure(f"{python}: the module was not built; `cmake --preset dist` says why")
    version, copyright = output_of(inside, "-c", OF_PYBIND11).split("\n", 1)
    return tag, {file.name: file.read_bytes() for file in found}, {"pybind11": (version, copyright.encode())}


def debs_in(folder):
    names = [f"{name}_{VERSION}-1_amd64.deb" for name in ("ostraka", "ostraka-trainer-torch", "python3-ostraka")]
    found = [folder / name for name in names if (folder / name).exists()]
    if not found:
        raise Failure(f"no {names[0]} in {folder}: `make deb` makes it")
    return found


def make(options):
    folder = options.into.resolve()
    debs = debs_in(options.debs)
    BUILD.mkdir(parents=True, exist_ok=True)
    lock = open(BUILD / "lock", "w")  # one configuration at a time
    fcntl.flock(lock, fcntl.LOCK_EX)
    pythons = [] if options.no_module else options.pythons or [newest()]
    for python in pythons:
        facts_of(python)
    build(options.jobs, "ostraka", "-DOSTRAKA_PYTHON=OFF")
    program, held = installed("program"), libraries()
    modules = [module_of(python, options.jobs) for python in pythons]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = [shutil.copy(deb, folder) for deb in debs]
    made.append(write_tarball(folder, program, held))
    alone = (SOURCE / "python/program_alone/ostraka.py").read_text().replace("@VERSION@", VERSION)
    made.append(write_wheel(folder, f"py3-none-{PLATFORM}", program, held, {"ostraka.py": alone.encode()}))
    for tag, module, more in modules:
        made.append(write_wheel(folder, f"{tag}-{PLATFORM}", program, held | more, module, "Requires-Dist: numpy\n"))
    sums = [f"{hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()}  {pathlib.Path(file).name}\n" for file in made]
    (folder / "SHA256SUMS").write_text("".join(sums))
    print(f"{folder}:")
    for file in map(pathlib.Path, made):
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--into", type=pathlib.Path, default=SOURCE / "build" / "dist", metavar="FOLDER")
    parser.add_argument("--debs", type=pathlib.Path, default=SOURCE / "build" / "release" / "packages", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--no-module", action="store_true")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    try:
        make(parser.parse_args())
    except (Failure, OSError) as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Builds the objects and the tests of one room, and runs those tests: the loop of an edit.

usage: tests/check.py [-j N] ROOM

ROOM is a folder of sources, such as node/protocol/rules. Its tests are those of the same folder below
tests/unit, or of the nearest one above it. Files are compiled one by one (preset `files`, in
build/files), so that a change of one costs one. The first call builds what the room needs, too.
"""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "files"


def tests_of(room):
    """The folder of the room's tests, from the root; None if it has none."""
    folder = pathlib.PurePath("tests/unit") / pathlib.PurePath(room.as_posix().removeprefix("node/"))
    while folder.as_posix() != "tests/unit":
        if (ROOT / folder / "CMakeLists.txt").exists():
            return folder
        folder = folder.parent
    return None


def room_named(text):
    """A room by its path from the root or from here; ends the program with one line if it is none."""
    room = pathlib.PurePath(os.path.relpath(ROOT / text, ROOT))
    if text and not (ROOT / room / "CMakeLists.txt").exists():
        sys.exit(f"check: {text} is no room (it has no CMakeLists.txt); such as ROOM=node/protocol/rules")
    if not text or room.parts[0] in ("..", "tests"):
        sys.exit("check: name a room of sources, such as ROOM=node/protocol/rules")
    return room


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-j", dest="jobs", default=str(os.cpu_count()))
    parser.add_argument("room", metavar="ROOM")
    options = parser.parse_args()
    room = room_named(options.room)
    tests = tests_of(room)
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "files", "--log-level=WARNING"], cwd=ROOT, check=True)
    targets = [f"{folder}/all" for folder in (room, tests) if folder]
    built = subprocess.run(["ninja", "-C", BUILD, "--quiet", "-j", options.jobs, *targets])
    if built.returncode:
        return built.returncode
    if tests is None:
        print(f"check: {room} is built; it has no tests of its own below tests/unit")
        return 0
    return subprocess.run(["ctest", "--test-dir", BUILD / tests, "--output-on-failure", "-j", options.jobs,
                           "-LE", "soak"]).returncode


if __name__ == "__main__":
    sys.exit(main())

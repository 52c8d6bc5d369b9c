#!/usr/bin/env python3
"""Runs ctest, and says where the time goes: the slowest tests and the dearest files to compile.

usage: tests/run.py BUILD [CTEST OPTION]...

BUILD is a folder that Ninja built. The times of tests are kept in BUILD/tests.xml (JUnit), those of
files come from Ninja's own log: seconds that one job took, beside as many jobs as ran then. With
OSTRAKA_BEGAN (seconds since 1970) the time since then is printed too. ctest's summary is repeated as
the last lines, and its exit code is this program's.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

SHOWN = 20
SUMMARY = re.compile(r"\d+% tests passed|No tests were found")


def run_ctest(build, options):
    """ctest's exit code and the lines of its summary; all of its output is shown at once."""
    command = ["ctest", "--no-tests=error", "--output-on-failure", "--test-dir", str(build),
               "--output-junit", str(build.resolve() / "tests.xml"), *options]
    summary = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            print(line, end="", flush=True)
            if summary or SUMMARY.match(line):
                summary.append(line)
    return ctest.returncode, summary


def test_times(build):
    """(seconds, name) of every test that ran."""
    return [(float(case.get("time")), case.get("name"))
            for case in xml.parse(build / "tests.xml").iter("testcase")
            if case.get("status") in ("run", "fail")]


def compile_times(build):
    """(seconds, object) of every file of the build, as Ninja last compiled it."""
    objects = {re.search(r" -o (\S+) -c ", command["command"]).group(1)
               for command in json.loads((build / "compile_commands.json").read_text())}
    times = {}
    for line in (build / ".ninja_log").read_text(errors="replace").splitlines()[1:]:
        fields = line.split("\t")
        if len(fields) == 5 and fields[3] in objects:
            name = re.sub(r"CMakeFiles/[^/]+\.dir/", "", fields[3])
            times[fields[3]] = ((int(fields[1]) - int(fields[0])) / 1000, name)
    return list(times.values())


def show(title, times):
    total = sum(seconds for seconds, _ in times)
    print(f"\n{title}: {len(times)}, {total:.0f} s together; the longest:")
    for seconds, name in sorted(times, reverse=True)[:SHOWN]:
        print(f"{seconds:9.1f} s  {name}")


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    build = pathlib.Path(arguments[0])
    (build / "tests.xml").unlink(missing_ok=True)
    code, summary = run_ctest(build, arguments[1:])
    if (build / "tests.xml").exists():
        show("Tests that ran", test_times(build))
    if (build / ".ninja_log").exists():
        show("Files compiled, as each last was", compile_times(build))
    if began := os.environ.get("OSTRAKA_BEGAN"):
        print(f"\nAll of it took {(time.time() - float(began)) / 60:.1f} minutes.")
    print("\n" + "".join(summary), end="", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

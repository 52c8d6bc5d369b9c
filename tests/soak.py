#!/usr/bin/env python3
"""What a release, and the end of an issue, must pass beside `make test`: long, in parts, resumable.

usage: tests/soak.py [-j N] [--list] [--again] [--whole] [PART]...

Runs all parts, or those named, in the order of --list. Of what is dearest (HALVED) it runs every other test, which ones by
the commit, so that two soaks have most of it; a release runs all, with --whole. What a part prints goes to
build/soak/PART.log; the terminal shows when it began and how it ended. A part that passed is not run again on the same source (HEAD and
the changes beside it), so that a soak which was stopped goes on: --again forgets that. Parts that use one core
(NARROW) run two at a time. Exit code 1: a part failed; the others ran.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "soak"
DEV = ROOT / "build" / "dev"  # as `make test` builds it
OSTRAKA = DEV / "ostraka"
SWARMS = 400
PYTHON = "/usr/bin/python3"  # Debian's: its packages have NaCl, NumPy and the notebooks' kernel


def build(preset, *targets):
    return [["cmake", "--preset", preset, "--log-level=WARNING"],
            *([["cmake", "--build", "--preset", preset, "-j", "{jobs}", "--target", *targets]] if targets else
              [["cmake", "--build", "--preset", preset, "-j", "{jobs}"]])]


def ctest(folder, *options):
    # One test more than cores at once: those of real nodes mostly wait.
    return [["python3", "tests/run.py", folder, "-j", "{more}", *options]]


# Of the layers that may have threads (tests/lint_rules.py, BANNED_IN_PURE_LAYERS): in the others there is no race.
# node_driver_memory_test has an operator new of its own, which the sanitizer's does not go with.
THREADED = ("exact_run_test train_exact_test train_loader_test thread_executor_test os_test transport_link_test "
            "transport_part_test transport_refusal_test transport_hostile_test transport_pace_test "
            "transport_admission_test transport_flip_test transport_members_test transport_parts_test net_records_test "
            "net_handshake_test net_lend_test net_mesh_test net_reach_test udp_test ledger_test store_test http_test job_pool_test "
            "host_parts_test stops_test node_driver_test host_test cli_test fetch_test train_data_test "
            "sim_compare_test").split()

# name: (what it is, commands)
PARTS = {
    "tests": ("the tests of tests/soak.txt", build("dev", "all", "soak_programs") + ctest(DEV, "-L", "soak", "-I", "{half},,{step}")),
    "seeds": (f"{SWARMS} drawn swarms, others for each commit",
              [["python3", "tests/scenario/commit_seeds_test.py", OSTRAKA, str(SWARMS)]]),
    "planted": ("a bug planted for each check: a test of `make test` must fail",
                [["python3", "tests/planted.py", "--every", "{half}", "{step}"]]),
    "models": ("every model of proofs/, the large ones too", [[PYTHON, "proofs/spin/check.py", "--large"]]),
    "mutations": ("evidence damaged 10,000 times a file",
                  [[PYTHON, "tests/e2e/evidence_mutations.py"], ["python3", "tests/e2e/gradient_proof_test.py"]]),
    "digests": ("equal digests from clang++ -O0 and g++ -O3; `make digests` has all five builds",
                [["python3", "tests/digests.py", "--jobs", "{jobs}", "clang-O0", "gcc-O3-native"]]),
    "files": ("each source of a batch compiled alone",
              [["python3", "tests/alone.py", "-j", "{jobs}", "--every", "{half}", "{step}", DEV]]),
    "asan": ("unit, property and fuzz tests under the address and undefined sanitizers",
             build("asan", "tests_unit", "tests_property", "fuzzers", "exact_digests", "device_measure") +
             ctest("build/asan", "-LE", "soak|e2e|scenario|sim|model|bench")),
    "tsan": ("unit tests of what has threads under the thread sanitizer",
             build("tsan", *THREADED) + ctest("build/tsan", "-R", f"^({'|'.join(THREADED)})$")),
}

# Each works on one core from its beginning to its end. None builds in a folder that another reads.
NARROW = {"planted", "models", "mutations"}
HALVED = {"tests", "planted", "files"}


def source():
    """Names what is tested: the commit, and the changes that are not in it."""
    git = lambda *arguments: subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True).stdout
    changes = git("diff", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return git("rev-parse", "HEAD").decode().strip() + hashlib.sha256(changes).hexdigest()[:16]


class Passed:
    """The parts that passed on this source, as wholes or halves."""

    def __init__(self, again, whole):
        self._file = FOLDER / "passed.json"
        self._source = source() + ("whole" if whole else "")
        known = json.loads(self._file.read_text()) if self._file.exists() and not again else {}
        self._parts = known.get("parts", []) if known.get("source") == self._source else []

    def __contains__(self, part):
        return part in self._parts

    def add(self, part):
        self._parts.append(part)
        self._file.write_text(json.dumps({"source": self._source, "parts": self._parts}))


def run(part, jobs, whole):
    """(True if all commands of the part end with 0, its processor seconds)."""
    environment = dict(os.environ, OSTRAKA=str(OSTRAKA), OSTRAKA_MUTATIONS="10000", PYTHONDONTWRITEBYTECODE="1")
    used = 0.0
    with open(FOLDER / f"{part}.log", "w") as log:
        for command in PARTS[part][1]:
            filled = [str(word).format(jobs=jobs, more=jobs + 1, half=1 if whole else 1 + int(source()[0], 16) % 2,
                                       step=1 if whole else 2) for word in command]
            log.write("$ " + " ".join(filled) + "\n")
            log.flush()
            process = subprocess.Popen(filled, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=environment)
            # Of this command alone: RUSAGE_CHILDREN would count the part that runs beside it.
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            used += usage.ru_utime + usage.ru_stime
            if process.returncode:
                return False, used
    return True, used


def rounds(parts):
    """The parts in their order, as lists of what may run together."""
    together = []
    for part in parts:
        if part not in NARROW or not together or together[-1][0] not in NARROW:
            together.append([])
        together[-1].append(part)
    return together


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="list the parts")
    parser.add_argument("--whole", action="store_true", help="run all of the parts of which a half is drawn")
    parser.add_argument("--again", action="store_true", help="run parts that passed, too")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:10} {what}" for name, (what, _) in PARTS.items()))
        return 0
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"no part {unknown[0]}; there are {', '.join(PARTS)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    passed, failed, began, used = Passed(options.again, options.whole), [], time.monotonic(), 0.0

    def tell(part):
        """(the part, whether it passed, its processor seconds)."""
        half = " (half of them)" if part in HALVED and not options.whole else ""
        print(f"{part:10} {PARTS[part][0]}{half} ...", flush=True)
        start = time.monotonic()
        ended, seconds = run(part, options.jobs, options.whole)
        print(f"{part:10} {'passed' if ended else 'FAILED: build/soak/' + part + '.log'} after "
              f"{(time.monotonic() - start) / 60:.1f} minutes, {seconds / 60:.1f} of processor time", flush=True)
        return part, ended, seconds

    left = []
    for part in options.parts or PARTS:
        if part in passed:
            print(f"{part:10} passed before, on this source")
        else:
            left.append(part)
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        for together in rounds(left):
            for running in concurrent.futures.as_completed([two.submit(tell, part) for part in together]):
                part, ended, seconds = running.result()
                used += seconds
                passed.add(part) if ended else failed.append(part)
    print(f"soak: {len(failed)} parts failed{': ' if failed else ''}{', '.join(failed)}; "
          f"{(time.monotonic() - began) / 60:.1f} minutes, {used / 60:.1f} of processor time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Shared by the end-to-end tests: the real binary, real processes, no sleeps, no fixed ports.

Every wait is for something that the program says or does, and every wait has a deadline that fails
the test. Children are started in sessions of their own, so that no test can leave one behind.
"""
import collections
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

OSTRAKA = os.environ["OSTRAKA"]
# Long, so that a busy machine does not fail a test and a hang does.
DEADLINE_S = 150
HAS_TORCH = (Path(OSTRAKA).parent / "libostraka_torch.so").exists()
ID_DIGITS = 64
# A model of 7,664 parameters, and what it learns.
TINY_GPT = ["--model", "gpt", "--layers", 1, "--width", 16, "--heads", 2, "--context", 16, "--batch-size", 4]
TINY_TEXT = "Nobody vouches for anybody here. "

# A test that takes long beside others of its kind: `make soak` sets OSTRAKA_SOAK.
in_soak = unittest.skipUnless(os.environ.get("OSTRAKA_SOAK"), "runs in make soak")

needs_torch = unittest.skipUnless(
    HAS_TORCH, "NOT TESTED: libostraka_torch.so is not beside the binary (make torch builds it)")


def kill_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(*args, timeout=DEADLINE_S, stdout=subprocess.PIPE, **popen):
    """Runs ostraka to its end, in a session of its own and so without a terminal."""
    process = subprocess.Popen([OSTRAKA, *map(str, args)], stdin=subprocess.DEVNULL, stdout=stdout,
                               stderr=subprocess.PIPE, start_new_session=True, **popen)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"ostraka {' '.join(map(str, args))} hung") from None
    finally:
        kill_group(process)
    return subprocess.CompletedProcess(args, process.returncode,
                                       out.decode(errors="replace") if out is not None else None,
                                       err.decode(errors="replace"))


def drain(running):
    """Reads what it prints from now on, and drops it, however long it runs: one whose events nobody reads stops."""
    def read(stream):
        with contextlib.suppress(OSError, ValueError):  # it is closed with the process
            while os.read(stream.fileno(), 1 << 16):
                pass
    for stream in (running.process.stdout, running.process.stderr):
        threading.Thread(target=read, args=(stream,), daemon=True).start()


class Running:
    """A running ostraka (or `program`) whose stdout and stderr are read line by line, against a deadline."""

    def __init__(self, *args, program=OSTRAKA, pass_fds=(), **popen):
        self.process = subprocess.Popen([program, *map(str, args)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True, pass_fds=pass_fds, **popen)
        self.deadline = time.monotonic() + DEADLINE_S
        self.text = {"stdout": "", "stderr": ""}
        self._partial = {"stdout": b"", "stderr": b""}
        self._read = collections.deque()  # (stream, line), not yet seen by a wait
        self._open = {self.process.stdout: "stdout", self.process.stderr: "stderr"}

    @property
    def pid(self):
        return self.process.pid

    def _lines(self):
        """Yields (stream, line) until both streams end; AssertionError at the deadline."""
        while self._read or self._open:
            if self._read:
                name, line = self._read.popleft()
                self.text[name] += line + "\n"
                yield name, line
                continue
            ready, _, _ = select.select(list(self._open), [], [],
                                        max(0, self.deadline - time.monotonic()))
            if not ready:
                raise AssertionError("deadline; stderr so far:\n" + self.text["stderr"])
            for file in ready:
                name = self._open[file]
                data = os.read(file.fileno(), 1 << 16)
                if not data:
                    del self._open[file]
                self._partial[name] += data
                *lines, self._partial[name] = self._partial[name].split(b"\n")
                self._read += [(name, line.decode(errors="replace")) for line in lines]

    def wait_for(self, stream, matches):
        """The first line from now on that matches(line)."""
        for name, line in self._lines():
            if name == stream and matches(line):
                return line
        raise AssertionError("ended early; stderr:\n" + self.text["stderr"])

    def wait_for_event(self, **wanted):
        """The next line of `node --events` that has these keys and values."""
        def matches(line):
            event = json.loads(line)
            return all(event.get(key) == value for key, value in wanted.items())
        return json.loads(self.wait_for("stdout", matches))

    def signal(self, number):
        self.process.send_signal(number)

    def finish(self):
        """Waits for its end; returns the exit status as a shell counts it."""
        for _ in self._lines():
            pass
        self.process.wait(timeout=max(1, self.deadline - time.monotonic()))
        return self.process.returncode

    def report(self):
        """The last line of stdout: the report of `node --events` or `--json`."""
        return json.loads(self.text["stdout"].splitlines()[-1])

    def close(self):
        kill_group(self.process)
        self.process.stdout.close()
        self.process.stderr.close()


def children_of(pid):
    return [int(child) for child in
            Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def await_gone(pids):
    """Returns once none of the processes runs; a pidfd becomes readable when its process ends."""
    deadline = time.monotonic() + DEADLINE_S
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            fd = os.pidfd_open(pid)
            try:
                ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            finally:
                os.close(fd)
            if not ready:
                raise AssertionError(f"process {pid} was left behind")


class Run:
    """Keys, listening sockets and a manifest for a run of a few nodes."""

    def __init__(self, folder, count=3, steps=15, options=(), deadlines_ms=None,
                 model="toy"):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.manifest = self.folder / "run.toml"
        self.sockets, self.ids = [], []
        members = []
        for i in range(count):
            listener = socket.create_server(("127.0.0.1", 0))
            self.sockets.append(listener)
            self.ids.append(expect_ok("key", "new", self.key(i), "--no-passphrase").strip())
            members += ["--member", f"{self.ids[i]}@127.0.0.1:{listener.getsockname()[1]}"]
        expect_ok("run", "init", "--out", self.manifest, "--model", model, "--steps", steps,
                  "--delta-ms", 250, *members, *options)
        if deadlines_ms:
            part, seal = deadlines_ms
            self.replace("part_timeout_ms = 20000", f"part_timeout_ms = {part}")
            self.replace("seal_timeout_ms = 60000", f"seal_timeout_ms = {seal}")

    def replace(self, old, new):
        text = self.manifest.read_text()
        assert text.count(old) == 1, f"{old!r} is not once in\n{text}"
        self.manifest.write_text(text.replace(old, new))

    def key(self, index):
        return self.folder / f"{index}.key"

    def data_dir(self, index):
        return self.folder / f"node{index}"

    def start(self, index, *options):
        fd = self.sockets[index].fileno()
        return Running("node", self.manifest, "--key", self.key(index), "--data-dir",
                       self.data_dir(index), "--listen-fd", fd, "--events", *options,
                       pass_fds=(fd,))

    def close(self):
        for listener in self.sockets:
            listener.close()


def ledger_rows(data_dir, query):
    """What a query of a node's ledger gives while the node runs; nothing while its ledger is being made."""
    ledger = Path(data_dir) / "ledger.sqlite"
    if not ledger.exists():
        return []
    database = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        database.close()


def wait_until(is_so, what):
    """Asks again until it is so; fails at the deadline."""
    end = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
        time.sleep(0.05)


def expect_ok(*args, **popen):
    result = run(*args, **popen)
    assert result.returncode == 0, f"{args}: exit {result.returncode}\n{result.stderr}"
    return result.stdout


class TestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ostraka-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def make_run(self, **options):
        made = Run(self.folder / "run", **options)
        self.addCleanup(made.close)
        return made

    def running(self, started):
        self.addCleanup(started.close)
        return started

    def assert_one_line(self, stderr, *fragments):
        self.assertRegex(stderr, r"\Aostraka: [^\n]+\n\Z")
        for fragment in fragments:
            self.assertIn(fragment, stderr)

    def refused(self, code, args, *fragments, **popen):
        """The command exits with `code`, prints nothing to stdout and one line with the fragments to stderr."""
        result = run(*args, **popen)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertFalse(result.stdout)
        self.assert_one_line(result.stderr, *fragments)
        return result


def main():
    unittest.main(verbosity=2)

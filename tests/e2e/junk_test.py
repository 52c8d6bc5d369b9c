#!/usr/bin/env python3
"""Strangers send junk to a run of real nodes, which continues undisturbed.

    OSTRAKA=build/release/ostraka tests/e2e/junk_test.py                       the short form, for ctest
    OSTRAKA=build/release/ostraka tests/e2e/junk_test.py --connections 10000   the full form

The full form sends 350 a second; --patience N (6) says how many times as long the run lasts.
"""
import contextlib
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import harness

NODES = 4
WARM_UP_STEPS = 10
BASELINE_STEPS = 60  # before the first connection
MIB = 1 << 20


class Options:
    connections = 600
    per_second = 120
    keys = 20
    patience = 2
    # The short form runs beside other tests on a busy machine, where a median means little.
    judges_time = False


def resident_bytes(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Nodes:
    """Four running nodes; their events are read in threads, so that no pipe fills up."""

    def __init__(self, run):
        self.nodes = [run.start(i) for i in range(NODES)]
        self.changed = threading.Condition()
        self.step = -1  # the first node's
        self.reports = {}
        self.readers = [threading.Thread(target=self._read, args=(i,)) for i in range(NODES)]
        for reader in self.readers:
            reader.start()

    def _read(self, index):
        node = self.nodes[index]
        try:
            for stream, line in node._lines():
                if index == 0 and stream == "stdout":
                    event = json.loads(line)
                    if event.get("event") == "step":
                        with self.changed:
                            self.step = event["step"]
                            self.changed.notify_all()
            node.process.wait()
            result = (node.process.returncode, node.text["stderr"], node.report())
        except Exception as error:  # whoever waits for this node says it
            result = (None, f"{error!r}\n" + node.text["stderr"], {})
        with self.changed:
            self.reports[index] = result
            self.changed.notify_all()

    def wait_for(self, condition):
        with self.changed:
            if not self.changed.wait_for(condition, harness.DEADLINE_S):
                raise AssertionError(f"deadline at step {self.step}")

    def await_step(self, step):
        self.wait_for(lambda: self.step >= step or len(self.reports) > 0)
        assert self.step >= step, f"a node ended at step {self.step}: {self.reports}"

    def finish(self):
        self.wait_for(lambda: len(self.reports) == NODES)
        for reader in self.readers:
            reader.join()
        return [self.reports[i] for i in range(NODES)]

    def close(self):
        for node in self.nodes:
            harness.kill_group(node.process)
        for reader in self.readers:
            reader.join()
        for node in self.nodes:
            node.close()


class MemoryWatch:
    """The largest growth of resident memory of any of the processes, sampled until stopped."""

    def __init__(self, pids):
        self.before = {pid: resident_bytes(pid) for pid in pids}
        self.growth = 0
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        while not self.stopped.wait(0.05):
            for pid, before in self.before.items():
                with contextlib.suppress(FileNotFoundError):  # it has ended, which others notice
                    self.growth = max(self.growth, resident_bytes(pid) - before)

    def stop(self):
        self.stopped.set()
        self.thread.join()
        return self.growth


def step_seconds(data_dir):
    """Wall time of each step, by step, from the node's ledger."""
    with sqlite3.connect(f"file:{data_dir}/ledger.sqlite?mode=ro", uri=True) as ledger:
        rows = ledger.execute(
            "SELECT step, SUM(value) FROM metrics WHERE name IN ('compute_seconds', "
            "'aggregate_seconds', 'agree_seconds') GROUP BY step").fetchall()
    return dict(rows)


def make_keys(folder, count):
    """Valid identities that are no member's, as a TLS client brings them."""
    folder.mkdir()
    for i in range(count):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj",
                        "/CN=ostraka", "-keyout", folder / f"{i}.key", "-out", folder / f"{i}.crt"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [str(folder), count]


class JunkTest(harness.TestCase):
    def calm_step_seconds(self):
        """The median step of an undisturbed run: it tells how many steps last as long as the attack."""
        run = harness.Run(self.folder / "calm", count=NODES, steps=40)
        self.addCleanup(run.close)
        nodes = Nodes(run)
        self.addCleanup(nodes.close)
        for code, stderr, _ in nodes.finish():
            self.assertEqual(code, 0, stderr)
        return statistics.median(step_seconds(run.data_dir(0)).values())

    def throw(self, run, keys):
        """Sends the junk from another process; real strangers would take no processor time from the nodes."""
        run_id = json.loads(harness.expect_ok("run", "show", run.manifest, "--json"))["run_id"]
        junk = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("junk.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, start_new_session=True, preexec_fn=lambda: os.nice(5))
        self.addCleanup(harness.kill_group, junk)
        options = {"ports": [s.getsockname()[1] for s in run.sockets], "run_id": run_id,
                   "keys": keys, "connections": Options.connections,
                   "per_second": Options.per_second, "seed": 1}
        out, _ = junk.communicate(json.dumps(options).encode(), timeout=harness.DEADLINE_S)
        self.assertEqual(junk.returncode, 0)
        return json.loads(out)

    def test_a_run_goes_on_under_junk(self):
        keys = make_keys(self.folder / "keys", Options.keys)
        # Every connection is closed within ten seconds. The run must outlast the junk, even if a busy
        # machine sends it more slowly than planned.
        attack_seconds = Options.connections / Options.per_second + 10
        steps = BASELINE_STEPS + int(Options.patience * attack_seconds / self.calm_step_seconds())
        run = self.make_run(count=NODES, steps=steps)
        nodes = Nodes(run)
        self.addCleanup(nodes.close)
        nodes.await_step(BASELINE_STEPS)
        memory = MemoryWatch([node.pid for node in nodes.nodes])
        try:
            begin = nodes.step
            result = self.throw(run, keys)
            end = nodes.step
        finally:
            growth = memory.stop()
        ends = nodes.finish()
        for code, stderr, report in ends:
            self.assertEqual(code, 0, stderr)
            self.assertEqual(report["steps"], steps)
            self.assertEqual(report["removals"], [])
        self.assertLess(end, steps - 1, "the run was over before the junk")
        seconds = step_seconds(run.data_dir(0))
        calm = statistics.median(seconds[s] for s in range(WARM_UP_STEPS, begin))
        busy = statistics.median(seconds[s] for s in range(begin, end))
        longest = max(result["longest_seconds"].values())
        print(json.dumps({"junk": result, "steps_meanwhile": end - begin,
                          "median_step_ms": {"before": 1e3 * calm, "meanwhile": 1e3 * busy},
                          "resident_growth_mib": growth / MIB}), file=sys.stderr)
        self.assertEqual(result["made"], Options.connections)
        self.assertEqual(result["still_open"], 0)
        self.assertLess(longest, 10)
        # Many connections with a valid key get a refusal with a reason. The faster they come, the more
        # of them meet a quota first.
        self.assertGreater(result["told_not_a_member"], Options.connections // 40)
        self.assertLessEqual(growth, 64 * MIB)
        self.assertGreater(end - begin, 0)
        if Options.judges_time:
            self.assertLessEqual(busy, 2 * calm)


def main():
    if sys.argv[1:2] == ["--connections"]:
        Options.connections = int(sys.argv[2])
        Options.per_second = 350
        Options.keys = 200
        Options.patience = 6
        Options.judges_time = True
        harness.DEADLINE_S = 1200
        del sys.argv[1:3]
        if sys.argv[1:2] == ["--patience"]:
            Options.patience = float(sys.argv[2])
            del sys.argv[1:3]
    harness.main()


if __name__ == "__main__":
    main()
